from libc.math cimport INFINITY, expm1, fabs
from libc.stdint cimport int64_t

from matroid_bandits._core.streams.random_stream cimport RandomStream


# A line above the value of an element, for budgets in an interval: its values at the two ends, the
# first not above the last.
cdef struct Line:
    double first
    double last


# Bounds on the statistics of an element of the leader, for a while: its mean is at least `floor`,
# and its count from `low` to `high`.
cdef struct Reach:
    double floor
    int64_t low
    int64_t high
    double log_high


cdef inline void set_line(
    Line *line, double value, double slope, double budget, double since, double until
) noexcept:
    """The line through (budget, value)."""
    line.first = value - slope * (budget - since)
    line.last = value + slope * (until - budget)
    # Values may be too large for numbers.
    if not (fabs(line.first) < INFINITY and fabs(line.last) < INFINITY):
        line.first = line.last = INFINITY


# An optimistic value for each element: it grows with the mean of the observed rewards and, for
# elements that were observed rarely, with time. It reads the statistics of its policy.
cdef class IndexKernel:
    cdef readonly str name  # for messages
    # Rewards must lie between these.
    cdef readonly double low
    cdef readonly double high
    # Observations an element needs before it has a value.
    cdef readonly Py_ssize_t min_count
    # Whether `observe` must be called with every reward.
    cdef bint needs_rewards
    # Whether it implements `value_above`, for values that are expensive to compute.
    cdef bint is_lazy
    # Whether it implements the bounds at the end of this class (docs/explanation/other-indices.md).
    cdef bint has_bounds
    cdef double ceiling  # no value is above this
    # Values, bounds and differences of two values are exact up to `slack`, an absolute error, and
    # `relative_slack`, a relative one.
    cdef double slack
    cdef double relative_slack
    # Lines are made for budgets up to this multiple of each other.
    cdef double interval_ratio
    cdef RandomStream random_stream  # None if it draws nothing
    cdef bint shares_draw  # whether one draw is for all elements
    # Whether MAUB compares exchanges by `exchange_score`.
    cdef bint has_scores
    cdef bint has_values  # False if it compares an element with its partner only
    cdef double spread  # standard deviation of a reward, or a bound on it; with scores
    cdef Py_ssize_t n_playable  # elements of the policy that are no loops; arms of OSUB
    cdef const int64_t[::1] counts
    cdef const double[::1] means
    # Of every element: observations (with pending plays, if these count), and 1 / sqrt of it.
    cdef const int64_t[::1] index_counts
    cdef const double[::1] inverse_root

    # For means that change (docs/howto/change.md). Discounted counts are kept up to a common
    # factor.
    cdef double log_discount  # logarithm of the discount of a round; 0 without one
    cdef const double[::1] weights  # `weight_unit` times the counts; None without a discount
    cdef double weight_unit  # the weight of an observation that is not discounted
    cdef double width_unit  # its square root
    cdef double weight  # of the reward that is being observed
    # What `unobserve` needs to know, besides the reward, of the one observed last.
    cdef unsigned char credit

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1
    cdef void observe(self, Py_ssize_t e, double reward) noexcept
    cdef void use_weights(self, const double[::1] weights, double discount) noexcept
    cdef void unobserve(
        self, Py_ssize_t e, double reward, unsigned char credit, double new_mean
    ) noexcept
    cdef void forget(self, Py_ssize_t e) noexcept
    cdef void rescale(self, double factor) noexcept
    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1
    cdef void begin(self, Py_ssize_t time) noexcept
    cdef double value_above(self, Py_ssize_t e, double threshold) noexcept

    # Values as functions of a budget, which grows with time
    cdef double budget_at(self, Py_ssize_t time) noexcept
    cdef double budget_after(self, Py_ssize_t time, Py_ssize_t rounds) noexcept
    cdef double value_at(self, Py_ssize_t e, double budget) noexcept
    cdef double line(
        self, Py_ssize_t e, double budget, double since, double until, Line *line
    ) noexcept
    cdef void lower_bounds(
        self, const Py_ssize_t *elements, Py_ssize_t n, double budget, double *bounds
    ) noexcept
    cdef bint are_alike(self, Py_ssize_t a, Py_ssize_t b) noexcept

    # Scores of exchanges, and elements that are out of reach for a while
    cdef double exchange_score(self, Py_ssize_t e, Py_ssize_t x) noexcept
    cdef void set_reach(self, Py_ssize_t until) noexcept
    cdef bint is_reach_valid(self) noexcept
    cdef bint is_in_reach(self, Py_ssize_t e, const Reach *reach) noexcept


cdef inline double effective_time(IndexKernel index, Py_ssize_t time) noexcept:
    """The time in the index: the number of rounds, or the sum of their discounts."""
    if index.log_discount < 0:
        return expm1(time * index.log_discount) / expm1(index.log_discount)
    return <double>time


cdef inline double scaled_count(IndexKernel index, Py_ssize_t e) noexcept:
    """`weight_unit` times the count of an element in the index."""
    if index.weights is not None:
        return index.weights[e]
    return <double>index.index_counts[e]


cdef inline double exchange_index(
    IndexKernel index, const double[::1] values, Py_ssize_t e, double own, double best
) noexcept:
    """The index of e minus `own`, that of its partner; if it is not above `best`, any lower number.

    """
    if index.is_lazy:
        # A little less, for the rounding of the difference.
        return index.value_above(e, own + best - 1e-13) - own
    return values[e] - own
