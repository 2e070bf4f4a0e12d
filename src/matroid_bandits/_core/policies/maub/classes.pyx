"""Symmetry classes of elements, divided into buckets: the best of very many is found at once.

A bucket holds the elements of one class that were observed equally often, sorted by mean. Whatever
the width, the first of them has the highest index: nothing else of a bucket needs to be compared
(docs/explanation/rounds.md).
"""

cimport cython
from libc.string cimport memcpy, memmove

import numpy as np

from matroid_bandits._core.sorting cimport is_better

cdef enum:
    FULL = 32  # elements in a block


cdef inline unsigned int priority(int32_t block) noexcept:
    """A hash of the block: trees are balanced in any order of insertion, and reproducible."""
    cdef unsigned int h = <unsigned int>block
    h = (h ^ (h >> 16)) * <unsigned int>0x7FEB352D
    h = (h ^ (h >> 15)) * <unsigned int>0x846CA68B
    return h ^ (h >> 16)


@cython.final
cdef class Buckets:
    """Buckets by class and count, each in the order of greedy, the last element being the best.

    A bucket of several elements is a tree of blocks of up to 32 elements. A tree of single elements
    would wait for memory at every step; this one fits into a processor's cache for a million
    elements.

    Memory: 44 bytes per element, of which 40 are touched only if it is alone in its bucket, and
    about 20 for each element of a bucket of several.
    """

    def __init__(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes, const double[::1] means
    ):
        size = symmetry_class.shape[0]
        self.symmetry_class = symmetry_class
        self.means = means
        self.bucket_of = np.full(size, -1, dtype=np.int32)
        self.first = np.full(n_classes, -1, dtype=np.int32)
        self.buckets = np.zeros(size, dtype=BUCKET)
        self.arrays = np.zeros(0, dtype=BLOCK), np.zeros(0, dtype=NODE)
        self.blocks, self.nodes = self.arrays
        self.clear()

    cdef void clear(self) noexcept:
        """Remove all elements."""
        self.bucket_of[:] = -1
        self.first[:] = -1
        self.free_bucket = -1
        self.free_block = -1
        self.n_buckets = 0
        self.n_blocks = 0
        self.n_free_blocks = 0

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Allocate what the next n insertions may need: they cannot fail."""
        cdef Py_ssize_t used = self.n_blocks - self.n_free_blocks
        cdef Py_ssize_t room = self.blocks.shape[0]
        # An insertion needs at most two blocks, and no block is ever empty.
        cdef Py_ssize_t wanted = min(used + 2 * n, self.bucket_of.shape[0])
        if wanted <= room:
            return 0
        wanted = min(max(wanted, 2 * room), self.bucket_of.shape[0])
        blocks = np.zeros(wanted, dtype=BLOCK)
        nodes = np.zeros(wanted, dtype=NODE)
        blocks[:room], nodes[:room] = self.arrays
        self.arrays = blocks, nodes
        self.blocks, self.nodes = self.arrays
        return 0

    cdef int32_t new_bucket(self) noexcept:
        cdef int32_t number = self.free_bucket
        if number >= 0:
            self.free_bucket = self.buckets[number].next
            return number
        self.n_buckets += 1
        return self.n_buckets - 1

    cdef int32_t new_block(self) noexcept:
        cdef int32_t b = self.free_block
        if b >= 0:
            self.free_block = self.nodes[b].lower
            self.n_free_blocks -= 1
            return b
        self.n_blocks += 1
        return self.n_blocks - 1

    # ---- insertion and removal ----

    cdef void insert(self, Py_ssize_t element, int64_t count, double inverse_root) noexcept:
        """Insert an element into the bucket of its class and count. `reserve` comes first."""
        cdef int32_t e = <int32_t>element
        cdef int32_t *place = &self.first[self.symmetry_class[e]]
        cdef Bucket *bucket
        cdef int32_t number
        while place[0] >= 0 and self.buckets[place[0]].count < count:
            place = &self.buckets[place[0]].next
        number = place[0]
        if number < 0 or self.buckets[number].count != count:
            number = self.new_bucket()
            bucket = &self.buckets[number]
            bucket.next = place[0]
            place[0] = number
            bucket.count = count
            bucket.inverse_root = inverse_root
            bucket.root = -1
            bucket.length = 0
        bucket = &self.buckets[number]
        self.bucket_of[e] = number
        if bucket.length == 1:
            self.tree_insert(bucket, bucket.top)
        if bucket.length > 0:
            self.tree_insert(bucket, e)
        if bucket.length == 0 or is_better(self.means[e], e, bucket.mean, bucket.top):
            bucket.mean = self.means[e]
            bucket.top = e
        bucket.length += 1

    cdef void remove(self, Py_ssize_t element) noexcept:
        """Remove an element from its bucket, before its mean changes."""
        cdef int32_t e = <int32_t>element
        cdef int32_t number = self.bucket_of[e]
        cdef Bucket *bucket = &self.buckets[number]
        cdef int32_t *place
        cdef int32_t b
        self.bucket_of[e] = -1
        bucket.length -= 1
        if bucket.length == 0:
            place = &self.first[self.symmetry_class[e]]
            while place[0] != number:
                place = &self.buckets[place[0]].next
            place[0] = bucket.next
            bucket.next = self.free_bucket
            self.free_bucket = number
            return
        self.tree_remove(bucket, e)
        if bucket.top == e:
            b = bucket.root
            while self.nodes[b].higher >= 0:
                b = self.nodes[b].higher
            bucket.top = self.blocks[b].elements[self.nodes[b].length - 1]
            bucket.mean = self.blocks[b].means[self.nodes[b].length - 1]
        if bucket.length == 1:
            self.tree_remove(bucket, bucket.top)

    cdef bint is_alone(self, Py_ssize_t e) noexcept:
        """Whether e is alone in its bucket and its class has no bucket of the next higher count."""
        cdef Bucket *bucket = &self.buckets[self.bucket_of[e]]
        return bucket.length == 1 and (
            bucket.next < 0 or self.buckets[bucket.next].count != bucket.count + 1
        )

    cdef void raise_count(self, Py_ssize_t e, double inverse_root) noexcept:
        """After an observation of an element that is alone: its bucket gets the new statistics."""
        cdef Bucket *bucket = &self.buckets[self.bucket_of[e]]
        bucket.mean = self.means[e]
        bucket.count += 1
        bucket.inverse_root = inverse_root

    # ---- searches ----

    cdef int32_t best_of_class(self, Py_ssize_t c) noexcept:
        """The element of class `c` with the highest mean (ties: lowest element), -1 if none."""
        cdef int32_t number = self.first[c]
        cdef int32_t e = -1
        cdef double mean = 0.0
        cdef Bucket *bucket
        while number >= 0:
            bucket = &self.buckets[number]
            if e < 0 or is_better(bucket.mean, bucket.top, mean, e):
                e = bucket.top
                mean = bucket.mean
            number = bucket.next
        return e

    cdef int32_t next_below(self, int32_t bucket, double mean) noexcept:
        """The element of the highest mean below `mean` (ties: lowest element), -1 if none."""
        cdef int32_t b = self.buckets[bucket].root
        cdef int32_t found = -1
        cdef int32_t i
        while b >= 0:
            if self.nodes[b].mean < mean:
                i = self.nodes[b].length - 1
                while self.blocks[b].means[i] >= mean:
                    i -= 1
                found = self.blocks[b].elements[i]
                # Later blocks may hold such elements too, unless this one reaches up to `mean`.
                b = self.nodes[b].higher if i == self.nodes[b].length - 1 else -1
            else:
                b = self.nodes[b].lower
        return found

    # ---- the tree of a bucket ----

    cdef int32_t block_of(self, int32_t root, double mean, int32_t e) noexcept:
        """The block of (mean, e): the last that does not start after it, or the first of all."""
        cdef const Node *nodes = &self.nodes[0]
        cdef int32_t b = root
        cdef int32_t found = -1
        while b >= 0:
            if is_better(nodes[b].mean, nodes[b].first, mean, e):
                root = b
                b = nodes[b].lower
            else:
                found = b
                b = nodes[b].higher
        return found if found >= 0 else root

    cdef void tree_insert(self, Bucket *bucket, int32_t e) noexcept:
        cdef double mean = self.means[e]
        cdef int32_t b, i, length
        cdef Block *block
        cdef Block *right
        if bucket.root < 0:
            b = self.new_block()
            self.blocks[b].means[0] = mean
            self.blocks[b].elements[0] = e
            self.link_block(&bucket.root, b, 1)
            return
        b = self.block_of(bucket.root, mean, e)
        block = &self.blocks[b]
        if self.nodes[b].length == FULL:
            # The upper half moves to a new block.
            self.nodes[b].length = FULL // 2
            i = self.new_block()
            right = &self.blocks[i]
            memcpy(right.means, block.means + FULL // 2, FULL // 2 * sizeof(double))
            memcpy(right.elements, block.elements + FULL // 2, FULL // 2 * sizeof(int32_t))
            self.link_block(&bucket.root, i, FULL // 2)
            if not is_better(right.means[0], right.elements[0], mean, e):
                b = i
                block = right
        length = self.nodes[b].length
        i = length
        while i > 0 and is_better(block.means[i - 1], block.elements[i - 1], mean, e):
            i -= 1
        memmove(block.means + i + 1, block.means + i, (length - i) * sizeof(double))
        memmove(block.elements + i + 1, block.elements + i, (length - i) * sizeof(int32_t))
        block.means[i] = mean
        block.elements[i] = e
        self.nodes[b].length += 1
        if i == 0:
            self.nodes[b].mean = mean
            self.nodes[b].first = e

    cdef void tree_remove(self, Bucket *bucket, int32_t e) noexcept:
        cdef int32_t b = self.block_of(bucket.root, self.means[e], e)
        cdef Block *block = &self.blocks[b]
        cdef int32_t left = self.nodes[b].length - 1
        cdef int32_t i = left
        if left == 0:
            self.unlink_block(&bucket.root, b)
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

    cdef void link_block(self, int32_t *place, int32_t b, int32_t length) noexcept:
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
        # Descend to the place that the priority determines, then split what is below it.
        while place[0] >= 0 and priority(place[0]) > mine:
            other = place[0]
            if is_better(node.mean, node.first, nodes[other].mean, nodes[other].first):
                place = &nodes[other].higher
            else:
                place = &nodes[other].lower
        other = place[0]
        place[0] = b
        while other >= 0:
            if is_better(node.mean, node.first, nodes[other].mean, nodes[other].first):
                low[0] = other
                low = &nodes[other].higher
                other = low[0]
            else:
                high[0] = other
                high = &nodes[other].lower
                other = high[0]
        low[0] = -1
        high[0] = -1

    cdef void unlink_block(self, int32_t *place, int32_t b) noexcept:
        """Remove a block from a treap."""
        cdef Node *nodes = &self.nodes[0]
        cdef int32_t low = nodes[b].lower
        cdef int32_t high = nodes[b].higher
        cdef int32_t other
        while place[0] != b:
            other = place[0]
            if is_better(nodes[b].mean, nodes[b].first, nodes[other].mean, nodes[other].first):
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


BUCKET = np.dtype(
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
