"""Step 4 of docs/explanation/maub.md with an index other than UCB: which exchanges have a positive
index?"""


cdef class IndexSearch:
    """What every search has. `search` knows the leader, its order and the partners."""

    def __init__(
        self,
        Search search,
        IndexKernel index,
        const Py_ssize_t[::1] playable,
        double[::1] all_values,
    ):
        self.search = search
        self.index = index
        self.playable = playable
        self.all_values = all_values

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        """The outside element with the largest positive exchange index (ties: lowest element), its
        group in `search.found_group`; or NO_EXCHANGE.
        """
        raise NotImplementedError

    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1:
        """Write all outside elements whose value is above that of their partner to `elements`,
        ascending, and the values of these and of the leader to `values`, by element. Returns how
        many they are.
        """
        raise NotImplementedError

    cdef void observed(self, Py_ssize_t e) noexcept:
        """The statistics of an outside element have changed."""

    cdef int regroup(self) except -1:
        """The leader, its order or the partners have changed."""
        return 0


cdef class FullSearch(IndexSearch):
    """One value per element in every round."""

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        return self.search.scan_index(self.index, time, self.playable, self.all_values)

    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1:
        cdef Search search = self.search
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e, k
        self.index.evaluate(self.playable, time, values)
        if self.index.random_stream is not None:
            # With several exchanges at once the leader is valued by its means.
            for k in range(search.rank):
                values[search.leader[k]] = search.means[search.leader[k]]
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if search.buckets.bucket_of[e] >= 0:
                k = search.class_group[search.symmetry_class[e]]
                if values[e] - values[search.leader[k]] > 0:
                    elements[n] = e
                    n += 1
        return n
