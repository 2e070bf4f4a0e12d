from libc.stdint cimport int64_t

# Larger than the number of any round.
cdef enum: NEVER = 0x7fffffffffffffff


# The means of one run whose means change from round to round.
cdef class MeansKernel:
    cdef readonly Py_ssize_t size
    cdef int64_t round  # a round that `means` are the means of; 0 before the first
    cdef int64_t next_change  # they stay until before this round
    cdef double[::1] means

    cdef int move_to(self, int64_t round) except -1
    cdef int write(self, int64_t round) except -1
