from libc.stdint cimport int32_t


# For elements of a basis: symmetric elements outside it.
cdef class Representatives:
    cdef const int32_t[::1] symmetry_class
    cdef Py_ssize_t[::1] outside  # by class: an element outside the basis
    cdef unsigned char[::1] is_inside

    cdef int prepare(self, const Py_ssize_t[::1] basis) noexcept
    cdef Py_ssize_t outside_for(self, Py_ssize_t element) noexcept
