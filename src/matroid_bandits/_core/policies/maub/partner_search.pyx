"""Step 4 of docs/maub.md with an index that compares an element with its partner: IMED."""

from libc.math cimport INFINITY

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.policies.maub.index_search cimport IndexSearch
from matroid_bandits._core.policies.maub.search cimport NO_EXCHANGE, Search


cdef class PartnerSearch(IndexSearch):
    """One look at every outside element in every round; most are ruled out without a logarithm."""

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        """The outside element with the lowest cost (ties: lowest element)."""
        cdef Search search = self.search
        cdef IndexKernel index = self.index
        cdef const Py_ssize_t[::1] playable = self.playable
        cdef double[::1] own = self.all_values
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double lowest = INFINITY
        cdef double cost
        cdef Py_ssize_t i, k, e, x
        index.evaluate(search.leader, time, own)
        for i in range(playable.shape[0]):
            e = playable[i]
            if search.buckets.bucket_of[e] < 0:
                continue
            k = search.class_group[search.symmetry_class[e]]
            x = search.leader[k]
            cost = index.exchange_cost(e, x, own[x])
            if cost < lowest:
                lowest = cost
                found = e
                search.found_group = k
        return found
