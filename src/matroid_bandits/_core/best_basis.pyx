"""The best basis of every round, in a simulation with means that change."""

from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.sorting cimport comes_before, sort_descending, sort_elements
from matroid_bandits._core.streams.means cimport MeansKernel

from matroid_bandits.errors import too_small


cdef class BestBasis:
    """Follows the means; by greedy, ties to the lowest index, as `Matroid.max_weight_basis`."""

    def __init__(self, matroid, MatroidKernel kernel, MeansKernel means, bint are_costs):
        cdef Py_ssize_t n = kernel.size
        if means.size != n:
            raise ValueError(f"means are for {means.size} elements, the matroid has {n}")
        self.matroid = matroid
        self.kernel = kernel
        self.means = means
        self.are_costs = are_costs
        self.rank = matroid.rank
        self.gains = np.zeros(n)
        self.weights = self.gains
        self.order = np.arange(n, dtype=np.intp)
        self.scratch = np.empty(n, dtype=np.intp)
        self.basis = np.empty(self.rank, dtype=np.intp)
        self.basis[:] = -1

    def at(self, int64_t round):
        """The value of the best basis of a round; `gains` become those of the round."""
        self.move_to(round)
        return self.value

    cdef int64_t move_to(self, int64_t round) except -1:
        """Set `gains` and `value` for a round; return the next round in which they change."""
        cdef Py_ssize_t e, i
        cdef double value = 0.0
        cdef bint is_sorted = self.rank == 0 or self.basis[0] >= 0
        self.means.move_to(round)
        for e in range(self.kernel.size):
            self.weights[e] = -self.means.means[e] if self.are_costs else self.means.means[e]
        for i in range(1, self.order.shape[0]):
            is_sorted = is_sorted and comes_before(self.weights, self.order[i - 1], self.order[i])
        # The basis depends on the order of the weights alone.
        if not is_sorted:
            self.find_basis()
        for i in range(self.rank):
            value += self.weights[self.basis[i]]
        self.value = value
        return self.means.next_change

    cdef int find_basis(self) except -1:
        cdef Py_ssize_t taken
        sort_descending(self.weights, self.order, self.scratch)
        taken = self.kernel.greedy(self.order, self.rank, self.basis)
        if taken < self.rank:
            found = sorted(np.asarray(self.basis[:taken]).tolist())
            self.basis[:] = -1
            raise too_small(self.matroid, found, self.rank)
        sort_elements(self.basis)
        return 0
