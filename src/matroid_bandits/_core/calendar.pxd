from libc.stdint cimport int64_t


# Feedback that is still to come, or to be given up.
cdef packed struct Feedback:
    int64_t due  # the round before whose decision it is learned
    int64_t round  # the round in which it was played
    int64_t place  # where the policy keeps the decision
    int64_t element
    int64_t is_lost
    double reward


# Feedback by the time at which it is due; older decisions come first, and lower elements.
cdef class Calendar:
    cdef Feedback[::1] heap  # the first `n` are a binary heap
    cdef Py_ssize_t n

    cdef int add(self, Feedback feedback) except -1
    cdef bint has_due(self, int64_t round) noexcept
    cdef Feedback take(self) noexcept
