"""Sort elements by value, largest first, ties to the lowest element; or by number."""

from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free

cdef extern from "portable.h":
    int lowest_bit "mb_lowest_bit"(uint64_t word) noexcept


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


cdef Py_ssize_t sort_ascending(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept:
    """The same, the smallest value first, ties to the lowest element: the order of a leader.

    Returns how many swaps of neighbors it took, or how many until merge sort took over.
    """
    cdef Py_ssize_t n = order.shape[0]
    cdef Py_ssize_t moves = 0
    cdef Py_ssize_t i, j, element, other
    cdef double value
    for i in range(1, n):
        element = order[i]
        value = values[element]
        j = i
        while j > 0:
            other = order[j - 1]
            if not is_lower(value, element, values[other], other):
                break
            order[j] = other
            j -= 1
        order[j] = element
        moves += i - j
        if moves > 16 * n:
            merge_sort(values, order, scratch)
            scratch[:n] = order
            reverse(&values[0], &scratch[0], &order[0], n)
            break
    return moves


cdef void merge_sort(
    const double[::1] values, Py_ssize_t[::1] order, Py_ssize_t[::1] scratch
) noexcept:
    """Bottom-up merge sort, the largest value first."""
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


cdef bint reverse(
    const double *values, const Py_ssize_t *order, Py_ssize_t *reversed, Py_ssize_t n
) noexcept:
    """From the order of greedy to that of a leader, or back: of equal values the lower element
    comes first in both. Returns whether there are any.
    """
    cdef bint are_any_equal = False
    cdef Py_ssize_t i = n - 1
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t first, j
    while i >= 0:
        first = i
        while first > 0 and values[order[first - 1]] == values[order[i]]:
            first -= 1
            are_any_equal = True
        for j in range(first, i + 1):
            reversed[k] = order[j]
            k += 1
        i = first - 1
    return are_any_equal


cdef void mark_and_list(Py_ssize_t *elements, Py_ssize_t n) noexcept:
    """Sort distinct elements, ascending: mark each in a bitmap, then list the marks."""
    cdef Py_ssize_t largest = 0
    cdef Py_ssize_t i, j, e, w
    cdef uint64_t word
    cdef uint64_t *words
    for i in range(n):
        largest = max(largest, elements[i])
    words = <uint64_t *>calloc(largest // 64 + 1, sizeof(uint64_t))
    if words == NULL:
        # Slow, but without memory.
        for i in range(1, n):
            e = elements[i]
            j = i
            while j > 0 and elements[j - 1] > e:
                elements[j] = elements[j - 1]
                j -= 1
            elements[j] = e
        return
    for i in range(n):
        words[elements[i] // 64] |= <uint64_t>1 << (elements[i] % 64)
    i = 0
    for w in range(largest // 64 + 1):
        word = words[w]
        while word != 0:
            elements[i] = 64 * w + lowest_bit(word)
            i += 1
            word &= word - 1
    free(words)
