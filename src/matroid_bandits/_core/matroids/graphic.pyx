"""Graphic matroids: forests of a graph."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits.errors import not_a_basis


cdef class GraphicKernel(MatroidKernel):
    """Edge e joins ``tails[e]`` and ``heads[e]``; a set is independent if it has no cycle.

    Independence: every vertex has the label of its component, so a test is one comparison. Joining
    two components relabels the smaller one, O(V log V) for a whole forest. Exchange: the circuit of
    an edge is the path between its ends in the rooted forest.
    """

    cdef const Py_ssize_t[::1] tails
    cdef const Py_ssize_t[::1] heads
    cdef Py_ssize_t n_vertices
    # Components: label, size by label, and the members of each as a ring.
    cdef Py_ssize_t[::1] label
    cdef Py_ssize_t[::1] weight
    cdef Py_ssize_t[::1] ring
    # The forest of the basis: adjacency lists, then parent, edge to it (its position), depth.
    cdef Py_ssize_t[::1] first_arc
    cdef Py_ssize_t[::1] next_arc
    cdef Py_ssize_t[::1] arc_target
    cdef Py_ssize_t[::1] parent
    cdef Py_ssize_t[::1] parent_edge
    cdef Py_ssize_t[::1] depth
    cdef Py_ssize_t[::1] queue
    # Subtrees as intervals: the number of a vertex in depth-first order, and the size of its
    # subtree.
    cdef Py_ssize_t[::1] entered
    cdef Py_ssize_t[::1] below
    cdef Py_ssize_t[::1] child  # of a position: the lower end of its edge

    def __init__(
        self,
        Py_ssize_t n_vertices,
        const Py_ssize_t[::1] tails,
        const Py_ssize_t[::1] heads,
    ):
        super().__init__(tails.shape[0])
        self.quick_exchange = True
        self.n_vertices = n_vertices
        self.tails = tails
        self.heads = heads
        self.label = np.empty(n_vertices, dtype=np.intp)
        self.weight = np.empty(n_vertices, dtype=np.intp)
        self.ring = np.empty(n_vertices, dtype=np.intp)
        self.first_arc = np.empty(n_vertices, dtype=np.intp)
        self.next_arc = np.empty(2 * n_vertices, dtype=np.intp)
        self.arc_target = np.empty(2 * n_vertices, dtype=np.intp)
        self.parent = np.empty(n_vertices, dtype=np.intp)
        self.parent_edge = np.empty(n_vertices, dtype=np.intp)
        self.depth = np.empty(n_vertices, dtype=np.intp)
        self.queue = np.empty(n_vertices, dtype=np.intp)
        self.entered = np.empty(n_vertices, dtype=np.intp)
        self.below = np.empty(n_vertices, dtype=np.intp)
        # Zeros, so that an edge outside the forest has a vertex too.
        self.child = np.zeros(n_vertices, dtype=np.intp)

    cdef object find_symmetry_classes(self):
        """Parallel edges."""
        tails, heads = np.asarray(self.tails), np.asarray(self.heads)
        pairs = np.minimum(tails, heads) * self.n_vertices + np.maximum(tails, heads)
        return np.unique(pairs, return_inverse=True)[1].astype(np.int32)

    cdef int clear(self) except -1:
        cdef Py_ssize_t v
        for v in range(self.n_vertices):
            self.label[v] = v
            self.weight[v] = 1
            self.ring[v] = v
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t small = self.tails[element]
        cdef Py_ssize_t large = self.heads[element]
        cdef Py_ssize_t v, new_label, next_small
        if self.label[small] == self.label[large]:
            return 0
        if self.weight[self.label[small]] > self.weight[self.label[large]]:
            small, large = large, small
        new_label = self.label[large]
        self.weight[new_label] += self.weight[self.label[small]]
        v = small
        while True:
            self.label[v] = new_label
            v = self.ring[v]
            if v == small:
                break
        # Exchanging the successors of one member each joins two rings into one.
        next_small = self.ring[small]
        self.ring[small] = self.ring[large]
        self.ring[large] = next_small
        return 1

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t position, edge, arc, root, v, w, i
        cdef Py_ssize_t head = 0
        cdef Py_ssize_t tail = 0
        if basis.shape[0] > self.n_vertices:
            raise not_a_basis(basis, self.n_vertices)
        self.basis = basis
        self.first_arc[:] = -1
        for position in range(basis.shape[0]):
            edge = basis[position]
            for arc in range(2 * position, 2 * position + 2):
                v = self.tails[edge] if arc % 2 == 0 else self.heads[edge]
                self.arc_target[arc] = self.heads[edge] if arc % 2 == 0 else self.tails[edge]
                self.next_arc[arc] = self.first_arc[v]
                self.first_arc[v] = arc
        self.depth[:] = -1
        for root in range(self.n_vertices):
            if self.depth[root] >= 0:
                continue
            self.depth[root] = 0
            self.parent[root] = -1
            self.queue[tail] = root
            tail += 1
            while head < tail:
                v = self.queue[head]
                head += 1
                arc = self.first_arc[v]
                while arc >= 0:
                    w = self.arc_target[arc]
                    if self.depth[w] < 0:
                        self.depth[w] = self.depth[v] + 1
                        self.parent[w] = v
                        self.parent_edge[w] = arc // 2
                        self.child[arc // 2] = w
                        self.queue[tail] = w
                        tail += 1
                    arc = self.next_arc[arc]
        # Every vertex was queued after its parent: sizes from the last to the first, then numbers
        # from the first to the last. `first_arc` is not needed any more and now holds, per vertex,
        # the number at which the subtree of its next child starts.
        self.below[:] = 1
        for i in range(tail - 1, -1, -1):
            v = self.queue[i]
            if self.parent[v] >= 0:
                self.below[self.parent[v]] += self.below[v]
        head = 0
        for i in range(tail):
            v = self.queue[i]
            if self.parent[v] < 0:
                self.entered[v] = head
                head += self.below[v]
            else:
                self.entered[v] = self.first_arc[self.parent[v]]
                self.first_arc[self.parent[v]] += self.below[v]
            self.first_arc[v] = self.entered[v] + 1
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """Whether the edge at `position` is on the path between the ends: one end is below it."""
        cdef Py_ssize_t top = self.child[position]
        cdef size_t first = self.entered[top]
        cdef size_t length = self.below[top]
        return (<size_t>self.entered[self.tails[element]] - first < length) != (
            <size_t>self.entered[self.heads[element]] - first < length
        )

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t u = self.tails[element]
        cdef Py_ssize_t v = self.heads[element]
        cdef Py_ssize_t lowest = self.size
        if u == v:
            return -1
        while u != v:
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            if self.parent[u] < 0:
                return -1  # between two trees: the prepared set is not a basis
            lowest = min(lowest, self.parent_edge[u])
            u = self.parent[u]
        return lowest

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t u = self.tails[element]
        cdef Py_ssize_t v = self.heads[element]
        cdef Py_ssize_t count = 0
        while u != v:
            if self.depth[u] < self.depth[v]:
                u, v = v, u
            if self.parent[u] < 0:
                return 0
            positions[count] = self.parent_edge[u]
            count += 1
            u = self.parent[u]
        np.asarray(positions[:count]).sort()
        return count
