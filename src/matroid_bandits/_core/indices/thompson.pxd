from libc.stdint cimport int64_t

from matroid_bandits._core.indices.base cimport IndexKernel


# Draws from posteriors with log-concave densities, in full or beyond a threshold.
cdef class ThompsonKernel(IndexKernel):
    cdef double draw(self, Py_ssize_t e) noexcept
    cdef double draw_at_least(self, Py_ssize_t e, double floor) noexcept
    cdef double draw_at_most(self, Py_ssize_t e, double threshold) noexcept
    cdef double mass_above(self, Py_ssize_t e, double threshold) noexcept
    cdef double draw_above(self, Py_ssize_t e, double threshold) noexcept
    cdef double mass_below(self, Py_ssize_t e, double floor) noexcept
    cdef double draw_below(self, Py_ssize_t e, double floor) noexcept
    cdef double deviations_from_mean(self, Py_ssize_t e, double deviations) noexcept
    cdef bint is_fit(self, Py_ssize_t e, double floor, double near, double far) noexcept
    cdef Py_ssize_t first_unfit(
        self,
        const Py_ssize_t *elements,
        Py_ssize_t first,
        Py_ssize_t n,
        const double *floors,
        double near,
        double far,
    ) noexcept
    cdef double most_below_floor(self, double near) noexcept
    cdef double new_floor(self, Py_ssize_t e, double near, double far) noexcept


cdef class BetaKernel(ThompsonKernel):
    cdef double[:, ::1] tallies  # [e, 0] successes, [e, 1] failures; both begin with 1


cdef inline void find_posterior(
    BetaKernel index, Py_ssize_t e, double *a, double *b
) noexcept:
    """The parameters of the posterior; both are at least 1."""
    cdef double successes = index.tallies[e, 0]
    cdef double failures = index.tallies[e, 1]
    cdef int64_t pending = index.index_counts[e] - index.counts[e]
    if index.weights is not None:
        # The prior is not discounted.
        a[0] = 1 + (successes - 1) / index.weight_unit
        b[0] = 1 + (failures - 1) / index.weight_unit
    elif pending > 0:
        # As many successes and failures more as the present mean promises.
        a[0] = successes + pending * successes / (successes + failures)
        b[0] = failures + pending * failures / (successes + failures)
    else:
        a[0] = successes
        b[0] = failures


cdef class GaussianKernel(ThompsonKernel):
    cdef double noise
