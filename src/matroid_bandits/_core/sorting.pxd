cdef inline bint comes_before(const double[::1] values, Py_ssize_t a, Py_ssize_t b) noexcept:
    """Whether greedy takes a before b: its value is larger, or equal and its number lower."""
    return values[a] > values[b] or (values[a] == values[b] and a < b)


cdef void sort_descending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept


cdef void sort_elements(Py_ssize_t[::1] elements) noexcept
