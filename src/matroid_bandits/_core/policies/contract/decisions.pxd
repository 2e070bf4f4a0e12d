from libc.stdint cimport int32_t, int64_t

cdef enum:
    OPEN = 1
    COMPLETE = 2  # closed: all feedback has come
    CLOSED = 3  # closed before that
    EXPIRED = 4


# Open decisions, each in a row of a table, and those that were closed most recently.
cdef class DecisionTable:
    cdef Py_ssize_t width  # columns: elements of the largest decision, at least 1
    cdef dict rows  # by id
    cdef list ids  # by row
    cdef list free_rows
    cdef readonly Py_ssize_t n_open
    # By row
    cdef int64_t[::1] rounds
    cdef int32_t[::1] lengths
    cdef int32_t[::1] n_missing  # elements without feedback
    cdef unsigned char[::1] status
    cdef unsigned char[::1] is_reordered  # whether the problem has changed, and with it the order
    cdef int32_t[:, ::1] elements  # ascending; below 0: a dropped element
    cdef double[:, ::1] rewards  # NaN: none so far
    cdef double[:, ::1] known_propensities  # None until a decision has some; NaN: not known
    # Rows of closed decisions, a ring
    cdef int32_t[::1] closed
    cdef Py_ssize_t n_closed
    cdef Py_ssize_t oldest

    cdef int reserve(self) except -1
    cdef Py_ssize_t add(
        self, identifier, int64_t round, const Py_ssize_t[::1] elements
    ) except -1
    cdef Py_ssize_t find(self, identifier) except -1
    cdef Py_ssize_t column_of(self, Py_ssize_t row, Py_ssize_t element) noexcept
    cdef int close(self, Py_ssize_t row, int status) except -1
    cdef int remove(self, Py_ssize_t row) except -1
    cdef int forget(self, Py_ssize_t row) except -1
