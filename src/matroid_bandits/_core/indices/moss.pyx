"""MOSS: a confidence width that vanishes for elements with more than their share of the rounds."""

from libc.math cimport INFINITY, fabs, log, sqrt

from matroid_bandits._core.indices.base cimport IndexKernel, Line, set_line


cdef class MOSSKernel(IndexKernel):
    """mean + scale * sqrt(max(0, ln(time / (n count))) / count), where n elements are no loops.

    The time is `horizon` in every round, if that is positive.
    """

    cdef readonly double scale
    cdef readonly double horizon

    def __init__(self, str name, double scale, double horizon):
        super().__init__(name)
        self.scale = scale
        self.horizon = horizon
        self.has_bounds = True
        # The second for numbers so small that errors are not relative.
        self.relative_slack = 1e-11
        self.slack = 1e-290

    cdef inline double share(self, double count) noexcept:
        """The budget above which an element with so many observations has a width."""
        return log(self.n_playable * count)

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double budget = self.budget_at(time)
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            values[elements[i]] = self.value_at(elements[i], budget)
        return 0

    # ---- bounds: docs/explanation/other-indices.md has the proofs ----

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        return log(self.horizon if self.horizon > 0 else <double>time)

    cdef double value_at(self, Py_ssize_t e, double budget) noexcept:
        cdef double count = <double>self.index_counts[e]
        cdef double excess = budget - self.share(count)
        return self.means[e] + self.scale * sqrt(max(0.0, excess) / count)

    cdef double line(
        self, Py_ssize_t e, double budget, double since, double until, Line *line
    ) noexcept:
        """With a horizon, the value itself, the same in every round. Else the tangent, where
        that is not below the mean at `since`; otherwise the lowest line above the value that begins
        with the mean.
        """
        cdef double count = <double>self.index_counts[e]
        cdef double mean = self.means[e]
        # With a horizon a single budget belongs to all times; `budget` may be another one.
        cdef double value = self.value_at(e, self.budget_at(0) if self.horizon > 0 else budget)
        cdef double share = self.share(count)
        cdef double touch = 2 * share - since  # where the line from the mean at `since` touches
        cdef double error
        if self.horizon > 0:
            line.first = line.last = value
        elif budget > share and budget >= touch:
            set_line(
                line,
                value,
                self.scale / (2 * sqrt((budget - share) * count)),
                budget,
                since,
                until,
            )
        elif share > since and touch <= until:
            set_line(
                line, mean, self.scale / (2 * sqrt((share - since) * count)), since, since, until
            )
        else:
            line.first = mean if share > since else self.value_at(e, until)
            line.last = self.value_at(e, until)
        # Relative to the terms: their sum may be much smaller.
        error = self.relative_slack * (fabs(mean) + fabs(line.last - mean))
        line.first += error
        line.last += error
        if not line.last < INFINITY:
            line.first = line.last = INFINITY
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
        return type(self), (self.name, self.scale, self.horizon)
