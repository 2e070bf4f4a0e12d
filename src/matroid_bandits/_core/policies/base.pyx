"""What all policies share: statistics, greedy, the round's basis, the paper's counters."""

import numpy as np

from libc.math cimport INFINITY, isfinite

from matroid_bandits._core.sorting cimport sort_descending, sort_elements

from matroid_bandits._arguments import not_an_element
from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits.errors import out_of_range, too_small

# The table of 1 / sqrt(count) ends here: 8 MB.
cdef Py_ssize_t MOST_INVERSE_ROOTS = 2**20

# As far as any policy has needed it; never changed, only replaced by a longer one.
cdef double[::1] known_inverse_roots = np.zeros(0)


cdef class PolicyKernel:
    """Statistics and greedy on one matroid; a compiled policy adds `decide`."""

    def __init__(self, matroid, IndexKernel index=None, Py_ssize_t min_count=1):
        self.matroid = matroid
        self.oracle = matroid._new_kernel()
        self.size = matroid.size
        self.rank = matroid.rank
        self.work = self.size
        playable = np.ones(self.size, dtype=bool)
        playable[matroid.loops] = False
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
        if index is not None:
            self.notifies_index = index.needs_rewards
            self.is_bounded = index.low > -INFINITY or index.high < INFINITY
        self.stamp = np.zeros(self.size, dtype=np.int64)
        self.chosen_array = np.zeros(self.rank, dtype=np.intp)
        self.chosen = self.chosen_array
        self.order = np.flatnonzero(playable)
        self.scratch = np.empty(self.playable.shape[0], dtype=np.intp)
        self.found = np.zeros(self.rank, dtype=np.intp)

    cdef int remember_answers(self) except -1:
        """Ask a matroid written in Python, or with such parts, no question of exchange twice."""
        if self.oracle.is_python:
            self.oracle = CachedKernel(self.oracle, self.rank)
        return 0

    # ---- a round ----

    cdef int choose(self) except -1:
        """Settle the basis of this round, once."""
        if self.is_chosen:
            return 0
        self.refuse_if_deciding()
        self.is_deciding = True
        try:
            # No count exceeds the number of rounds.
            if self.rounds + 1 >= self.inverse_roots.shape[0] < MOST_INVERSE_ROOTS:
                self.extend_inverse_roots()
            self.reserve(2 * self.rank)
            if self.n_undersampled == 0 and self.initial_rounds is not None:
                self.initial_rounds = None
            self.decide()
            self.is_chosen = True
        finally:
            self.is_deciding = False
        return 0

    cdef int refuse_if_deciding(self) except -1:
        # A matroid written in Python may let another thread in, or come back here itself.
        if self.is_deciding:
            raise RuntimeError(
                "this policy is deciding right now, in another thread or further up in this one; "
                "use one policy per thread, or a lock"
            )
        return 0

    cdef int extend_inverse_roots(self) except -1:
        """Know 1 / sqrt(count) for twice as many counts."""
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
        """Get the memory that deciding or learning about n elements may need: they cannot fail."""
        return 0

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        """Take in checked feedback and end the round."""
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
        """Tell an index that keeps more than counts and means, before these change."""
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            self.index.observe(elements[i], rewards[i])

    def select(self):
        """The basis to play, ascending; the same until the next update."""
        self.refuse_if_deciding()
        self.choose()
        return self.chosen_array.copy()

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards):
        """Check the feedback, then take it in and end the round."""
        cdef Py_ssize_t i, e
        cdef double mean
        if elements.shape[0] != rewards.shape[0]:
            raise ValueError(
                f"one reward per element is needed, got {elements.shape[0]} elements "
                f"and {rewards.shape[0]} rewards"
            )
        self.refuse_if_deciding()
        self.last_stamp += 1
        for i in range(elements.shape[0]):
            e = elements[i]
            if e < 0 or e >= self.size:
                raise not_an_element(e, self.size)
            if self.stamp[e] == self.last_stamp:
                raise ValueError(f"element {e} is given twice; each has at most one reward a round")
            self.stamp[e] = self.last_stamp
            if not isfinite(rewards[i]):
                raise ValueError(f"the reward of element {e} is {rewards[i]}; it must be finite")
            self.check_range(e, rewards[i])
            mean = (self.counts[e] * self.means[e] + rewards[i]) / (self.counts[e] + 1)
            if not isfinite(mean):
                raise ValueError(
                    f"the reward {rewards[i]} of element {e} is too large: its mean overflows"
                )
        self.reserve(elements.shape[0])
        self.learn(elements, rewards)

    cdef int check_range(self, Py_ssize_t e, double reward) except -1:
        """Refuse a reward that the index is not made for."""
        if self.is_bounded and not self.index.low <= reward <= self.index.high:
            raise out_of_range(self.index.name, e, reward, self.index.low, self.index.high)
        return 0

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
        """Play what greedy has found."""
        self.chosen[:] = self.found
        sort_elements(self.chosen)
        return 0

    cdef int use_symmetry(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes
    ) except -1:
        """Find the bases of the first rounds without a look at every element, where that helps.

        They are the same, but fewer elements are tested, and counted.
        """
        if self.min_count == 1 and n_classes < self.playable.shape[0]:
            self.initial_rounds = InitialRounds(
                symmetry_class, n_classes, np.asarray(self.playable), self.counts
            )
        return 0

    cdef int initial_round(self) except -1:
        """Choose the greedy basis that takes elements first that have not been observed, or not
        often enough (ties: lowest index).
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
        self.greedy_on(values)
        return np.sort(self.found)

    # ---- rounds in which not everything is on offer ----

    def for_matroid(self, matroid, PolicyKernel before=None):
        """A kernel that decides this round on `matroid`: the same elements, but those that are not
        on offer are loops. `adopt` ends its work.

        What the one `before` it was answered by the same matroid is not asked again.
        """
        cdef PolicyKernel part
        self.refuse_if_deciding()
        cls, arguments = self.__reduce__()[:2]
        try:
            # The same index and the same stream of random numbers, if it has any.
            part = cls(matroid, *arguments[1:])
        finally:
            self.attach_index()
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
        return part

    def adopt(self, PolicyKernel part):
        """Take over what deciding on a part has changed."""
        self.oracle_calls = part.oracle_calls
        self.greedy_calls = part.greedy_calls
        self.neighborhood_updates = part.neighborhood_updates

    cdef int attach_index(self) except -1:
        """Let the index look at these statistics."""
        if self.index is not None:
            self.index.attach(self.counts, self.means, self.inverse_root)
        return 0

    cdef int count_undersampled(self) except -1:
        counts = np.asarray(self.counts)[np.asarray(self.playable)]
        self.n_undersampled = int(np.count_nonzero(counts < self.min_count))
        return 0

    # ---- what users see ----

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
        if state["answers"] is not None:
            self.oracle.restore(state["answers"])

    def __reduce__(self):
        return type(self), (self.matroid,), self.state()

    def __setstate__(self, state):
        self.restore(state)
