cdef inline bint is_better(
    double a_value, Py_ssize_t a, double b_value, Py_ssize_t b
) noexcept:
    """The order of greedy: whether the value of a is larger, or equal and its number lower."""
    return a_value > b_value or (a_value == b_value and a < b)


cdef inline bint comes_before(const double[::1] values, Py_ssize_t a, Py_ssize_t b) noexcept:
    """Whether greedy takes a before b."""
    return is_better(values[a], a, values[b], b)


cdef void sort_descending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept


cdef inline void sort_elements(Py_ssize_t[::1] elements) noexcept:
    """Ascending insertion sort, for bases."""
    cdef Py_ssize_t i, j, e
    for i in range(1, elements.shape[0]):
        e = elements[i]
        j = i
        while j > 0 and elements[j - 1] > e:
            elements[j] = elements[j - 1]
            j -= 1
        elements[j] = e
