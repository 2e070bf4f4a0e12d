from libc.stdint cimport int64_t


# How optimistic a policy is about an element: a value that grows with the mean of what was observed
# and, for what was observed rarely, with time. It sees the statistics of the policy it belongs to.
cdef class IndexKernel:
    cdef readonly str name  # for messages
    # Rewards must lie between these.
    cdef readonly double low
    cdef readonly double high
    # Observations an element needs before it has a value.
    cdef readonly Py_ssize_t min_count
    # Whether `observe` wants to be told.
    cdef bint needs_rewards
    # Whether it answers `value_above`, which is worth while if values are dear.
    cdef bint is_lazy
    cdef const int64_t[::1] counts
    cdef const double[::1] means
    cdef const double[::1] inverse_root

    cdef int attach(
        self, const int64_t[::1] counts, const double[::1] means, const double[::1] inverse_root
    ) except -1
    cdef void observe(self, Py_ssize_t e, double reward) noexcept
    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1
    cdef void begin(self, Py_ssize_t time) noexcept
    cdef double value_above(self, Py_ssize_t e, double threshold) noexcept
