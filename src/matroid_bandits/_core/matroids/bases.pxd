from libc.stdint cimport int32_t, uint64_t

cdef enum:
    NONE = -1  # no set


# Distinct sets of `rank` elements each, in a hash table.
cdef class Sets:
    cdef readonly Py_ssize_t size  # of the ground set
    cdef readonly Py_ssize_t rank
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t[:, ::1] members  # of each, ascending
    cdef uint64_t[::1] element_keys
    cdef uint64_t[::1] keys  # of each set: the sum over its elements
    cdef int32_t[::1] slots  # a hash table by key: a set, or NONE
    cdef uint64_t mask

    cdef int fill_slots(self) except -1
    cdef Py_ssize_t free_slot(self, uint64_t key) noexcept
    cdef uint64_t key(self, const Py_ssize_t[::1] elements) noexcept
    cdef bint is_set(self, Py_ssize_t k, const Py_ssize_t[::1] elements) noexcept
    cdef Py_ssize_t find(self, const Py_ssize_t[::1] elements, uint64_t key) noexcept
    cdef int add(self, const Py_ssize_t[::1] elements, uint64_t key) except -1


cdef void exchange(
    const Py_ssize_t[::1] elements, Py_ssize_t position, Py_ssize_t e, Py_ssize_t[::1] exchanged
) noexcept
