"""Divergences of Bernoulli distributions, and the mean that two of them have in common."""

from libc.math cimport log

# Halvings of an interval of length one: as exact as doubles are.
cdef int HALVINGS = 60


cdef double divergence(double p, double q) noexcept:
    """Of Bernoulli distributions, never negative."""
    cdef double value = 0.0
    if p > 0:
        value += p * log(p / q)
    if p < 1:
        value += (1 - p) * log((1 - p) / (1 - q))
    return value if value > 0 else 0.0


cdef double common_mean(
    double m_x, double n_x, double m_e, double n_e, double eps
) noexcept:
    """The most likely mean of x if that of e is larger by `eps`, for Bernoulli rewards."""
    if eps == 0:
        return (n_x * m_x + n_e * m_e) / (n_x + n_e)
    cdef double low = max(0.0, m_e - eps)
    cdef double high = min(m_x, 1 - eps)
    cdef double middle, slope
    cdef int _i
    for _i in range(HALVINGS):
        middle = 0.5 * (low + high)
        slope = n_x * (middle - m_x) / (middle * (1 - middle))
        slope += n_e * (middle + eps - m_e) / ((middle + eps) * (1 - middle - eps))
        if slope < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
