from matroid_bandits._core.matroids.base cimport MatroidKernel


# An independent set that need not be a basis: what can be added to it, and exchanged with it.
cdef class CompletedSet:
    cdef MatroidKernel kernel
    cdef Py_ssize_t rank  # of its matroid
    cdef Py_ssize_t length  # elements of the set
    cdef Py_ssize_t added  # elements that complete it
    cdef Py_ssize_t[::1] basis  # first those that complete it, then the set
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] chosen
    cdef Py_ssize_t[::1] positions
    cdef unsigned char[::1] status  # by element, as far as `can_add` has found it

    cdef int complete(self, const Py_ssize_t[::1] members) except -1
    cdef Py_ssize_t member(self, Py_ssize_t position) noexcept
    cdef bint can_add(self, Py_ssize_t element) except -1
    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1
    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2
    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1
