cimport cython

from matroid_bandits._core.indices.base cimport IndexKernel


# mean + noise * sqrt(constant * ln time) / sqrt(count)
@cython.final
cdef class UCBKernel(IndexKernel):
    cdef readonly double noise
    cdef readonly double constant
    # noise * sqrt(constant * ln time) by time, as far as it has been computed
    cdef double[::1] widths

    cdef double compute_width(self, Py_ssize_t time) except -1


cdef inline double width_of(UCBKernel ucb, Py_ssize_t time) except -1:
    """The factor of 1 / sqrt(count)."""
    if time < ucb.widths.shape[0]:
        return ucb.widths[time]
    return ucb.compute_width(time)
