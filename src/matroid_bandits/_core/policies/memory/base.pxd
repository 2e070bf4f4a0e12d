from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport IndexKernel


# Which observations a policy still uses, where means change (docs/howto/change.md). It reads the
# statistics of the policy, and finds their new values; the policy sets them.
cdef class Memory:
    cdef readonly Py_ssize_t size
    cdef IndexKernel index
    cdef const int64_t[::1] counts
    cdef const double[::1] means
    # The time in an index is at most this.
    cdef readonly Py_ssize_t longest_time
    # Whether statistics of unknown rounds can be added.
    cdef readonly bint accepts_statistics
    # Whether the initial rounds are over, since the start or a restart of all elements.
    cdef readonly bint is_past_initial
    # Statistics of an element after `add` or `remove`.
    cdef int64_t new_count
    cdef double new_mean
    # Elements that were forgotten, in the order in which that happened: a circular list.
    cdef int32_t[::1] next_forgotten  # the last place is that of the list itself
    cdef int32_t[::1] previous_forgotten
    # Discounted counts by element, up to a common factor; None without a discount.
    cdef double[::1] weights
    # Rounds that had ended at the last restart of all elements.
    cdef readonly Py_ssize_t restarted_at

    cdef int attach(
        self, IndexKernel index, const int64_t[::1] counts, const double[::1] means,
        Py_ssize_t n_playable
    ) except -1

    # Observations; their round is the one in which the element was played
    cdef int reserve(self, Py_ssize_t n, Py_ssize_t rounds) except -1
    cdef bint accepts(self, Py_ssize_t e, Py_ssize_t round, Py_ssize_t rounds) noexcept
    cdef void begin(self, Py_ssize_t round, Py_ssize_t rounds) noexcept
    cdef void add(self, Py_ssize_t e, double reward) noexcept
    cdef int add_many(self, Py_ssize_t e, double mean, int64_t count) except -1
    # At the end of a round
    cdef Py_ssize_t n_expiring(self, Py_ssize_t rounds) noexcept
    cdef Py_ssize_t remove(self, Py_ssize_t rounds) noexcept
    cdef void end_round(self) noexcept
    # When a round begins
    cdef bint is_due(self, Py_ssize_t rounds) noexcept
    cdef object forget(self, Py_ssize_t rounds)
    cdef Py_ssize_t forced_place(self, Py_ssize_t time, Py_ssize_t n) noexcept

    cdef void push(self, Py_ssize_t e) noexcept
    cdef void pull(self, Py_ssize_t e) noexcept
    cdef void clear_queue(self) noexcept
    cdef object queue(self)
