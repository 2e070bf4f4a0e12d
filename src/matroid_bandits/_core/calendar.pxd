from libc.stdint cimport int64_t


# The reward of an element that is still to come, or is lost.
cdef packed struct DueReward:
    int64_t due  # the round before whose decision it is learned
    int64_t round  # the round in which it was played
    int64_t row  # where the policy keeps the decision
    int64_t element
    int64_t is_lost
    double reward


# Rewards by the time at which they are due; older decisions come first, and lower elements.
cdef class Calendar:
    cdef DueReward[::1] heap  # the first `n` are a binary heap
    cdef Py_ssize_t n

    cdef int add(self, DueReward feedback) except -1
    cdef bint has_due(self, int64_t round) noexcept
    cdef DueReward take(self) noexcept
