from libc.stdint cimport int32_t, int64_t

# Elements of one shelf next to each other in its order, by (mean, -element), ascending.
cdef struct Block:
    double[32] means
    int32_t[32] elements


# A block in the tree of its shelf's blocks, a treap. Apart from what the block holds, so that all
# nodes together stay small.
cdef struct Node:
    double mean  # of the first element
    int32_t first  # the first element
    int32_t length
    int32_t lower  # the blocks before this one and after it
    int32_t higher


# All elements of one class that have been observed equally often.
cdef struct Shelf:
    double mean  # of `top`
    double inverse_root  # 1 / sqrt(count)
    int64_t count
    int32_t top  # the element of highest mean (ties: lowest element)
    int32_t root  # of the tree of blocks; -1 if there is a single element
    int32_t length
    int32_t next  # shelf of the same class, of higher count


cdef class Shelves:
    cdef const int32_t[::1] symmetry_class
    cdef const double[::1] means
    cdef int32_t[::1] shelf_of  # by element, -1 if it is on none
    cdef int32_t[::1] first  # by class: its shelf of lowest count, -1 if it has none
    cdef Shelf[::1] shelves
    cdef Block[::1] blocks
    cdef Node[::1] nodes  # by block
    # Lists of what is no longer used; from `n_` on nothing has ever been.
    cdef int32_t free_shelf
    cdef int32_t n_shelves
    cdef int32_t free_block
    cdef int32_t n_blocks
    cdef int32_t n_free_blocks

    cdef void clear(self) noexcept
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int32_t new_shelf(self) noexcept
    cdef int32_t new_block(self) noexcept
    cdef void put(self, Py_ssize_t e, int64_t count, double inverse_root) noexcept
    cdef void take(self, Py_ssize_t e) noexcept
    cdef bint is_alone(self, Py_ssize_t e) noexcept
    cdef void relabel(self, Py_ssize_t e, double inverse_root) noexcept
    cdef int32_t best(self, Py_ssize_t c) noexcept
    cdef int32_t below(self, int32_t shelf, double mean) noexcept
    cdef void insert(self, Shelf *shelf, int32_t e) noexcept
    cdef void remove(self, Shelf *shelf, int32_t e) noexcept
    cdef int32_t block_of(self, int32_t root, double mean, int32_t e) noexcept
    cdef void link(self, int32_t *place, int32_t block, int32_t length) noexcept
    cdef void unlink(self, int32_t *place, int32_t block) noexcept
