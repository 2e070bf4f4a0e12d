"""Features of elements, rounded to powers, so that there are few different ones.

docs/explanation/faster-cucb.md proves that this loses at most a factor of 1 + eps.
"""

from libc.float cimport DBL_MAX
from libc.math cimport fabs, floor, log, pow, sqrt


cdef double exponent_below(double value, double step, double log_step) noexcept:
    """The exponent of the largest power of `step` that is at most `value`, which is positive."""
    cdef double exponent = floor(log(value) / log_step)
    # The logarithm is rounded, so next to a power the exponent may be off by one.
    while pow(step, exponent) > value:
        exponent -= 1
    while pow(step, exponent + 1) <= value:
        exponent += 1
    return exponent


cdef class Rounding:
    """Rounds means to powers of 1 + eps, and 1 / sqrt(count) to powers of 1 + eps/2.

    The other half of eps pays for means that are rounded to 0.
    """

    def __init__(self, double eps):
        self.mean_step = 1 + eps
        self.root_step = 1 + eps / 2
        self.log_mean_step = log(self.mean_step)
        self.log_root_step = log(self.root_step)
        # The smallest lambda that is used is that of round 2.
        self.negligible = eps / 2 * sqrt(1.5 * log(2.0))

    cdef Feature feature(self, double mean, double inverse_root) noexcept:
        """The feature of an element, rounded down; a mean near 0 is rounded to 0."""
        cdef Feature feature
        cdef double exponent, lower, upper, smallest
        exponent = exponent_below(inverse_root, self.root_step, self.log_root_step)
        feature.beta = pow(self.root_step, exponent)
        smallest = self.negligible * feature.beta
        if -smallest <= mean < smallest:
            feature.alpha = 0
            feature.low = -smallest
            feature.high = smallest
            return feature
        exponent = exponent_below(fabs(mean), self.mean_step, self.log_mean_step)
        lower = pow(self.mean_step, exponent)
        upper = pow(self.mean_step, exponent + 1)
        if mean > 0:
            feature.alpha = lower
            feature.low = max(lower, smallest)
            feature.high = upper
            return feature
        # Negative: rounding down goes away from 0. A power is rounded to itself.
        if -mean == lower:
            upper = lower
            lower = pow(self.mean_step, exponent - 1)
        feature.alpha = max(-upper, -DBL_MAX)
        feature.low = feature.alpha
        feature.high = min(-lower, -smallest)
        return feature
