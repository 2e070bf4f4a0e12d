cdef inline bint is_better(
    double a_value, Py_ssize_t a, double b_value, Py_ssize_t b
) noexcept:
    """The order of greedy: whether the value of a is larger, or equal and its number lower."""
    return a_value > b_value or (a_value == b_value and a < b)


cdef inline bint is_lower(
    double a_value, Py_ssize_t a, double b_value, Py_ssize_t b
) noexcept:
    """The order of a leader: whether the value of a is smaller, or equal and its number lower."""
    return a_value < b_value or (a_value == b_value and a < b)


cdef inline bint comes_before(const double[::1] values, Py_ssize_t a, Py_ssize_t b) noexcept:
    """Whether greedy takes a before b."""
    return is_better(values[a], a, values[b], b)


cdef void sort_descending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept
cdef Py_ssize_t sort_ascending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept


cdef bint reverse(
    const double *values, const Py_ssize_t *order, Py_ssize_t *reversed, Py_ssize_t n
) noexcept
cdef void mark_and_list(Py_ssize_t *elements, Py_ssize_t n) noexcept


cdef inline void sort_elements(Py_ssize_t[::1] elements) noexcept:
    """Sort distinct elements, ascending: by insertion, as most are in place or few."""
    cdef Py_ssize_t n = elements.shape[0]
    cdef Py_ssize_t moves_left = 16 * n
    cdef Py_ssize_t i, j, e
    for i in range(1, n):
        e = elements[i]
        j = i
        while j > 0 and elements[j - 1] > e:
            elements[j] = elements[j - 1]
            j -= 1
        elements[j] = e
        moves_left -= i - j
        if moves_left < 0:
            mark_and_list(&elements[0], n)
            return
