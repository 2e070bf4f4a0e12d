"""What all policies share: statistics, greedy, the basis of this round, the paper's counters."""

import warnings

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite

from matroid_bandits._core.sorting cimport sort_descending, sort_elements

from matroid_bandits._arguments import not_an_element
from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits.errors import changed_matroid, out_of_range, too_small

# The table of 1 / sqrt(count) ends here: 8 MB.
cdef Py_ssize_t MOST_INVERSE_ROOTS = 2**20

# A reward this many times the assumed noise away from the mean shows that the noise is larger.
cdef double MOST_DEVIATIONS = 100.0

# As far as any policy has needed it; never changed, only replaced by a longer one.
cdef double[::1] known_inverse_roots = np.zeros(0)


cdef class PolicyKernel:
    """Statistics and greedy on one matroid; a compiled policy adds `decide`."""

    def __init__(self, matroid, IndexKernel index=None, Py_ssize_t min_count=1):
        self.matroid = matroid
        self.guard = Guard()
        self.oracle = matroid._new_kernel()
        # Read once: a matroid written in Python may contradict itself later.
        self.size = self.oracle.size
        self.rank = matroid.rank
        loops = matroid.loops
        if matroid.size != self.size or not 0 <= self.rank <= self.size - len(loops):
            raise changed_matroid(matroid, self.size, self.rank, len(loops))
        self.work = self.size
        playable = np.ones(self.size, dtype=bool)
        playable[loops] = False
        self.is_playable = playable.astype(np.uint8)
        self.playable = np.flatnonzero(playable)
        self.min_count = min_count
        self.n_undersampled = self.playable.shape[0] if min_count > 0 else 0
        self.counts = np.zeros(self.size, dtype=np.int64)
        self.means = np.zeros(self.size)
        self.inverse_root = np.full(self.size, np.inf)
        self.inverse_roots = np.zeros(64)
        self.extend_inverse_roots()
        self.index = index
        self.attach_index()
        self.low = -INFINITY
        self.high = INFINITY
        if index is not None:
            self.notifies_index = index.needs_rewards
            self.limit_rewards(index.low, index.high)
        self.assumed_noise = INFINITY
        self.marked = -1
        self.decided = -1
        self.stamp = np.zeros(self.size, dtype=np.int64)
        self.chosen_array = np.zeros(self.rank, dtype=np.intp)
        self.chosen = self.chosen_array
        self.order = np.flatnonzero(playable)
        self.scratch = np.empty(self.playable.shape[0], dtype=np.intp)
        self.found = np.zeros(self.rank, dtype=np.intp)

    def parameters(self):
        """The arguments of the constructor that follow the matroid."""
        return ()

    cdef int remember_answers(self) except -1:
        """Cache the answers of a matroid written in Python, or with such parts, to exchanges."""
        if self.oracle.is_python:
            self.oracle = CachedKernel(self.oracle, self.rank)
        return 0

    # ---- a round ----

    cdef int choose(self) except -1:
        """Settle the basis of this round, once. The caller holds the guard."""
        if self.is_chosen:
            return 0
        # No count exceeds the number of rounds.
        if self.rounds + 1 >= self.inverse_roots.shape[0] < MOST_INVERSE_ROOTS:
            self.extend_inverse_roots()
        self.reserve(2 * self.rank)
        if self.n_undersampled == 0 and self.initial_rounds is not None:
            self.initial_rounds = None
        self.mark()
        if self.random_stream is None:
            self.decide()
        else:
            self.decide_with_draws()
        self.decided = self.rounds
        self.is_chosen = True
        return 0

    cdef int decide_with_draws(self) except -1:
        """Decide; if that fails, a second attempt draws the same random numbers."""
        try:
            self.decide()
        except BaseException:
            self.random_stream.rewind()
            self.forget_draws()
            raise
        return 0

    cdef int mark(self) except -1:
        """Note the counters and the position in the random stream before this round, once."""
        if self.marked == self.rounds:
            return 0
        self.marked = self.rounds
        self.calls_before[0] = self.oracle_calls
        self.calls_before[1] = self.greedy_calls
        self.calls_before[2] = self.neighborhood_updates
        if self.random_stream is not None:
            self.random_stream.mark()
        return 0

    cdef void forget_draws(self) noexcept:
        """Random numbers drawn in this round are to be drawn again."""

    cdef int refuse_if_deciding(self) except -1:
        """Refuse a call while another one runs."""
        self.guard.give_back(self.guard.take(False))
        return 0

    cdef int extend_inverse_roots(self) except -1:
        """Extend the table of 1 / sqrt(count) to twice as many counts."""
        global known_inverse_roots
        cdef Py_ssize_t wanted = 2 * self.inverse_roots.shape[0]
        if known_inverse_roots.shape[0] < wanted:
            with np.errstate(divide="ignore"):
                known_inverse_roots = 1 / np.sqrt(np.arange(<double>wanted))
        self.inverse_roots = known_inverse_roots
        return 0

    cdef int decide(self) except -1:
        """Write the basis to play into `chosen`, ascending. If it raises, nothing has changed."""
        raise NotImplementedError

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Get all memory for deciding or learning about n elements, so that neither can fail."""
        return 0

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        """Learn from checked feedback and end the round."""
        cdef Statistics statistics
        cdef Py_ssize_t i
        if elements.shape[0] > 0:
            statistics = statistics_of(self)
        if self.notifies_index:
            self.notify_index(elements, rewards)
        for i in range(elements.shape[0]):
            if observe(&statistics, elements[i], rewards[i]) == self.min_count:
                self.n_undersampled -= self.is_playable[elements[i]]
        self.rounds += 1
        self.is_chosen = False
        return 0

    cdef void notify_index(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept:
        """Pass rewards to an index that keeps more than counts and means, before these change."""
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            self.index.observe(elements[i], rewards[i])

    def select(self):
        """The basis to play, ascending; the same until the next update."""
        cdef int before = self.guard.take(True)
        try:
            if self.selected is not None or self.retracted is not None:
                self.select_here()
            self.choose()
            return self.chosen_array.copy()
        finally:
            self.guard.give_back(before)

    def begin(self):
        """A rule written in Python is about to decide."""
        self.mark()

    def settle(self, const Py_ssize_t[::1] elements):
        """A rule written in Python has decided for the basis `elements`, ascending."""
        self.chosen[:] = elements
        self.is_chosen = True

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards):
        """Check the feedback, then learn from it and end the round."""
        cdef int before = self.guard.take(False)
        try:
            self.check_feedback(elements, rewards)
            self.reserve(elements.shape[0])
            if self.selected is not None or self.retracted is not None:
                self.settle_outcome()
            self.learn(elements, rewards)
        finally:
            self.guard.give_back(before)

    cdef int check_feedback(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1:
        """Refuse feedback that is wrong; change nothing."""
        cdef Py_ssize_t i, e
        if elements.shape[0] != rewards.shape[0]:
            what = "cost" if self.are_costs else "reward"
            raise ValueError(
                f"one {what} per element is needed, got {elements.shape[0]} elements "
                f"and {rewards.shape[0]} {what}s"
            )
        self.last_stamp += 1
        for i in range(elements.shape[0]):
            e = elements[i]
            if e < 0 or e >= self.size:
                raise not_an_element(e, self.size)
            if self.stamp[e] == self.last_stamp:
                raise ValueError(
                    f"{self.described(e)} is given twice; each has at most one reward a round"
                )
            self.stamp[e] = self.last_stamp
            self.check_reward(e, rewards[i])
        return 0

    cdef int check_reward(self, Py_ssize_t e, double reward) except -1:
        """Refuse a reward that cannot be learned from."""
        cdef double given = self.in_user_units(reward)
        if not isfinite(reward):
            what = "cost" if self.are_costs else "reward"
            raise ValueError(f"the {what} of {self.described(e)} is {given}; it must be finite")
        self.check_range(e, reward)
        if not isfinite(updated_mean(self.counts[e], self.means[e], reward)):
            what = "cost" if self.are_costs else "reward"
            raise ValueError(
                f"the {what} {given} of {self.described(e)} is too large: its mean overflows"
            )
        if fabs(reward - self.means[e]) > MOST_DEVIATIONS * self.assumed_noise and self.counts[e]:
            noise = self.assumed_noise
            self.assumed_noise = INFINITY
            warnings.warn(
                f"{self.described(e)} had a mean of {self.in_user_units(self.means[e]):.6g} and "
                f"now {given:.6g}, but the policy assumes a noise of {noise:g}, its default; pass "
                "noise=..., the standard deviation of the rewards",
                stacklevel=2,
            )
        return 0

    cdef int check_range(self, Py_ssize_t e, double reward) except -1:
        """Refuse a reward that the policy is not for."""
        if self.is_bounded and not self.low <= reward <= self.high:
            raise out_of_range(
                "the policy" if self.index is None else self.index.name,
                "cost" if self.are_costs else "reward",
                self.described(e),
                self.in_user_units(reward),
                (self.low, self.high),
            )
        return 0

    # ---- what the user calls things ----

    def limit_rewards(self, double low, double high):
        """Accept rewards from `low` to `high` only."""
        self.low = low
        self.high = high
        self.is_bounded = low > -INFINITY or high < INFINITY

    def use_units(self, tuple labels, bint are_costs, double pivot):
        """In messages, use the labels, if there are any, and costs, if rewards are `pivot - cost`.

        """
        self.labels = labels
        self.are_costs = are_costs
        self.pivot = pivot

    def assume_noise(self, double noise):
        """Warn, once, if rewards are spread out much more than `noise`, a default."""
        self.assumed_noise = noise

    cdef str described(self, Py_ssize_t e):
        return f"element {e}" if self.labels is None else repr(self.labels[e])

    cdef double in_user_units(self, double reward) noexcept:
        return self.pivot - reward if self.are_costs else reward

    # ---- greedy, as the paper counts it ----

    cdef int run_greedy(self, const Py_ssize_t[::1] order) except -1:
        """Greedy basis of playable elements in `order`, written to `found`, counted."""
        self.refuse_if_too_small(self.oracle.greedy(order, self.rank, self.found))
        self.greedy_calls += 1
        self.oracle_calls += self.oracle.tested
        return 0

    cdef int refuse_if_too_small(self, Py_ssize_t taken) except -1:
        if taken < self.rank:
            raise too_small(self.matroid, np.asarray(self.found[:taken]).tolist(), self.rank)
        return 0

    cdef int greedy_on(self, const double[::1] values) except -1:
        """Greedy by value, largest first, ties to the lowest element."""
        sort_descending(values, self.order, self.scratch)
        return self.run_greedy(self.order)

    cdef int choose_found(self) except -1:
        """Play the basis that greedy found."""
        self.chosen[:] = self.found
        sort_elements(self.chosen)
        return 0

    cdef int use_symmetry(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes
    ) except -1:
        """Find the bases of the initial rounds by symmetry class, where that is quicker.

        They are the same bases, but fewer elements are tested, and counted.
        """
        if self.min_count == 1 and n_classes < self.playable.shape[0]:
            self.initial_rounds = InitialRounds(
                symmetry_class, n_classes, np.asarray(self.playable), self.counts
            )
        return 0

    cdef int initial_round(self) except -1:
        """Choose the greedy basis that prefers elements observed fewer than `min_count` times
        (ties: lowest element).
        """
        if self.initial_rounds is not None:
            self.refuse_if_too_small(self.initial_rounds.greedy(self.oracle, self.rank, self.found))
            self.greedy_calls += 1
            self.oracle_calls += self.initial_rounds.tested
            return self.choose_found()
        cdef Py_ssize_t i, e
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t old = self.n_undersampled
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if self.counts[e] < self.min_count:
                self.scratch[new] = e
                new += 1
            else:
                self.scratch[old] = e
                old += 1
        self.run_greedy(self.scratch)
        return self.choose_found()

    def greedy_basis(self, const double[::1] values):
        """Greedy by value for policies written in Python: counted, ascending."""
        cdef int before = self.guard.take(True)
        try:
            self.greedy_on(values)
            return np.sort(self.found)
        finally:
            self.guard.give_back(before)

    def is_found(self, const Py_ssize_t[::1] elements):
        """Whether `elements`, ascending, are the basis that greedy found last."""
        return np.array_equal(elements, np.sort(self.found))

    # ---- rounds in which not all elements are available ----
    #
    # Each such round is decided by a kernel of its own, made by `for_matroid` from the state before
    # the round. `outcome` says what its decision changed; `adopt` makes these changes here, when
    # the round ends with that decision as the one last selected.

    def for_matroid(self, matroid, PolicyKernel before=None):
        """A kernel that decides this round on `matroid`: the same elements, and those that are not
        available are loops.

        `before` is a kernel that has decided on the same matroid earlier: its cache is used.
        """
        cdef PolicyKernel part
        if self.is_chosen and self.retracted is None:
            self.retract()
        self.mark()
        try:
            # The same index and the same random stream, if it has any.
            part = type(self)(matroid, *self.parameters())
        finally:
            self.attach_index()
        part.guard = self.guard
        part.rounds = self.rounds
        part.counts[:] = self.counts
        part.means[:] = self.means
        part.inverse_root[:] = self.inverse_root
        part.count_undersampled()
        part.oracle_calls = self.oracle_calls
        part.greedy_calls = self.greedy_calls
        part.neighborhood_updates = self.neighborhood_updates
        if before is not None and before.matroid is matroid:
            part.oracle = before.oracle
        part.attach_index()
        return part

    def outcome(self):
        """What deciding this round has changed, as `adopt` takes it."""
        return {
            "oracle_calls": self.oracle_calls,
            "greedy_calls": self.greedy_calls,
            "neighborhood_updates": self.neighborhood_updates,
            "stream": None if self.random_stream is None else self.random_stream.position(),
        }

    def adopt(self, dict outcome):
        """Change what the decision with this outcome changed."""
        self.oracle_calls = outcome["oracle_calls"]
        self.greedy_calls = outcome["greedy_calls"]
        self.neighborhood_updates = outcome["neighborhood_updates"]
        if outcome["stream"] is not None:
            self.random_stream.set_position(outcome["stream"])

    def end_part(self):
        """A kernel made by `for_matroid` has decided, or failed to: go back to the state before."""
        self.attach_index()
        # That kernel has marked the position before the round.
        if self.random_stream is not None:
            self.random_stream.rewind()

    def select_here(self):
        """What was or will be decided here, and by no other kernel, is to be played."""
        self.selected = None
        self.settle_outcome()

    def select_outcome(self, dict outcome):
        """What another kernel decided is to be played."""
        if self.is_chosen and self.retracted is None:
            self.retract()
        self.selected = outcome

    cdef int settle_outcome(self) except -1:
        """Make the changes of the decision that was selected last, and of no other."""
        if self.selected is not None:
            self.adopt(self.selected)
        elif self.retracted is not None:
            self.reapply()
        self.selected = None
        self.retracted = None
        return 0

    cdef int retract(self) except -1:
        """Undo what deciding here has changed; the basis stays known.

        The leader of MAUB and the order of FasterCUCB are not undone: they are what they would be
        after one more round. Later plays can differ from those without the decision.
        """
        self.retracted = PolicyKernel.outcome(self)
        self.oracle_calls = self.calls_before[0]
        self.greedy_calls = self.calls_before[1]
        self.neighborhood_updates = self.calls_before[2]
        if self.random_stream is not None:
            self.random_stream.rewind()
        if self.decided == self.rounds:
            self.shift_time(-1)
        return 0

    cdef int reapply(self) except -1:
        """Change again what `retract` has undone."""
        PolicyKernel.adopt(self, self.retracted)
        if self.decided == self.rounds:
            self.shift_time(1)
        return 0

    cdef void shift_time(self, Py_ssize_t rounds) noexcept:
        """Add to the time of a rule that counts the rounds in which it decided."""

    cdef int attach_index(self) except -1:
        """Make the index use these statistics."""
        if self.index is not None:
            self.index.attach(self.counts, self.means, self.inverse_root)
            self.random_stream = self.index.random_stream
        return 0

    cdef int count_undersampled(self) except -1:
        counts = np.asarray(self.counts)[np.asarray(self.playable)]
        self.n_undersampled = int(np.count_nonzero(counts < self.min_count))
        return 0

    # ---- what users read ----

    def counts_copy(self):
        return np.array(self.counts)

    def index_values(self):
        """The index of every element as this round was decided, NaN where it played no part."""
        return np.full(self.size, np.nan)

    def means_copy(self):
        """Means so far; NaN where nothing was observed."""
        means = np.array(self.means)
        means[np.asarray(self.counts) == 0] = np.nan
        return means

    # ---- saving ----

    def state(self):
        """All that a copy on the same matroid needs to go on as if it were this one."""
        return {
            "rounds": self.rounds,
            "counts": np.array(self.counts),
            "means": np.array(self.means),
            "is_chosen": self.is_chosen,
            "chosen": np.array(self.chosen),
            "oracle_calls": self.oracle_calls,
            "greedy_calls": self.greedy_calls,
            "neighborhood_updates": self.neighborhood_updates,
            "decided": self.decided,
            # Of this round, or of no consequence.
            "calls_before": tuple(self.calls_before) if self.is_chosen else None,
            "retracted": self.retracted,
            "selected": self.selected,
            "answers": self.oracle.state() if isinstance(self.oracle, CachedKernel) else None,
        }

    def restore(self, state):
        """Take over what `state` returned."""
        counts = state["counts"]
        self.rounds = state["rounds"]
        np.asarray(self.counts)[:] = counts
        np.asarray(self.means)[:] = state["means"]
        with np.errstate(divide="ignore"):
            np.asarray(self.inverse_root)[:] = 1 / np.sqrt(counts.astype(float))
        self.count_undersampled()
        self.is_chosen = state["is_chosen"]
        np.asarray(self.chosen)[:] = state["chosen"]
        self.oracle_calls = state["oracle_calls"]
        self.greedy_calls = state["greedy_calls"]
        self.neighborhood_updates = state["neighborhood_updates"]
        self.decided = state["decided"]
        self.marked = -1
        if self.is_chosen:
            self.marked = self.rounds
            self.calls_before = state["calls_before"]
        self.retracted = state["retracted"]
        self.selected = state["selected"]
        if state["answers"] is not None:
            self.oracle.restore(state["answers"])

    def __reduce__(self):
        return type(self), (self.matroid, *self.parameters()), self.state()

    def __setstate__(self, state):
        self.restore(state)
