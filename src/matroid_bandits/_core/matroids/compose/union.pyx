"""Unions: sets that can be divided into an independent set of each of several matroids."""

import numpy as np

from libc.stdint cimport int32_t

from matroid_bandits._core.matroids.compose.completed cimport CompletedSet
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.matroids.symmetry cimport Representatives

from matroid_bandits.errors import MatroidAxiomError

# Elements of circuits kept for one basis: 64 MB.
cdef Py_ssize_t MOST_KEPT = 2**24


cdef class UnionKernel(MatroidKernel):
    """Matroids on the same elements; every element of a set is given to one of them.

    Parameters
    ----------
    growing, exchanging
        Two kernels of each of the matroids, for this one alone.
    ranks
        Of the matroids.

    From an element y paths lead to whatever y can replace in a matroid that y is not given to.
    Independence: an element that no matroid can take as it stands is added along a shortest path to
    one that some matroid can take; on the way each takes the place of the next. Exchange: with the
    basis divided, e can replace all that paths from e reach.
    """

    cdef list growing
    cdef list completed  # a CompletedSet for each matroid
    cdef Py_ssize_t n_parts
    cdef Representatives representatives
    # The growing set, and which matroid each element of it is given to, -1 outside.
    cdef Py_ssize_t[::1] members
    cdef Py_ssize_t n_members
    cdef Py_ssize_t[::1] part_of
    # What each matroid has been given has changed since its kernel or its set was filled.
    cdef unsigned char[::1] is_kernel_stale
    cdef unsigned char[::1] is_set_stale
    cdef Py_ssize_t[::1] given  # working space for what one has been given
    # From these no path leads to an element that can be taken. No path that changes anything comes
    # here, so that stays true while the set grows.
    cdef unsigned char[::1] is_closed
    # The last search
    cdef Py_ssize_t[::1] seen  # stamp of the search that last saw an element
    cdef Py_ssize_t stamp
    cdef Py_ssize_t[::1] reached_from
    cdef Py_ssize_t[::1] queue
    cdef Py_ssize_t n_reached
    cdef Py_ssize_t[::1] positions
    # The prepared basis. Circuits do not depend on its order, in which it often comes back.
    cdef bint is_divided  # the growing set is this basis
    cdef Py_ssize_t[::1] position_of
    cdef dict circuits  # element -> what it reaches, itself first
    cdef Py_ssize_t n_kept  # elements in all of them
    cdef Py_ssize_t searched  # the element whose circuit is in the queue, -1 if none

    def __init__(self, list growing, list exchanging, list ranks):
        super().__init__(growing[0].size)
        self.growing = growing
        self.completed = [CompletedSet(kernel, rank) for kernel, rank in zip(exchanging, ranks)]
        self.n_parts = len(growing)
        self.is_python = any([kernel.is_python for kernel in growing])
        self.has_circuit = True
        self.representatives = Representatives(self.symmetry_classes())
        self.members = np.zeros(self.size, dtype=np.intp)
        self.part_of = np.full(self.size, -1, dtype=np.intp)
        self.is_kernel_stale = np.zeros(self.n_parts, dtype=np.uint8)
        self.is_set_stale = np.zeros(self.n_parts, dtype=np.uint8)
        self.given = np.zeros(self.size, dtype=np.intp)
        self.is_closed = np.zeros(self.size, dtype=np.uint8)
        self.seen = np.zeros(self.size, dtype=np.intp)
        self.reached_from = np.zeros(self.size, dtype=np.intp)
        self.queue = np.zeros(self.size, dtype=np.intp)
        self.positions = np.zeros(max(ranks), dtype=np.intp)
        self.position_of = np.zeros(self.size, dtype=np.intp)
        self.circuits = {}
        self.searched = -1

    def symmetry_classes(self):
        """Elements that are clones in each of the matroids."""
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
        self.is_divided = False
        self.circuits.clear()
        self.n_kept = 0
        self.searched = -1
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i
        self.is_divided = False
        if self.is_closed[element]:
            return 0
        for i in range(self.n_parts):
            if self.kernel_of(i).try_add(element):
                self.part_of[element] = i
                self.is_set_stale[i] = 1
                break
        else:
            if not self.make_way(element):
                return 0
        self.members[self.n_members] = element
        self.n_members += 1
        return 1

    cdef bint make_way(self, Py_ssize_t element) except -1:
        """Give `element` to a matroid by moving others, if there is a path; close it otherwise."""
        cdef Py_ssize_t part = self.search(element, True)
        cdef Py_ssize_t k, e, former
        if part < 0:
            for k in range(self.n_reached):
                self.is_closed[self.queue[k]] = 1
            return False
        # Back along the path: each takes the place that the one after it has left.
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
        """Write what matroid i has been given to `given`; return how much that is."""
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k
        for k in range(self.n_members):
            if self.part_of[self.members[k]] == i:
                self.given[n] = self.members[k]
                n += 1
        return n

    cdef MatroidKernel kernel_of(self, Py_ssize_t i):
        """The kernel of matroid i, grown to what it has been given."""
        cdef MatroidKernel kernel = <MatroidKernel>self.growing[i]
        cdef Py_ssize_t k
        if self.is_kernel_stale[i]:
            kernel.clear()
            for k in range(self.collect(i)):
                kernel.try_add(self.given[k])
            self.is_kernel_stale[i] = 0
        return kernel

    cdef CompletedSet set_of(self, Py_ssize_t i):
        """What matroid i has been given, ready for questions."""
        cdef CompletedSet completed = <CompletedSet>self.completed[i]
        if self.is_set_stale[i]:
            completed.complete(self.given[: self.collect(i)])
            self.is_set_stale[i] = 0
        return completed

    cdef Py_ssize_t search(self, Py_ssize_t element, bint growing) except -2:
        """Follow shortest paths from `element`; what they reach is in the queue, itself included.

        For a growing set the search ends at the first element that some matroid can take: return
        this matroid, with the element last in the queue. Otherwise return -1.
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
        cdef bint is_known = self.is_divided and basis.shape[0] == self.n_members
        self.basis = basis
        for k in range(basis.shape[0]):
            self.position_of[basis[k]] = k
            is_known = is_known and self.part_of[basis[k]] >= 0
        if is_known:
            return 0
        self.representatives.prepare(basis)
        self.clear()
        for k in range(basis.shape[0]):
            if not self.try_add(basis[k]):
                raise MatroidAxiomError(
                    f"not a matroid: {np.sort(basis).tolist()} was called independent, and cannot "
                    "be divided among the parts of a union; correct the independence test"
                )
        self.is_divided = True
        return 0

    cdef int find_circuit(self, Py_ssize_t element) except -1:
        """Have what `element` reaches in the queue, by a search if it is not known."""
        cdef const int32_t[::1] known
        cdef Py_ssize_t k
        if self.searched == element:
            return 0
        self.searched = -1
        if element in self.circuits:
            known = self.circuits[element]
            self.stamp += 1
            self.n_reached = known.shape[0]
            for k in range(self.n_reached):
                self.queue[k] = known[k]
                self.seen[known[k]] = self.stamp
        else:
            self.search(element, False)
            self.n_kept += self.n_reached
            if self.n_kept <= MOST_KEPT:
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
