"""IMED: how little the observations contradict that an element is as good as its partner."""

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t

from matroid_bandits._core.indices.base cimport IndexKernel, Reach
from matroid_bandits._core.indices.kl cimport kl

# Several times the rounding error of a divergence.
cdef double ROUNDING = 1e-13

cdef enum:
    MOST_LOGARITHMS = 16384

# Logarithms of small counts: to compute them would take most of a round.
cdef double[MOST_LOGARITHMS] LOGARITHMS


cdef int fill_logarithms() except -1:
    cdef int i
    for i in range(1, MOST_LOGARITHMS):
        LOGARITHMS[i] = log(<double>i)
    return 0


fill_logarithms()


cdef inline double log_of(int64_t count) noexcept:
    return LOGARITHMS[count] if count < MOST_LOGARITHMS else log(<double>count)


cdef class IMEDKernel(IndexKernel):
    """count * divergence(mean, mean of the partner) + ln count, against the partner's ln count."""

    cdef readonly double noise  # of Gaussian rewards; 0 for rewards from 0 to 1

    def __init__(self, str name, double noise):
        if noise > 0:
            super().__init__(name)
        else:
            super().__init__(name, 0.0, 1.0)
        self.has_scores = True
        self.has_values = False
        self.noise = noise
        self.spread = noise if noise > 0 else 0.5

    cdef inline double divergence(self, double p, double q) noexcept:
        """That of the distributions with these means; 0 if the second is not larger."""
        cdef double gap = q - p
        if gap <= 0:
            return 0.0
        if self.noise > 0:
            gap /= self.noise
            return 0.5 * gap * gap
        # Rounding may make it negative, and bring means a hair out of their range.
        return max(0.0, kl(max(0.0, p), q)) if q < 1 else INFINITY

    cdef double exchange_score(self, Py_ssize_t e, Py_ssize_t x) noexcept:
        """Less the cost, if that is below the partner's ln count."""
        cdef double count = <double>self.index_counts[e]
        cdef double own, gap, cost
        # The cost is at least ln count.
        if self.index_counts[e] >= self.index_counts[x]:
            return -INFINITY
        own = log_of(self.index_counts[x])
        gap = self.means[x] - self.means[e]
        # Pinsker: the divergence is at least 2 gap^2.
        if not self.noise > 0 and gap > 0 and count * (2 * gap * gap - ROUNDING) >= own:
            return -INFINITY
        cost = count * self.divergence(self.means[e], self.means[x]) + log_of(
            self.index_counts[e]
        )
        return -cost if cost < own else -INFINITY

    cdef bint is_in_reach(self, Py_ssize_t e, const Reach *reach) noexcept:
        cdef double count = <double>self.index_counts[e]
        cdef double least = count * (self.divergence(self.means[e], reach.floor) - ROUNDING)
        return not least + log_of(self.index_counts[e]) >= reach.log_high + 1e-9

    def __reduce__(self):
        return type(self), (self.name, self.noise)
