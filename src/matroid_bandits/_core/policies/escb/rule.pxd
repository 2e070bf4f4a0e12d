from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.policies.base cimport PolicyKernel


# The two sums behind the value of a basis. At a price p for a unit of spread its weight is
# mean + p * spread: a line in p.
cdef struct Line:
    double mean  # sum of the means
    double spread  # sum of 1 / N


cdef class ESCBKernel(PolicyKernel):
    cdef readonly double noise
    cdef readonly double bound  # no basis had a larger value when one was last chosen

    # This round
    cdef double root  # the bonus of a basis is root * sqrt(spread)
    cdef double tolerance  # values that differ by less are equal
    cdef double[::1] spread  # 1 / N of each element
    cdef double[::1] weight  # of each element, at some price
    cdef Py_ssize_t[::1] best  # like all bases here, in the first `round_rank` places
    cdef double best_value

    # Exchanges
    cdef Py_ssize_t[::1] basis  # by weight, largest first
    cdef unsigned char[::1] is_member  # of a basis in use; otherwise all 0
    cdef MatroidKernel exchange_oracle  # for the available elements of this round
    cdef double bound_before  # `bound` before this round

    cdef int search(self) except -1
    cdef void start_round(self) noexcept
    cdef Line line_of(self, const Py_ssize_t[::1] basis) noexcept
    cdef double value_of(self, Line line) noexcept
    cdef double own_price(self, Line line) noexcept
    cdef void weigh(self, double price) noexcept
    cdef Line propose(self, const Py_ssize_t[::1] basis) noexcept
    cdef int climb_from(self, const Py_ssize_t[::1] basis) except -1
    cdef bint exchange(self) except -1
