from libc.stdint cimport int64_t

from matroid_bandits._core.policies.memory.base cimport Memory


# All observations, until a test finds that a mean has changed.
cdef class Restart(Memory):
    cdef readonly double delta
    # Every so many rounds an element is played in any case; 0: in the rounds 9, 36, 81, ...
    cdef readonly Py_ssize_t period
    cdef readonly bint restarts_all  # or only the element whose mean has changed
    cdef readonly double noise  # of Gaussian rewards; 0 for rewards from 0 to 1
    cdef double log_elements  # of the number of tests, one for each element
    cdef Py_ssize_t n_levels
    cdef int64_t largest_count  # of any element, so far
    # [e, level, i]: the sum of a block of 2 ** level rewards of e, the oldest first.
    cdef double[:, :, ::1] sums
    cdef unsigned char[:, ::1] n_blocks
    cdef Py_ssize_t[::1] element_restarted_at  # by element, as `restarted_at`
    # Elements whose change was found and not yet dealt with, in that order.
    cdef Py_ssize_t[::1] changed
    cdef Py_ssize_t n_changed
    cdef unsigned char[::1] is_changed
    cdef readonly Py_ssize_t n_restarts

    cdef int grow_levels(self, int64_t count) except -1
    cdef void append(self, Py_ssize_t e, double reward) noexcept
    cdef int append_many(self, Py_ssize_t e, double mean, int64_t count) except -1
    cdef double statistic(self, Py_ssize_t e, double limit) noexcept
    cdef bint has_changed(self, Py_ssize_t e) noexcept
