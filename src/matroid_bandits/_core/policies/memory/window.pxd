from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.policies.memory.base cimport Memory


# An observation in the window.
cdef struct Kept:
    double reward
    int32_t element
    int32_t next  # of the same round, or in the list of free places; -1 at the end
    unsigned char credit  # of the index


# The observations of the last `length` rounds.
cdef class Window(Memory):
    cdef readonly Py_ssize_t length
    cdef Kept[::1] kept
    cdef int32_t free  # a list of free places
    cdef Py_ssize_t n_free
    # By round modulo their length, a power of two: first and last observation of the round.
    cdef int32_t[::1] first
    cdef int32_t[::1] last
    cdef Py_ssize_t[::1] n_of_round
    cdef Py_ssize_t round  # that of the observations that are being added
    # The sum of the rewards in the window, and its rounding error so far.
    cdef double[::1] sums
    cdef double[::1] errors
    # Whether an observation has left since the element had none: the mean is then that of the sum.
    cdef unsigned char[::1] has_lost

    cdef Py_ssize_t slot(self, Py_ssize_t round) noexcept
    cdef int grow_rounds(self, Py_ssize_t wanted, Py_ssize_t rounds) except -1
    cdef int grow_kept(self, Py_ssize_t wanted) except -1
    cdef void place(
        self, Py_ssize_t e, double reward, unsigned char credit, Py_ssize_t round
    ) noexcept
    cdef void add_to_sum(self, Py_ssize_t e, double reward) noexcept
