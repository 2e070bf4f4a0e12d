from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class InitialRounds:
    cdef const int32_t[::1] symmetry_class
    cdef Py_ssize_t n_classes
    cdef const int64_t[::1] counts
    cdef int32_t[::1] elements  # class after class, ascending in each
    cdef Py_ssize_t[::1] start  # of each class in `elements`
    cdef Py_ssize_t[::1] cursor  # of each class: everything before it has been observed
    # One run of greedy
    cdef Py_ssize_t[::1] place  # of each class: where in `elements` it has got to
    cdef unsigned char[::1] is_closed  # of each class: nothing more of it can be added
    cdef int32_t[::1] heap  # the next element of each class, the lowest on top
    cdef Py_ssize_t heap_length
    cdef Py_ssize_t tested

    cdef Py_ssize_t greedy(
        self, MatroidKernel oracle, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1
    cdef Py_ssize_t add(
        self, MatroidKernel oracle, bint observed, Py_ssize_t limit, Py_ssize_t[::1] chosen,
        Py_ssize_t taken
    ) except -1
    cdef int32_t following(self, Py_ssize_t c, bint observed) noexcept
    cdef void push(self, int32_t e) noexcept
    cdef void replace_top(self, int32_t e) noexcept
