"""Restarts: a generalized likelihood ratio test (GLR) finds out whether a mean has changed.

The test compares the rewards before a split with those after it. Rewards are kept in blocks whose
sizes are powers of two, at most three of each size, so that the splits between blocks are close to
each other in the recent past and further apart before: O(log N) of them for N rewards.
"""

import numpy as np

from libc.math cimport log, sqrt
from libc.stdint cimport int64_t

from matroid_bandits._core.identification.bernoulli cimport divergence
from matroid_bandits._core.indices.base cimport IndexKernel

cdef enum:
    MAX_BLOCKS = 3  # of each size
    FEW = 100


cdef class Restart(Memory):
    """All observations since the last restart."""

    def __init__(
        self, Py_ssize_t size, double delta, Py_ssize_t period, bint restarts_all, double noise
    ):
        super().__init__(size)
        self.accepts_statistics = True
        self.delta = delta
        self.period = period
        self.restarts_all = restarts_all
        self.noise = noise
        self.n_levels = 4
        self.sums = np.zeros((size, 4, MAX_BLOCKS + 1))
        self.n_blocks = np.zeros((size, 4), dtype=np.uint8)
        self.element_restarted_at = np.zeros(size, dtype=np.intp)
        self.changed = np.zeros(size, dtype=np.intp)
        self.is_changed = np.zeros(size, dtype=np.uint8)

    def __reduce__(self):
        arguments = self.size, self.delta, self.period, self.restarts_all, self.noise
        return type(self), arguments

    cdef int attach(
        self, IndexKernel index, const int64_t[::1] counts, const double[::1] means,
        Py_ssize_t n_playable
    ) except -1:
        Memory.attach(self, index, counts, means, n_playable)
        self.log_elements = log(<double>max(1, n_playable))
        return 0

    cdef int reserve(self, Py_ssize_t n, Py_ssize_t rounds) except -1:
        # At most one observation of each element comes at a time.
        return self.grow_levels(self.largest_count + 2)

    cdef int grow_levels(self, int64_t count) except -1:
        """Make room for so many rewards of an element. The first block of 2 ** level rewards is
        made when there are at least twice as many.
        """
        cdef Py_ssize_t levels = self.n_levels
        if count < (<int64_t>1 << levels):
            return 0
        while count >= (<int64_t>1 << (levels + 2)):
            levels += 1
        sums = np.zeros((self.size, levels + 2, MAX_BLOCKS + 1))
        sums[:, : self.n_levels] = self.sums
        counts = np.zeros((self.size, levels + 2), dtype=np.uint8)
        counts[:, : self.n_levels] = self.n_blocks
        self.sums, self.n_blocks, self.n_levels = sums, counts, levels + 2
        return 0

    # ---- observations ----

    cdef bint accepts(self, Py_ssize_t e, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        return round > self.restarted_at and round > self.element_restarted_at[e]

    cdef void add(self, Py_ssize_t e, double reward) noexcept:
        self.new_count = self.counts[e] + 1
        self.new_mean = (self.counts[e] * self.means[e] + reward) / (self.counts[e] + 1)
        self.largest_count = max(self.largest_count, self.new_count)
        self.append(e, reward)
        if self.has_changed(e) and not self.is_changed[e]:
            self.changed[self.n_changed] = e
            self.is_changed[e] = True
            self.n_changed += 1

    cdef int add_many(self, Py_ssize_t e, double mean, int64_t count) except -1:
        """As if all rewards had been the mean."""
        cdef int64_t _
        self.new_count = self.counts[e] + count
        self.new_mean = mean
        if self.counts[e] > 0:
            self.new_mean = (self.counts[e] * self.means[e] + count * mean) / self.new_count
        self.largest_count = max(self.largest_count, self.new_count)
        self.grow_levels(self.largest_count + 2)
        if count <= FEW:
            for _ in range(count):
                self.append(e, mean)
        else:
            self.append_many(e, mean, count)
        return 0

    cdef int append_many(self, Py_ssize_t e, double mean, int64_t count) except -1:
        """The same blocks in a few steps. On each level the oldest blocks are merged two by two
        until two or three are left; all that are merged from new ones are equal.
        """
        cdef Py_ssize_t level = 0
        new = []  # from the level below, the oldest first; then `count` blocks of `value`
        value = mean
        while new or count > 0:
            blocks = [self.sums[e, level, i] for i in range(self.n_blocks[e, level])] + new
            n_merges = max(0, (len(blocks) + count - 2) // 2) if len(blocks) + count > 3 else 0
            # Those that are not all of equal blocks are merged one by one.
            while count > 0 and len(blocks) < 8:
                blocks.append(value)
                count -= 1
            n_listed = min(n_merges, len(blocks) // 2)
            new = [blocks[2 * i] + blocks[2 * i + 1] for i in range(n_listed)]
            rest = blocks[2 * n_listed :]
            n_merges -= len(new)
            if n_merges > 0 and len(rest) % 2:
                rest.append(value)
                count -= 1
            # What is left of the listed ones comes before the equal ones.
            while n_merges > 0 and rest:
                new.append(rest.pop(0) + rest.pop(0))
                n_merges -= 1
            count -= 2 * n_merges
            rest += [value] * count
            self.n_blocks[e, level] = len(rest)
            for i, block in enumerate(rest):
                self.sums[e, level, i] = block
            value, count = 2 * value, n_merges
            level += 1
        return 0

    cdef void append(self, Py_ssize_t e, double reward) noexcept:
        """Append a block of one reward; merge the two oldest of a size where there are too many."""
        cdef Py_ssize_t level = 0
        cdef double *blocks = &self.sums[e, 0, 0]
        while True:
            blocks[self.n_blocks[e, level]] = reward
            self.n_blocks[e, level] += 1
            if self.n_blocks[e, level] <= MAX_BLOCKS:
                return
            reward = blocks[0] + blocks[1]
            blocks[0] = blocks[2]
            blocks[1] = blocks[3]
            self.n_blocks[e, level] = 2
            level += 1
            blocks += MAX_BLOCKS + 1

    # ---- the test ----

    cdef double statistic(self, Py_ssize_t e, double limit) noexcept:
        """The largest likelihood ratio of all splits, if it is above `limit`; else any number up to
        that.
        """
        cdef double total = 0.0
        cdef double count = 0.0
        cdef double largest = 0.0
        cdef double before = 0.0
        cdef double n_before = 0.0
        cdef double value, mean, mean_before, mean_after, n_after, difference, skipped, size
        cdef Py_ssize_t level, i
        cdef bint is_gaussian = self.noise > 0
        for level in range(self.n_levels - 1, -1, -1):
            size = <double>(<Py_ssize_t>1 << level)
            for i in range(self.n_blocks[e, level]):
                total += self.sums[e, level, i]
                count += size
        mean = total / count
        # Most splits are far below the limit, which is found without a division or a logarithm: the
        # divergence kl(p, q) is at most (p - q)^2 / (q (1 - q)).
        skipped = 2 * self.noise * self.noise if is_gaussian else mean * (1 - mean)
        if not is_gaussian and skipped <= 0:
            return 0.0
        skipped *= 0.99 * limit * count
        for level in range(self.n_levels - 1, -1, -1):
            size = <double>(<Py_ssize_t>1 << level)
            for i in range(self.n_blocks[e, level]):
                before += self.sums[e, level, i]
                n_before += size
                n_after = count - n_before
                # The difference of the two means, times n_before * n_after.
                difference = before * count - total * n_before
                if difference * difference <= skipped * n_before * n_after:
                    continue
                if n_after == 0:
                    break
                mean_before = before / n_before
                mean_after = (total - before) / n_after
                if is_gaussian:
                    value = n_before * n_after / count * (
                        (mean_before - mean_after) * (mean_before - mean_after)
                    ) / (2 * self.noise * self.noise)
                else:
                    value = n_before * divergence(mean_before, mean)
                    value += n_after * divergence(mean_after, mean)
                largest = max(largest, value)
        return largest

    cdef bint has_changed(self, Py_ssize_t e) noexcept:
        cdef double count = <double>self.new_count
        cdef double threshold
        if count < 2:
            return False
        # [ZWVL20], with one test for each element
        threshold = log(3.0) + 1.5 * log(count) + self.log_elements - log(self.delta)
        return self.statistic(e, threshold) > threshold

    # ---- when a round begins ----

    cdef bint is_due(self, Py_ssize_t rounds) noexcept:
        return self.n_changed > 0

    cdef object forget(self, Py_ssize_t rounds):
        """The elements whose mean has changed, in the order in which that was found; or all."""
        changed = np.array(self.changed[: self.n_changed])
        self.is_changed[:] = False
        self.n_changed = 0
        self.n_restarts += 1
        if self.restarts_all:
            self.restarted_at = rounds
            self.is_past_initial = False
            self.clear_queue()
            changed = np.arange(self.size)
        np.asarray(self.element_restarted_at)[changed] = rounds
        np.asarray(self.n_blocks)[changed] = 0
        return changed

    cdef Py_ssize_t forced_place(self, Py_ssize_t time, Py_ssize_t n) noexcept:
        cdef Py_ssize_t number
        if self.period > 0:
            number = time // self.period
            return (number - 1) % n if time % self.period == 0 else -1
        # As often as the square root of the time grows, as [ZWVL20] does for a known horizon.
        number = <Py_ssize_t>(sqrt(<double>time) / 3 + 0.5)
        return (number - 1) % n if number > 0 and 9 * number * number == time else -1

    # ---- for users, and saving ----

    def splits(self):
        """All splits of the test: elements, means of the rewards before, and how many these are."""
        n_blocks = np.asarray(self.n_blocks).sum(axis=1, dtype=np.intp)
        # A split is after each block of an element but the last one.
        n_splits = np.maximum(n_blocks - 1, 0)
        means = np.zeros(n_splits.sum())
        n_before = np.zeros(len(means), dtype=np.int64)
        cdef const Py_ssize_t[::1] splits = n_splits
        cdef double[::1] written_means = means
        cdef int64_t[::1] written_counts = n_before
        cdef Py_ssize_t e, level, i, left
        cdef Py_ssize_t place = 0
        cdef double total
        cdef int64_t count
        for e in range(self.size):
            total, count, left = 0.0, 0, splits[e]
            for level in range(self.n_levels - 1, -1, -1):
                for i in range(min(left, <Py_ssize_t>self.n_blocks[e, level])):
                    total += self.sums[e, level, i]
                    count += <int64_t>1 << level
                    written_means[place] = total / count
                    written_counts[place] = count
                    place += 1
                    left -= 1
        return np.repeat(np.arange(self.size), n_splits), means, n_before

    def state(self, Py_ssize_t rounds):
        return super().state(rounds) | {
            "sums": np.array(self.sums),
            "n_blocks": np.array(self.n_blocks),
            "element_restarted_at": np.array(self.element_restarted_at),
            "changed": np.array(self.changed[: self.n_changed]),
            "n_restarts": self.n_restarts,
        }

    def restore(self, state, rounds):
        super().restore(state, rounds)
        self.n_levels = state["sums"].shape[1]
        self.sums = state["sums"].copy()
        self.n_blocks = state["n_blocks"].copy()
        np.asarray(self.element_restarted_at)[:] = state["element_restarted_at"]
        self.n_changed = len(state["changed"])
        np.asarray(self.changed)[: self.n_changed] = state["changed"]
        np.asarray(self.is_changed)[state["changed"]] = True
        self.n_restarts = state["n_restarts"]
        self.largest_count = np.asarray(self.counts).max(initial=0)
