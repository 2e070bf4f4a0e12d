from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.streams.random_stream cimport RandomStream


# Greedy in a random order.
cdef class RandomKernel(PolicyKernel):
    cdef RandomStream random_stream
    cdef double[::1] values
    cdef Py_ssize_t drawn  # the round that `values` are for
