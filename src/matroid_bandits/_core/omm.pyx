"""OMM: greedy on upper confidence bounds, every round."""

from libc.math cimport log, sqrt

import numpy as np

from matroid_bandits._core.policy cimport PolicyKernel, sort_elements


cdef class OMMKernel(PolicyKernel):
    """Optimistic Matroid Maximization [KWAES14]."""

    cdef double[::1] index

    def __init__(self, matroid):
        super().__init__(matroid)
        self.index = np.zeros(self.size)

    cdef int decide(self) except -1:
        cdef double width
        cdef Py_ssize_t e
        if self.unobserved > 0:
            return self.first_round()
        # sqrt(2 ln t) with t the number of this round; loops that were never observed get an
        # infinite index (NaN in round 1), but are not in the order that greedy walks.
        width = sqrt(2 * log(<double>(self.rounds + 1)))
        for e in range(self.size):
            self.index[e] = self.means[e] + width * self.inverse_root[e]
        self.greedy_on(self.index)
        self.chosen[:] = self.found
        sort_elements(self.chosen)
        return 0
