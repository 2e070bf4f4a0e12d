from matroid_bandits._core.policies.contract.deciding cimport DecidingKernel


# What all policies share.
cdef class PolicyKernel(DecidingKernel):
    cdef bint omits_decisions  # in `state`, for a copy that needs none

    cdef PolicyKernel copy_of_round(self)
    cdef object select_here(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    )
    cdef int choose_instead_of_decision(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
