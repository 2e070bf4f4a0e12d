# A rounded feature, and the means that are rounded to it while beta stays the same.
cdef struct Feature:
    double alpha  # the mean, rounded
    double beta  # 1 / sqrt(count), rounded down
    double low  # means from this one
    double high  # to below this one


cdef class Rounding:
    cdef double mean_step
    cdef double log_mean_step
    cdef double root_step
    cdef double log_root_step
    cdef double negligible  # a mean below this multiple of beta is rounded to 0

    cdef Feature feature(self, double mean, double inverse_root) noexcept
