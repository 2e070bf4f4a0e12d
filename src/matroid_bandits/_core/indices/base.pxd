from libc.stdint cimport int64_t

from matroid_bandits._core.streams.random_stream cimport RandomStream


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
    cdef RandomStream random_stream  # None if it draws nothing
    cdef const int64_t[::1] counts
    cdef const double[::1] means
    # Of every element: observations (with pending plays, if these count), and 1 / sqrt of it.
    cdef const int64_t[::1] index_counts
    cdef const double[::1] inverse_root

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1
    cdef void observe(self, Py_ssize_t e, double reward) noexcept
    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1
    cdef void begin(self, Py_ssize_t time) noexcept
    cdef double value_above(self, Py_ssize_t e, double threshold) noexcept


cdef inline double exchange_index(
    IndexKernel index, const double[::1] values, Py_ssize_t e, double own, double best
) noexcept:
    """The index of e minus `own`, that of its partner; if it is not above `best`, any lower number.

    """
    if index.is_lazy:
        # A little less, for the rounding of the difference.
        return index.value_above(e, own + best - 1e-13) - own
    return values[e] - own
