"""MAUB in a round in which some elements are not available: steps 2 and 4 from scratch.

The round is that of MAUB on the restriction of the matroid to the available elements, with the same
statistics. The leader is greedy's basis by the means, and every available element outside it has
its partner. Nothing of the usual leader is used or changed, so rounds of both kinds can alternate.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.math cimport INFINITY, fabs

import numpy as np

from matroid_bandits._core.indices.base cimport exchange_index
from matroid_bandits._core.policies.maub.chords cimport ROUNDING
from matroid_bandits._core.policies.maub.search cimport NO_EXCHANGE, comes_after
from matroid_bandits._core.sorting cimport sort_elements

from matroid_bandits.errors import no_partner


cdef class AvailableLeader:
    """The best basis of the available elements by the means."""

    def __init__(
        self,
        matroid,
        const int32_t[::1] symmetry_class,
        Py_ssize_t n_classes,
        Py_ssize_t rank,
        const double[::1] means,
        const double[::1] inverse_root,
    ):
        self.matroid = matroid
        self.symmetry_class = symmetry_class
        self.means = means
        self.inverse_root = inverse_root
        self.leader = np.zeros(rank, dtype=np.intp)
        self.members = np.zeros(rank, dtype=np.intp)
        self.is_member = np.zeros(means.shape[0], dtype=np.uint8)
        self.found_in = np.zeros(n_classes, dtype=np.int64)
        self.partner_of = np.zeros(n_classes, dtype=np.intp)

    cdef int lead(self, const Py_ssize_t[::1] greedy_basis) except -1:
        """Step 2: greedy's basis leads, which is given with the highest mean first."""
        cdef Py_ssize_t n = greedy_basis.shape[0]
        cdef Py_ssize_t k, j, e
        self.rank = n
        for k in range(n):
            self.members[k] = greedy_basis[k]
            e = greedy_basis[n - 1 - k]
            # Elements of equal means are in the other order.
            j = k
            while j > 0 and comes_after(self.means, self.leader[j - 1], e):
                self.leader[j] = self.leader[j - 1]
                j -= 1
            self.leader[j] = e
        sort_elements(self.members[:n])
        return 0

    def lead_again(self, const Py_ssize_t[::1] members):
        """A former leader leads, for explanations only."""
        self.rank = members.shape[0]
        self.members[: self.rank] = members

    cdef bytes key(self):
        """The leader as a key of dictionaries, as that of `Leader`."""
        if self.rank == 0:
            return b""
        return PyBytes_FromStringAndSize(
            <char *>&self.members[0], self.rank * <Py_ssize_t>sizeof(Py_ssize_t)
        )

    def elements(self):
        """The leader, ascending."""
        return np.array(self.members[: self.rank])

    # ---- step 4 ----

    cdef Py_ssize_t best_exchange(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        double width,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
    ) except -2:
        """The element of the best exchange, or NO_EXCHANGE: by UCB with this width, if `index` is
        None, else by `index`, whose values are written to `values`. `begin_search` comes first.
        """
        if index is None:
            return self.best_by_width(oracle, candidates, width)
        if index.has_scores:
            return self.best_by_score(oracle, candidates, index, time)
        return self.best_by_index(oracle, candidates, index, time, values)

    cdef int begin_search(self, MatroidKernel oracle) except -1:
        """Prepare for exchanges with the leader."""
        cdef Py_ssize_t k
        oracle.prepare(self.leader[: self.rank])
        self.search += 1
        for k in range(self.rank):
            self.is_member[self.leader[k]] = 1
        return 0

    cdef void end_search(self) noexcept:
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.is_member[self.leader[k]] = 0

    cdef Py_ssize_t position_of_partner(self, MatroidKernel oracle, Py_ssize_t e) except -1:
        """The position of the weakest element of the leader that e can replace; the same for all
        elements of its symmetry class.
        """
        cdef int32_t c = self.symmetry_class[e]
        cdef Py_ssize_t position
        if self.found_in[c] != self.search:
            position = oracle.partner(e)
            if position < 0:
                raise no_partner(self.matroid, e, self.elements().tolist())
            self.partner_of[c] = position
            self.found_in[c] = self.search
        return self.partner_of[c]

    cdef Py_ssize_t best_by_width(
        self, MatroidKernel oracle, const Py_ssize_t[::1] candidates, double width
    ) except -2:
        cdef Py_ssize_t best_element = NO_EXCHANGE
        cdef double best = 0.0
        cdef double lowest = INFINITY  # index of an element of the leader
        cdef double largest = 0.0  # magnitude of its terms
        cdef double value, mean, margin
        cdef Py_ssize_t i, e, x
        for i in range(self.rank):
            x = self.leader[i]
            margin = width * self.inverse_root[x]
            lowest = min(lowest, self.means[x] + margin)
            largest = max(largest, fabs(self.means[x]) + margin)
        for i in range(candidates.shape[0]):
            e = candidates[i]
            if self.is_member[e]:
                continue
            # Most elements would not be the best with any partner, up to rounding.
            mean = self.means[e]
            margin = width * self.inverse_root[e]
            value = (mean + margin) - lowest
            if value + ROUNDING * (fabs(mean) + margin + largest) < best:
                continue
            x = self.leader[self.position_of_partner(oracle, e)]
            value = (self.means[e] - self.means[x]) + width * (
                self.inverse_root[e] - self.inverse_root[x]
            )
            if value > best:
                best = value
                best_element = e
                self.partner = x
        return best_element

    cdef Py_ssize_t best_by_index(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
    ) except -2:
        cdef Py_ssize_t best_element = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value, own
        cdef Py_ssize_t i, e, x
        if index.is_lazy:
            index.evaluate(self.leader[: self.rank], time, values)
            index.begin(time)
        else:
            index.evaluate(candidates, time, values)
        for i in range(candidates.shape[0]):
            e = candidates[i]
            if self.is_member[e]:
                continue
            x = self.leader[self.position_of_partner(oracle, e)]
            own = values[x]
            value = exchange_index(index, values, e, own, best)
            if value > best:
                best = value
                best_element = e
                self.partner = x
        return best_element

    cdef Py_ssize_t best_by_score(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        IndexKernel index,
        Py_ssize_t time,
    ) except -2:
        cdef Py_ssize_t best_element = NO_EXCHANGE
        cdef double best = -INFINITY
        cdef double score
        cdef Py_ssize_t i, e, x
        index.begin(time)
        for i in range(candidates.shape[0]):
            e = candidates[i]
            if self.is_member[e]:
                continue
            x = self.leader[self.position_of_partner(oracle, e)]
            score = index.exchange_score(e, x)
            if score > best:
                best = score
                best_element = e
                self.partner = x
        return best_element

    cdef Py_ssize_t collect(
        self,
        MatroidKernel oracle,
        const Py_ssize_t[::1] candidates,
        double width,
        IndexKernel index,
        Py_ssize_t time,
        double[::1] values,
        double[::1] differences,
        Py_ssize_t[::1] elements,
    ) except -1:
        """Write all elements whose index is above that of their partner to `elements`, ascending,
        with the differences by element, and return how many there are. The arguments are those of
        `best_exchange`; indices of all elements are written to `values`.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e, x
        if index is None:
            for i in range(candidates.shape[0]):
                e = candidates[i]
                values[e] = self.means[e] + width * self.inverse_root[e]
        else:
            index.evaluate(candidates, time, values)
            if index.random_stream is not None and not index.shares_draw:
                # The leader is valued by its means.
                for i in range(self.rank):
                    values[self.leader[i]] = self.means[self.leader[i]]
        for i in range(candidates.shape[0]):
            e = candidates[i]
            if self.is_member[e]:
                continue
            x = self.leader[self.position_of_partner(oracle, e)]
            if index is None:
                differences[e] = (self.means[e] - self.means[x]) + width * (
                    self.inverse_root[e] - self.inverse_root[x]
                )
            else:
                differences[e] = values[e] - values[x]
            if differences[e] > 0:
                elements[n] = e
                n += 1
        return n

    cdef Py_ssize_t n_tests(
        self, MatroidKernel oracle, const Py_ssize_t[::1] candidates
    ) except -1:
        """The oracle calls of [DG25] Algorithm 2: for every element outside the leader, one per
        element of the leader until its partner. `begin_search` comes first.
        """
        cdef Py_ssize_t calls = 0
        cdef Py_ssize_t i
        for i in range(candidates.shape[0]):
            if not self.is_member[candidates[i]]:
                calls += self.position_of_partner(oracle, candidates[i]) + 1
        return calls

    cdef void write_exchange(self, Py_ssize_t e, Py_ssize_t[::1] chosen) noexcept:
        """Write the leader with e in place of its partner, ascending; the leader itself if e is
        negative.
        """
        cdef Py_ssize_t k
        for k in range(self.rank):
            chosen[k] = self.members[k]
            if e >= 0 and chosen[k] == self.partner:
                chosen[k] = e
        if e >= 0:
            sort_elements(chosen[: self.rank])
