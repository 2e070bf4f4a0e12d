"""Random play, every round."""

import numpy as np

from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef class RandomKernel(PolicyKernel):
    """Greedy in a random order, every round."""

    def __init__(self, matroid, RandomStream random_stream, min_count=0):
        super().__init__(matroid, None, min_count)
        self.random_stream = random_stream
        self.values = np.zeros(self.size)

    cdef int decide(self) except -1:
        cdef Py_ssize_t i
        for i in range(self.candidates.shape[0]):
            self.values[self.candidates[i]] = self.random_stream.uniform()
        self.greedy_on(self.values)
        return self.choose_found()

    def parameters(self):
        return (self.random_stream,)
