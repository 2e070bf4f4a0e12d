"""Initial rounds on large ground sets: greedy over symmetry classes instead of elements.

Greedy takes unobserved elements first, in ascending order, then observed ones. Elements of a
symmetry class are interchangeable, so once greedy has refused one, it would refuse all that follow
in its class: the class is closed. A round tests the elements that it takes, and one per class.
"""

import numpy as np


cdef class InitialRounds:
    """Elements by class, with what has been observed of each class so far."""

    def __init__(
        self,
        const int32_t[::1] symmetry_class,
        Py_ssize_t n_classes,
        playable,
        const int64_t[::1] counts,
    ):
        self.symmetry_class = symmetry_class
        self.n_classes = n_classes
        self.counts = counts
        classes = np.asarray(symmetry_class)[playable]
        self.elements = playable[np.argsort(classes, kind="stable")].astype(np.int32)
        self.start = np.zeros(n_classes + 1, dtype=np.intp)
        np.asarray(self.start)[1:] = np.cumsum(np.bincount(classes, minlength=n_classes))
        self.cursor = np.array(self.start)
        self.place = np.zeros(n_classes, dtype=np.intp)
        self.is_closed = np.zeros(n_classes, dtype=np.uint8)
        self.heap = np.zeros(n_classes, dtype=np.int32)

    cdef Py_ssize_t greedy(
        self, MatroidKernel oracle, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """What greedy takes, `limit` at most, written to `chosen`; return how many.

        How many were tested is left in `tested`.
        """
        cdef Py_ssize_t taken
        self.tested = 0
        self.is_closed[:] = 0
        oracle.clear()
        taken = self.add(oracle, False, limit, chosen, 0)
        return self.add(oracle, True, limit, chosen, taken)

    cdef Py_ssize_t add(
        self, MatroidKernel oracle, bint observed, Py_ssize_t limit, Py_ssize_t[::1] chosen,
        Py_ssize_t taken
    ) except -1:
        """Go on with the elements that have been observed, or with those that have not."""
        cdef Py_ssize_t c
        cdef int32_t e
        self.heap_length = 0
        if taken == limit:
            return taken
        for c in range(self.n_classes):
            if self.is_closed[c]:
                continue
            while self.cursor[c] < self.start[c + 1] and self.counts[self.elements[self.cursor[c]]]:
                self.cursor[c] += 1
            self.place[c] = self.start[c] if observed else self.cursor[c]
            e = self.following(c, observed)
            if e >= 0:
                self.push(e)
        while self.heap_length > 0:
            e = self.heap[0]
            c = self.symmetry_class[e]
            self.tested += 1
            if oracle.try_add(e):
                chosen[taken] = e
                taken += 1
                if taken == limit:
                    break
                self.replace_top(self.following(c, observed))
            else:
                self.is_closed[c] = True
                self.replace_top(-1)
        return taken

    cdef int32_t following(self, Py_ssize_t c, bint observed) noexcept:
        """The next element of class c that has, or has not, been observed; -1 if there is none."""
        cdef int32_t e
        while self.place[c] < self.start[c + 1]:
            e = self.elements[self.place[c]]
            self.place[c] += 1
            if (self.counts[e] > 0) == observed:
                return e
        return -1

    cdef void push(self, int32_t e) noexcept:
        cdef Py_ssize_t i = self.heap_length
        self.heap_length += 1
        while i > 0 and self.heap[(i - 1) // 2] > e:
            self.heap[i] = self.heap[(i - 1) // 2]
            i = (i - 1) // 2
        self.heap[i] = e

    cdef void replace_top(self, int32_t e) noexcept:
        """Put e in place of the top; nothing, for e = -1."""
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t child
        if e < 0:
            self.heap_length -= 1
            e = self.heap[self.heap_length]
        while 2 * i + 1 < self.heap_length:
            child = 2 * i + 1
            if child + 1 < self.heap_length and self.heap[child + 1] < self.heap[child]:
                child += 1
            if self.heap[child] >= e:
                break
            self.heap[i] = self.heap[child]
            i = child
        self.heap[i] = e
