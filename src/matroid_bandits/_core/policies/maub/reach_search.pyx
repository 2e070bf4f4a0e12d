"""Step 4 of docs/explanation/maub.md with an index that scores exchanges: IMED and the shared
Gaussian.

Most elements are far from being exchanged. They are *out of reach* as long as their own statistics
stay, and as long as the mean of their partner does not fall below a floor and its count stays
between bounds. A round compares the others only (docs/explanation/other-indices.md).
"""

from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from matroid_bandits._core.checked cimport CHECKED
from matroid_bandits._core.indices.base cimport IndexKernel, Reach
from matroid_bandits._core.policies.maub.index_search cimport IndexSearch
from matroid_bandits._core.policies.maub.search cimport NO_EXCHANGE, Search

cdef enum:
    # After a change of the leader or its order, so many rounds look at every element: where changes
    # are frequent, it does not pay to find out what is out of reach.
    CALM = 16


cdef class ReachSearch(IndexSearch):
    """The exchange with the largest score."""

    cdef public bint is_plain  # whether every round looks at every element, for tests
    cdef bint is_built
    cdef Py_ssize_t calm  # rounds since the last change
    cdef Py_ssize_t until  # the last time for which it was built
    cdef Reach[::1] reaches  # by position of the partner
    cdef Py_ssize_t[::1] near  # elements within reach, in any order
    cdef Py_ssize_t n_near
    cdef int32_t[::1] place_of  # of every element in `near`; -1 if it is not there

    def __init__(self, Search search, IndexKernel index, playable, all_values):
        super().__init__(search, index, playable, all_values)
        self.reaches = np.zeros(search.rank, dtype=REACH)
        self.near = np.zeros(len(all_values), dtype=np.intp)
        self.place_of = np.full(len(all_values), -1, dtype=np.int32)

    # ---- a round ----

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        cdef Py_ssize_t found
        if not self.begin(time):
            return self.best_of(self.playable)
        found = self.best_of(self.near[: self.n_near])
        if CHECKED and found != self.best_of(self.playable):
            raise AssertionError(f"found {found}, and something better was out of reach")
        return found

    cdef bint begin(self, Py_ssize_t time) noexcept:
        """Begin a round; return whether it is enough to look at what is near."""
        self.index.begin(time)
        if not self.is_built or time > self.until or not self.are_kept():
            self.calm += 1
            if self.is_plain or self.calm < CALM:
                return False
            self.build(time)
        return self.index.is_reach_valid()

    cdef Py_ssize_t best_of(self, const Py_ssize_t[::1] elements) noexcept:
        """The outside element with the largest score (ties: lowest element)."""
        cdef Search search = self.search
        cdef IndexKernel index = self.index
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double best = -INFINITY
        cdef double score
        cdef Py_ssize_t i, k, e
        for i in range(elements.shape[0]):
            e = elements[i]
            if search.buckets.bucket_of[e] < 0:
                continue
            k = search.class_group[search.symmetry_class[e]]
            score = index.exchange_score(e, search.leader[k])
            if score > best or (score == best and e < found):
                best = score
                found = e
                search.found_group = k
        return found

    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1:
        cdef Search search = self.search
        cdef const Py_ssize_t[::1] some = self.playable
        cdef Py_ssize_t n = 0
        cdef double budget
        cdef Py_ssize_t i, k, e
        if self.begin(time):
            some = self.near[: self.n_near]
        budget = self.index.budget_at(time)
        for k in range(search.rank):
            values[search.leader[k]] = self.index.value_at(search.leader[k], budget)
        for i in range(some.shape[0]):
            e = some[i]
            if search.buckets.bucket_of[e] < 0:
                continue
            k = search.class_group[search.symmetry_class[e]]
            if self.index.exchange_score(e, search.leader[k]) > -INFINITY:
                values[e] = self.index.value_at(e, budget)
                elements[n] = e
                n += 1
        np.asarray(elements)[:n].sort()
        return n

    def n_compared(self):
        """Elements that a round compares, or all if that is not known."""
        return self.n_near if self.is_built else self.playable.shape[0]

    # ---- what is out of reach ----

    cdef bint are_kept(self) noexcept:
        """Whether all elements of the leader keep their bounds."""
        cdef Search search = self.search
        cdef IndexKernel index = self.index
        cdef Py_ssize_t k, x
        for k in range(search.rank):
            x = search.leader[k]
            if (
                index.means[x] < self.reaches[k].floor
                or index.index_counts[x] < self.reaches[k].low
                or index.index_counts[x] > self.reaches[k].high
            ):
                return False
        return True

    cdef void build(self, Py_ssize_t time) noexcept:
        """Find what is within reach, for some time to come."""
        cdef Search search = self.search
        cdef IndexKernel index = self.index
        cdef Py_ssize_t i, k, x
        cdef int64_t count
        self.until = 2 * time
        index.set_reach(self.until)
        for k in range(search.rank):
            x = search.leader[k]
            count = index.index_counts[x]
            # Two standard errors lower, and a tenth more observations.
            self.reaches[k].floor = index.means[x] - 2 * index.spread / sqrt(<double>count)
            self.reaches[k].low = count // 2
            self.reaches[k].high = count + count // 10 + 1
            self.reaches[k].log_high = log(<double>self.reaches[k].high)
        for i in range(self.n_near):
            self.place_of[self.near[i]] = -1
        self.n_near = 0
        self.is_built = True
        for i in range(self.playable.shape[0]):
            self.place(self.playable[i])

    cdef void place(self, Py_ssize_t e) noexcept:
        """Put an element where its statistics belong: within reach or not."""
        cdef Search search = self.search
        cdef bint is_near = False
        cdef int32_t place = self.place_of[e]
        cdef Py_ssize_t k
        if search.buckets.bucket_of[e] >= 0:
            k = search.class_group[search.symmetry_class[e]]
            is_near = self.index.is_in_reach(e, &self.reaches[k])
        if is_near and place < 0:
            self.near[self.n_near] = e
            self.place_of[e] = <int32_t>self.n_near
            self.n_near += 1
        elif not is_near and place >= 0:
            self.n_near -= 1
            self.near[place] = self.near[self.n_near]
            self.place_of[self.near[place]] = place
            self.place_of[e] = -1

    cdef void observed(self, Py_ssize_t e) noexcept:
        if self.is_built:
            self.place(e)

    cdef int regroup(self) except -1:
        self.is_built = False
        self.calm = 0
        return 0


REACH = np.dtype([("floor", "f8"), ("low", "i8"), ("high", "i8"), ("log_high", "f8")], align=True)
