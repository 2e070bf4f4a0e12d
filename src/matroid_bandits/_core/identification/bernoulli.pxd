cdef double common_mean(
    double m_x, double n_x, double m_e, double n_e, double eps
) noexcept
cdef double divergence(double p, double q) noexcept
