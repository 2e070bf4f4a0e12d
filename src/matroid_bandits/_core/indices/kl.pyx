"""Bernoulli kl-UCB: the largest mean that is compatible with the observations."""

from libc.math cimport INFINITY

import numpy as np

from matroid_bandits._core.indices.base cimport effective_time, scaled_count

cdef enum:
    MOST_STEPS = 60

# Several times the rounding error of a divergence, a sum of two terms below 40.
cdef double ROUNDING = 1e-13

# The rounding of sums and differences of values. And a hundred times that of a divergence, which
# makes an error of ERROR * (1 + level) / kl'(q) in q; it is part of the bounds
# (docs/explanation/other-indices.md).
cdef double SLACK = 1e-14
cdef double ERROR = 1e-13


cdef double kl_upper(double mean, double level) noexcept:
    """The largest q with kl(mean, q) <= level, for a mean from 0 to 1 and a level not negative.

    Solved for y = -ln(1 - q), in which kl is convex, and nearly linear for large y: Halley's steps
    from a guess that is right to the second order for low levels, and bisection whenever a step
    would leave the interval that contains the solution.
    """
    cdef double y, y_of_mean, low, high, q, guess, excess, slope, bend, step, fixed
    cdef double variance = mean * (1 - mean)
    cdef Py_ssize_t _
    if mean >= 1 or level <= 0:
        return min(max(mean, 0.0), 1.0)
    if mean <= 0:
        return -expm1(-level)
    y_of_mean = -log(1 - mean)
    # kl(mean, q) - level = fixed - mean ln q + (1 - mean) y
    fixed = mean * log(mean) - (1 - mean) * y_of_mean - level
    # At `high` the other terms alone are 0, and -mean ln q is not negative.
    low = y_of_mean
    high = -fixed / (1 - mean)
    guess = sqrt(2 * variance * level) + (1 - 2 * mean) * level / 1.5
    y = min(high, -log(1 - mean - guess)) if 0 < guess < 1 - mean else high
    for _ in range(MOST_STEPS):
        q = 1 - exp(-y)
        excess = fixed - mean * log(q) + (1 - mean) * y
        if excess > 0:
            high = y
        else:
            low = y
        slope = (q - mean) / q
        bend = mean * (1 - q) / (q * q)
        step = 2 * excess * slope / (2 * slope * slope - excess * bend)
        # NaN where q is the mean itself.
        if not low <= y - step <= high:
            step = y - 0.5 * (low + high)
        y -= step
        # Every step cubes the relative error: 1e-5 before it, 1e-15 after it.
        if fabs(step) <= 1e-5 * (y - y_of_mean):
            # 1 - exp(-y), computed from its value before the step.
            return max(mean, q - (1 - q) * step * (1 + 0.5 * step))
    return max(mean, 1 - exp(-y))


def kl_ucb(const double[::1] means, const double[::1] levels):
    """`kl_upper` of every pair."""
    cdef double[::1] values = np.empty(means.shape[0])
    cdef Py_ssize_t i
    for i in range(means.shape[0]):
        values[i] = kl_upper(means[i], levels[i])
    return np.asarray(values)


cdef class KLKernel(IndexKernel):
    """The largest q with count * kl(mean, q) <= ln t + c ln ln t."""

    def __init__(self, str name, double c):
        super().__init__(name, 0.0, 1.0)
        self.is_lazy = True
        self.has_bounds = True
        self.ceiling = 1.0
        self.slack = SLACK
        self.c = c

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double allowed = self.budget_at(time)
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = kl_upper(self.means[e], allowed / scaled_count(self, e))
        return 0

    cdef void begin(self, Py_ssize_t time) noexcept:
        self.allowed = self.budget_at(time)

    cdef double value_above(self, Py_ssize_t e, double threshold) noexcept:
        """Most elements are far below the threshold: found without a logarithm, or with two."""
        cdef double mean = self.means[e]
        cdef double level = self.allowed / scaled_count(self, e)
        # Pinsker: kl(mean, threshold) is at least this; if that exceeds the level, e is below.
        if threshold > mean and 2 * (threshold - mean) * (threshold - mean) >= level:
            return -INFINITY
        if mean < threshold < 1 and kl(mean, threshold) >= level + ROUNDING:
            return -INFINITY
        return kl_upper(mean, level)

    # ---- bounds: docs/explanation/other-indices.md has the proofs ----

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        return budget(self.c, effective_time(self, time)) * self.weight_unit

    cdef double value_at(self, Py_ssize_t e, double allowed) noexcept:
        return kl_upper(self.means[e], allowed / scaled_count(self, e))

    cdef double line(
        self, Py_ssize_t e, double allowed, double since, double until, Line *line
    ) noexcept:
        """The tangent: the value is a concave function of the budget."""
        cdef double count = scaled_count(self, e)
        cdef double mean = min(max(self.means[e], 0.0), 1.0)
        cdef double q = kl_upper(mean, allowed / count)
        cdef double slope, error
        if q > mean:
            slope = q * (1 - q) / (q - mean)
            error = ERROR * (1 + allowed / count) * slope
            set_line(line, q + error, slope / count, allowed, since, until)
        else:
            # No slope is known: the value at the end is a bound as well.
            line.first = line.last = kl_upper(mean, until / count) + 1e-9
        return q

    cdef void lower_bounds(
        self, const Py_ssize_t *elements, Py_ssize_t n, double allowed, double *bounds
    ) noexcept:
        """Without a logarithm, if the level is low: p + d where d^2 (1/(6v) + 1/(3w)) <= level,
        with the variances v of p and w of p + d.
        """
        cdef double mean, level, variance, distance, end_variance
        cdef Py_ssize_t i
        for i in range(n):
            mean = self.means[elements[i]]
            level = allowed / scaled_count(self, elements[i])
            variance = mean * (1 - mean)
            if level < 0.5 * variance:
                # The series of the solution to the third order, and a little less.
                distance = sqrt(2 * variance * level) * (1 - level / (5 * variance))
                distance += (1 - 2 * mean) * level / 1.5
                end_variance = (mean + distance) * (1 - mean - distance)
                if (
                    distance > 0
                    and end_variance > 0
                    and distance * distance * (end_variance + 2 * variance)
                    <= 6 * variance * end_variance * level
                ):
                    bounds[i] = mean + distance - 2 * ERROR * end_variance / distance
                    continue
            bounds[i] = kl_upper(mean, level)

    def __reduce__(self):
        return type(self), (self.name, self.c)
