"""Features of elements, rounded to powers, so that few different ones are about.

docs/faster-cucb.md shows that this loses a factor of 1 + eps at most.
"""

from libc.float cimport DBL_MAX
from libc.math cimport fabs, floor, log, pow, sqrt


cdef double exponent_below(double value, double step, double log_step) noexcept:
    """The exponent of the largest power of `step` that is at most `value`, which is positive."""
    cdef double exponent = floor(log(value) / log_step)
    # Logarithms are rounded: next to a power it takes a look at the power itself.
    while pow(step, exponent) > value:
        exponent -= 1
    while pow(step, exponent + 1) <= value:
        exponent += 1
    return exponent


cdef class Rounding:
    """To powers of 1 + eps for means, of 1 + eps/2 for 1 / sqrt(count).

    The other half of eps is spent where a mean is dropped.
    """

    def __init__(self, double eps):
        self.mean_step = 1 + eps
        self.root_step = 1 + eps / 2
        self.log_mean_step = log(self.mean_step)
        self.log_root_step = log(self.root_step)
        # No round after the first ones has a smaller lambda than round 2.
        self.negligible = eps / 2 * sqrt(1.5 * log(2.0))

    cdef Feature feature(self, double mean, double inverse_root) noexcept:
        """The feature of an element, rounded down; near 0 a mean becomes 0."""
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
        # Down is away from 0 here, and a power is rounded to itself.
        if -mean == lower:
            upper = lower
            lower = pow(self.mean_step, exponent - 1)
        feature.alpha = max(-upper, -DBL_MAX)
        feature.low = feature.alpha
        feature.high = min(-lower, -smallest)
        return feature
