from matroid_bandits._core.identification.learner cimport Learner


# What a sampling rule does in a run.
cdef class RuleKernel:
    cdef Learner learner
    # Whether one element is observed in a round; otherwise it is a basis.
    cdef readonly bint by_element
    # Whether the rule needs the best basis and the statistics of its exchanges in every round.
    cdef readonly bint needs_pairs
    # What the rule wants to observe, in the order of its wishes.
    cdef Py_ssize_t[::1] wanted
    cdef unsigned char[::1] is_wanted

    cdef int begin(self, Learner learner, bint by_element) except -1
    cdef Py_ssize_t choose(self) except -1
    cdef bint is_done(self) except -1
    cdef Py_ssize_t want(self, Py_ssize_t e, Py_ssize_t n) noexcept
    cdef bint is_forced(self) noexcept
    cdef double spread(self) noexcept
