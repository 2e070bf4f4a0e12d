"""Feedback that comes late in a simulation, in the order in which it is learned."""

import numpy as np

_FIELDS = ["due", "round", "row", "element", "is_lost"]
_DUE_REWARD = np.dtype([*((name, np.int64) for name in _FIELDS), ("reward", np.float64)])


cdef inline bint is_before(const DueReward *a, const DueReward *b) noexcept:
    if a.due != b.due:
        return a.due < b.due
    if a.round != b.round:
        return a.round < b.round
    return a.element < b.element


cdef class Calendar:
    """A heap of feedback; its memory is in proportion to what is still to come."""

    def __init__(self):
        self.heap = np.zeros(64, dtype=_DUE_REWARD)

    cdef int add(self, DueReward feedback) except -1:
        cdef Py_ssize_t i, parent
        if self.n == self.heap.shape[0]:
            longer = np.zeros(2 * self.n, dtype=_DUE_REWARD)
            # Not `np.asarray`, which turns Ctrl-C into another error.
            longer[:self.n] = self.heap.base
            self.heap = longer
        i = self.n
        self.n += 1
        while i > 0:
            parent = (i - 1) // 2
            if not is_before(&feedback, &self.heap[parent]):
                break
            self.heap[i] = self.heap[parent]
            i = parent
        self.heap[i] = feedback
        return 0

    cdef bint has_due(self, int64_t round) noexcept:
        """Whether there is feedback to be learned before the decision of `round`."""
        return self.n > 0 and self.heap[0].due <= round

    cdef DueReward take(self) noexcept:
        """Remove the first feedback; there must be some."""
        cdef DueReward first = self.heap[0]
        cdef DueReward last
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t child = 1
        self.n -= 1
        if self.n == 0:
            return first
        last = self.heap[self.n]
        while child < self.n:
            if child + 1 < self.n and is_before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not is_before(&self.heap[child], &last):
                break
            self.heap[i] = self.heap[child]
            i = child
            child = 2 * i + 1
        self.heap[i] = last
        return first
