from matroid_bandits._core.policies.base cimport PolicyKernel


# Greedy in a random order.
cdef class RandomKernel(PolicyKernel):
    cdef double[::1] values
