from libc.stdint cimport int32_t, int64_t

# An element on a shelf: a node of that shelf's treap.
cdef struct Node:
    double mean
    int32_t lower
    int32_t higher

# What is known of all elements of one class that have been observed equally often.
cdef struct Shelf:
    double mean  # of `top`
    double inverse_root  # 1 / sqrt(count)
    int64_t count
    int32_t top  # the element of highest mean (ties: lowest element)
    int32_t root  # of the treap
    int32_t length
    int32_t next  # shelf of the same class, of higher count


cdef class Shelves:
    cdef const int32_t[::1] class_of
    cdef Node[::1] nodes  # by element
    cdef int32_t[::1] shelf_of  # by element, -1 if it is on none
    cdef int32_t[::1] first  # by class: its shelf of lowest count, -1 if it has none
    cdef Shelf[::1] shelves
    cdef int32_t free  # a list of shelves no longer used
    cdef int32_t n_used  # shelves from here on have never been used

    cdef void clear(self) noexcept
    cdef int32_t new_shelf(self) noexcept
    cdef void put(self, Py_ssize_t e, double mean, int64_t count, double inverse_root) noexcept
    cdef void take(self, Py_ssize_t e) noexcept
    cdef bint is_alone(self, Py_ssize_t e) noexcept
    cdef void relabel(self, Py_ssize_t e, double mean, double inverse_root) noexcept
    cdef int32_t best(self, Py_ssize_t c) noexcept
    cdef int32_t below(self, int32_t shelf, double mean) noexcept
