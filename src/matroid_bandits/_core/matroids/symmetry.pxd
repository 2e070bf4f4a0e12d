from libc.stdint cimport int32_t


# For elements of a basis: clones outside it.
cdef class Representatives:
    cdef const int32_t[::1] symmetry_class
    cdef Py_ssize_t[::1] outside  # of each class: an element that is not in the basis
    cdef unsigned char[::1] is_inside

    cdef int prepare(self, const Py_ssize_t[::1] basis) noexcept
    cdef Py_ssize_t outside_for(self, Py_ssize_t element) noexcept
