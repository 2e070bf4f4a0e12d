from libc.stdint cimport int32_t, int64_t

# Sides of a basis.
cdef enum:
    OUTSIDE = 0
    INSIDE = 1


# The elements of one symmetry class on one line and one side of the basis, in a linked list.
cdef struct Block:
    int64_t rank  # blocks of a line and side are linked from the highest rank to the lowest
    int32_t line
    int32_t first  # the element that has been here longest
    int32_t last
    int32_t previous_of_line  # blocks of the same line and side
    int32_t next_of_line  # if this block is free: the next free block
    int32_t previous_of_class  # blocks of the same class and side
    int32_t next_of_class
    int32_t padding


cdef class Blocks:
    cdef const int32_t[::1] symmetry_class
    cdef Block[::1] blocks
    cdef int32_t free_block
    cdef int32_t n_blocks  # blocks with larger numbers were never used
    cdef int32_t n_used  # blocks that are not empty
    cdef int64_t last_rank
    cdef int32_t[:, ::1] of_line  # the first block of a line and side; -1 if there is none
    cdef int32_t[:, ::1] of_class  # the first block of a class and side
    cdef int32_t[::1] block_of  # of each element; -1 if it is in none
    cdef int32_t[::1] previous  # the element before it in its block; -1 if none
    cdef int32_t[::1] following  # the element after it
    cdef unsigned char[::1] side  # OUTSIDE or INSIDE

    cdef void clear(self) noexcept
    cdef int reserve(self) except -1
    cdef int32_t line_of(self, int32_t e) noexcept
    cdef bint has(self, int32_t s, int side) noexcept
    cdef void change_side(self, int32_t e) noexcept
    cdef void insert(self, int32_t s, int32_t e) noexcept
    cdef void remove(self, int32_t e) noexcept
    cdef int32_t block_for(self, int32_t s, int32_t e) noexcept
    cdef void attach_block(self, int32_t b, int32_t s, int side) noexcept
    cdef void detach_block(self, int32_t b, int side) noexcept
    cdef object blocks_on(self, lines)
    cdef int put_on_lines(self, state) except -1
    cdef int fill_block(self, int32_t b, int side, const int32_t[::1] elements) except -1


cdef object doubled(values)
