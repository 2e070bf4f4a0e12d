from matroid_bandits._core.policies.deciding cimport DecidingKernel


# What all policies share.
cdef class PolicyKernel(DecidingKernel):
    pass
