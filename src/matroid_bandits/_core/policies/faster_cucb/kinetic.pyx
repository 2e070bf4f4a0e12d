"""Elements by rounded feature, in the order of their weights, while lambda grows.

The weight of an element is alpha + lambda * beta. All elements with one rounded feature (alpha,
beta) share a *shelf*. Shelves are linked from the heaviest to the lightest; two of them change
places where their lines cross, and the next such lambda is on top of a heap. docs/faster-cucb.md
tells the idea.

Parts of a matroid that never meet in a circuit need not be compared: each has a *chain* of its own.
"""

from libc.math cimport INFINITY

import numpy as np

from matroid_bandits._core.policies.faster_cucb.boxes cimport INSIDE, OUTSIDE, Boxes, with_room


cdef class KineticOrder(Boxes):
    """Shelves with boxes of elements, the heaviest first in each chain.

    Memory, beyond that of the boxes: 76 bytes per shelf.
    """

    def __init__(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes, bint has_chain_per_class
    ):
        n_chains = n_classes if has_chain_per_class else 1
        self.has_chain_per_class = has_chain_per_class
        self.top = np.empty(n_chains, dtype=np.int32)
        self.bottom = np.empty(n_chains, dtype=np.int32)
        self.shelves = np.zeros(16, dtype=SHELF)
        self.heap = np.zeros(16, dtype=np.int32)
        super().__init__(symmetry_class, n_classes)

    # ---- questions ----

    cdef inline double weight(self, double alpha, double beta) noexcept:
        return alpha + self.scale * beta

    cdef inline double weight_of(self, int32_t s) noexcept:
        return self.weight(self.shelves[s].alpha, self.shelves[s].beta)

    cdef inline bint suits(self, int32_t s, double alpha, double beta) noexcept:
        """Whether shelf s is one for this feature."""
        return self.shelves[s].alpha == alpha and self.shelves[s].beta == beta

    cdef inline bint holds(self, int32_t s, double mean, double inverse_root) noexcept:
        """Whether an element of shelf s is still rounded to its feature."""
        # Counts only grow.
        return (
            self.shelves[s].low <= mean < self.shelves[s].high
            and inverse_root >= self.shelves[s].beta
        )

    # ---- elements ----

    cdef void clear(self) noexcept:
        Boxes.clear(self)
        self.top[:] = -1
        self.bottom[:] = -1
        self.free_shelf = -1
        self.n_shelves = 0
        self.heap_length = 0

    cdef int reserve(self) except -1:
        """See to it that there is room for one more shelf and three more boxes."""
        if self.n_shelves == self.shelves.shape[0] and self.free_shelf < 0:
            self.on_shelf = with_room(np.asarray(self.on_shelf))
            self.heap = with_room(np.asarray(self.heap))
            self.shelves = with_room(np.asarray(self.shelves))
        return Boxes.reserve(self)

    cdef void append(self, int32_t e, const Feature *feature) noexcept:
        """Put e, which is no heavier than anything in its chain, at the end of it, outside."""
        cdef int32_t chain = self.symmetry_class[e] if self.has_chain_per_class else 0
        cdef int32_t s = self.bottom[chain]
        if s < 0 or not self.suits(s, feature.alpha, feature.beta):
            s = self.new_shelf(feature, chain, s, -1)
        self.put(s, e)

    cdef int32_t seek(self, int32_t s, const Feature *feature, bint down) noexcept:
        """Go from shelf s to where an element of it belongs with its new feature.

        The answer is the first shelf that it does not pass, -1 if it passes all: the one to go to,
        if that exists already, otherwise the one it comes to stand before.
        """
        cdef double weight = self.weight(feature.alpha, feature.beta)
        cdef int32_t end
        s = self.shelves[s].below if down else self.shelves[s].above
        while s >= 0 and (self.weight_of(s) > weight if down else self.weight_of(s) < weight):
            s = self.shelves[s].below if down else self.shelves[s].above
        end = s
        while s >= 0 and self.weight_of(s) == weight:
            if self.suits(s, feature.alpha, feature.beta):
                return s
            s = self.shelves[s].below if down else self.shelves[s].above
        return end

    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept:
        """Move e to where `seek` said; it keeps its side. Needs room."""
        cdef int32_t old = self.shelf_of(e)
        cdef int32_t chain = self.shelves[old].chain
        cdef int32_t s
        self.take(e)
        self.discard_if_empty(old)
        if end >= 0 and self.suits(end, feature.alpha, feature.beta):
            s = end
        elif down:
            s = self.shelves[end].above if end >= 0 else self.bottom[chain]
            s = self.new_shelf(feature, chain, s, end)
        else:
            s = self.shelves[end].below if end >= 0 else self.top[chain]
            s = self.new_shelf(feature, chain, end, s)
        self.put(s, e)

    # ---- shelves ----

    cdef int32_t new_shelf(
        self, const Feature *feature, int32_t chain, int32_t above, int32_t below
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
        shelf.chain = chain
        self.on_shelf[s, OUTSIDE] = self.on_shelf[s, INSIDE] = -1
        shelf.crossing = INFINITY
        shelf.place = self.heap_length
        self.heap[self.heap_length] = s
        self.heap_length += 1
        self.join(chain, above, s)
        self.join(chain, s, below)
        return s

    cdef void discard_if_empty(self, int32_t s) noexcept:
        """Take shelf s out of its chain if nothing is on it."""
        cdef int32_t hole = self.shelves[s].place
        cdef int32_t moved
        if self.has(s, OUTSIDE) or self.has(s, INSIDE):
            return
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

    cdef int32_t rise(self, int32_t s) noexcept:
        """Put what s has inside the basis onto a shelf of the same feature above the next one.

        That shelf is the answer; the rest is for the caller to move. Needs room.
        """
        cdef Shelf *shelf = &self.shelves[s]
        cdef int32_t upper = shelf.above
        cdef int32_t target = self.shelves[upper].above
        cdef Feature feature
        cdef int32_t b
        if target < 0 or not self.suits(target, shelf.alpha, shelf.beta):
            feature.alpha = shelf.alpha
            feature.beta = shelf.beta
            feature.low = shelf.low
            feature.high = shelf.high
            target = self.new_shelf(&feature, shelf.chain, target, upper)
        while self.has(s, INSIDE):
            b = self.on_shelf[s, INSIDE]
            self.take_box(b, INSIDE)
            self.put_box(b, target, INSIDE)
        return target

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
        return super().state() | {
            "scale": self.scale,
            "shelves": np.array(self.shelves[: self.n_shelves]),
            "free_shelf": self.free_shelf,
            "heap": np.array(self.heap[: self.heap_length]),
            "top": np.array(self.top),
            "bottom": np.array(self.bottom),
        }

    def restore(self, state):
        super().restore(state)
        self.scale = state["scale"]
        self.free_shelf = state["free_shelf"]
        self.n_shelves = len(state["shelves"])
        self.heap_length = len(state["heap"])
        # As long as `on_shelf`.
        self.shelves = np.zeros(self.on_shelf.shape[0], dtype=SHELF)
        self.heap = np.zeros(self.on_shelf.shape[0], dtype=np.int32)
        np.asarray(self.shelves)[: self.n_shelves] = state["shelves"]
        np.asarray(self.heap)[: self.heap_length] = state["heap"]
        np.asarray(self.top)[:] = state["top"]
        np.asarray(self.bottom)[:] = state["bottom"]


SHELF = np.dtype(
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
    ]
)
