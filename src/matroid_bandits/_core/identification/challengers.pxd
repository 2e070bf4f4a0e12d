from matroid_bandits._core.identification.rule cimport RuleKernel


cdef class ChallengersRule(RuleKernel):
    # By position in the basis: the score of the best challenger, and who it is, -1 if nobody.
    cdef double[::1] scores
    cdef Py_ssize_t[::1] challengers
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] scratch
    cdef double[::1] scores_by_element

    cdef int find_challengers(self) except -1
