"""The index UCB: the mean and a multiple of 1 / sqrt(count)."""

cimport cython
from libc.math cimport fabs, log, sqrt

import numpy as np

from matroid_bandits._core.indices.base cimport IndexKernel, Line, effective_time, set_line

# Tables of confidence widths end here: 8 MB.
cdef Py_ssize_t MOST_WIDTHS = 2**20

# By noise and constant, shared by all policies. Tables are never changed, only replaced by longer
# ones. Without them a logarithm would take a tenth of a round.
known_widths = {}


cdef double[::1] widths_up_to(Py_ssize_t length, double noise, double constant):
    """A table of noise * sqrt(constant * ln t) by t, with at least `length` entries."""
    cdef double[::1] table = known_widths.get((noise, constant), np.zeros(0))
    cdef Py_ssize_t i
    if table.shape[0] < length:
        table = np.zeros(length)
        for i in range(1, length):
            table[i] = noise * sqrt(constant * log(<double>i))
        # At most eight are kept, so that trying many noise levels does not fill the memory.
        if len(known_widths) < 8 or (noise, constant) in known_widths:
            known_widths[noise, constant] = table
    return table


@cython.final
cdef class UCBKernel(IndexKernel):
    """The mean plus a confidence width, for noise of a known level."""

    def __init__(self, str name, double noise, double constant):
        super().__init__(name)
        self.noise = noise
        self.constant = constant
        self.widths = widths_up_to(128, noise, constant)

    cdef double compute_width(self, Py_ssize_t time) except -1:
        """Compute a width that is not in the table, and double the table."""
        if self.widths.shape[0] < MOST_WIDTHS:
            self.widths = widths_up_to(2 * self.widths.shape[0], self.noise, self.constant)
        return self.noise * sqrt(self.constant * log(<double>time))

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double width
        cdef Py_ssize_t i, e
        if self.weights is None:
            width = width_of(self, time)
        else:
            width = sqrt(self.budget_at(time))
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = self.means[e] + width * self.inverse_root[e]
        return 0

    # ---- with a discount: bounds on values, as other indices have (docs/howto/change.md) ----

    cdef void use_weights(self, const double[::1] weights, double discount) noexcept:
        IndexKernel.use_weights(self, weights, discount)
        self.has_bounds = True
        # The second for numbers so small that errors are not relative.
        self.relative_slack = 1e-11
        self.slack = 1e-290

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        """The square of the width, in the unit of the counts."""
        cdef double squared = self.noise * self.noise * self.constant
        return squared * log(effective_time(self, time)) * self.weight_unit

    cdef double value_at(self, Py_ssize_t e, double budget) noexcept:
        return self.means[e] + sqrt(budget) * self.inverse_root[e]

    cdef double line(
        self, Py_ssize_t e, double budget, double since, double until, Line *line
    ) noexcept:
        """The tangent: the value is a concave function of the budget."""
        cdef double mean = self.means[e]
        cdef double value = self.value_at(e, budget)
        cdef double error
        if budget > 0:
            set_line(line, value, 0.5 * self.inverse_root[e] / sqrt(budget), budget, since, until)
        else:
            # No slope is known: the value at the end is a bound as well.
            line.first = line.last = self.value_at(e, until)
        error = self.relative_slack * (fabs(mean) + fabs(line.last - mean))
        line.first += error
        line.last += error
        return value

    cdef void lower_bounds(
        self, const Py_ssize_t *elements, Py_ssize_t n, double budget, double *bounds
    ) noexcept:
        cdef double mean, value
        cdef Py_ssize_t i
        for i in range(n):
            mean = self.means[elements[i]]
            value = self.value_at(elements[i], budget)
            bounds[i] = value - self.relative_slack * (fabs(mean) + fabs(value - mean))

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.constant)
