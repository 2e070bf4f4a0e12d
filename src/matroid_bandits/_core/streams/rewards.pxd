from libc.stdint cimport uint32_t, uint64_t

from matroid_bandits._core.streams.random_stream cimport bitgen_t


# Rewards of one run: the k-th draw of an element depends on (seed, element, k) alone.
cdef class RewardKernel:
    cdef readonly Py_ssize_t size
    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1


# One PCG64 stream per element: those of `numpy.random.default_rng([domain, seed, element])`.
cdef class Streams(RewardKernel):
    # SeedSequence's hash after the domain and the seed: what all elements have in common.
    cdef uint32_t[4] pool
    cdef uint32_t hash_constant
    cdef uint64_t[:, ::1] words  # 32 bytes per element; a stream not yet seeded has increment 0
    cdef bitgen_t bits

    cdef bitgen_t *stream(self, Py_ssize_t element) noexcept
    cdef void seed_stream(self, Py_ssize_t element) noexcept
    cdef double uniform(self, Py_ssize_t element) noexcept
    cdef double normal(self, Py_ssize_t element) noexcept
