from libc.stdint cimport int64_t

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class Learner:
    cdef MatroidKernel exchanges
    cdef MatroidKernel player
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t rank
    cdef readonly Py_ssize_t n_elements
    cdef readonly Py_ssize_t n_unobserved
    cdef readonly int64_t rounds

    # How rewards vary, and what is asked.
    cdef readonly bint is_bernoulli
    cdef readonly double noise
    cdef readonly double eps
    cdef readonly double delta

    # By element.
    cdef int64_t[::1] counts
    cdef double[::1] means
    cdef double[::1] inverse
    cdef double[::1] root
    cdef double[::1] penalty
    cdef const unsigned char[::1] is_loop
    cdef unsigned char[::1] is_chosen

    # All elements by count, then by the round in which they were last observed, then by number.
    cdef Py_ssize_t first
    cdef Py_ssize_t[::1] next
    cdef Py_ssize_t[::1] previous
    cdef Py_ssize_t[::1] last_of_count

    # The best basis by the means. Its elements keep their positions.
    cdef readonly bint has_basis
    cdef Py_ssize_t[::1] basis
    cdef Py_ssize_t[::1] position
    # Pairs: for each element outside, ascending, the positions that it can replace.
    cdef readonly Py_ssize_t n_outside
    cdef readonly Py_ssize_t n_pairs
    cdef Py_ssize_t[::1] outside
    cdef Py_ssize_t[::1] starts
    cdef Py_ssize_t[::1] positions
    cdef Py_ssize_t[::1] other_outside
    cdef Py_ssize_t[::1] other_starts
    cdef Py_ssize_t[::1] other_positions
    cdef Py_ssize_t[::1] row
    # By position: mean, inverse count, penalty.
    cdef double[::1] own_means
    cdef double[::1] own_inverse
    cdef double[::1] own_penalty

    # The statistic of each pair, and what is hardest.
    cdef double[::1] ratios
    cdef readonly double statistic
    cdef readonly double margin
    cdef readonly Py_ssize_t hardest_inside
    cdef readonly Py_ssize_t hardest_outside

    # The threshold: a level, and penalties for counts if it is proven.
    cdef readonly bint is_proven
    cdef readonly double base_level

    cdef double level(self) noexcept
    cdef double highest_threshold(self) noexcept
    cdef int learn(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards, Py_ssize_t n
    ) except -1
    cdef int move_back(self, Py_ssize_t e) except -1
    cdef int evaluate(self) except -1
    cdef int find_basis(self) except -1
    cdef int list_pairs(self) except -1
    cdef int exchange(self, Py_ssize_t position, Py_ssize_t e) except -1
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef Py_ssize_t scan(self) noexcept
    cdef double ratio(self, Py_ssize_t x, Py_ssize_t e) noexcept
    cdef Py_ssize_t complete(
        self,
        const Py_ssize_t[::1] wanted,
        Py_ssize_t n_wanted,
        Py_ssize_t limit,
        Py_ssize_t[::1] chosen,
    ) except -1
