"""Elements of equal prospects, sorted, so that the best of very many is found at once.

Elements of one class (any two may stand in for one another) that have been observed equally often
differ in nothing but their means. Whatever the time, the one with the highest mean has the highest
index; so it is enough to look at the top of each such shelf. docs/rounds.md tells the idea.
"""

from libc.string cimport memcpy, memmove

import numpy as np

cdef enum:
    FULL = 32  # elements in a block


cdef inline unsigned int priority(int32_t block) noexcept:
    """A hash, so that trees come out balanced whatever the order of arrival, always the same."""
    cdef unsigned int h = <unsigned int>block
    h = (h ^ (h >> 16)) * <unsigned int>0x7FEB352D
    h = (h ^ (h >> 15)) * <unsigned int>0x846CA68B
    return h ^ (h >> 16)


cdef inline bint is_below(double a_mean, int32_t a, double b_mean, int32_t b) noexcept:
    """Whether a comes before b: its mean is lower, or equal and its number higher."""
    return a_mean < b_mean or (a_mean == b_mean and a > b)


cdef class Shelves:
    """Shelves by class and count, each sorted by (mean, -element).

    A shelf of several elements is a tree of blocks of up to 32: a tree of single elements would
    wait for memory at every step, while this one, for a million elements, fits into a cache.

    Memory: 44 bytes per element, of which 40 are touched only if it has a shelf to itself, and
    about 20 for each on shelves of several.
    """

    def __init__(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes, const double[::1] means
    ):
        size = symmetry_class.shape[0]
        self.symmetry_class = symmetry_class
        self.means = means
        self.shelf_of = np.full(size, -1, dtype=np.int32)
        self.first = np.full(n_classes, -1, dtype=np.int32)
        self.shelves = np.zeros(size, dtype=SHELF)
        self.blocks = np.zeros(0, dtype=BLOCK)
        self.nodes = np.zeros(0, dtype=NODE)
        self.clear()

    cdef void clear(self) noexcept:
        """Take everything off the shelves."""
        self.shelf_of[:] = -1
        self.first[:] = -1
        self.free_shelf = -1
        self.free_block = -1
        self.n_shelves = 0
        self.n_blocks = 0
        self.n_free_blocks = 0

    cdef int reserve(self, Py_ssize_t n) except -1:
        """See to it that the next n elements can be put without asking for memory."""
        cdef Py_ssize_t used = self.n_blocks - self.n_free_blocks
        cdef Py_ssize_t room = self.blocks.shape[0]
        # One takes at most two blocks, and no block is ever empty.
        cdef Py_ssize_t wanted = min(used + 2 * n, self.shelf_of.shape[0])
        if wanted <= room:
            return 0
        wanted = min(max(wanted, 2 * room), self.shelf_of.shape[0])
        blocks = np.zeros(wanted, dtype=BLOCK)
        nodes = np.zeros(wanted, dtype=NODE)
        blocks[:room] = self.blocks
        nodes[:room] = self.nodes
        self.blocks = blocks
        self.nodes = nodes
        return 0

    cdef int32_t new_shelf(self) noexcept:
        cdef int32_t s = self.free_shelf
        if s >= 0:
            self.free_shelf = self.shelves[s].next
            return s
        self.n_shelves += 1
        return self.n_shelves - 1

    cdef int32_t new_block(self) noexcept:
        cdef int32_t b = self.free_block
        if b >= 0:
            self.free_block = self.nodes[b].lower
            self.n_free_blocks -= 1
            return b
        self.n_blocks += 1
        return self.n_blocks - 1

    # ---- elements come and go ----

    cdef void put(self, Py_ssize_t element, int64_t count, double inverse_root) noexcept:
        """Put an element on the shelf of its class and count; `reserve` comes first."""
        cdef int32_t e = <int32_t>element
        cdef int32_t *place = &self.first[self.symmetry_class[e]]
        cdef Shelf *shelf
        cdef int32_t s
        while place[0] >= 0 and self.shelves[place[0]].count < count:
            place = &self.shelves[place[0]].next
        s = place[0]
        if s < 0 or self.shelves[s].count != count:
            s = self.new_shelf()
            shelf = &self.shelves[s]
            shelf.next = place[0]
            place[0] = s
            shelf.count = count
            shelf.inverse_root = inverse_root
            shelf.root = -1
            shelf.length = 0
        shelf = &self.shelves[s]
        self.shelf_of[e] = s
        if shelf.length == 1:
            self.insert(shelf, shelf.top)
        if shelf.length > 0:
            self.insert(shelf, e)
        if shelf.length == 0 or is_below(shelf.mean, shelf.top, self.means[e], e):
            shelf.mean = self.means[e]
            shelf.top = e
        shelf.length += 1

    cdef void take(self, Py_ssize_t element) noexcept:
        """Take an element off its shelf; its mean must still be what it was."""
        cdef int32_t e = <int32_t>element
        cdef int32_t s = self.shelf_of[e]
        cdef Shelf *shelf = &self.shelves[s]
        cdef int32_t *place
        cdef int32_t b
        self.shelf_of[e] = -1
        shelf.length -= 1
        if shelf.length == 0:
            place = &self.first[self.symmetry_class[e]]
            while place[0] != s:
                place = &self.shelves[place[0]].next
            place[0] = shelf.next
            shelf.next = self.free_shelf
            self.free_shelf = s
            return
        self.remove(shelf, e)
        if shelf.top == e:
            b = shelf.root
            while self.nodes[b].higher >= 0:
                b = self.nodes[b].higher
            shelf.top = self.blocks[b].elements[self.nodes[b].length - 1]
            shelf.mean = self.blocks[b].means[self.nodes[b].length - 1]
        if shelf.length == 1:
            self.remove(shelf, shelf.top)

    cdef bint is_alone(self, Py_ssize_t e) noexcept:
        """Whether `e` has a shelf of its own, and none of the next higher count beside it."""
        cdef Shelf *shelf = &self.shelves[self.shelf_of[e]]
        return shelf.length == 1 and (
            shelf.next < 0 or self.shelves[shelf.next].count != shelf.count + 1
        )

    cdef void relabel(self, Py_ssize_t e, double inverse_root) noexcept:
        """One more observation of an element that is alone: its shelf moves on with it."""
        cdef Shelf *shelf = &self.shelves[self.shelf_of[e]]
        shelf.mean = self.means[e]
        shelf.count += 1
        shelf.inverse_root = inverse_root

    # ---- what is found ----

    cdef int32_t best(self, Py_ssize_t c) noexcept:
        """The element of class `c` with the highest mean (ties: lowest element), -1 if none."""
        cdef int32_t s = self.first[c]
        cdef int32_t e = -1
        cdef double mean = 0.0
        cdef Shelf *shelf
        while s >= 0:
            shelf = &self.shelves[s]
            if e < 0 or is_below(mean, e, shelf.mean, shelf.top):
                e = shelf.top
                mean = shelf.mean
            s = shelf.next
        return e

    cdef int32_t below(self, int32_t shelf, double mean) noexcept:
        """The element of the next lower mean (ties: lowest element), -1 if there is none."""
        cdef int32_t b = self.shelves[shelf].root
        cdef int32_t found = -1
        cdef int32_t i
        while b >= 0:
            if self.nodes[b].mean < mean:
                i = self.nodes[b].length - 1
                while self.blocks[b].means[i] >= mean:
                    i -= 1
                found = self.blocks[b].elements[i]
                # Blocks that follow may hold some as well, unless this one reaches up to `mean`.
                b = self.nodes[b].higher if i == self.nodes[b].length - 1 else -1
            else:
                b = self.nodes[b].lower
        return found

    # ---- the tree of a shelf ----

    cdef int32_t block_of(self, int32_t root, double mean, int32_t e) noexcept:
        """The last block that does not start after (mean, e), or the first of all."""
        cdef const Node *nodes = &self.nodes[0]
        cdef int32_t b = root
        cdef int32_t found = -1
        while b >= 0:
            if is_below(mean, e, nodes[b].mean, nodes[b].first):
                root = b
                b = nodes[b].lower
            else:
                found = b
                b = nodes[b].higher
        return found if found >= 0 else root

    cdef void insert(self, Shelf *shelf, int32_t e) noexcept:
        cdef double mean = self.means[e]
        cdef int32_t b, i, length
        cdef Block *block
        cdef Block *right
        if shelf.root < 0:
            b = self.new_block()
            self.blocks[b].means[0] = mean
            self.blocks[b].elements[0] = e
            self.link(&shelf.root, b, 1)
            return
        b = self.block_of(shelf.root, mean, e)
        block = &self.blocks[b]
        if self.nodes[b].length == FULL:
            # The upper half goes into a block of its own.
            self.nodes[b].length = FULL // 2
            i = self.new_block()
            right = &self.blocks[i]
            memcpy(right.means, block.means + FULL // 2, FULL // 2 * sizeof(double))
            memcpy(right.elements, block.elements + FULL // 2, FULL // 2 * sizeof(int32_t))
            self.link(&shelf.root, i, FULL // 2)
            if not is_below(mean, e, right.means[0], right.elements[0]):
                b = i
                block = right
        length = self.nodes[b].length
        i = length
        while i > 0 and is_below(mean, e, block.means[i - 1], block.elements[i - 1]):
            i -= 1
        memmove(block.means + i + 1, block.means + i, (length - i) * sizeof(double))
        memmove(block.elements + i + 1, block.elements + i, (length - i) * sizeof(int32_t))
        block.means[i] = mean
        block.elements[i] = e
        self.nodes[b].length += 1
        if i == 0:
            self.nodes[b].mean = mean
            self.nodes[b].first = e

    cdef void remove(self, Shelf *shelf, int32_t e) noexcept:
        cdef int32_t b = self.block_of(shelf.root, self.means[e], e)
        cdef Block *block = &self.blocks[b]
        cdef int32_t left = self.nodes[b].length - 1
        cdef int32_t i = left
        if left == 0:
            self.unlink(&shelf.root, b)
            self.nodes[b].lower = self.free_block
            self.free_block = b
            self.n_free_blocks += 1
            return
        while block.elements[i] != e:
            i -= 1
        memmove(block.means + i, block.means + i + 1, (left - i) * sizeof(double))
        memmove(block.elements + i, block.elements + i + 1, (left - i) * sizeof(int32_t))
        self.nodes[b].length = left
        self.nodes[b].mean = block.means[0]
        self.nodes[b].first = block.elements[0]

    cdef void link(self, int32_t *place, int32_t b, int32_t length) noexcept:
        """Add a block with `length` elements to a treap."""
        cdef Node *nodes = &self.nodes[0]
        cdef Node *node = nodes + b
        cdef unsigned int mine = priority(b)
        cdef int32_t *low = &node.lower
        cdef int32_t *high = &node.higher
        cdef int32_t other
        node.mean = self.blocks[b].means[0]
        node.first = self.blocks[b].elements[0]
        node.length = length
        # Down to where the priority says, then split what is there.
        while place[0] >= 0 and priority(place[0]) > mine:
            other = place[0]
            if is_below(nodes[other].mean, nodes[other].first, node.mean, node.first):
                place = &nodes[other].higher
            else:
                place = &nodes[other].lower
        other = place[0]
        place[0] = b
        while other >= 0:
            if is_below(nodes[other].mean, nodes[other].first, node.mean, node.first):
                low[0] = other
                low = &nodes[other].higher
                other = low[0]
            else:
                high[0] = other
                high = &nodes[other].lower
                other = high[0]
        low[0] = -1
        high[0] = -1

    cdef void unlink(self, int32_t *place, int32_t b) noexcept:
        """Take a block out of a treap."""
        cdef Node *nodes = &self.nodes[0]
        cdef int32_t low = nodes[b].lower
        cdef int32_t high = nodes[b].higher
        cdef int32_t other
        while place[0] != b:
            other = place[0]
            if is_below(nodes[other].mean, nodes[other].first, nodes[b].mean, nodes[b].first):
                place = &nodes[other].higher
            else:
                place = &nodes[other].lower
        while low >= 0 and high >= 0:
            if priority(low) > priority(high):
                place[0] = low
                place = &nodes[low].higher
                low = place[0]
            else:
                place[0] = high
                place = &nodes[high].lower
                high = place[0]
        place[0] = low if low >= 0 else high


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
BLOCK = np.dtype([("means", "f8", 32), ("elements", "i4", 32)], align=True)
NODE = np.dtype(
    [("mean", "f8"), ("first", "i4"), ("length", "i4"), ("lower", "i4"), ("higher", "i4")],
    align=True,
)
