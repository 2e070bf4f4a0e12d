"""Elements of equal prospects, sorted, so that the best of very many is found at once.

Elements of one class (any two may stand in for one another) that have been observed equally often
differ in nothing but their means. Whatever the time, the one with the highest mean has the highest
index; so it is enough to look at the top of each such shelf. docs/rounds.md tells the idea.
"""

import numpy as np

# An element and the priority of its node: a hash, so that trees come out balanced whatever the
# order of arrival, and the same in every run.
cdef inline unsigned int priority(int32_t e) noexcept:
    cdef unsigned int h = <unsigned int>e
    h = (h ^ (h >> 16)) * <unsigned int>0x7FEB352D
    h = (h ^ (h >> 15)) * <unsigned int>0x846CA68B
    return h ^ (h >> 16)


cdef inline bint is_below(Node *nodes, int32_t a, double mean, int32_t e) noexcept:
    """Whether node `a` comes before (mean, e): its mean is lower, or equal and its number higher."""
    return nodes[a].mean < mean or (nodes[a].mean == mean and a > e)


cdef class Shelves:
    """Shelves by class and count; each is a treap by (mean, -element).

    Memory: 20 bytes per element and 40 per shelf, of which there are never more than elements.
    """

    def __init__(self, const int32_t[::1] class_of, Py_ssize_t n_classes):
        self.class_of = class_of
        self.nodes = np.zeros(
            class_of.shape[0],
            dtype=np.dtype([("mean", "f8"), ("lower", "i4"), ("higher", "i4")], align=True),
        )
        self.shelf_of = np.full(class_of.shape[0], -1, dtype=np.int32)
        self.first = np.full(n_classes, -1, dtype=np.int32)
        # Memory that is not touched is not used: only as many shelves as are ever in use cost any.
        self.shelves = np.zeros(class_of.shape[0], dtype=SHELF)
        self.clear()

    cdef void clear(self) noexcept:
        """Take everything off the shelves."""
        self.shelf_of[:] = -1
        self.first[:] = -1
        self.free = -1
        self.n_used = 0

    cdef int32_t new_shelf(self) noexcept:
        cdef int32_t s = self.free
        if s >= 0:
            self.free = self.shelves[s].next
        else:
            s = self.n_used
            self.n_used += 1
        return s

    cdef void put(self, Py_ssize_t element, double mean, int64_t count, double inverse_root) noexcept:
        """Put an element on the shelf of its class and count."""
        cdef int32_t e = <int32_t>element
        cdef Node *nodes = &self.nodes[0]
        cdef int32_t *place = &self.first[self.class_of[e]]
        cdef int32_t *low
        cdef int32_t *high
        cdef int32_t node
        cdef unsigned int mine = priority(e)
        cdef int32_t s
        while place[0] >= 0 and self.shelves[place[0]].count < count:
            place = &self.shelves[place[0]].next
        s = place[0]
        if s < 0 or self.shelves[s].count != count:
            s = self.new_shelf()
            self.shelves[s].next = place[0]
            place[0] = s
            self.shelves[s].count = count
            self.shelves[s].inverse_root = inverse_root
            self.shelves[s].root = -1
            self.shelves[s].length = 0
        nodes[e].mean = mean
        if self.shelves[s].length == 0 or is_below(nodes, self.shelves[s].top, mean, e):
            self.shelves[s].mean = mean
            self.shelves[s].top = e
        self.shelves[s].length += 1
        self.shelf_of[e] = s
        # Down to where the priority says, then split what is there by the new node.
        place = &self.shelves[s].root
        while place[0] >= 0 and priority(place[0]) > mine:
            node = place[0]
            place = &nodes[node].higher if is_below(nodes, node, mean, e) else &nodes[node].lower
        node = place[0]
        place[0] = e
        low = &nodes[e].lower
        high = &nodes[e].higher
        while node >= 0:
            if is_below(nodes, node, mean, e):
                low[0] = node
                low = &nodes[node].higher
                node = low[0]
            else:
                high[0] = node
                high = &nodes[node].lower
                node = high[0]
        low[0] = -1
        high[0] = -1

    cdef void take(self, Py_ssize_t element) noexcept:
        """Take an element off its shelf."""
        cdef int32_t e = <int32_t>element
        cdef int32_t s = self.shelf_of[e]
        cdef Node *nodes = &self.nodes[0]
        cdef double mean = nodes[e].mean
        cdef int32_t *place = &self.shelves[s].root
        cdef int32_t a, b
        while place[0] != e:
            a = place[0]
            place = &nodes[a].higher if is_below(nodes, a, mean, e) else &nodes[a].lower
        a = nodes[e].lower
        b = nodes[e].higher
        while a >= 0 and b >= 0:
            if priority(a) > priority(b):
                place[0] = a
                place = &nodes[a].higher
                a = place[0]
            else:
                place[0] = b
                place = &nodes[b].lower
                b = place[0]
        place[0] = a if a >= 0 else b
        self.shelf_of[e] = -1
        self.shelves[s].length -= 1
        if self.shelves[s].length == 0:
            place = &self.first[self.class_of[e]]
            while place[0] != s:
                place = &self.shelves[place[0]].next
            place[0] = self.shelves[s].next
            self.shelves[s].next = self.free
            self.free = s
        elif self.shelves[s].top == e:
            a = self.shelves[s].root
            while nodes[a].higher >= 0:
                a = nodes[a].higher
            self.shelves[s].top = a
            self.shelves[s].mean = nodes[a].mean

    cdef bint is_alone(self, Py_ssize_t e) noexcept:
        """Whether `e` has a shelf of its own, and none of the next higher count beside it."""
        cdef int32_t s = self.shelf_of[e]
        cdef int32_t neighbour = self.shelves[s].next
        return self.shelves[s].length == 1 and (
            neighbour < 0 or self.shelves[neighbour].count != self.shelves[s].count + 1
        )

    cdef void relabel(self, Py_ssize_t e, double mean, double inverse_root) noexcept:
        """One more observation of an element that is alone: its shelf is its own, moved on."""
        cdef int32_t s = self.shelf_of[e]
        self.nodes[e].mean = mean
        self.shelves[s].mean = mean
        self.shelves[s].count += 1
        self.shelves[s].inverse_root = inverse_root

    cdef int32_t best(self, Py_ssize_t c) noexcept:
        """The element of class `c` with the highest mean (ties: lowest element), -1 if none."""
        cdef int32_t s = self.first[c]
        cdef int32_t e = -1
        cdef double mean = 0.0
        while s >= 0:
            if e < 0 or self.shelves[s].mean > mean or (
                self.shelves[s].mean == mean and self.shelves[s].top < e
            ):
                e = self.shelves[s].top
                mean = self.shelves[s].mean
            s = self.shelves[s].next
        return e

    cdef int32_t below(self, int32_t shelf, double mean) noexcept:
        """The element of the next lower mean (ties: lowest element), -1 if there is none."""
        cdef int32_t node = self.shelves[shelf].root
        cdef int32_t found = -1
        while node >= 0:
            if self.nodes[node].mean < mean:
                found = node
                node = self.nodes[node].higher
            else:
                node = self.nodes[node].lower
        return found


SHELF = np.dtype(
    [
        ("mean", "f8"),
        ("inverse_root", "f8"),
        ("count", "i8"),
        ("top", "i4"),
        ("root", "i4"),
        ("length", "i4"),
        ("next", "i4"),
    ],
    align=True,
)
