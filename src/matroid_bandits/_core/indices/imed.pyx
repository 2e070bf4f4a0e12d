"""IMED: how little the observations contradict that an element is as good as its partner."""

from libc.math cimport INFINITY, log

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.indices.kl cimport kl

# Several times the rounding error of a divergence.
cdef double ROUNDING = 1e-13


cdef class IMEDKernel(IndexKernel):
    """count * divergence(mean, mean of the partner) + ln count, against the partner's ln count."""

    cdef readonly double noise  # of Gaussian rewards; 0 for rewards from 0 to 1

    def __init__(self, str name, double noise):
        if noise > 0:
            super().__init__(name)
        else:
            super().__init__(name, 0.0, 1.0)
        self.compares_partners = True
        self.noise = noise

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        """Those of the leader: ln count."""
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            values[elements[i]] = log(<double>self.index_counts[elements[i]])
        return 0

    cdef double exchange_cost(self, Py_ssize_t e, Py_ssize_t x, double own) noexcept:
        cdef double count = <double>self.index_counts[e]
        cdef double gap = self.means[x] - self.means[e]
        cdef double divergence = 0.0
        cdef double cost
        # The cost is at least ln count.
        if self.index_counts[e] >= self.index_counts[x]:
            return INFINITY
        if self.noise > 0:
            if gap > 0:
                gap /= self.noise
                divergence = 0.5 * gap * gap
            if count * divergence >= own:
                return INFINITY
        elif gap > 0:
            # Pinsker: the divergence is at least this.
            if count * (2 * gap * gap - ROUNDING) >= own or self.means[x] >= 1:
                return INFINITY
            # Rounding may make it negative.
            divergence = max(0.0, kl(max(0.0, self.means[e]), self.means[x]))
        cost = count * divergence + log(count)
        return cost if cost < own else INFINITY

    def __reduce__(self):
        return type(self), (self.name, self.noise)
