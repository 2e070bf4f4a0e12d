"""Elements by rounded feature, in the order of their weights, while lambda grows.

The weight of an element is alpha + lambda * beta: a *line*, which all elements with the rounded
feature (alpha, beta) share. Lines are linked from the heaviest to the lightest. Two neighbors
change places where they cross; a heap has the crossing with the smallest lambda on top. The idea is
in docs/explanation/faster-cucb.md.

Elements of different groups of a partition are in no common circuit and need not be compared: each
group has a *chain* of lines of its own. In other matroids there is one chain.
"""

from libc.math cimport INFINITY

import numpy as np

from matroid_bandits._core.policies.faster_cucb.blocks cimport INSIDE, OUTSIDE, Blocks, doubled


cdef class KineticOrder(Blocks):
    """Lines with blocks of elements, from the heaviest to the lightest in each chain.

    Memory, beyond that of the blocks: 76 bytes per line.
    """

    def __init__(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes, bint has_chain_per_class
    ):
        n_chains = n_classes if has_chain_per_class else 1
        self.has_chain_per_class = has_chain_per_class
        self.top = np.empty(n_chains, dtype=np.int32)
        self.bottom = np.empty(n_chains, dtype=np.int32)
        self.lines = np.zeros(16, dtype=LINE)
        self.heap = np.zeros(16, dtype=np.int32)
        super().__init__(symmetry_class, n_classes)

    # ---- weights ----

    cdef inline double weight(self, double alpha, double beta) noexcept:
        return alpha + self.scale * beta

    cdef inline double weight_of(self, int32_t s) noexcept:
        return self.weight(self.lines[s].alpha, self.lines[s].beta)

    cdef inline bint has_feature(self, int32_t s, double alpha, double beta) noexcept:
        """Whether line s is the line of this feature."""
        return self.lines[s].alpha == alpha and self.lines[s].beta == beta

    cdef inline bint still_fits(self, int32_t s, double mean, double inverse_root) noexcept:
        """Whether an element of line s is still rounded to its feature, if its count has grown."""
        return (
            self.lines[s].low <= mean < self.lines[s].high
            and inverse_root >= self.lines[s].beta
        )

    # ---- elements ----

    cdef void clear(self) noexcept:
        Blocks.clear(self)
        self.top[:] = -1
        self.bottom[:] = -1
        self.free_line = -1
        self.n_lines = 0
        self.heap_length = 0

    cdef int reserve(self) except -1:
        """Get the memory for one more line and three more blocks."""
        if self.n_lines == self.lines.shape[0] and self.free_line < 0:
            self.of_line = doubled(self.of_line.base)
            self.heap = doubled(self.heap.base)
            self.lines = doubled(self.lines.base)
        return Blocks.reserve(self)

    cdef void append(self, int32_t e, const Feature *feature) noexcept:
        """Add e, outside the basis, at the end of its chain; nothing there is lighter than e."""
        cdef int32_t chain = self.symmetry_class[e] if self.has_chain_per_class else 0
        cdef int32_t s = self.bottom[chain]
        if s < 0 or not self.has_feature(s, feature.alpha, feature.beta):
            s = self.new_line(feature, chain, s, -1)
        self.insert(s, e)

    cdef int32_t find_place(self, int32_t s, const Feature *feature, bint down) noexcept:
        """Find where an element of line s belongs with its new feature, going up or down.

        Return the line of that feature if there is one. Otherwise return the first line that the
        element does not pass, or -1 if it passes all lines.
        """
        cdef double weight = self.weight(feature.alpha, feature.beta)
        cdef int32_t end
        s = self.lines[s].below if down else self.lines[s].above
        while s >= 0 and (self.weight_of(s) > weight if down else self.weight_of(s) < weight):
            s = self.lines[s].below if down else self.lines[s].above
        end = s
        while s >= 0 and self.weight_of(s) == weight:
            if self.has_feature(s, feature.alpha, feature.beta):
                return s
            s = self.lines[s].below if down else self.lines[s].above
        return end

    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept:
        """Move e to the place `end` that `find_place` returned. `reserve` comes before."""
        cdef int32_t old = self.line_of(e)
        cdef int32_t chain = self.lines[old].chain
        cdef int32_t s
        self.remove(e)
        self.discard_if_empty(old)
        if end >= 0 and self.has_feature(end, feature.alpha, feature.beta):
            s = end
        elif down:
            s = self.lines[end].above if end >= 0 else self.bottom[chain]
            s = self.new_line(feature, chain, s, end)
        else:
            s = self.lines[end].below if end >= 0 else self.top[chain]
            s = self.new_line(feature, chain, end, s)
        self.insert(s, e)

    # ---- search ----

    cdef int32_t first_proposed(self, int32_t s, int32_t end, bint down) noexcept:
        """The first block that was proposed, from line s, inclusive, to `end`, exclusive; -1 if
        there is none.
        """
        while s != end:
            if self.lines[s].proposed >= 0:
                return self.lines[s].proposed
            s = self.lines[s].below if down else self.lines[s].above
        return -1

    # ---- lines ----

    cdef int32_t new_line(
        self, const Feature *feature, int32_t chain, int32_t above, int32_t below
    ) noexcept:
        """Insert an empty line between two neighbors; -1 is an end of the chain."""
        cdef int32_t s = self.free_line
        cdef Line *line
        if s >= 0:
            self.free_line = self.lines[s].below
        else:
            s = self.n_lines
            self.n_lines += 1
        line = &self.lines[s]
        line.alpha = feature.alpha
        line.beta = feature.beta
        line.low = feature.low
        line.high = feature.high
        line.chain = chain
        self.of_line[s, OUTSIDE] = self.of_line[s, INSIDE] = -1
        line.proposed = -1
        line.crossing = INFINITY
        line.place = self.heap_length
        self.heap[self.heap_length] = s
        self.heap_length += 1
        self.join(chain, above, s)
        self.join(chain, s, below)
        return s

    cdef void discard_if_empty(self, int32_t s) noexcept:
        """Remove line s from its chain if it has no elements."""
        cdef int32_t hole = self.lines[s].place
        cdef int32_t moved
        if self.has(s, OUTSIDE) or self.has(s, INSIDE):
            return
        self.join(self.lines[s].chain, self.lines[s].above, self.lines[s].below)
        self.heap_length -= 1
        moved = self.heap[self.heap_length]
        if moved != s:
            self.heap[hole] = moved
            self.lines[moved].place = hole
            self.sift(hole)
        self.lines[s].below = self.free_line
        self.free_line = s

    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept:
        """Make two lines neighbors; -1 is an end of the chain."""
        if above >= 0:
            self.lines[above].below = below
        else:
            self.top[chain] = below
        if below >= 0:
            self.lines[below].above = above
            self.predict(below)
        else:
            self.bottom[chain] = above

    # ---- lambda grows ----

    cdef void predict(self, int32_t s) noexcept:
        """Compute the lambda at which s overtakes the line above it."""
        self.lines[s].crossing = self.crossing_of(s)
        self.sift(self.lines[s].place)

    cdef double crossing_of(self, int32_t s) noexcept:
        cdef Line *lower = &self.lines[s]
        cdef Line *upper
        if lower.above >= 0:
            upper = &self.lines[lower.above]
            if lower.beta > upper.beta:
                return (upper.alpha - lower.alpha) / (lower.beta - upper.beta)
        return INFINITY

    cdef int32_t next_to_overtake(self, double scale) noexcept:
        """Advance lambda to the next crossing and return the line that overtakes there. If there is
        none up to `scale`, advance to `scale` and return -1.
        """
        cdef int32_t s
        if self.heap_length > 0:
            s = self.heap[0]
            if self.lines[s].crossing <= scale:
                self.scale = max(self.scale, self.lines[s].crossing)
                return s
        self.scale = scale
        return -1

    cdef void overtake(self, int32_t s) noexcept:
        """Swap line s with the line above it."""
        cdef int32_t chain = self.lines[s].chain
        cdef int32_t upper = self.lines[s].above
        cdef int32_t above = self.lines[upper].above
        cdef int32_t below = self.lines[s].below
        self.join(chain, above, s)
        self.join(chain, s, upper)
        self.join(chain, upper, below)

    cdef int32_t rise(self, int32_t s) noexcept:
        """Move the elements of line s that are in the basis above the line above s.

        Return their new line, which has the same feature. The caller moves the other elements.
        `reserve` comes before.
        """
        cdef Line *line = &self.lines[s]
        cdef int32_t upper = line.above
        cdef int32_t target = self.lines[upper].above
        cdef Feature feature
        cdef int32_t b
        if target < 0 or not self.has_feature(target, line.alpha, line.beta):
            feature.alpha = line.alpha
            feature.beta = line.beta
            feature.low = line.low
            feature.high = line.high
            target = self.new_line(&feature, line.chain, target, upper)
        while self.has(s, INSIDE):
            b = self.of_line[s, INSIDE]
            self.detach_block(b, INSIDE)
            self.attach_block(b, target, INSIDE)
        return target

    cdef void sift(self, int32_t i) noexcept:
        """Restore the heap after the crossing of the line at position i has changed."""
        cdef int32_t s = self.heap[i]
        cdef double crossing = self.lines[s].crossing
        cdef int32_t child, other
        while i > 0:
            other = self.heap[(i - 1) // 2]
            if self.lines[other].crossing <= crossing:
                break
            self.heap[i] = other
            self.lines[other].place = i
            i = (i - 1) // 2
        while 2 * i + 1 < self.heap_length:
            child = 2 * i + 1
            if (
                child + 1 < self.heap_length
                and self.lines[self.heap[child + 1]].crossing
                < self.lines[self.heap[child]].crossing
            ):
                child += 1
            other = self.heap[child]
            if self.lines[other].crossing >= crossing:
                break
            self.heap[i] = other
            self.lines[other].place = i
            i = child
        self.heap[i] = s
        self.lines[s].place = i

    # ---- saving ----

    def state(self):
        """Lines from the heaviest to the lightest, chain by chain, and the elements on them.

        The heap is part of it: of equal crossings, it has one on top.
        """
        cdef int32_t s
        cdef Py_ssize_t chain
        numbers, lengths = [], []
        for chain in range(self.top.shape[0]):
            n_before = len(numbers)
            s = self.top[chain]
            while s >= 0:
                numbers.append(s)
                s = self.lines[s].below
            lengths.append(len(numbers) - n_before)
        place = np.zeros(self.n_lines, dtype=np.int32)
        place[numbers] = np.arange(len(numbers))
        lines = self.lines.base[numbers]
        return self.blocks_on(numbers) | {
            "scale": self.scale,
            "features": np.stack([lines[name] for name in FEATURE], axis=1),
            "chain_lengths": np.array(lengths, dtype=np.int32),
            "heap": place[np.asarray(self.heap[: self.heap_length])],
        }

    def restore(self, state):
        """Continue from what `state` returned."""
        cdef int32_t n = len(state["features"])
        cdef int32_t s
        self.clear()
        self.scale = state["scale"]
        self.n_lines = self.heap_length = n
        space = max(16, 2 * n)
        self.of_line = np.full((space, 2), -1, dtype=np.int32)
        self.heap = np.zeros(space, dtype=np.int32)
        np.asarray(self.heap)[:n] = state["heap"]
        lines = np.zeros(space, dtype=LINE)
        for name, column in zip(FEATURE, state["features"].T):
            lines[name][:n] = column
        lengths = state["chain_lengths"]
        ends = np.cumsum(lengths)
        filled = np.flatnonzero(lengths)
        np.asarray(self.top)[filled] = (ends - lengths)[filled]
        np.asarray(self.bottom)[filled] = (ends - 1)[filled]
        lines["chain"][:n] = np.repeat(np.arange(len(lengths)), lengths)
        lines["above"][:n] = np.arange(n) - 1
        lines["above"][(ends - lengths)[filled]] = -1
        lines["below"][:n] = np.arange(n) + 1
        lines["below"][(ends - 1)[filled]] = -1
        lines["place"][state["heap"]] = np.arange(n)
        lines["proposed"] = -1
        self.lines = lines
        for s in range(n):
            self.lines[s].crossing = self.crossing_of(s)
        return self.put_on_lines(state)


FEATURE = ("alpha", "beta", "low", "high")
LINE = np.dtype(
    [
        ("alpha", "f8"),
        ("beta", "f8"),
        ("low", "f8"),
        ("high", "f8"),
        ("crossing", "f8"),
        ("chain", "i4"),
        ("above", "i4"),
        ("below", "i4"),
        ("place", "i4"),
        ("proposed", "i4"),
        ("padding", "i4"),
    ]
)
