"""A sliding window: the observations of the last rounds."""

import numpy as np

# The array of a memoryview of these is its `base`: `np.asarray` works out the type in Python, and
# turns Ctrl-C there into another error.
KEPT = np.dtype(
    [("reward", "f8"), ("element", "i4"), ("next", "i4"), ("credit", "u1")], align=True
)


cdef class Window(Memory):
    """The observations of the last `length` rounds, in memory that grows with their number."""

    def __init__(self, Py_ssize_t size, Py_ssize_t length):
        super().__init__(size)
        self.length = self.longest_time = length
        self.kept = np.zeros(0, dtype=KEPT)
        self.free = -1
        self.first = np.full(4, -1, dtype=np.int32)
        self.last = np.full(4, -1, dtype=np.int32)
        self.n_of_round = np.zeros(4, dtype=np.intp)
        self.sums = np.zeros(size)
        self.errors = np.zeros(size)
        self.has_lost = np.zeros(size, dtype=np.uint8)

    def __reduce__(self):
        return type(self), (self.size, self.length)

    # ---- memory ----

    cdef Py_ssize_t slot(self, Py_ssize_t round) noexcept:
        return round & (self.first.shape[0] - 1)

    cdef int reserve(self, Py_ssize_t n, Py_ssize_t rounds) except -1:
        # The present round, and the one after it, besides those in the window.
        cdef Py_ssize_t wanted = min(self.length, rounds) + 2
        if wanted > self.first.shape[0]:
            self.grow_rounds(wanted, rounds)
        if n > self.n_free:
            self.grow_kept(n)
        return 0

    cdef int grow_rounds(self, Py_ssize_t wanted, Py_ssize_t rounds) except -1:
        cdef Py_ssize_t length = 2 * self.first.shape[0]
        cdef Py_ssize_t round, old
        while length < wanted:
            length *= 2
        first = np.full(length, -1, dtype=np.int32)
        last = np.full(length, -1, dtype=np.int32)
        counts = np.zeros(length, dtype=np.intp)
        for round in range(max(1, rounds - self.length + 1), rounds + 2):
            old = self.slot(round)
            first[round & (length - 1)] = self.first[old]
            last[round & (length - 1)] = self.last[old]
            counts[round & (length - 1)] = self.n_of_round[old]
        self.first, self.last, self.n_of_round = first, last, counts
        return 0

    cdef int grow_kept(self, Py_ssize_t wanted) except -1:
        cdef Py_ssize_t length = self.kept.shape[0]
        cdef Py_ssize_t more = max(wanted, length, 16)
        cdef Py_ssize_t i
        kept = np.zeros(length + more, dtype=KEPT)
        kept[:length] = self.kept.base
        self.kept = kept
        for i in range(length + more - 1, length - 1, -1):
            self.kept[i].next = self.free
            self.free = <int32_t>i
        self.n_free += more
        return 0

    # ---- observations ----

    cdef bint accepts(self, Py_ssize_t e, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        return round > rounds - self.length

    cdef void begin(self, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        self.round = round

    cdef void add(self, Py_ssize_t e, double reward) noexcept:
        cdef unsigned char credit = 0 if self.index is None else self.index.credit
        self.place(e, reward, credit, self.round)
        self.add_to_sum(e, reward)
        self.new_count = self.counts[e] + 1
        if self.has_lost[e]:
            self.new_mean = (self.sums[e] + self.errors[e]) / self.new_count
        else:
            # As without a window, bit for bit.
            self.new_mean = (self.counts[e] * self.means[e] + reward) / (self.counts[e] + 1)

    cdef void place(
        self, Py_ssize_t e, double reward, unsigned char credit, Py_ssize_t round
    ) noexcept:
        """Append an observation to those of its round."""
        cdef int32_t i = self.free
        cdef Py_ssize_t slot = self.slot(round)
        self.free = self.kept[i].next
        self.n_free -= 1
        self.kept[i].reward = reward
        self.kept[i].element = <int32_t>e
        self.kept[i].credit = credit
        self.kept[i].next = -1
        if self.first[slot] < 0:
            self.first[slot] = i
        else:
            self.kept[self.last[slot]].next = i
        self.last[slot] = i
        self.n_of_round[slot] += 1

    cdef void add_to_sum(self, Py_ssize_t e, double reward) noexcept:
        """Add to the sum, and what rounding has cut off to the error (Knuth's TwoSum)."""
        cdef double total = self.sums[e] + reward
        cdef double part = total - self.sums[e]
        self.errors[e] += (self.sums[e] - (total - part)) + (reward - part)
        self.sums[e] = total

    # ---- the end of a round ----

    cdef Py_ssize_t n_expiring(self, Py_ssize_t rounds) noexcept:
        cdef Py_ssize_t round = rounds + 1 - self.length
        return self.n_of_round[self.slot(round)] if round >= 1 else 0

    cdef Py_ssize_t remove(self, Py_ssize_t rounds) noexcept:
        cdef Py_ssize_t round = rounds - self.length
        cdef Py_ssize_t slot, e
        cdef int32_t i
        if round < 1:
            return -1
        slot = self.slot(round)
        i = self.first[slot]
        if i < 0:
            return -1
        self.first[slot] = self.kept[i].next
        self.n_of_round[slot] -= 1
        e = self.kept[i].element
        self.new_count = self.counts[e] - 1
        if self.new_count == 0:
            self.sums[e] = self.errors[e] = self.new_mean = 0.0
            self.has_lost[e] = False
        else:
            self.add_to_sum(e, -self.kept[i].reward)
            self.has_lost[e] = True
            self.new_mean = (self.sums[e] + self.errors[e]) / self.new_count
        if self.index is not None:
            self.index.unobserve(e, self.kept[i].reward, self.kept[i].credit, self.new_mean)
        self.kept[i].next = self.free
        self.free = i
        self.n_free += 1
        return e

    # ---- saving ----

    def observations(self, Py_ssize_t rounds):
        """Rounds, elements, rewards and credits of what is in the window, by round."""
        found = []
        cdef Py_ssize_t round
        cdef int32_t i
        for round in range(max(1, rounds - self.length + 1), rounds + 2):
            i = self.first[self.slot(round)]
            while i >= 0:
                kept = self.kept[i]
                found.append((round, kept.element, kept.reward, kept.credit))
                i = kept.next
        table = np.array(
            found, dtype=[("round", "i8"), ("element", "i4"), ("reward", "f8"), ("credit", "u1")]
        )
        return {name: np.ascontiguousarray(table[name]) for name in table.dtype.names}

    def state(self, Py_ssize_t rounds):
        return super().state(rounds) | self.observations(rounds) | {
            "sums": np.array(self.sums),
            "errors": np.array(self.errors),
            "has_lost": np.array(self.has_lost),
        }

    def restore(self, state, rounds):
        super().restore(state, rounds)
        self.reserve(len(state["round"]), rounds)
        rows = zip(
            state["element"].tolist(),
            state["reward"].tolist(),
            state["credit"].tolist(),
            state["round"].tolist(),
        )
        for e, reward, credit, round in rows:
            self.place(e, reward, credit, round)
        np.asarray(self.sums)[:] = state["sums"]
        np.asarray(self.errors)[:] = state["errors"]
        np.asarray(self.has_lost)[:] = state["has_lost"]
