from libc.stdint cimport uint32_t, uint64_t

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void *state
        uint64_t (*next_uint64)(void *st) noexcept
        uint32_t (*next_uint32)(void *st) noexcept
        double (*next_double)(void *st) noexcept
        uint64_t (*next_raw)(void *st) noexcept


# The random numbers of one policy: those of `numpy.random.default_rng([POLICIES, seed])`.
cdef class RandomStream:
    cdef readonly object seed
    cdef object generator  # keeps `bits` alive
    cdef bitgen_t *bits
    cdef uint64_t *words  # where NumPy keeps the position, or NULL
    cdef uint64_t[2] marked  # the position at the mark
    cdef object marked_state  # the same, if `words` is NULL

    cdef uint64_t *find_words(self) except? NULL
    cdef int mark(self) except -1
    cdef int rewind(self) except -1
    cdef double uniform(self) noexcept
    cdef double normal(self) noexcept
    cdef double exponential(self) noexcept
    cdef double beta(self, double a, double b) noexcept
