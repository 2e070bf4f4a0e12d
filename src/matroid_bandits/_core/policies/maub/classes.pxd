cimport cython
from libc.stdint cimport int32_t, int64_t

# Consecutive elements of a bucket, the worst first in the order of greedy.
cdef struct Block:
    double[32] means
    int32_t[32] elements


# A block in the treap of its bucket's blocks. Apart from the elements, so that all nodes together
# stay small.
cdef struct Node:
    double mean  # of the first element
    int32_t first  # the first element
    int32_t length
    int32_t lower  # the subtrees of the blocks before this one and after it
    int32_t higher


# All elements of one class that have been observed equally often.
cdef struct Bucket:
    double mean  # of `top`
    double inverse_root  # 1 / sqrt(count)
    int64_t count
    int32_t top  # the element of highest mean (ties: lowest element)
    int32_t root  # of the tree of blocks; -1 if there is a single element
    int32_t length
    int32_t next  # the bucket of the same class with the next higher count, -1 if none


@cython.final
cdef class Buckets:
    cdef const int32_t[::1] symmetry_class
    cdef const double[::1] means
    cdef int32_t[::1] bucket_of  # by element, -1 if it is in none
    cdef int32_t[::1] first  # by class: its bucket of lowest count, -1 if it has none
    cdef Bucket[::1] buckets
    cdef Block[::1] blocks
    cdef Node[::1] nodes  # by block
    cdef tuple arrays  # `blocks` and `nodes` again: NumPy is slow to read views of structs
    # Free lists; from `n_buckets` and `n_blocks` on nothing was ever used.
    cdef int32_t free_bucket
    cdef int32_t n_buckets
    cdef int32_t free_block
    cdef int32_t n_blocks
    cdef int32_t n_free_blocks

    cdef void clear(self) noexcept
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int32_t new_bucket(self) noexcept
    cdef int32_t new_block(self) noexcept
    cdef void insert(self, Py_ssize_t e, int64_t count, double inverse_root) noexcept
    cdef void remove(self, Py_ssize_t e) noexcept
    cdef bint is_alone(self, Py_ssize_t e) noexcept
    cdef void raise_count(self, Py_ssize_t e, double inverse_root) noexcept
    cdef int32_t best_of_class(self, Py_ssize_t c) noexcept
    cdef int32_t next_below(self, int32_t bucket, double mean) noexcept
    cdef void tree_insert(self, Bucket *bucket, int32_t e) noexcept
    cdef void tree_remove(self, Bucket *bucket, int32_t e) noexcept
    cdef int32_t block_of(self, int32_t root, double mean, int32_t e) noexcept
    cdef void link_block(self, int32_t *place, int32_t block, int32_t length) noexcept
    cdef void unlink_block(self, int32_t *place, int32_t block) noexcept
