# The divergence of Bernoulli distributions, and the upper bound that follows from it.
from libc.math cimport exp, expm1, fabs, log, sqrt

from matroid_bandits._core.indices.base cimport IndexKernel, Line, set_line


cdef inline double budget(double c, double time) noexcept:
    """ln t + c ln ln t, the second logarithm never below 0."""
    cdef double first = log(time)
    return first + c * log(first) if first > 1 else first


cdef inline double kl(double p, double q) noexcept:
    """The divergence of Bernoulli distributions, for 0 <= p < q < 1."""
    return (p * log(p / q) if p > 0 else 0.0) + (1 - p) * log((1 - p) / (1 - q))


cdef double kl_upper(double mean, double level) noexcept


cdef class KLKernel(IndexKernel):
    cdef readonly double c
    cdef double allowed  # the budget at the time of `begin`
