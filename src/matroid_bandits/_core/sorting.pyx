"""Sort elements by value, largest first, ties to the lowest element."""


cdef void sort_descending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept:
    """Sort `order` in place; `scratch` has the same length.

    From one round to the next the order hardly changes, so insertion sort on last round's order is
    the fastest there is; once it has moved too much it hands over to merge sort, so that the worst
    case stays O(n log n).
    """
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t moves_left = 16 * n
    cdef Py_ssize_t i, j, element, other
    cdef double value
    for i in range(1, n):
        element = order[i]
        value = values[element]
        j = i
        while j > 0:
            other = order[j - 1]
            if not is_better(value, element, values[other], other):
                break
            order[j] = other
            j -= 1
        order[j] = element
        moves_left -= i - j
        if moves_left < 0:
            merge_sort(values, order, scratch)
            return


cdef void merge_sort(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept:
    """Bottom-up merge sort."""
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t width = 1
    cdef Py_ssize_t start, middle, end, left, right, k
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            left = start
            right = middle
            for k in range(start, end):
                if right >= end or (
                    left < middle and not comes_before(values, order[right], order[left])
                ):
                    scratch[k] = order[left]
                    left += 1
                else:
                    scratch[k] = order[right]
                    right += 1
        for k in range(n):
            order[k] = scratch[k]
        width *= 2
