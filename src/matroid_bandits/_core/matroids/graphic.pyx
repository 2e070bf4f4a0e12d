"""Graphic matroids: forests of a graph."""

import numpy as np

from libc.stdint cimport int32_t, uint32_t

from matroid_bandits._core.sorting cimport is_better, sort_elements

from matroid_bandits.errors import not_a_basis


cdef class GraphicKernel(MatroidKernel):
    """Edge e joins ``tails[e]`` and ``heads[e]``; a set is independent if it has no cycle.

    Independence: every vertex has the label of its component, so a test is one comparison. Joining
    two components relabels the smaller one, O(V log V) for a whole forest. Exchange: the circuit of
    an edge is the path between its ends in the rooted forest.

    Partners of many edges: the forest is built once more from its last edge to its first, the
    smaller component being linked to the larger one. The first edge of a path is the one that
    joined the components of its ends. It is found in O(log V) steps, however long the path is.
    """

    def __init__(
        self,
        Py_ssize_t n_vertices,
        const Py_ssize_t[::1] tails,
        const Py_ssize_t[::1] heads,
    ):
        super().__init__(tails.shape[0])
        self.quick_exchange = True
        self.lists_circuits = True
        self.finds_replacements = True
        self.n_vertices = n_vertices
        self.tails = tails
        self.heads = heads
        self.ends = np.stack([tails, heads], axis=1).astype(np.int32).reshape(-1)
        self.label = np.empty(n_vertices, dtype=np.int32)
        self.weight = np.empty(n_vertices, dtype=np.int32)
        self.ring = np.empty(n_vertices, dtype=np.int32)
        self.first_arc = np.empty(n_vertices, dtype=np.int32)
        self.next_arc = np.empty(2 * n_vertices, dtype=np.int32)
        self.arc_target = np.empty(2 * n_vertices, dtype=np.int32)
        self.parent = np.empty(n_vertices, dtype=np.int32)
        self.parent_edge = np.empty(n_vertices, dtype=np.int32)
        self.depth = np.empty(n_vertices, dtype=np.int32)
        self.queue = np.empty(n_vertices, dtype=np.int32)
        self.entered = np.empty(n_vertices, dtype=np.int32)
        self.below = np.empty(n_vertices, dtype=np.int32)
        # Zeros, so that an edge outside the forest has a vertex too.
        self.child = np.zeros(n_vertices, dtype=np.int32)
        self.link = np.empty(n_vertices, dtype=np.int32)
        self.link_edge = np.empty(n_vertices, dtype=np.int32)
        self.linked = np.empty(n_vertices, dtype=np.int32)
        self.above = np.empty(n_vertices, dtype=np.int32)
        self.part = np.empty(n_vertices, dtype=np.int32)
        self.is_leaving = np.zeros(n_vertices, dtype=np.uint8)

    cdef object find_symmetry_classes(self):
        """Parallel edges."""
        tails, heads = np.asarray(self.tails), np.asarray(self.heads)
        pairs = np.minimum(tails, heads) * self.n_vertices + np.maximum(tails, heads)
        return np.unique(pairs, return_inverse=True)[1].astype(np.int32)

    cdef int clear(self) except -1:
        cdef int32_t v
        for v in range(<int32_t>self.n_vertices):
            self.label[v] = v
            self.weight[v] = 1
            self.ring[v] = v
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t small = self.ends[2 * element]
        cdef Py_ssize_t large = self.ends[2 * element + 1]
        cdef Py_ssize_t v
        cdef int32_t *label
        cdef int32_t *weight
        cdef int32_t *ring
        cdef int32_t new_label, next_small
        if self.label[small] == self.label[large]:
            return 0
        # Plain pointers from here on: these are vertices.
        label = &self.label[0]
        weight = &self.weight[0]
        ring = &self.ring[0]
        if weight[label[small]] > weight[label[large]]:
            small, large = large, small
        new_label = label[large]
        weight[new_label] += weight[label[small]]
        v = small
        while True:
            label[v] = new_label
            v = ring[v]
            if v == small:
                break
        # Exchanging the successors of one member each joins two rings into one.
        next_small = ring[small]
        ring[small] = ring[large]
        ring[large] = next_small
        return 1

    cdef Py_ssize_t improve(
        self,
        const double *values,
        const Py_ssize_t *basis,
        Py_ssize_t rank,
        const Py_ssize_t *others,
        Py_ssize_t n_others,
        Py_ssize_t *taken,
        Py_ssize_t *came,
        Py_ssize_t *went,
    ) noexcept:
        """Greedy on a basis and other elements, both given with the highest value first.

        Write the best basis of both to `taken`, the highest value first, and the elements in which
        it differs from `basis` to `came` and `went`. Returns their number.

        A label is the vertex that a component was linked to. So the forest is linked by size on the
        way, for `partner`: positions are those of `taken`, the lowest value first.
        """
        cdef const int32_t *ends = &self.ends[0]
        cdef int32_t *label = &self.label[0]
        cdef int32_t *weight = &self.weight[0]
        cdef int32_t *ring = &self.ring[0]
        cdef int32_t *link = &self.link[0]
        cdef int32_t *link_edge = &self.link_edge[0]
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t j = 0
        cdef Py_ssize_t n_taken = 0
        cdef Py_ssize_t n_came = 0
        cdef Py_ssize_t n_went = 0
        cdef Py_ssize_t e
        cdef double value = values[basis[0]] if rank > 0 else 0.0
        cdef double other = values[others[0]] if n_others > 0 else 0.0
        cdef int32_t u, v, small, large, next_small
        cdef bint is_other
        for v in range(<int32_t>self.n_vertices):
            label[v] = v
            weight[v] = 1
            ring[v] = v
            link[v] = v
            link_edge[v] = -1
        while i < rank or j < n_others:
            is_other = i == rank or (
                j < n_others and is_better(other, others[j], value, basis[i])
            )
            if is_other:
                e = others[j]
                j += 1
                if j < n_others:
                    other = values[others[j]]
            else:
                e = basis[i]
                i += 1
                if i < rank:
                    value = values[basis[i]]
            u = ends[2 * e]
            v = ends[2 * e + 1]
            small = label[u]
            large = label[v]
            if small == large:
                if not is_other:
                    went[n_went] = e
                    n_went += 1
                continue
            if weight[small] > weight[large]:
                small, large = large, small
                u, v = v, u
            weight[large] += weight[small]
            link[small] = large
            link_edge[small] = <int32_t>(rank - 1 - n_taken)
            small = u
            while True:
                label[small] = large
                small = ring[small]
                if small == u:
                    break
            next_small = ring[u]
            ring[u] = ring[v]
            ring[v] = next_small
            taken[n_taken] = e
            n_taken += 1
            if is_other:
                came[n_came] = e
                n_came += 1
        self.is_linked = True
        return n_came

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t position, edge, i
        cdef int32_t arc, root, v, w
        cdef Py_ssize_t head = 0
        cdef Py_ssize_t tail = 0
        if basis.shape[0] > self.n_vertices:
            raise not_a_basis(basis, self.n_vertices)
        self.basis = basis
        self.is_linked = False
        for v in range(<int32_t>self.n_vertices):
            self.first_arc[v] = -1
            self.depth[v] = -1
            self.below[v] = 1
        for position in range(basis.shape[0]):
            edge = basis[position]
            for arc in range(2 * <int32_t>position, 2 * <int32_t>position + 2):
                v = self.ends[2 * edge + arc % 2]
                self.arc_target[arc] = self.ends[2 * edge + 1 - arc % 2]
                self.next_arc[arc] = self.first_arc[v]
                self.first_arc[v] = arc
        for root in range(<int32_t>self.n_vertices):
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
        for i in range(tail - 1, -1, -1):
            v = self.queue[i]
            if self.parent[v] >= 0:
                self.below[self.parent[v]] += self.below[v]
        head = 0
        for i in range(tail):
            v = self.queue[i]
            if self.parent[v] < 0:
                self.entered[v] = <int32_t>head
                head += self.below[v]
            else:
                self.entered[v] = self.first_arc[self.parent[v]]
                self.first_arc[self.parent[v]] += self.below[v]
            self.first_arc[v] = self.entered[v] + 1
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """Whether the edge at `position` is on the path between the ends: one end is below it."""
        cdef int32_t top = self.child[position]
        cdef uint32_t first = self.entered[top]
        cdef uint32_t length = self.below[top]
        return (<uint32_t>self.entered[self.ends[2 * element]] - first < length) != (
            <uint32_t>self.entered[self.ends[2 * element + 1]] - first < length
        )

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef int32_t u = self.ends[2 * element]
        cdef int32_t v = self.ends[2 * element + 1]
        cdef int32_t first = -1
        if not self.is_linked:
            self.link_by_size()
        # Edges were linked from the last position to the first: upwards, positions fall. The path
        # was closed by the link that both ends have passed at last.
        while u != v:
            if self.link_edge[u] < self.link_edge[v]:
                u, v = v, u
            first = self.link_edge[u]
            if first < 0:
                return -1  # a loop, or between two trees: the prepared set is not a basis
            u = self.link[u]
        return first

    cdef void link_by_size(self) noexcept:
        """Join components from the last edge to the first, the smaller one to the larger one."""
        cdef int32_t v, u, position
        for v in range(<int32_t>self.n_vertices):
            self.link[v] = v
            self.link_edge[v] = -1
            self.linked[v] = 1
        for position in range(<int32_t>self.basis.shape[0] - 1, -1, -1):
            u = self.ends[2 * self.basis[position]]
            v = self.ends[2 * self.basis[position] + 1]
            while self.link[u] != u:
                u = self.link[u]
            while self.link[v] != v:
                v = self.link[v]
            if self.linked[u] > self.linked[v]:
                u, v = v, u
            self.link[u] = v
            self.link_edge[u] = position
            self.linked[v] += self.linked[u]
        self.is_linked = True

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t count
        if positions.shape[0] == 0:
            return 0
        count = self.circuit_in_any_order(element, &positions[0])
        sort_elements(positions[:count])
        return count

    cdef Py_ssize_t circuit_in_any_order(
        self, Py_ssize_t element, Py_ssize_t *positions
    ) noexcept:
        cdef const int32_t *depth = &self.depth[0]
        cdef const int32_t *parent = &self.parent[0]
        cdef int32_t u = self.ends[2 * element]
        cdef int32_t v = self.ends[2 * element + 1]
        cdef Py_ssize_t count = 0
        while u != v:
            if depth[u] < depth[v]:
                u, v = v, u
            if parent[u] < 0:
                return 0
            positions[count] = self.parent_edge[u]
            count += 1
            u = parent[u]
        return count

    cdef int first_replacements(
        self, const Py_ssize_t[::1] elements, Py_ssize_t[::1] found
    ) except -1:
        """The same, passing every edge of the forest once: those with a replacement are skipped."""
        cdef int32_t *above = &self.above[0] if self.n_vertices > 0 else NULL
        cdef int32_t u, v
        cdef Py_ssize_t i
        found[:] = -1
        for v in range(<int32_t>self.n_vertices):
            above[v] = v
        for i in range(elements.shape[0]):
            u = top_of(above, self.ends[2 * elements[i]])
            v = top_of(above, self.ends[2 * elements[i] + 1])
            while u != v:
                if self.depth[u] < self.depth[v]:
                    u, v = v, u
                if self.parent[u] < 0:
                    break  # between two trees: the prepared set is not a basis
                found[self.parent_edge[u]] = i
                above[u] = self.parent[u]
                u = top_of(above, u)
        return 0

    # ---- edges that leave the basis ----

    cdef int mark_leaving(self, const Py_ssize_t[::1] positions) except -1:
        """Number the components of the forest without these edges."""
        cdef Py_ssize_t i
        cdef int32_t v
        for i in range(positions.shape[0]):
            self.is_leaving[positions[i]] = 1
        # Every vertex was queued after its parent.
        for i in range(self.n_vertices):
            v = self.queue[i]
            if self.parent[v] < 0 or self.is_leaving[self.parent_edge[v]]:
                self.part[v] = v
            else:
                self.part[v] = self.part[self.parent[v]]
        for i in range(positions.shape[0]):
            self.is_leaving[positions[i]] = 0
        return 0

    cdef bint can_replace_leaving(self, Py_ssize_t element) except -1:
        """Whether the path between the ends has such an edge: they are in different components."""
        return self.part[self.ends[2 * element]] != self.part[self.ends[2 * element + 1]]


cdef int32_t top_of(int32_t *above, int32_t v) noexcept:
    """The upper end of the skipped edges above v. Halves the way there for the next time."""
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v
