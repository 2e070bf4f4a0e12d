"""Several exchanges at once: the best basis among the elements of a basis and of some others.

The best basis of B and candidates e1, e2, ... is found from B alone
(docs/explanation/many-exchanges.md): take the candidates from the best down; each comes in for the
worst element of its circuit, if it is better. A candidate that has come in does not go again.
"""

import numpy as np

from matroid_bandits._core.sorting cimport comes_before, sort_descending, sort_elements


cdef class Exchanges:
    """Finds the best basis of a basis and some candidates, by any values of the elements."""

    def __init__(self, MatroidKernel oracle, Py_ssize_t rank, Py_ssize_t size):
        self.oracle = oracle
        self.rank = rank
        self.order = np.zeros(rank, dtype=np.intp)
        self.scratch = np.zeros(rank, dtype=np.intp)
        self.merged = np.zeros(size, dtype=np.intp)
        self.is_gone = np.zeros(max(rank, 1), dtype=np.uint8)
        self.positions = np.zeros(rank, dtype=np.intp)
        self.present = np.zeros(rank, dtype=np.intp)
        self.position_of = np.zeros(size, dtype=np.intp)
        self.came = np.zeros(rank, dtype=np.intp)
        self.went = np.zeros(rank, dtype=np.intp)

    cdef void begin(self, const Py_ssize_t[::1] ascending) noexcept:
        """The basis is a new one, given with the lowest values first, more or less."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.order[k] = ascending[self.rank - 1 - k]

    # ---- with a kernel that answers quickly ----

    cdef int find(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1:
        """Find `came` and `went`. The oracle is prepared for `basis`; `candidates` are outside it,
        the highest value first.
        """
        # Greedy looks at the whole basis, circuits at a part of it.
        if 8 * candidates.shape[0] > self.rank + 8 or not self.find_by_circuits(
            basis, values, candidates
        ):
            self.find_by_greedy(values, candidates)
        return 0

    cdef bint find_by_circuits(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1:
        """The same by circuits of `basis`. False if circuits meet, or take long to find.

        A circuit without any element that has gone is still a circuit after these exchanges.
        """
        cdef Py_ssize_t steps_left = 4 * self.rank + 16
        cdef Py_ssize_t i, j, k, e, count, worst
        cdef bint do_meet = False
        self.n = 0
        for i in range(candidates.shape[0]):
            e = candidates[i]
            count = self.oracle.circuit(e, self.positions)
            steps_left -= count if self.oracle.lists_circuits else self.rank
            worst = self.positions[0]
            for j in range(count):
                k = self.positions[j]
                do_meet = do_meet or self.is_gone[k]
                if comes_before(values, basis[worst], basis[k]):
                    worst = k
            if do_meet or steps_left < 0:
                do_meet = True
                break
            if comes_before(values, e, basis[worst]):
                self.came[self.n] = e
                self.went[self.n] = basis[worst]
                self.scratch[self.n] = worst
                self.is_gone[worst] = True
                self.n += 1
        for i in range(self.n):
            self.is_gone[self.scratch[i]] = False
        return not do_meet

    cdef Py_ssize_t find_by_greedy(
        self, const double[::1] values, const Py_ssize_t[::1] candidates
    ) except -1:
        """The same by greedy on both. Returns how many elements greedy takes: the rank, unless the
        oracle contradicts itself. What was found is then of no use; `positions` has the elements.
        """
        cdef Py_ssize_t taken, i, j
        sort_descending(values, self.order, self.scratch)
        taken = self.greedy_on_both(values, candidates, self.positions)
        # What was taken is sorted like both lists.
        self.n = 0
        j = 0
        for i in range(candidates.shape[0]):
            while j < taken and comes_before(values, self.positions[j], candidates[i]):
                j += 1
            if j < taken and self.positions[j] == candidates[i]:
                self.came[self.n] = candidates[i]
                self.n += 1
        self.n = 0
        j = 0
        for i in range(self.rank):
            while j < taken and comes_before(values, self.positions[j], self.order[i]):
                j += 1
            if j == taken or self.positions[j] != self.order[i]:
                self.went[self.n] = self.order[i]
                self.n += 1
        return taken

    cdef Py_ssize_t greedy_on_both(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] chosen
    ) except -1:
        """Greedy on the basis, as sorted in `order`, and the candidates. Returns how many it takes.

        """
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t j = 0
        while i < self.rank or j < candidates.shape[0]:
            if i == self.rank or (
                j < candidates.shape[0] and comes_before(values, candidates[j], self.order[i])
            ):
                self.merged[i + j] = candidates[j]
                j += 1
            else:
                self.merged[i + j] = self.order[i]
                i += 1
        return self.oracle.greedy(self.merged[: i + j], self.rank, chosen)

    # ---- with an oracle whose answers are dear ----

    cdef bint find_by_tests(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1:
        """The same by single exchange tests, of which the oracle caches the answers. Returns
        whether the oracle is prepared for another basis afterwards.

        Circuits are those of `basis` as long as they contain no element that has gone. Otherwise
        the oracle is prepared for the exchanges so far, one after the other: it infers what it can
        from the answers about the basis before.
        """
        cdef Py_ssize_t n_prepared = 0  # exchanges that the oracle is prepared for
        cdef Py_ssize_t i, j, k, n, e
        self.n = 0
        sort_descending(values, self.order, self.scratch)
        for k in range(self.rank):
            self.present[k] = basis[k]
            self.position_of[basis[k]] = k
        for i in range(candidates.shape[0]):
            e = candidates[i]
            for j in range(n_prepared, self.n):
                if self.oracle.can_replace(self.position_of[self.went[j]], e):
                    n_prepared = self.prepare_exchanges(n_prepared)
                    break
            # From the worst element up. One that has come since then is not in the circuit.
            n = 0
            for k in range(self.rank - 1, -1, -1):
                if not comes_before(values, e, self.order[k]):
                    break
                if self.position_of[self.order[k]] >= 0:
                    self.positions[n] = self.position_of[self.order[k]]
                    n += 1
            j = self.oracle.first_replaceable_of(self.positions[:n], e)
            if j >= 0:
                self.came[self.n] = e
                self.went[self.n] = self.present[j]
                self.n += 1
                self.position_of[e] = -1
                k = self.rank - 1
                while self.order[k] != self.present[j]:
                    k -= 1
                self.put_in_order(values, k, e)
        return n_prepared > 0

    cdef Py_ssize_t prepare_exchanges(self, Py_ssize_t n_prepared) except -1:
        """Prepare the oracle for all exchanges so far; return how many there are."""
        cdef Py_ssize_t i, k
        for i in range(n_prepared, self.n):
            k = self.position_of[self.went[i]]
            self.present[k] = self.came[i]
            self.position_of[self.came[i]] = k
            self.oracle.prepare(self.present)
        return self.n

    cdef void put_in_order(
        self, const double[::1] values, Py_ssize_t k, Py_ssize_t e
    ) noexcept:
        """Put e into `order` in place of the element at k, which is worse."""
        while k > 0 and comes_before(values, e, self.order[k - 1]):
            self.order[k] = self.order[k - 1]
            k -= 1
        self.order[k] = e

    # ---- what was found ----

    cdef void write(self, const Py_ssize_t[::1] members, Py_ssize_t[::1] basis) noexcept:
        """Write `members` with these exchanges into `basis`; both ascending."""
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t old = 0
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t i
        sort_elements(self.came[: self.n])
        sort_elements(self.went[: self.n])
        for i in range(self.rank):
            if old < self.n and members[i] == self.went[old]:
                old += 1
                continue
            while new < self.n and self.came[new] < members[i]:
                basis[k] = self.came[new]
                k += 1
                new += 1
            basis[k] = members[i]
            k += 1
        while new < self.n:
            basis[k] = self.came[new]
            k += 1
            new += 1
