from libc.stdint cimport int64_t


cdef inline double updated_mean(int64_t count, double mean, double reward) noexcept:
    """The mean after one more reward."""
    return (count * mean + reward) / (count + 1)


# Checks feedback before anything is learned from it, and says what is wrong in the user's words.
cdef class Feedback:
    cdef Py_ssize_t size
    cdef const int64_t[::1] counts  # those of the policy
    cdef const double[::1] means

    # Rewards must lie between these.
    cdef str owner  # what the bounds are for
    cdef readonly double low
    cdef readonly double high
    cdef bint is_bounded
    cdef readonly double largest  # in size; infinite if rewards are only added up

    # What the user calls elements and rewards.
    cdef tuple labels  # None: elements are called by their numbers
    cdef readonly list former  # labels of dropped elements, whose numbers are -1, -2, ...
    cdef readonly dict former_number  # the numbers of these labels
    cdef bint are_costs
    cdef double pivot  # a cost c is the reward pivot - c
    cdef double assumed_noise  # a default that large rewards contradict; infinite if there is none
    cdef bint holds_warnings
    cdef str held  # a warning that is issued later

    cdef int64_t[::1] stamp  # for noticing doubled elements
    cdef int64_t last_stamp

    cdef int check(self, const Py_ssize_t[::1] elements, const double[::1] rewards) except -1
    cdef int check_reward(self, Py_ssize_t e, double reward) except -1
    cdef int check_default(self, double reward) except -1
    cdef int check_range(self, Py_ssize_t e, double reward) except -1
    cdef int warn_of_noise(self, Py_ssize_t e, double reward) except -1
    cdef object overflow(self, Py_ssize_t e, double reward)
    cdef object too_large(self, str what, double reward)
    cdef object name(self, Py_ssize_t e)
    cdef str described(self, Py_ssize_t e)
    cdef str kind(self)
    cdef double in_user_units(self, double reward) noexcept
