"""Elements by rounded feature, in the order of their weights, while lambda grows.

The weight of an element is alpha + lambda * beta, with its mean and 1 / sqrt(count) rounded to
powers, so that few different features are about. Elements of one class (any two may stand in for
one another) with the same feature share a *shelf*. Shelves are linked from the heaviest to the
lightest; two of them change places where their lines cross, and the next such lambda is on top of a
heap. docs/faster-cucb.md tells the idea, and why the rounding loses a factor of 1 + eps at most.

Parts of a matroid that never meet in a circuit need not be compared: each has a *chain* of its own.
"""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, floor, log, pow, sqrt

import numpy as np


cdef double power_below(double value, double step, double log_step) noexcept:
    """The exponent of the largest power of `step` that is at most `value`, which is positive."""
    cdef double exponent = floor(log(value) / log_step)
    # Logarithms are rounded: next to a power it takes a look at the power itself.
    while pow(step, exponent) > value:
        exponent -= 1
    while pow(step, exponent + 1) <= value:
        exponent += 1
    return exponent


cdef class RoundedOrder:
    """Shelves of elements, the heaviest first in each chain.

    Memory: 13 bytes per element, and 84 per shelf.
    """

    def __init__(self, Py_ssize_t size, Py_ssize_t n_chains, double eps):
        # The whole of eps for means. For 1 / sqrt(count) one half of it, the other half being
        # spent where a mean is dropped.
        self.mean_step = 1 + eps
        self.root_step = 1 + eps / 2
        self.log_mean_step = log(self.mean_step)
        self.log_root_step = log(self.root_step)
        # No round after the first ones has a smaller lambda than round 2.
        self.negligible = eps / 2 * sqrt(1.5 * log(2.0))
        self.shelf_of = np.empty(size, dtype=np.int32)
        self.before = np.empty(size, dtype=np.int32)
        self.after = np.empty(size, dtype=np.int32)
        self.side = np.empty(size, dtype=np.uint8)
        self.top = np.empty(n_chains, dtype=np.int32)
        self.bottom = np.empty(n_chains, dtype=np.int32)
        self.shelves = np.zeros(16, dtype=SHELF)
        self.heap = np.zeros(16, dtype=np.int32)
        self.clear()

    # ---- the grid ----

    cdef Feature rounded(self, double mean, double inverse_root) noexcept:
        """The feature of an element, rounded down; near 0 a mean becomes 0."""
        cdef Feature feature
        cdef double exponent, lower, upper, least
        feature.beta = pow(
            self.root_step, power_below(inverse_root, self.root_step, self.log_root_step)
        )
        least = self.negligible * feature.beta
        if -least <= mean < least:
            feature.alpha = 0
            feature.low = -least
            feature.high = least
            return feature
        exponent = power_below(fabs(mean), self.mean_step, self.log_mean_step)
        lower = pow(self.mean_step, exponent)
        upper = pow(self.mean_step, exponent + 1)
        if mean > 0:
            feature.alpha = lower
            feature.low = max(lower, least)
            feature.high = upper
            return feature
        # Down is away from 0 here, and a power is rounded to itself.
        if -mean == lower:
            upper = lower
            lower = pow(self.mean_step, exponent - 1)
        feature.alpha = max(-upper, -DBL_MAX)
        feature.low = feature.alpha
        feature.high = min(-lower, -least)
        return feature

    cdef inline double weight(self, double alpha, double beta) noexcept:
        return alpha + self.scale * beta

    cdef inline double weight_of(self, int32_t s) noexcept:
        return self.weight(self.shelves[s].alpha, self.shelves[s].beta)

    cdef inline bint suits(self, int32_t s, const Feature *feature, int32_t kind) noexcept:
        """Whether shelf s is the one for elements of this feature and class."""
        return (
            self.shelves[s].alpha == feature.alpha
            and self.shelves[s].beta == feature.beta
            and self.shelves[s].kind == kind
        )

    cdef inline bint holds(self, int32_t s, double mean, double inverse_root) noexcept:
        """Whether an element of shelf s is still rounded to its feature."""
        # Counts only grow.
        return (
            self.shelves[s].low <= mean < self.shelves[s].high
            and inverse_root >= self.shelves[s].beta
        )

    # ---- elements ----

    cdef void clear(self) noexcept:
        """Take everything off the shelves."""
        self.shelf_of[:] = -1
        self.before[:] = -1
        self.after[:] = -1
        self.side[:] = OUTSIDE
        self.top[:] = -1
        self.bottom[:] = -1
        self.free_shelf = -1
        self.n_shelves = 0
        self.heap_length = 0

    cdef int reserve(self) except -1:
        """See to it that there is room for one more shelf."""
        cdef Py_ssize_t room = self.shelves.shape[0]
        if self.heap_length < room:
            return 0
        shelves = np.zeros(2 * room, dtype=SHELF)
        heap = np.zeros(2 * room, dtype=np.int32)
        shelves[:room] = self.shelves
        heap[:room] = self.heap
        self.shelves = shelves
        self.heap = heap
        return 0

    cdef void append(self, int32_t e, const Feature *f, int32_t kind, int32_t chain) noexcept:
        """Put e, which is no heavier than anything in its chain, at the end of it, outside."""
        cdef int32_t s = self.bottom[chain]
        if s < 0 or not self.suits(s, f, kind):
            s = self.new_shelf(f, kind, chain, s, -1)
        self.push(s, e)

    cdef int32_t seek(self, int32_t e, const Feature *feature, bint down) noexcept:
        """Go from the shelf of e to where it belongs with its new feature.

        The answer is the first shelf that e does not pass, -1 if it passes all: the one to go to,
        if that exists already, otherwise the one it comes to stand before.
        """
        cdef int32_t s = self.shelf_of[e]
        cdef int32_t kind = self.shelves[s].kind
        cdef double weight = self.weight(feature.alpha, feature.beta)
        cdef int32_t end
        s = self.shelves[s].below if down else self.shelves[s].above
        while s >= 0 and (self.weight_of(s) > weight if down else self.weight_of(s) < weight):
            s = self.shelves[s].below if down else self.shelves[s].above
        end = s
        while s >= 0 and self.weight_of(s) == weight:
            if self.suits(s, feature, kind):
                return s
            s = self.shelves[s].below if down else self.shelves[s].above
        return end

    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept:
        """Move e to where `seek` said; it keeps its side. Needs room for one more shelf."""
        cdef int32_t s = self.shelf_of[e]
        cdef int32_t kind = self.shelves[s].kind
        cdef int32_t chain = self.shelves[s].chain
        self.drop(e)
        if self.shelves[s].first[OUTSIDE] < 0 and self.shelves[s].first[INSIDE] < 0:
            self.discard(s)
        if end >= 0 and self.suits(end, feature, kind):
            s = end
        elif down:
            s = self.shelves[end].above if end >= 0 else self.bottom[chain]
            s = self.new_shelf(feature, kind, chain, s, end)
        else:
            s = self.shelves[end].below if end >= 0 else self.top[chain]
            s = self.new_shelf(feature, kind, chain, end, s)
        self.push(s, e)

    cdef void switch(self, int32_t e) noexcept:
        """From one side of the basis to the other, on the same shelf."""
        cdef int32_t s = self.shelf_of[e]
        self.drop(e)
        self.side[e] = 1 - self.side[e]
        self.push(s, e)

    cdef void push(self, int32_t s, int32_t e) noexcept:
        """Put e last in the list of its side."""
        cdef int side = self.side[e]
        cdef int32_t last = self.shelves[s].last[side]
        self.shelf_of[e] = s
        self.before[e] = last
        self.after[e] = -1
        self.shelves[s].last[side] = e
        if last >= 0:
            self.after[last] = e
        else:
            self.shelves[s].first[side] = e

    cdef void drop(self, int32_t e) noexcept:
        """Take e out of its list."""
        cdef int side = self.side[e]
        cdef int32_t s = self.shelf_of[e]
        cdef int32_t before = self.before[e]
        cdef int32_t after = self.after[e]
        if before >= 0:
            self.after[before] = after
        else:
            self.shelves[s].first[side] = after
        if after >= 0:
            self.before[after] = before
        else:
            self.shelves[s].last[side] = before

    # ---- shelves ----

    cdef int32_t new_shelf(
        self, const Feature *feature, int32_t kind, int32_t chain, int32_t above, int32_t below
    ) noexcept:
        """An empty shelf between `above` and `below`, which are neighbours, or -1 at the ends."""
        cdef int32_t s = self.free_shelf
        cdef Shelf *shelf
        if s >= 0:
            self.free_shelf = self.shelves[s].below
        else:
            s = self.n_shelves
            self.n_shelves += 1
        shelf = &self.shelves[s]
        shelf.alpha = feature.alpha
        shelf.beta = feature.beta
        shelf.low = feature.low
        shelf.high = feature.high
        shelf.kind = kind
        shelf.chain = chain
        shelf.first[OUTSIDE] = shelf.first[INSIDE] = -1
        shelf.last[OUTSIDE] = shelf.last[INSIDE] = -1
        shelf.crossing = INFINITY
        shelf.place = self.heap_length
        self.heap[self.heap_length] = s
        self.heap_length += 1
        self.join(chain, above, s)
        self.join(chain, s, below)
        return s

    cdef void discard(self, int32_t s) noexcept:
        """Take an empty shelf out of its chain."""
        cdef int32_t hole = self.shelves[s].place
        cdef int32_t moved
        self.join(self.shelves[s].chain, self.shelves[s].above, self.shelves[s].below)
        self.heap_length -= 1
        moved = self.heap[self.heap_length]
        if moved != s:
            self.heap[hole] = moved
            self.shelves[moved].place = hole
            self.sift(hole)
        self.shelves[s].below = self.free_shelf
        self.free_shelf = s

    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept:
        """Make two shelves neighbours; -1 stands for an end of the chain."""
        if above >= 0:
            self.shelves[above].below = below
        else:
            self.top[chain] = below
        if below >= 0:
            self.shelves[below].above = above
            self.predict(below)
        else:
            self.bottom[chain] = above

    # ---- lambda grows ----

    cdef void predict(self, int32_t s) noexcept:
        """Work out when s will overtake the shelf above it."""
        cdef Shelf *lower = &self.shelves[s]
        cdef Shelf *upper
        lower.crossing = INFINITY
        if lower.above >= 0:
            upper = &self.shelves[lower.above]
            if lower.beta > upper.beta:
                lower.crossing = (upper.alpha - lower.alpha) / (lower.beta - upper.beta)
        self.sift(lower.place)

    cdef int32_t next_to_overtake(self, double scale) noexcept:
        """Go on to the next crossing: who overtakes there; or to `scale`: then -1."""
        cdef int32_t s
        if self.heap_length > 0:
            s = self.heap[0]
            if self.shelves[s].crossing <= scale:
                self.scale = max(self.scale, self.shelves[s].crossing)
                return s
        self.scale = scale
        return -1

    cdef void overtake(self, int32_t s) noexcept:
        """Exchange s with the shelf above it."""
        cdef int32_t chain = self.shelves[s].chain
        cdef int32_t upper = self.shelves[s].above
        cdef int32_t above = self.shelves[upper].above
        cdef int32_t below = self.shelves[s].below
        self.join(chain, above, s)
        self.join(chain, s, upper)
        self.join(chain, upper, below)

    cdef void sift(self, int32_t i) noexcept:
        """Put the shelf at i of the heap where its crossing belongs."""
        cdef int32_t s = self.heap[i]
        cdef double crossing = self.shelves[s].crossing
        cdef int32_t child, other
        while i > 0:
            other = self.heap[(i - 1) // 2]
            if self.shelves[other].crossing <= crossing:
                break
            self.heap[i] = other
            self.shelves[other].place = i
            i = (i - 1) // 2
        while 2 * i + 1 < self.heap_length:
            child = 2 * i + 1
            if (
                child + 1 < self.heap_length
                and self.shelves[self.heap[child + 1]].crossing
                < self.shelves[self.heap[child]].crossing
            ):
                child += 1
            other = self.heap[child]
            if self.shelves[other].crossing >= crossing:
                break
            self.heap[i] = other
            self.shelves[other].place = i
            i = child
        self.heap[i] = s
        self.shelves[s].place = i

    # ---- saving ----

    def state(self):
        """Everything, to be given to `restore` of an order of the same shape."""
        return {
            "scale": self.scale,
            "shelves": np.array(self.shelves[: self.n_shelves]),
            "free_shelf": self.free_shelf,
            "top": np.array(self.top),
            "bottom": np.array(self.bottom),
            "shelf_of": np.array(self.shelf_of),
            "before": np.array(self.before),
            "after": np.array(self.after),
            "side": np.array(self.side),
            "heap": np.array(self.heap[: self.heap_length]),
        }

    def restore(self, state):
        """Take over what `state` returned."""
        self.scale = state["scale"]
        self.free_shelf = state["free_shelf"]
        self.n_shelves = len(state["shelves"])
        self.heap_length = len(state["heap"])
        self.shelves = np.zeros(max(16, self.n_shelves), dtype=SHELF)
        self.heap = np.zeros(max(16, self.n_shelves), dtype=np.int32)
        np.asarray(self.shelves)[: self.n_shelves] = state["shelves"]
        np.asarray(self.heap)[: self.heap_length] = state["heap"]
        np.asarray(self.top)[:] = state["top"]
        np.asarray(self.bottom)[:] = state["bottom"]
        np.asarray(self.shelf_of)[:] = state["shelf_of"]
        np.asarray(self.before)[:] = state["before"]
        np.asarray(self.after)[:] = state["after"]
        np.asarray(self.side)[:] = state["side"]


SHELF = np.dtype(
    [
        ("alpha", "f8"),
        ("beta", "f8"),
        ("low", "f8"),
        ("high", "f8"),
        ("crossing", "f8"),
        ("kind", "i4"),
        ("chain", "i4"),
        ("above", "i4"),
        ("below", "i4"),
        ("place", "i4"),
        ("first", "i4", 2),
        ("last", "i4", 2),
    ],
    align=True,
)
