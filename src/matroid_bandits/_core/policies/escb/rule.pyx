"""ESCB [CTPL15]: the basis with the largest sum of means plus one confidence bonus for all of it.

Here: the rule, and the search by exchanges. docs/explanation/escb.md has the proofs.
"""

from libc.math cimport INFINITY, fabs, fmax, log, sqrt

import numpy as np

from matroid_bandits._core.sorting cimport sort_descending, sort_elements
from matroid_bandits._core.policies.base cimport PolicyKernel


# Values that differ by less, relative to the largest possible value, count as equal: the sum over a
# basis is rounded differently in different orders.
cdef double TINY = 1e-13


cdef class ESCBKernel(PolicyKernel):
    """The rule of [CTPL15]; a subclass searches for the basis."""

    def __init__(self, matroid, double noise, bint counts_pending=False):
        super().__init__(matroid, None, 1, counts_pending)
        self.remember_answers()
        self.noise = noise
        self.bound = INFINITY
        self.spread = np.zeros(self.size)
        self.weight = np.zeros(self.size)
        self.best = np.zeros(self.rank, dtype=np.intp)
        self.basis = np.zeros(self.rank, dtype=np.intp)
        self.is_member = np.zeros(self.size, dtype=np.uint8)

    # ---- a round ----

    cdef int search(self) except -1:
        """Write the basis to play into `best`, and `bound`. If it raises, nothing has changed."""
        raise NotImplementedError

    cdef int decide(self) except -1:
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        self.bound_before = self.bound
        if self.n_initial > 0:
            return self.initial_round()
        if self.rank == 0:
            return 0
        if self.is_restricted:
            self.find_round_rank()
            if self.round_rank == 0:
                return 0
        try:
            self.exchange_oracle = self.round_oracle()
            self.start_round()
            self.search()
        except BaseException:
            # Greedy runs anew at the next try.
            self.oracle_calls = oracle_calls
            self.greedy_calls = greedy_calls
            self.bound = self.bound_before
            raise
        finally:
            # The answers to these calls are cached, even if a later call raised an error.
            self.oracle_calls += self.oracle.n_calls
            self.oracle.n_calls = 0
        self.chosen[: self.round_rank] = self.best[: self.round_rank]
        sort_elements(self.chosen[: self.round_rank])
        return 0

    cdef int shift_time(self, Py_ssize_t rounds) except -1:
        if rounds < 0:
            self.bound = self.bound_before
        return 0

    cdef void start_round(self) noexcept:
        """Compute what stays the same while this round is decided."""
        cdef double log_t = log(<double>(self.rounds + 1))
        cdef double largest = 0
        cdef Py_ssize_t i, e
        # [CTPL15]: sqrt(f(t) / 2 * spread), f(t) = ln t + 4 D ln ln t. Not in [CTPL15]: the noise,
        # which is 1/2 for rewards in [0, 1].
        self.root = self.noise * sqrt(
            2 * (log_t + 4 * self.round_rank * log(fmax(1, log_t)))
        )
        for i in range(self.candidates.shape[0]):
            e = self.candidates[i]
            self.spread[e] = 1 / <double>self.index_counts[e]
            largest = fmax(largest, fabs(self.means[e]))
        self.tolerance = TINY * (
            self.round_rank * largest + self.root * sqrt(<double>self.round_rank)
        )
        self.best_value = -INFINITY

    # ---- values ----

    cdef Line line_of(self, const Py_ssize_t[::1] basis) noexcept:
        cdef Line line
        cdef Py_ssize_t k
        line.mean = 0
        line.spread = 0
        for k in range(self.round_rank):
            line.mean += self.means[basis[k]]
            line.spread += self.spread[basis[k]]
        return line

    cdef double value_of(self, Line line) noexcept:
        return line.mean + self.root * sqrt(line.spread)

    cdef double own_price(self, Line line) noexcept:
        """The price at which a unit of spread is worth what it adds to the bonus of this basis."""
        return self.root / (2 * sqrt(line.spread))

    cdef void weigh(self, double price) noexcept:
        cdef Py_ssize_t i, e
        for i in range(self.candidates.shape[0]):
            e = self.candidates[i]
            self.weight[e] = self.means[e] + price * self.spread[e]

    cdef Line propose(self, const Py_ssize_t[::1] basis) noexcept:
        """Keep the basis if it is the best so far, and return its line."""
        cdef Line line = self.line_of(basis)
        cdef double value = self.value_of(line)
        # Ties go to the one proposed first. The first is kept even if its value overflows.
        if self.best_value == -INFINITY or value > self.best_value + self.tolerance:
            self.best[:] = basis
            self.best_value = value
        return line

    # ---- exchanges ----

    cdef int climb_from(self, const Py_ssize_t[::1] basis) except -1:
        """Best improving exchanges from `basis` on, until there is none [PPV19]."""
        self.basis[:] = basis
        while self.exchange():
            pass
        self.propose(self.basis)
        return 0

    cdef bint exchange(self) except -1:
        """Make the best exchange, if any makes the basis better."""
        cdef Line line = self.line_of(self.basis)
        cdef double bonus = self.root * sqrt(line.spread)
        cdef double best_gain = self.tolerance
        cdef Py_ssize_t best_position = -1
        cdef Py_ssize_t best_element = -1
        cdef Py_ssize_t n = self.round_rank
        cdef Py_ssize_t i, k, e, x
        cdef double gain
        self.weigh(self.own_price(line))
        sort_descending(self.weight, self.basis[:n], self.scratch[:n])
        self.exchange_oracle.prepare(self.basis[:n])
        for k in range(n):
            self.is_member[self.basis[k]] = 1
        try:
            for i in range(self.candidates.shape[0]):
                e = self.candidates[i]
                if self.is_member[e]:
                    continue
                # From the lightest up. The bonus is concave, so an exchange gains at most what it
                # gains in weight.
                for k in range(n - 1, -1, -1):
                    x = self.basis[k]
                    if not self.weight[e] - self.weight[x] > best_gain:
                        break
                    gain = (self.means[e] - self.means[x]) + (
                        self.root * sqrt(line.spread + (self.spread[e] - self.spread[x])) - bonus
                    )
                    if gain > best_gain and self.exchange_oracle.can_replace(k, e):
                        best_gain = gain
                        best_position = k
                        best_element = e
        finally:
            for k in range(n):
                self.is_member[self.basis[k]] = 0
        if best_element < 0:
            return False
        self.basis[best_position] = best_element
        return True

    # ---- what users see, and saving ----

    def value(self, const Py_ssize_t[::1] basis):
        """What the rule maximizes; infinite if an element of the basis was never observed."""
        cdef Line line = Line(0.0, 0.0)
        cdef Py_ssize_t k
        self.refuse_if_deciding()
        for k in range(basis.shape[0]):
            if self.counts[basis[k]] == 0:
                return INFINITY
            line.mean += self.means[basis[k]]
            line.spread += 1 / <double>self.index_counts[basis[k]]
        self.start_round()
        return self.value_of(line)

    def state(self):
        return super().state() | {
            "bound": self.bound,
            # Of no use after the round; a decision that was refused may have left another one.
            "bound_before": self.bound_before if self.is_chosen else self.bound,
        }

    def restore(self, state):
        super().restore(state)
        self.bound = state["bound"]
        self.bound_before = state["bound_before"]

    def parameters(self):
        return self.noise, self.counts_pending


cdef class ExchangeKernel(ESCBKernel):
    """Exchanges from the basis last played with all elements available."""

    cdef bint has_last
    cdef Py_ssize_t[::1] last

    def __init__(self, matroid, double noise, bint counts_pending=False):
        super().__init__(matroid, noise, counts_pending)
        self.last = np.zeros(self.rank, dtype=np.intp)

    cdef int search(self) except -1:
        cdef Py_ssize_t i, e
        if self.has_last and not self.is_restricted:
            self.climb_from(self.last)
        else:
            for i in range(self.candidates.shape[0]):
                e = self.candidates[i]
                self.weight[e] = self.means[e] + self.root * sqrt(self.spread[e])
            self.greedy_on(self.weight)
            self.climb_from(self.found)
        if not self.is_restricted:
            self.last[:] = self.best
            sort_elements(self.last)
            self.has_last = True
        return 0

    def state(self):
        return super().state() | {"last": np.array(self.last) if self.has_last else None}

    def restore(self, state):
        super().restore(state)
        self.has_last = state["last"] is not None
        if self.has_last:
            np.asarray(self.last)[:] = state["last"]
