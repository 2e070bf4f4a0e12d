"""Unions: sets that can be divided into an independent set of each of several matroids."""

import numpy as np

from libc.stdint cimport int32_t

from matroid_bandits._core.matroids.compose.completed_set cimport CompletedSet
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.matroids.symmetry cimport Representatives

from matroid_bandits.errors import MatroidAxiomError

# Elements of cached circuits for one basis: 64 MB.
cdef Py_ssize_t MAX_CACHED = 2**24


cdef class UnionKernel(MatroidKernel):
    """Matroids on the same elements, the parts; every element of a set is assigned to one part.

    Parameters
    ----------
    growing, exchanging
        Two kernels of each part, used by this kernel alone. If both are the same kernel, it is
        filled anew whenever its use changes.
    ranks
        The ranks of the parts.

    In the exchange graph, arcs lead from an element y to all elements that y can replace in a part
    that y is not assigned to. Independence: an element that no part can take is added along a
    shortest path to an element that some part can take; each element on the path takes the place of
    the next. Exchange: with the basis assigned, e can replace all elements that paths from e reach.
    """

    cdef list growing
    cdef list completed  # a CompletedSet for each part
    cdef Py_ssize_t n_parts
    cdef unsigned char[::1] is_shared  # both kernels of a part are the same
    cdef Representatives representatives  # None until a basis is prepared
    # The growing set, and the part that each of its elements is assigned to, -1 outside.
    cdef Py_ssize_t[::1] members
    cdef Py_ssize_t n_members
    cdef Py_ssize_t[::1] part_of
    # Whether the kernel or the set of a part no longer holds what is assigned to the part.
    cdef unsigned char[::1] is_kernel_stale
    cdef unsigned char[::1] is_set_stale
    cdef Py_ssize_t[::1] assigned  # buffer for the elements of one part
    # No path leads from these to an element that can be taken. A path along which the assignment
    # changes never meets them, so this stays true while the set grows.
    cdef unsigned char[::1] is_closed
    # The last search
    cdef Py_ssize_t[::1] seen  # stamp of the search that last saw an element
    cdef Py_ssize_t stamp
    cdef Py_ssize_t[::1] reached_from
    cdef Py_ssize_t[::1] queue
    cdef Py_ssize_t n_reached
    cdef Py_ssize_t[::1] positions
    # The prepared basis. Circuits are cached, as the same basis is often prepared in other orders.
    cdef bint is_assigned  # the growing set is this basis
    cdef Py_ssize_t[::1] position_of
    cdef dict circuits  # element -> the elements that it reaches, itself first
    cdef Py_ssize_t n_cached  # elements in all of them
    cdef Py_ssize_t searched  # the element whose circuit is in the queue, -1 if none

    def __init__(self, list growing, list exchanging, list ranks):
        super().__init__(growing[0].size)
        self.growing = growing
        for kernel in [*growing, *exchanging]:
            if kernel.size != self.size:
                raise ValueError(f"parts of a union have {self.size} and {kernel.size} elements")
        self.is_shared = np.array([a is b for a, b in zip(growing, exchanging)], dtype=np.uint8)
        self.n_kernels = 1 + sum(
            [kernel.n_kernels for kernel in {id(k): k for k in [*growing, *exchanging]}.values()]
        )
        self.completed = [CompletedSet(kernel, rank) for kernel, rank in zip(exchanging, ranks)]
        self.n_parts = len(growing)
        self.is_python = any([kernel.is_python for kernel in growing])
        self.has_circuit = True
        self.members = np.zeros(self.size, dtype=np.intp)
        self.part_of = np.full(self.size, -1, dtype=np.intp)
        self.is_kernel_stale = np.zeros(self.n_parts, dtype=np.uint8)
        self.is_set_stale = np.zeros(self.n_parts, dtype=np.uint8)
        self.assigned = np.zeros(self.size, dtype=np.intp)
        self.is_closed = np.zeros(self.size, dtype=np.uint8)
        self.seen = np.zeros(self.size, dtype=np.intp)
        self.reached_from = np.zeros(self.size, dtype=np.intp)
        self.queue = np.zeros(self.size, dtype=np.intp)
        self.positions = np.zeros(max(ranks), dtype=np.intp)
        self.position_of = np.zeros(self.size, dtype=np.intp)
        self.circuits = {}
        self.searched = -1

    def remember(self):
        cdef CompletedSet completed
        for kernel, completed in zip(self.growing, self.completed):
            kernel.remember()
            completed.kernel.remember()

    cdef object find_symmetry_classes(self):
        """Elements that are symmetric in every part."""
        classes = np.array([kernel.symmetry_classes() for kernel in self.growing])
        return np.unique(classes, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int32)

    # ---- independence ----

    cdef int clear(self) except -1:
        cdef Py_ssize_t k
        for k in range(self.n_members):
            self.part_of[self.members[k]] = -1
        self.n_members = 0
        self.is_kernel_stale[:] = 1
        self.is_set_stale[:] = 1
        self.is_closed[:] = 0
        self.is_assigned = False
        self.circuits.clear()
        self.n_cached = 0
        self.searched = -1
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i
        self.is_assigned = False
        if self.is_closed[element] or self.part_of[element] >= 0:
            return 0
        for i in range(self.n_parts):
            if self.kernel_of(i).try_add(element):
                self.part_of[element] = i
                self.is_set_stale[i] = 1
                break
        else:
            if not self.augment(element):
                return 0
        if self.n_members == self.size:
            raise RuntimeError(
                "a union was used again while the independence test of one of its parts was running"
            )
        self.members[self.n_members] = element
        self.n_members += 1
        return 1

    cdef bint augment(self, Py_ssize_t element) except -1:
        """Add `element` along a path, if there is one; otherwise close all that it reaches."""
        cdef Py_ssize_t part = self.search(element, True)
        cdef Py_ssize_t k, e, former
        if part < 0:
            for k in range(self.n_reached):
                self.is_closed[self.queue[k]] = 1
            return False
        # Back along the path: each element takes the place of the next.
        e = self.queue[self.n_reached - 1]
        while True:
            former = self.part_of[e]
            self.part_of[e] = part
            self.is_kernel_stale[part] = 1
            self.is_set_stale[part] = 1
            if e == element:
                return True
            part = former
            e = self.reached_from[e]

    cdef Py_ssize_t collect(self, Py_ssize_t i) noexcept:
        """Write the elements of part i to `assigned`; return their number."""
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k
        for k in range(self.n_members):
            if self.part_of[self.members[k]] == i:
                self.assigned[n] = self.members[k]
                n += 1
        return n

    cdef MatroidKernel kernel_of(self, Py_ssize_t i):
        """The kernel of part i, grown to the elements assigned to the part."""
        cdef MatroidKernel kernel = <MatroidKernel>self.growing[i]
        cdef Py_ssize_t k
        if self.is_kernel_stale[i]:
            kernel.clear()
            for k in range(self.collect(i)):
                kernel.try_add(self.assigned[k])
            self.is_kernel_stale[i] = 0
            if self.is_shared[i]:
                self.is_set_stale[i] = 1
        return kernel

    cdef CompletedSet set_of(self, Py_ssize_t i):
        """The elements assigned to part i, ready for exchanges."""
        cdef CompletedSet completed = <CompletedSet>self.completed[i]
        if self.is_set_stale[i]:
            if self.is_shared[i]:
                self.is_kernel_stale[i] = 1
            completed.complete(self.assigned[: self.collect(i)])
            self.is_set_stale[i] = 0
        return completed

    cdef Py_ssize_t search(self, Py_ssize_t element, bint growing) except -2:
        """Search breadth-first from `element`; all elements reached are in the queue, itself first.

        For a growing set the search ends at the first element that some part can take: return this
        part, with the element last in the queue. Otherwise return -1.
        """
        cdef CompletedSet completed
        cdef Py_ssize_t head = 0
        cdef Py_ssize_t i, k, y, x
        self.stamp += 1
        self.seen[element] = self.stamp
        self.queue[0] = element
        self.n_reached = 1
        while head < self.n_reached:
            y = self.queue[head]
            head += 1
            for i in range(self.n_parts):
                if self.part_of[y] == i:
                    continue
                completed = self.set_of(i)
                if growing and completed.can_add(y):
                    self.n_reached = head
                    return i
                for k in range(completed.circuit(y, self.positions)):
                    x = completed.member(self.positions[k])
                    if self.seen[x] != self.stamp and not (growing and self.is_closed[x]):
                        self.seen[x] = self.stamp
                        self.reached_from[x] = y
                        self.queue[self.n_reached] = x
                        self.n_reached += 1
        return -1

    # ---- exchange ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t k
        cdef bint is_same = self.is_assigned and basis.shape[0] == self.n_members
        if self.representatives is None:
            self.representatives = Representatives(self.symmetry_classes())
        self.basis = basis
        for k in range(basis.shape[0]):
            self.position_of[basis[k]] = k
            is_same = is_same and self.part_of[basis[k]] >= 0
        if is_same:
            return 0
        self.representatives.prepare(basis)
        self.clear()
        for k in range(basis.shape[0]):
            if not self.try_add(basis[k]):
                raise MatroidAxiomError(
                    f"not a matroid: {np.sort(basis).tolist()} was found independent, and cannot "
                    "be divided among the parts of a union; correct the independence test"
                )
        self.is_assigned = True
        return 0

    cdef int find_circuit(self, Py_ssize_t element) except -1:
        """Fill the queue with what `element` reaches, by a search if it is not cached."""
        cdef const int32_t[::1] cached
        cdef Py_ssize_t k
        if self.searched == element:
            return 0
        self.searched = -1
        if element in self.circuits:
            cached = self.circuits[element]
            self.stamp += 1
            self.n_reached = cached.shape[0]
            for k in range(self.n_reached):
                self.queue[k] = cached[k]
                self.seen[cached[k]] = self.stamp
        else:
            self.search(element, False)
            self.n_cached += self.n_reached
            if self.n_cached <= MAX_CACHED:
                self.circuits[element] = np.array(self.queue[: self.n_reached], dtype=np.int32)
        self.searched = element
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        self.find_circuit(self.representatives.outside_for(element))
        return self.seen[self.basis[position]] == self.stamp

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t lowest = self.size
        cdef Py_ssize_t k
        self.find_circuit(self.representatives.outside_for(element))
        for k in range(1, self.n_reached):
            lowest = min(lowest, self.position_of[self.queue[k]])
        return lowest if lowest < self.size else -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t k
        self.find_circuit(self.representatives.outside_for(element))
        for k in range(1, self.n_reached):
            positions[k - 1] = self.position_of[self.queue[k]]
        np.asarray(positions[: self.n_reached - 1]).sort()
        return self.n_reached - 1
