"""Indices that estimate the variance of the rewards of an element."""

from libc.math cimport INFINITY, expm1, fabs, log, sqrt
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.indices.base cimport (
    IndexKernel,
    Line,
    effective_time,
    scaled_count,
    set_line,
)


cdef class VarianceKernel(IndexKernel):
    """Keeps, for every element, the sum of squared deviations from its mean (Welford 1962)."""

    cdef double[::1] squares

    def __init__(self, str name, double low, double high, Py_ssize_t min_count):
        super().__init__(name, low, high, min_count)
        self.needs_rewards = True
        self.has_bounds = True
        self.squares = None

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1:
        IndexKernel.attach(self, counts, means, index_counts, inverse_root)
        if self.squares is None:
            self.squares = np.zeros(counts.shape[0])
        return 0

    cdef void observe(self, Py_ssize_t e, double reward) noexcept:
        cdef double old_mean = self.means[e]
        cdef double mean
        if self.weights is not None:
            mean = (self.weights[e] * old_mean + self.weight * reward) / (
                self.weights[e] + self.weight
            )
            self.squares[e] += self.weight * ((reward - old_mean) * (reward - mean))
            # By rounding, it can become negative where all rewards were equal.
            if self.counts[e] == 0 or self.squares[e] < 0:
                self.squares[e] = 0.0
            return
        mean = (self.counts[e] * old_mean + reward) / (self.counts[e] + 1)
        self.squares[e] += (reward - old_mean) * (reward - mean)

    cdef void unobserve(
        self, Py_ssize_t e, double reward, unsigned char credit, double new_mean
    ) noexcept:
        """The inverse of `observe`."""
        cdef double left = self.squares[e] - (reward - self.means[e]) * (reward - new_mean)
        self.squares[e] = left if left > 0 and self.counts[e] > 1 else 0.0

    cdef void forget(self, Py_ssize_t e) noexcept:
        self.squares[e] = 0.0

    cdef void rescale(self, double factor) noexcept:
        cdef Py_ssize_t e
        for e in range(self.squares.shape[0]):
            self.squares[e] *= factor

    cdef inline double variance_of(self, Py_ssize_t e) noexcept:
        """The variance of the rewards of e. Rounding can make it slightly negative."""
        return max(0.0, self.squares[e] / scaled_count(self, e))

    cdef double value(
        self, double mean, double variance, double count, double log_time
    ) noexcept:
        """The index, from the statistics of an element."""
        return 0.0

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double log_time = log(effective_time(self, time)) * self.weight_unit
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = VarianceKernel.value_at(self, e, log_time)
        return 0

    # ---- bounds: docs/explanation/other-indices.md has the proofs ----

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        """The logarithm of the time, in the unit of the counts: the value of UCB-V depends on their
        ratio alone.
        """
        return log(effective_time(self, time)) * self.weight_unit

    cdef double value_at(self, Py_ssize_t e, double log_time) noexcept:
        return self.value(self.means[e], self.variance_of(e), scaled_count(self, e), log_time)

    cdef bint are_alike(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        return (
            self.means[a] == self.means[b]
            and scaled_count(self, a) == scaled_count(self, b)
            and self.squares[a] == self.squares[b]
        )

    def state(self):
        return {"squares": np.array(self.squares)}

    def restore(self, state):
        np.asarray(self.squares)[:] = state["squares"]

    def merge(self, elements, means, counts, state):
        # Chan, Golub & LeVeque 1979; without `squares`, as if all rewards had been the mean.
        own_counts = np.asarray(self.counts)[elements]
        total = np.maximum(own_counts + counts, 1)
        difference = means - np.asarray(self.means)[elements]
        np.asarray(self.squares)[elements] += (
            state.get("squares", 0.0) + difference * difference * own_counts * (counts / total)
        )

    def __reduce__(self):
        return type(self), (self.name,)


cdef class UCBVKernel(VarianceKernel):
    """UCB-V, for rewards from 0 to 1."""

    def __init__(self, str name):
        super().__init__(name, 0.0, 1.0, 1)
        # Values are below 1000, and computed in ten operations.
        self.slack = 1e-11

    cdef double value(
        self, double mean, double variance, double count, double log_time
    ) noexcept:
        return mean + sqrt(2 * variance * log_time / count) + 3 * log_time / count

    cdef double line(
        self, Py_ssize_t e, double log_time, double since, double until, Line *line
    ) noexcept:
        """The tangent: the value is a concave function of the budget."""
        cdef double count = scaled_count(self, e)
        cdef double variance = self.variance_of(e)
        cdef double value = self.value(self.means[e], variance, count, log_time)
        if log_time > 0:
            set_line(
                line,
                value,
                sqrt(variance / (2 * log_time * count)) + 3 / count,
                log_time,
                since,
                until,
            )
        else:
            # No slope is known: the value at the end is a bound as well.
            line.first = line.last = self.value(self.means[e], variance, count, until)
        return value


cdef class NormalUCBKernel(VarianceKernel):
    """The index for Gaussian rewards of unknown variance."""

    def __init__(self, str name):
        super().__init__(name, -INFINITY, INFINITY, 3)
        # The second for numbers so small that errors are not relative.
        self.relative_slack = 1e-11
        self.slack = 1e-290
        self.interval_ratio = 2.0

    cdef double value(
        self, double mean, double variance, double count, double log_time
    ) noexcept:
        # Not infinity times 0, where rewards are so large that their variance overflows.
        if log_time == 0:
            return mean
        return mean + sqrt(variance) * sqrt(expm1(2 * log_time / (count - 2)))

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        """The time itself: the value is a concave function of it, but not of its logarithm."""
        return <double>time

    cdef double value_at(self, Py_ssize_t e, double time) noexcept:
        return VarianceKernel.value_at(self, e, log(time))

    cdef double line(
        self, Py_ssize_t e, double time, double since, double until, Line *line
    ) noexcept:
        """The tangent."""
        cdef double count = <double>self.index_counts[e]
        cdef double mean = self.means[e]
        cdef double variance = self.variance_of(e)
        cdef double log_time = log(time)
        cdef double value = self.value(mean, variance, count, log_time)
        cdef double growth = expm1(2 * log_time / (count - 2))
        cdef double error
        if growth > 0:
            set_line(
                line,
                value,
                sqrt(variance) * (growth + 1) / ((count - 2) * time * sqrt(growth)),
                time,
                since,
                until,
            )
        else:
            line.first = line.last = self.value(mean, variance, count, log(until))
        # Relative to the terms: their sum may be much smaller.
        error = self.relative_slack * (fabs(mean) + fabs(line.last - mean))
        line.first += error
        line.last += error
        if not line.last < INFINITY:
            line.first = line.last = INFINITY
        return value

    cdef void lower_bounds(
        self, const Py_ssize_t *elements, Py_ssize_t n, double time, double *bounds
    ) noexcept:
        cdef double log_time = log(time)
        cdef double mean, value
        cdef Py_ssize_t i
        for i in range(n):
            mean = self.means[elements[i]]
            value = VarianceKernel.value_at(self, elements[i], log_time)
            bounds[i] = value - self.relative_slack * (fabs(mean) + fabs(value - mean))
