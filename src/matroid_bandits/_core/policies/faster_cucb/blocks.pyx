"""Elements on lines, in blocks: one block for each line, symmetry class and side of the basis.

The elements of a symmetry class can be exchanged in the same ways, so that one call of the oracle
answers for a whole block. `kinetic` defines the lines and keeps them in order.
"""

import numpy as np


cdef class Blocks:
    """Blocks of elements, by line and by class.

    Memory: 13 bytes per element, 40 per block.
    """

    def __init__(self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes):
        size = symmetry_class.shape[0]
        self.symmetry_class = symmetry_class
        self.block_of = np.empty(size, dtype=np.int32)
        self.previous = np.empty(size, dtype=np.int32)
        self.following = np.empty(size, dtype=np.int32)
        self.side = np.empty(size, dtype=np.uint8)
        self.of_class = np.empty((n_classes, 2), dtype=np.int32)
        self.of_line = np.empty((16, 2), dtype=np.int32)
        self.blocks = np.zeros(16, dtype=BLOCK)
        self.clear()

    cdef void clear(self) noexcept:
        """Remove all elements from their lines."""
        self.block_of[:] = -1
        self.previous[:] = -1
        self.following[:] = -1
        self.side[:] = OUTSIDE
        self.of_class[:] = -1
        self.of_line[:] = -1
        self.free_block = -1
        self.n_blocks = 0
        self.n_used = 0
        self.last_rank = 0

    cdef int reserve(self) except -1:
        """Get the memory for three more blocks."""
        if self.n_blocks + 3 > self.blocks.shape[0]:
            self.blocks = doubled(self.blocks.base)
        return 0

    # ---- elements ----

    cdef inline int32_t line_of(self, int32_t e) noexcept:
        """The line of e; -1 if it is on none."""
        return self.blocks[self.block_of[e]].line if self.block_of[e] >= 0 else -1

    cdef inline bint has(self, int32_t s, int side) noexcept:
        """Whether line s has elements on this side of the basis."""
        return self.of_line[s, side] >= 0

    cdef void change_side(self, int32_t e) noexcept:
        """Move e to the other side of the basis, on the same line. `reserve` comes before."""
        cdef int32_t s = self.line_of(e)
        self.remove(e)
        self.side[e] = 1 - self.side[e]
        self.insert(s, e)

    cdef void insert(self, int32_t s, int32_t e) noexcept:
        """Append e to its block on line s."""
        cdef int32_t b = self.block_for(s, e)
        cdef int32_t last = self.blocks[b].last
        self.block_of[e] = b
        self.previous[e] = last
        self.following[e] = -1
        self.blocks[b].last = e
        if last >= 0:
            self.following[last] = e
        else:
            self.blocks[b].first = e

    cdef void remove(self, int32_t e) noexcept:
        """Remove e from its block, and the block from its line if it is empty."""
        cdef int32_t b = self.block_of[e]
        cdef int32_t previous = self.previous[e]
        cdef int32_t following = self.following[e]
        cdef int32_t previous_of_class, next_of_class
        self.block_of[e] = -1
        if previous >= 0:
            self.following[previous] = following
        else:
            self.blocks[b].first = following
        if following >= 0:
            self.previous[following] = previous
        else:
            self.blocks[b].last = previous
        if self.blocks[b].first >= 0:
            return
        self.detach_block(b, self.side[e])
        previous_of_class = self.blocks[b].previous_of_class
        next_of_class = self.blocks[b].next_of_class
        if previous_of_class >= 0:
            self.blocks[previous_of_class].next_of_class = next_of_class
        else:
            self.of_class[self.symmetry_class[e], self.side[e]] = next_of_class
        if next_of_class >= 0:
            self.blocks[next_of_class].previous_of_class = previous_of_class
        self.blocks[b].next_of_line = self.free_block
        self.free_block = b
        self.n_used -= 1

    # ---- blocks ----

    cdef int32_t block_for(self, int32_t s, int32_t e) noexcept:
        """The block on line s for elements of the class and side of e, created if there is none."""
        cdef int side = self.side[e]
        cdef int32_t b = self.of_line[s, side]
        cdef int32_t next_of_class
        # It is the first if all elements of a chain are of one class, or came class by class.
        if b >= 0 and self.symmetry_class[self.blocks[b].first] == self.symmetry_class[e]:
            return b
        next_of_class = self.of_class[self.symmetry_class[e], side]
        b = next_of_class
        while b >= 0:
            if self.blocks[b].line == s:
                return b
            b = self.blocks[b].next_of_class
        b = self.free_block
        if b >= 0:
            self.free_block = self.blocks[b].next_of_line
        else:
            b = self.n_blocks
            self.n_blocks += 1
        self.n_used += 1
        self.blocks[b].first = -1
        self.blocks[b].last = -1
        self.blocks[b].previous_of_class = -1
        self.blocks[b].next_of_class = next_of_class
        if next_of_class >= 0:
            self.blocks[next_of_class].previous_of_class = b
        self.of_class[self.symmetry_class[e], side] = b
        self.attach_block(b, s, side)
        return b

    cdef void attach_block(self, int32_t b, int32_t s, int side) noexcept:
        """Make a block the first one of line s."""
        cdef int32_t after = self.of_line[s, side]
        self.last_rank += 1
        self.blocks[b].rank = self.last_rank
        self.blocks[b].line = s
        self.blocks[b].previous_of_line = -1
        self.blocks[b].next_of_line = after
        if after >= 0:
            self.blocks[after].previous_of_line = b
        self.of_line[s, side] = b

    cdef void detach_block(self, int32_t b, int side) noexcept:
        """Remove a block from its line."""
        cdef int32_t before = self.blocks[b].previous_of_line
        cdef int32_t after = self.blocks[b].next_of_line
        if before >= 0:
            self.blocks[before].next_of_line = after
        else:
            self.of_line[self.blocks[b].line, side] = after
        if after >= 0:
            self.blocks[after].previous_of_line = before

    # ---- saving ----
    #
    # Blocks are written line by line, and elements block by block, in their order: numbers of
    # blocks, and the order of the blocks of a class, make no difference.

    cdef object blocks_on(self, lines):
        """The blocks on these lines and their elements, as `put_on` takes them."""
        cdef int32_t s, b, e
        cdef int side
        counts, lengths, elements = [], [], []
        for s in lines:
            for side in range(2):
                n_before = len(lengths)
                b = self.of_line[s, side]
                while b >= 0:
                    first = len(elements)
                    e = self.blocks[b].first
                    while e >= 0:
                        elements.append(e)
                        e = self.following[e]
                    lengths.append(len(elements) - first)
                    b = self.blocks[b].next_of_line
                counts.append(len(lengths) - n_before)
        return {
            "blocks_of_line": np.array(counts, dtype=np.int32).reshape(-1, 2),
            "block_lengths": np.array(lengths, dtype=np.int32),
            "elements": np.array(elements, dtype=np.int32),
        }

    cdef int put_on_lines(self, state) except -1:
        """Put elements on lines that have none: what `blocks_on` returned for all lines."""
        cdef int32_t[:, ::1] counts = np.array(state["blocks_of_line"], dtype=np.int32)
        cdef int32_t[::1] lengths = np.array(state["block_lengths"], dtype=np.int32)
        cdef int32_t[::1] elements = np.array(state["elements"], dtype=np.int32)
        cdef int32_t b = 0
        cdef int32_t i = 0
        cdef int32_t s, k, n, last
        cdef int side
        self.blocks = np.zeros(max(16, 2 * len(lengths)), dtype=BLOCK)
        self.n_blocks = lengths.shape[0]
        self.n_used = lengths.shape[0]
        self.last_rank = lengths.shape[0]
        for s in range(counts.shape[0]):
            for side in range(2):
                last = b + counts[s, side] - 1
                self.of_line[s, side] = b if last >= b else -1
                for k in range(counts[s, side]):
                    self.blocks[b].rank = lengths.shape[0] - b
                    self.blocks[b].line = s
                    self.blocks[b].previous_of_line = b - 1 if k > 0 else -1
                    self.blocks[b].next_of_line = b + 1 if b < last else -1
                    n = lengths[b]
                    self.fill_block(b, side, elements[i : i + n])
                    i += n
                    b += 1
        return 0

    cdef int fill_block(self, int32_t b, int side, const int32_t[::1] elements) except -1:
        """Put elements of one class, at least one, into an empty block."""
        cdef Py_ssize_t n = elements.shape[0]
        cdef int32_t c = self.symmetry_class[elements[0]]
        cdef int32_t next_of_class = self.of_class[c, side]
        cdef Py_ssize_t i
        cdef int32_t e
        self.blocks[b].first = elements[0]
        self.blocks[b].last = elements[n - 1]
        for i in range(n):
            e = elements[i]
            self.block_of[e] = b
            self.side[e] = <unsigned char>side
            self.previous[e] = elements[i - 1] if i > 0 else -1
            self.following[e] = elements[i + 1] if i + 1 < n else -1
        self.blocks[b].previous_of_class = -1
        self.blocks[b].next_of_class = next_of_class
        if next_of_class >= 0:
            self.blocks[next_of_class].previous_of_class = b
        self.of_class[c, side] = b
        return 0


cdef object doubled(values):
    """A copy of an array, twice as long.

    That of a memoryview is its `base`: of a structured one, `np.asarray` works out the type in
    Python, and turns Ctrl-C there into another error.
    """
    longer = np.zeros((max(16, 2 * len(values)), *values.shape[1:]), dtype=values.dtype)
    longer[: len(values)] = values
    return longer


BLOCK = np.dtype(
    [
        ("rank", "i8"),
        ("line", "i4"),
        ("first", "i4"),
        ("last", "i4"),
        ("previous_of_line", "i4"),
        ("next_of_line", "i4"),
        ("previous_of_class", "i4"),
        ("next_of_class", "i4"),
        ("padding", "i4"),
    ]
)
