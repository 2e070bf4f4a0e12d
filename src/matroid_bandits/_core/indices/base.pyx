"""What all indices share, and the kernel for indices written in Python."""

from libc.math cimport INFINITY, exp, isnan, log

import numpy as np

from matroid_bandits._arguments import real_array


cdef class IndexKernel:
    """An index at work for one policy."""

    def __init__(
        self, str name, double low=-INFINITY, double high=INFINITY, Py_ssize_t min_count=1
    ):
        self.name = name
        self.low = low
        self.high = high
        self.min_count = min_count
        self.ceiling = INFINITY
        self.interval_ratio = 1.5
        self.weights = None
        self.weight_unit = self.width_unit = self.weight = 1.0
        self.has_values = True

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1:
        """Read the statistics of a policy from now on."""
        self.counts = counts
        self.means = means
        self.index_counts = index_counts
        self.inverse_root = inverse_root
        return 0

    cdef void observe(self, Py_ssize_t e, double reward) noexcept:
        """Receive a reward, before count and mean are updated with it."""

    # ---- what it keeps of observations that are forgotten (docs/howto/change.md) ----

    cdef void use_weights(self, const double[::1] weights, double discount) noexcept:
        """Use weights in place of counts; a round multiplies their values by `discount`."""
        self.weights = weights
        self.log_discount = log(discount)

    cdef void unobserve(
        self, Py_ssize_t e, double reward, unsigned char credit, double new_mean
    ) noexcept:
        """A reward leaves the window, before count and mean are updated. `credit` is what it had
        when it was observed, `new_mean` the mean without it.
        """

    cdef void forget(self, Py_ssize_t e) noexcept:
        """Nothing is known about e any more."""

    cdef void rescale(self, double factor) noexcept:
        """All weights are multiplied by a factor."""

    # ---- values ----

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        """Write the value of each of `elements` e to `values[e]`."""
        raise NotImplementedError

    cdef void begin(self, Py_ssize_t time) noexcept:
        """Set the time for `value_above`."""

    cdef double value_above(self, Py_ssize_t e, double threshold) noexcept:
        """The value of e if it is above `threshold`; otherwise any number that is not."""
        return -INFINITY

    # ---- bounds ----

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        """The budget at a time: not negative; it never falls while time goes on."""
        return 0.0

    cdef double budget_after(self, Py_ssize_t time, Py_ssize_t rounds) noexcept:
        """The budget when `time` and the round have both advanced by so many rounds."""
        cdef double budget = self.budget_at(time + rounds)
        return budget * exp(-self.log_discount * rounds) if self.log_discount < 0 else budget

    cdef double value_at(self, Py_ssize_t e, double budget) noexcept:
        """The value that `evaluate` computes for e at a time with this budget, bit for bit."""
        return 0.0

    cdef double line(
        self, Py_ssize_t e, double budget, double since, double until, Line *line
    ) noexcept:
        """Set a line above the value of e for all budgets from `since` to `until` that belong to
        a time, close to it near `budget`, which is between them and need not belong to a time. If
        it does, returns the value there.
        """
        line.first = line.last = INFINITY
        return self.value_at(e, budget)

    cdef void lower_bounds(
        self, const Py_ssize_t *elements, Py_ssize_t n, double budget, double *bounds
    ) noexcept:
        """Write a lower bound on the value of each of `elements`. Means are lower bounds too."""
        cdef Py_ssize_t i
        for i in range(n):
            bounds[i] = self.value_at(elements[i], budget)

    cdef bint are_alike(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        """Whether two elements have the same statistics, and so the same value at any time."""
        return self.means[a] == self.means[b] and scaled_count(self, a) == scaled_count(self, b)

    # ---- scores ----

    cdef double exchange_score(self, Py_ssize_t e, Py_ssize_t x) noexcept:
        """Of several exchanges the one with the largest score is made; -INFINITY if that of x for e
        is not. `begin` comes first.
        """
        return -INFINITY

    cdef void set_reach(self, Py_ssize_t until) noexcept:
        """`is_in_reach` is asked about times up to `until`."""

    cdef bint is_reach_valid(self) noexcept:
        """Whether elements out of reach have the score -INFINITY in this round, after `begin`."""
        return True

    cdef bint is_in_reach(self, Py_ssize_t e, const Reach *reach) noexcept:
        """False only if e has the score -INFINITY with any partner that keeps these bounds."""
        return True

    # ---- what it keeps besides counts and means ----

    def state(self):
        """Its own statistics, as arrays with a row per element, by name."""
        return {}

    def restore(self, state):
        """Take over what `state` returned."""

    def merge(self, elements, means, counts, state):
        """Add the observations of another policy, before counts and means are updated with them.

        Parameters
        ----------
        elements, means, counts
            Mean and number of the rewards of each element.
        state
            What `state` of the other index returned, with a row for each of `elements`; what is
            not in it is inferred from means and counts.
        """


cdef class PythonIndexKernel(IndexKernel):
    """An index written in Python."""

    cdef object index

    def __init__(self, index):
        super().__init__(type(index).__name__, index.low, index.high, index.min_count)
        self.index = index

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double[::1] found
        cdef Py_ssize_t i
        array = np.asarray(elements)
        if self.weights is None:
            counts, shown_time = np.asarray(self.index_counts)[array], int(time)
        else:
            counts = np.asarray(self.weights)[array] / self.weight_unit
            shown_time = effective_time(self, time)
        answer = self.index.values(np.asarray(self.means)[array], counts, shown_time)
        found = real_array(answer, f"values of {self.name}")
        if found.shape[0] != elements.shape[0]:
            raise ValueError(
                f"{self.name}.values must return one value for each of the {elements.shape[0]} "
                f"elements, got {found.shape[0]}"
            )
        for i in range(elements.shape[0]):
            if isnan(found[i]):
                raise ValueError(
                    f"{self.name}.values returned NaN for element {elements[i]} at time {time}"
                )
            values[elements[i]] = found[i]
        return 0

    def __reduce__(self):
        return type(self), (self.index,)
