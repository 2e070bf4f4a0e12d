"""Transversal matroids: sets that can be matched into the right-hand side of a bipartite graph."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class TransversalKernel(MatroidKernel):
    """Element e may be matched with ``right[start[e]:start[e + 1]]``.

    Independence: one augmenting path per element, O(edges). Exchange: with the basis matched,
    e can replace x if and only if an alternating path leads from e to x.
    """

    cdef const Py_ssize_t[::1] start
    cdef const Py_ssize_t[::1] right
    cdef Py_ssize_t[::1] match_of_right  # the element matched with a right vertex, -1 if none
    cdef Py_ssize_t[::1] match_of_element
    cdef Py_ssize_t[::1] seen  # stamp of the search that last saw a right vertex
    cdef Py_ssize_t stamp
    cdef Py_ssize_t[::1] reached_from
    cdef Py_ssize_t[::1] queue
    cdef Py_ssize_t[::1] position  # of an element in the basis, valid for its elements only
    cdef Py_ssize_t[::1] lowest  # of a right vertex: first basis position reachable from it
    # The basis elements next to a right vertex, as linked lists of edges.
    cdef Py_ssize_t[::1] first_edge
    cdef Py_ssize_t[::1] next_edge
    cdef Py_ssize_t[::1] edge_element

    def __init__(
        self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] right, Py_ssize_t n_right
    ):
        cdef Py_ssize_t size = start.shape[0] - 1
        super().__init__(size)
        self.start = start
        self.right = right
        self.match_of_right = np.full(n_right, -1, dtype=np.intp)
        self.match_of_element = np.full(size, -1, dtype=np.intp)
        self.seen = np.zeros(n_right, dtype=np.intp)
        self.reached_from = np.empty(n_right, dtype=np.intp)
        self.queue = np.empty(n_right + 1, dtype=np.intp)
        self.position = np.zeros(size, dtype=np.intp)
        self.lowest = np.empty(n_right, dtype=np.intp)
        self.first_edge = np.empty(n_right, dtype=np.intp)
        self.next_edge = np.empty(right.shape[0], dtype=np.intp)
        self.edge_element = np.empty(right.shape[0], dtype=np.intp)

    cdef object find_symmetry_classes(self):
        """Elements with the same neighbors."""
        right = np.asarray(self.right)
        start = np.asarray(self.start).tolist()
        classes = {}
        return np.array(
            [
                classes.setdefault(np.sort(right[start[e] : start[e + 1]]).tobytes(), len(classes))
                for e in range(self.size)
            ],
            dtype=np.int32,
        )

    cdef int clear(self) except -1:
        self.match_of_right[:] = -1
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t head = 0
        cdef Py_ssize_t tail = 1
        cdef Py_ssize_t x, y, i, freed
        self.stamp += 1
        self.queue[0] = element
        while head < tail:
            x = self.queue[head]
            head += 1
            for i in range(self.start[x], self.start[x + 1]):
                y = self.right[i]
                if self.seen[y] == self.stamp:
                    continue
                self.seen[y] = self.stamp
                self.reached_from[y] = x
                if self.match_of_right[y] >= 0:
                    self.queue[tail] = self.match_of_right[y]
                    tail += 1
                    continue
                # A free vertex: shift the matching along the path back to the new element.
                while True:
                    x = self.reached_from[y]
                    freed = self.match_of_element[x]
                    self.match_of_element[x] = y
                    self.match_of_right[y] = x
                    if x == element:
                        return 1
                    y = freed
        return 0

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t k, x, y, i, top, edge
        cdef Py_ssize_t n_edges = 0
        self.clear()
        self.first_edge[:] = -1
        self.lowest[:] = -1
        for k in range(basis.shape[0]):
            x = basis[k]
            self.position[x] = k
            if not self.try_add(x):
                raise ValueError(f"{np.sort(basis).tolist()} cannot be matched: not a basis")
            for i in range(self.start[x], self.start[x + 1]):
                y = self.right[i]
                self.edge_element[n_edges] = x
                self.next_edge[n_edges] = self.first_edge[y]
                self.first_edge[y] = n_edges
                n_edges += 1
        # Backwards from the match of the first position, then of the second, and so on: a vertex
        # that is reached for the first time has this position as its lowest. Every edge is visited
        # once.
        for k in range(basis.shape[0]):
            y = self.match_of_element[basis[k]]
            if self.lowest[y] >= 0:
                continue
            self.lowest[y] = k
            self.queue[0] = y
            top = 1
            while top > 0:
                top -= 1
                edge = self.first_edge[self.queue[top]]
                while edge >= 0:
                    y = self.match_of_element[self.edge_element[edge]]
                    if self.lowest[y] < 0:
                        self.lowest[y] = k
                        self.queue[top] = y
                        top += 1
                    edge = self.next_edge[edge]
        return 0

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t i, candidate
        for i in range(self.start[element], self.start[element + 1]):
            candidate = self.lowest[self.right[i]]
            if candidate >= 0 and (best < 0 or candidate < best):
                best = candidate
        return best

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        return self.search(element, position) < 0

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t count = self.search(element, -1)
        cdef Py_ssize_t i
        for i in range(count):
            positions[i] = self.position[self.queue[1 + i]]
        np.asarray(positions[:count]).sort()
        return count

    cdef Py_ssize_t search(self, Py_ssize_t element, Py_ssize_t position) noexcept:
        """Follow alternating paths from `element` and return how many elements of the basis they
        reach; these are in the queue after `element`. Return -1 once the one at `position` is
        reached.
        """
        cdef Py_ssize_t head = 0
        cdef Py_ssize_t tail = 1
        cdef Py_ssize_t x, y, i
        self.stamp += 1
        self.queue[0] = element
        while head < tail:
            x = self.queue[head]
            head += 1
            for i in range(self.start[x], self.start[x + 1]):
                y = self.right[i]
                if self.seen[y] != self.stamp and self.match_of_right[y] >= 0:
                    self.seen[y] = self.stamp
                    self.queue[tail] = self.match_of_right[y]
                    if self.position[self.queue[tail]] == position:
                        return -1
                    tail += 1
        return tail - 1
