"""One round: the statistics it is decided by, the available elements, and greedy."""

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memcmp

from matroid_bandits._core.sorting cimport mark_and_list, sort_descending

from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits._core.matroids.compose.minor import MinorKernel
from matroid_bandits.errors import changed_matroid, no_basis, too_small

# The table of 1 / sqrt(count) ends here: 8 MB.
cdef Py_ssize_t MOST_INVERSE_ROOTS = 2**20

# As far as any policy has needed it; never changed, only replaced by a longer one.
cdef double[::1] known_inverse_roots = np.zeros(0)


cdef class RoundKernel:
    """Statistics and greedy on one matroid; a rule adds `decide`."""

    def __init__(
        self,
        matroid,
        IndexKernel index=None,
        Py_ssize_t min_count=1,
        bint counts_pending=False,
        Memory memory=None,
    ):
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
        self.pending = np.zeros(self.size, dtype=np.int64)
        self.counts_pending = counts_pending
        self.index_counts = np.zeros(self.size, np.int64) if counts_pending else self.counts
        self.inverse_root = np.full(self.size, np.inf)
        self.inverse_roots = np.zeros(64)
        self.extend_inverse_roots()
        self.feedback = Feedback(self.counts, self.means)
        self.index = index
        self.attach_index()
        if index is not None:
            self.notifies_index = index.needs_rewards
            self.feedback.limit(index.name, index.low, index.high)
        self.marked = -1
        self.chosen_array = np.zeros(self.rank, dtype=np.intp)
        self.chosen = self.chosen_array
        self.order = np.flatnonzero(playable)
        self.scratch = np.empty(self.playable.shape[0], dtype=np.intp)
        self.found = np.zeros(self.rank, dtype=np.intp)
        self.is_first = None
        self.earlier_means = np.full((self.size + 1, 2), np.nan)
        self.memory = memory
        if memory is not None:
            memory.attach(self.index, self.counts, self.means, self.playable.shape[0])
            # Weights multiply rewards, and old ones are subtracted from sums.
            self.feedback.limit_size()
        self.candidates = self.playable
        self.round_rank = self.rank
        self.is_available = None
        self.candidate_space = None

    cdef int remember_answers(self) except -1:
        """Cache the answers of a matroid written in Python, or with such parts, to exchanges."""
        if self.oracle.is_python:
            self.oracle = CachedKernel(self.oracle, self.rank)
        return 0

    cdef int attach_index(self) except -1:
        """Make the index use these statistics."""
        if self.index is not None:
            self.index.attach(self.counts, self.means, self.index_counts, self.inverse_root)
            self.index.n_playable = self.playable.shape[0]
            self.random_stream = self.index.random_stream
        return 0

    # ---- what a rule implements ----

    cdef int decide(self) except -1:
        """Write the set to play into `chosen`, ascending. If it raises, nothing has changed."""
        raise NotImplementedError

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Get all memory for deciding or learning about n elements, so that neither can fail."""
        return 0

    cdef int learn(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        """Learn from checked feedback: at least one reward, and at most one of each element."""
        cdef Statistics statistics
        cdef Py_ssize_t i
        if self.memory is not None:
            self.learn_remembered(elements, rewards, n)
            return 0
        statistics = statistics_of(self)
        if self.notifies_index:
            self.notify_index(elements, rewards, n)
        for i in range(n):
            if observe(&statistics, elements[i], rewards[i]) == self.min_count:
                self.n_undersampled -= self.is_playable[elements[i]]
        return 0

    cdef void forget_draws(self) noexcept:
        """Random numbers drawn in this round are to be drawn again."""

    cdef void set_width(self, Py_ssize_t e) noexcept:
        """The number of observations of e, or of its pending plays, has changed."""
        if self.counts_pending:
            self.index_counts[e] = self.counts[e] + self.pending[e]
        if self.memory is not None and self.index_counts[e] == 0:
            # Forgotten: this is not used, but bounds are made for roots up to 1.
            self.inverse_root[e] = 1.0
        elif self.memory is not None and self.memory.weights is not None:
            self.inverse_root[e] = 1 / sqrt(self.memory.weights[e])
        else:
            self.inverse_root[e] = 1 / sqrt(<double>self.index_counts[e])

    cdef void set_statistics(self, Py_ssize_t e, int64_t count, double mean) noexcept:
        """Set what is known about an element."""
        self.counts[e] = count
        self.means[e] = mean
        self.set_width(e)

    cdef void notify_index(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        """Pass rewards to an index that keeps more than counts and means, before these change."""
        cdef Py_ssize_t i
        for i in range(n):
            self.index.observe(elements[i], rewards[i])

    # ---- where means change (docs/howto/change.md) ----

    cdef int reserve_round(self, Py_ssize_t n) except -1:
        """Get all memory for learning about n elements, and for the end of the round."""
        if self.memory is None:
            return self.reserve(n)
        self.memory.reserve(n, self.rounds)
        return self.reserve(n + self.memory.n_expiring(self.rounds))

    cdef void learn_remembered(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        """Learn the rewards that are not too late."""
        cdef Py_ssize_t round = self.learned_round if self.learned_round > 0 else self.rounds + 1
        cdef Py_ssize_t i, e
        self.memory.begin(round, self.rounds)
        for i in range(n):
            e = elements[i]
            if not self.memory.accepts(e, round, self.rounds):
                # Its pending play has ended.
                self.set_width(e)
                continue
            if self.notifies_index:
                self.index.observe(e, rewards[i])
            self.memory.add(e, rewards[i])
            self.set_remembered(e)
        if self.n_undersampled == 0:
            self.memory.is_past_initial = True

    cdef void forget_old(self) noexcept:
        """A round has ended: forget what is too old."""
        cdef Py_ssize_t e
        self.memory.end_round()
        while True:
            e = self.memory.remove(self.rounds)
            if e < 0:
                return
            self.set_remembered(e)

    cdef void set_remembered(self, Py_ssize_t e) noexcept:
        """Set the statistics of e that its memory has found."""
        cdef bint was_missing = self.counts[e] < self.min_count
        cdef bint is_missing = self.memory.new_count < self.min_count
        cdef Py_ssize_t i
        self.set_statistics(e, self.memory.new_count, self.memory.new_mean)
        if was_missing == is_missing or not self.is_playable[e]:
            return
        if not is_missing:
            self.n_undersampled -= 1
            self.memory.pull(e)
            return
        self.n_undersampled += 1
        if not self.memory.is_past_initial:
            # The initial rounds end: from now on the element forgotten first comes first.
            self.memory.is_past_initial = True
            for i in range(self.playable.shape[0]):
                if self.counts[self.playable[i]] < self.min_count and self.playable[i] != e:
                    self.memory.push(self.playable[i])
        self.memory.push(e)

    cdef int begin_round(self) except -1:
        """Forget what is to be forgotten before anything else happens in this round."""
        if self.memory is not None and self.memory.is_due(self.rounds):
            self.forget_changed()
        return 0

    cdef int forget_changed(self) except -1:
        """Forget elements whose mean has changed, or that have next to no weight."""
        cdef Py_ssize_t e
        cdef Py_ssize_t restarted_at = self.memory.restarted_at
        self.reserve(2 * self.size)
        # It is for elements that are observed one after the other.
        self.initial_rounds = None
        changed = self.memory.forget(self.rounds)
        if self.memory.weights is not None:
            # In another unit.
            for e in range(self.size):
                self.set_width(e)
        for e in changed.tolist():
            self.index.forget(e)
            self.memory.new_count = 0
            self.memory.new_mean = 0.0
            self.set_remembered(e)
        if self.memory.restarted_at > restarted_at:
            self.memory.is_past_initial = False
            self.memory.clear_queue()
            self.forget_all()
        if self.is_restricted:
            self.n_initial = 0
            for e in range(self.candidates.shape[0]):
                self.n_initial += self.counts[self.candidates[e]] < self.min_count
        return 0

    cdef int forget_all(self) except -1:
        """All elements were forgotten: begin again."""
        return 0

    cdef Py_ssize_t round_time(self) noexcept:
        """The number of this round, since the last restart of all elements."""
        if self.memory is None:
            return self.rounds + 1
        return self.rounds + 1 - self.memory.restarted_at

    cdef Py_ssize_t index_time(self, Py_ssize_t time) noexcept:
        """The time in the index: it ends with a window."""
        if self.memory is None or time <= self.memory.longest_time:
            return time
        return self.memory.longest_time

    cdef Py_ssize_t write_forgotten(self, Py_ssize_t[::1] elements) except -1:
        """Write the forgotten elements that are available: those with fewer pending plays first,
        then those that were forgotten first. Returns how many there are.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t end = self.size
        cdef Py_ssize_t e = self.memory.next_forgotten[end]
        while e != end:
            if not self.is_restricted or self.is_available[e]:
                elements[n] = e
                n += 1
            e = self.memory.next_forgotten[e]
        if self.n_pending > 0:
            first = np.asarray(elements[:n])
            first[:] = first[np.argsort(np.asarray(self.pending)[first], kind="stable")]
        return n

    cdef bint force_round(self) except -1:
        """Choose a set with an element that must be observed in this round, whatever is known, if
        there is one. Returns whether there is.
        """
        cdef Py_ssize_t n = self.playable.shape[0]
        cdef Py_ssize_t place, i
        if self.memory is None or self.candidates.shape[0] == 0:
            return False
        place = self.memory.forced_place(self.round_time(), n)
        if place < 0:
            return False
        for i in range(self.candidates.shape[0]):
            if self.counts[self.candidates[i]] == 0:
                # Greedy on means needs one of each.
                return False
        # If the element is not available, the next one is played.
        while self.is_restricted and not self.is_available[self.playable[place]]:
            place = (place + 1) % n
        self.scratch[0] = self.playable[place]
        self.greedy_after(1)
        self.is_forced = True
        return True

    cdef int greedy_after(self, Py_ssize_t n_first) except -1:
        """Choose greedily from the first elements of `scratch`, then from others by mean."""
        cdef Py_ssize_t n = n_first
        cdef Py_ssize_t i, e
        cdef Py_ssize_t[::1] first = np.array(self.scratch[:n_first])
        cdef const Py_ssize_t[::1] others = self.by_mean()
        cdef Py_ssize_t[::1] order = np.empty(n_first + others.shape[0], dtype=np.intp)
        if self.is_first is None:
            self.is_first = np.zeros(self.size, dtype=np.uint8)
        order[:n_first] = first
        for i in range(n_first):
            self.is_first[first[i]] = True
        for i in range(others.shape[0]):
            e = others[i]
            if not self.is_first[e] and not (self.is_restricted and not self.is_available[e]):
                order[n] = e
                n += 1
        for i in range(n_first):
            self.is_first[first[i]] = False
        self.is_oracle_used = True
        self.run_greedy(order[:n])
        return self.choose_found()

    cdef const Py_ssize_t[::1] by_mean(self):
        """Elements that contain a basis of the available ones, the largest mean first (ties: lowest
        element).
        """
        sort_descending(self.means, self.order, self.scratch)
        return self.order

    # ---- a round ----

    cdef int choose(self, rule) except -1:
        """Settle the set of this round, once. The caller holds the guard.

        Parameters
        ----------
        rule
            A function that returns the set, for a rule written in Python; else None.
        """
        if self.is_chosen:
            return 0
        # Without priors, no count exceeds the number of rounds.
        if self.rounds + 1 >= self.inverse_roots.shape[0] < MOST_INVERSE_ROOTS:
            self.extend_inverse_roots()
        if self.memory is None:
            self.reserve(2 * self.rank)
        else:
            self.is_forced = False
            self.begin_round()
            self.reserve_round(2 * self.rank)
        if self.n_undersampled == 0 and self.initial_rounds is not None:
            self.initial_rounds = None
        self.mark()
        if rule is not None:
            self.ask(rule)
        elif self.random_stream is not None or self.is_restricted or self.is_decided:
            self.decide_here()
        else:
            # The usual case, without a detour.
            self.n_initial = self.n_undersampled
            self.decide()
            self.is_decided = True
            self.is_initial = self.n_initial > 0 or self.is_forced
        self.is_chosen = True
        return 0

    cdef int decide_here(self) except -1:
        """Decide by the kernel's own rule, once a round. If that fails, a second attempt draws the
        same random numbers.
        """
        if self.is_decided:
            return 0
        if not self.is_restricted:
            self.n_initial = self.n_undersampled
        if self.random_stream is None:
            self.decide()
        else:
            try:
                self.decide()
            except BaseException:
                self.random_stream.rewind()
                self.forget_draws()
                raise
        self.is_decided = True
        self.is_initial = self.n_initial > 0 or self.is_forced
        return 0

    cdef int ask(self, rule) except -1:
        """Let a rule written in Python decide."""
        cdef const Py_ssize_t[::1] elements
        if self.is_restricted:
            self.find_round_rank()
        elements = self.guard.lend_to_rule(rule, ())
        self.chosen[: elements.shape[0]] = elements
        return 0

    def own_rule(self):
        """What the kernel's own rule decides, for a rule written in Python that builds on it."""
        cdef int before = self.guard.take(True)
        try:
            self.decide_here()
            return self.chosen_array[: self.round_rank].copy()
        finally:
            self.guard.give_back(before)

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

    cdef int extend_inverse_roots(self) except -1:
        """Extend the table of 1 / sqrt(count) to twice as many counts."""
        global known_inverse_roots
        cdef Py_ssize_t wanted = 2 * self.inverse_roots.shape[0]
        if known_inverse_roots.shape[0] < wanted:
            with np.errstate(divide="ignore"):
                known_inverse_roots = 1 / np.sqrt(np.arange(<double>wanted))
        self.inverse_roots = known_inverse_roots
        return 0

    cdef int count_undersampled(self) except -1:
        counts = np.asarray(self.counts)[np.asarray(self.playable)]
        self.n_undersampled = int(np.count_nonzero(counts < self.min_count))
        return 0

    # ---- available elements ----

    cdef int set_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1:
        """Decide this round among some elements, or among all, for None."""
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e
        self.allow_smaller = allow_smaller
        self.round_rank = self.rank
        if is_available is None:
            self.is_restricted = False
            self.candidates = self.playable
            self.n_initial = self.n_undersampled
            return 0
        if self.candidate_space is None:
            self.is_available = np.zeros(self.size, dtype=np.uint8)
            self.candidate_space = np.zeros(self.playable.shape[0], dtype=np.intp)
            self.candidate_order = np.zeros(self.playable.shape[0], dtype=np.intp)
        self.is_restricted = True
        self.is_available[:] = is_available
        self.n_initial = 0
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if is_available[e]:
                self.candidate_space[n] = e
                self.n_initial += self.counts[e] < self.min_count
                n += 1
        self.candidates = self.candidate_space[:n]
        return 0

    cdef bint is_for(self, const unsigned char[::1] is_available) noexcept:
        """Whether the available elements of this round are these."""
        if is_available is None or not self.is_restricted:
            return is_available is None and not self.is_restricted
        return memcmp(&is_available[0], &self.is_available[0], self.size) == 0

    cdef bytes available_key(self):
        """The available elements as a key of dictionaries; empty if all are available."""
        return bytes(self.is_available) if self.is_restricted else b""

    def available_elements(self):
        """The available elements of this round, ascending; None if all are available."""
        return np.flatnonzero(self.is_available) if self.is_restricted else None

    cdef int find_round_rank(self) except -1:
        """Find the rank of the available elements, uncounted."""
        self.is_oracle_used = True
        self.round_rank = self.oracle.greedy(self.candidates, self.rank, self.found)
        return self.refuse_if_smaller()

    cdef int refuse_if_smaller(self) except -1:
        """After greedy: refuse to play less than a basis, unless that is allowed."""
        if self.round_rank < self.rank and not self.allow_smaller:
            return self.refuse_smaller(np.asarray(self.found[: self.round_rank]))
        return 0

    cdef int refuse_smaller(self, found) except -1:
        """Say what is missing in the largest set of available elements."""
        missing = self.completion(found)[:5].tolist()
        raise no_basis(self.rank, len(found), [self.feedback.name(e) for e in missing])

    cdef object completion(self, found):
        """What completes a basis of the available elements to one of all elements."""
        self.is_oracle_used = True
        others = np.setdiff1d(self.playable, found, assume_unique=True)
        order = np.concatenate((found, others))
        # Available elements depend on those found, and are refused: what comes is not available.
        return self.oracle.greedy_basis(order, self.rank)[len(found) :]

    cdef MatroidKernel round_oracle(self):
        """After greedy: the oracle for exchanges with the sets of this round."""
        if self.round_rank == self.rank:
            return self.oracle
        if self.smaller_oracle is None:
            elements = np.arange(self.size)
            nothing = np.zeros(0, dtype=np.intp)
            self.smaller_oracle = MinorKernel(self.oracle, elements, nothing, nothing)
        self.smaller_oracle.complete_by(self.completion(np.asarray(self.found[: self.round_rank])))
        return self.smaller_oracle

    # ---- greedy, as the paper counts it ----

    cdef int run_greedy(self, const Py_ssize_t[::1] order) except -1:
        """Greedy basis of playable elements in `order`, written to `found`, counted."""
        cdef Py_ssize_t taken = self.oracle.greedy(order, self.rank, self.found)
        cdef Py_ssize_t tested = self.oracle.tested
        if taken < self.rank:
            tested = self.take_smaller(order, taken)
        self.greedy_calls += 1
        self.oracle_calls += tested
        return 0

    cdef Py_ssize_t take_smaller(
        self, const Py_ssize_t[::1] order, Py_ssize_t taken
    ) except -1:
        """Greedy has found less than a basis: refuse it, or play it; return how many were tested.

        """
        cdef Py_ssize_t tested = 0
        if not self.is_restricted:
            raise too_small(self.matroid, np.asarray(self.found[:taken]).tolist(), self.rank)
        self.round_rank = taken
        self.refuse_if_smaller()
        # Where the rank is known, no element is tested after the last one taken.
        while taken > 0 and order[tested] != self.found[taken - 1]:
            tested += 1
        return tested + (taken > 0)

    cdef int greedy_on(self, const double[::1] values) except -1:
        """Greedy by value, largest first, ties to the lowest element."""
        if self.is_restricted:
            return self.greedy_on_available(values)
        sort_descending(values, self.order, self.scratch)
        return self.run_greedy(self.order)

    cdef int greedy_on_available(self, const double[::1] values) except -1:
        """The same on the available elements."""
        cdef Py_ssize_t n = self.candidates.shape[0]
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t i
        for i in range(self.order.shape[0]):
            if self.is_available[self.order[i]]:
                self.candidate_order[k] = self.order[i]
                k += 1
        sort_descending(values, self.candidate_order[:n], self.scratch[:n])
        # Back to their places, so that the whole order stays nearly sorted from round to round.
        k = 0
        for i in range(self.order.shape[0]):
            if self.is_available[self.order[i]]:
                self.order[i] = self.candidate_order[k]
                k += 1
        return self.run_greedy(self.candidate_order[:n])

    cdef int choose_found(self) except -1:
        """Play the set that greedy found, sorted by insertion, as long as that is quick."""
        cdef Py_ssize_t moves_left = 16 * self.round_rank
        cdef Py_ssize_t i, j, e
        for i in range(self.round_rank):
            e = self.found[i]
            j = i
            while j > 0 and self.chosen[j - 1] > e:
                self.chosen[j] = self.chosen[j - 1]
                j -= 1
            self.chosen[j] = e
            moves_left -= i - j
            if moves_left < 0:
                for j in range(i + 1, self.round_rank):
                    self.chosen[j] = self.found[j]
                mark_and_list(&self.chosen[0], self.round_rank)
                return 0
        return 0

    cdef int use_symmetry(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes
    ) except -1:
        """Find the bases of the initial rounds by symmetry class, where that is quicker.

        They are the same bases, but fewer elements are tested, and counted.
        """
        if (
            self.min_count == 1
            and n_classes < self.playable.shape[0]
            and not self.oracle.grows_slowly
        ):
            self.initial_rounds = InitialRounds(
                symmetry_class, n_classes, np.asarray(self.playable), self.counts
            )
        return 0

    cdef int initial_round(self) except -1:
        """Choose the greedy basis that prefers elements observed fewer than `min_count` times.

        Of these, elements with fewer pending plays come first (ties: lowest element).
        """
        cdef Py_ssize_t i, e, taken
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t old = self.n_initial
        cdef Py_ssize_t n = self.candidates.shape[0]
        if self.memory is not None:
            # After a restart, a rule may have prepared the oracle for a basis of its own.
            self.is_oracle_used = True
            if self.memory.is_past_initial:
                return self.greedy_after(self.write_forgotten(self.scratch))
        if self.initial_rounds is not None and not self.is_restricted and self.n_pending == 0:
            taken = self.initial_rounds.greedy(self.oracle, self.rank, self.found)
            if taken < self.rank:
                raise too_small(self.matroid, np.asarray(self.found[:taken]).tolist(), self.rank)
            self.greedy_calls += 1
            self.oracle_calls += self.initial_rounds.tested
            return self.choose_found()
        for i in range(n):
            e = self.candidates[i]
            if self.counts[e] < self.min_count:
                self.scratch[new] = e
                new += 1
            else:
                self.scratch[old] = e
                old += 1
        if self.n_pending > 0:
            first = np.asarray(self.scratch[:new])
            first[:] = first[np.argsort(np.asarray(self.pending)[first], kind="stable")]
        self.run_greedy(self.scratch[:n])
        return self.choose_found()

    def greedy_basis(self, const double[::1] values):
        """Greedy by value for policies written in Python: counted, ascending."""
        cdef int before = self.guard.take(True)
        try:
            self.is_oracle_used = True
            self.greedy_on(values)
            return np.sort(self.found[: self.round_rank])
        finally:
            self.guard.give_back(before)

    def is_found(self, const Py_ssize_t[::1] elements):
        """Whether `elements`, ascending, are what greedy found last."""
        return np.array_equal(elements, np.sort(self.found[: self.round_rank]))

    # ---- what users read ----

    def effective_counts(self):
        """Observations by element, as far as they count: discounted, if there is a discount."""
        if self.memory is None:
            return np.array(self.counts, dtype=float)
        return self.memory.effective_counts()

    def earlier_means_copy(self):
        return np.array(self.earlier_means[: self.size])

    def counts_copy(self):
        return np.array(self.counts)

    def means_copy(self):
        """Means so far; NaN where nothing was observed."""
        means = np.array(self.means)
        means[np.asarray(self.counts) == 0] = np.nan
        return means
