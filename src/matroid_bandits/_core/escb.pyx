"""ESCB [CTPL15]: the basis with the largest sum of means plus one confidence bonus for all of it.

docs/escb.md explains the three ways to look for it and has the proofs.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, fmax, fmin, log, sqrt

import numpy as np

from matroid_bandits._core.order cimport sort_descending
from matroid_bandits._core.policy cimport PolicyKernel, sort_elements

from matroid_bandits._core.matroid import PythonKernel
from matroid_bandits._core.remembering import RememberingKernel
from matroid_bandits.errors import too_small

# Values that differ by less, relative to the largest there can be, are taken for equal: sums of a
# basis are rounded differently in different orders.
cdef double TINY = 1e-13

# The walk of a sweep ends after a handful of prices; its bound holds wherever it ends.
cdef Py_ssize_t MOST_PRICES = 100


# What the value of a basis is made of. At a price p for a unit of spread it weighs
# mean + p * spread: a line, the higher the better.
cdef struct Line:
    double mean  # sum of the means
    double spread  # sum of 1 / N


cdef inline double height(Line line, double price) noexcept:
    return line.mean + price * line.spread


cdef class ESCBKernel(PolicyKernel):
    """The rule of [CTPL15]; a subclass looks for the basis."""

    cdef readonly double noise
    cdef readonly double bound  # no basis had a larger value when one was last chosen
    cdef double root  # the bonus of a basis is root * sqrt(spread)
    cdef double tolerance
    cdef double[::1] spread  # 1 / N of each element
    cdef double[::1] weight  # of each element, at some price
    cdef Py_ssize_t[::1] best
    cdef double best_value

    def __init__(self, matroid, double noise):
        super().__init__(matroid)
        self.noise = noise
        self.bound = INFINITY
        self.spread = np.zeros(self.size)
        self.weight = np.zeros(self.size)
        self.best = np.zeros(self.rank, dtype=np.intp)

    cdef int search(self) except -1:
        """Write the basis to play into `best`, and `bound`. If it raises, nothing has changed."""
        raise NotImplementedError

    cdef int decide(self) except -1:
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        cdef double bound = self.bound
        if self.unobserved > 0:
            return self.first_round()
        if self.rank == 0:
            return 0
        self.start_round()
        try:
            self.search()
        except BaseException:
            # Greedy runs anew at the next try.
            self.oracle_calls = oracle_calls
            self.greedy_calls = greedy_calls
            self.bound = bound
            raise
        finally:
            # Answers to these are remembered, whatever came after them.
            self.oracle_calls += self.asks.asked
            self.asks.asked = 0
        self.chosen[:] = self.best
        sort_elements(self.chosen)
        return 0

    cdef void start_round(self) noexcept:
        """The numbers that stay while this round is decided."""
        cdef double log_t = log(<double>(self.rounds + 1))
        cdef double largest = 0
        cdef Py_ssize_t i, e
        # [CTPL15]: sqrt(f(t) / 2 * spread), f(t) = ln t + 4 D ln ln t. Not in [CTPL15]: the noise,
        # which is 1/2 for rewards in [0, 1].
        self.root = self.noise * sqrt(2 * (log_t + 4 * self.rank * log(fmax(1, log_t))))
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            self.spread[e] = 1 / <double>self.counts[e]
            largest = fmax(largest, fabs(self.means[e]))
        self.tolerance = TINY * (self.rank * largest + self.root * sqrt(<double>self.rank))
        self.best_value = -INFINITY

    cdef Line line_of(self, const Py_ssize_t[::1] basis) noexcept:
        cdef Line line
        cdef Py_ssize_t k
        line.mean = 0
        line.spread = 0
        for k in range(basis.shape[0]):
            line.mean += self.means[basis[k]]
            line.spread += self.spread[basis[k]]
        return line

    cdef inline double value_of(self, Line line) noexcept:
        return line.mean + self.root * sqrt(line.spread)

    cdef inline double own_price(self, Line line) noexcept:
        """The price at which a unit of spread is worth what it adds to the bonus of this basis."""
        return self.root / (2 * sqrt(line.spread))

    cdef void weigh(self, double price) noexcept:
        cdef Py_ssize_t i, e
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            self.weight[e] = self.means[e] + price * self.spread[e]

    def value(self, const Py_ssize_t[::1] basis):
        """What the rule maximises, for a basis whose elements have all been observed."""
        cdef Py_ssize_t k
        self.refuse_if_deciding()
        self.start_round()
        for k in range(basis.shape[0]):
            if self.counts[basis[k]] == 0:
                return INFINITY
        return self.value_of(self.line_of(basis))

    def state(self):
        return super().state() | {"bound": self.bound}

    def restore(self, state):
        super().restore(state)
        self.bound = state["bound"]

    def __reduce__(self):
        return type(self), (self.matroid, self.noise), self.state()


cdef class SweepKernel(ESCBKernel):
    """Greedy at several prices, until the lowest upper bound of this kind is found.

    At a price p, no value exceeds the height of the highest line plus root^2 / (4 p). That is
    convex in p; the walk goes to the lowest point of the two lines that matter, has greedy find the
    highest line there, and stops when it is none but these two.
    """

    # The two lines, the flatter one left, and those of the last round, to start from.
    cdef Py_ssize_t[::1] left
    cdef Py_ssize_t[::1] right
    cdef Py_ssize_t[::1] last_left
    cdef Py_ssize_t[::1] last_right
    cdef bint has_last
    cdef Py_ssize_t n_allowed  # elements that greedy may take: all but those a branch leaves out

    def __init__(self, matroid, double noise):
        super().__init__(matroid, noise)
        self.left = np.zeros(self.rank, dtype=np.intp)
        self.right = np.zeros(self.rank, dtype=np.intp)
        self.last_left = np.zeros(self.rank, dtype=np.intp)
        self.last_right = np.zeros(self.rank, dtype=np.intp)
        self.n_allowed = self.playable.shape[0]

    cdef int search(self) except -1:
        self.walk_from_last()
        self.last_left[:] = self.left
        self.last_right[:] = self.right
        self.has_last = True
        return 0

    cdef int walk_from_last(self) except -1:
        """The walk without branches, from where that of the last round ended."""
        if self.has_last:
            self.left[:] = self.last_left
            self.right[:] = self.last_right
            self.walk()
        else:
            self.walk_from(self.root / 2)
        return 0

    cdef bint walk_from(self, double price) except -1:
        """The walk from one price on; whether there is any basis as the branch wants it."""
        if not self.probe(price):
            return False
        self.left[:] = self.found
        self.right[:] = self.found
        self.walk()
        return True

    cdef int walk(self) except -1:
        """Go from the lines `left` and `right` to those at the lowest bound, and write `bound`."""
        cdef Line left = self.offer(self.left)
        cdef Line right = self.offer(self.right)
        cdef Line line
        cdef double price, highest
        cdef bint in_left, in_right  # whether the lowest point is that of one line alone
        cdef Py_ssize_t i
        self.bound = INFINITY
        if left.spread > right.spread:
            self.left, self.right = self.right, self.left
            left, right = right, left
        for i in range(MOST_PRICES):
            in_left = height(left, self.own_price(left)) >= height(right, self.own_price(left))
            in_right = not in_left and (
                height(right, self.own_price(right)) >= height(left, self.own_price(right))
            )
            if in_left:
                price = self.own_price(left)
            elif in_right:
                price = self.own_price(right)
            else:
                price = (left.mean - right.mean) / (right.spread - left.spread)
            self.probe(price)
            line = self.offer(self.found)
            self.bound = fmin(
                self.bound, height(line, price) + self.root * (self.root / (4 * price))
            )
            highest = fmax(height(left, price), height(right, price))
            # Written so that numbers which overflow end the walk.
            if not height(line, price) > highest + self.tolerance:
                break
            if self.own_price(line) < price:
                # The bound rises with the price from here on: its lowest point is further left.
                if in_right:
                    self.left, self.right = self.right, self.left
                    left = right
                self.right[:] = self.found
                right = line
            else:
                if in_left:
                    self.left, self.right = self.right, self.left
                    right = left
                self.left[:] = self.found
                left = line
        return 0

    cdef bint probe(self, double price) except -1:
        """Greedy at a price, into `found`; whether there is any basis as the branch wants it."""
        cdef Py_ssize_t taken
        self.weigh(price)
        sort_descending(self.weight, self.order, self.scratch)
        taken = self.asks.greedy(self.order[: self.n_allowed], self.rank, self.found)
        self.greedy_calls += 1
        self.oracle_calls += self.asks.tested
        if taken < self.rank and self.n_allowed == self.playable.shape[0]:
            raise too_small(self.matroid, np.asarray(self.found[:taken]).tolist(), self.rank)
        return taken == self.rank

    cdef Line offer(self, const Py_ssize_t[::1] basis) noexcept:
        """Take the basis for the best if it is, and return its line."""
        cdef Line line = self.line_of(basis)
        cdef double value = self.value_of(line)
        # Ties go to the one offered first. The first is taken even if its value overflows.
        if self.best_value == -INFINITY or value > self.best_value + self.tolerance:
            self.best[:] = basis
            self.best_value = value
        return line

    def state(self):
        return super().state() | {
            "has_last": self.has_last,
            "last_left": np.array(self.last_left),
            "last_right": np.array(self.last_right),
        }

    def restore(self, state):
        super().restore(state)
        self.has_last = state["has_last"]
        np.asarray(self.last_left)[:] = state["last_left"]
        np.asarray(self.last_right)[:] = state["last_right"]


cdef class ExactKernel(SweepKernel):
    """Branch and bound on the bound of the sweep: the best basis, for certain."""

    cdef signed char[::1] forced  # 1 if an element must be in, -1 if it must be out, else 0
    cdef Py_ssize_t[::1] root_left
    cdef Py_ssize_t[::1] root_right
    cdef unsigned char[::1] in_left

    def __init__(self, matroid, double noise):
        super().__init__(matroid, noise)
        self.forced = np.zeros(self.size, dtype=np.int8)
        self.root_left = np.zeros(self.rank, dtype=np.intp)
        self.root_right = np.zeros(self.rank, dtype=np.intp)
        self.in_left = np.zeros(self.size, dtype=np.uint8)

    cdef int search(self) except -1:
        # What a branch that raised may have left behind.
        self.forced[:] = 0
        self.n_allowed = self.playable.shape[0]
        self.walk_from_last()
        self.root_left[:] = self.left
        self.root_right[:] = self.right
        self.branch()
        self.bound = self.best_value + self.tolerance
        self.last_left[:] = self.root_left
        self.last_right[:] = self.root_right
        self.has_last = True
        return 0

    cdef void weigh(self, double price) noexcept:
        cdef Py_ssize_t i, e
        ESCBKernel.weigh(self, price)
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if self.forced[e]:
                self.weight[e] = self.forced[e] * INFINITY

    cdef int branch(self) except -1:
        """After a walk: look where a better basis may still be."""
        cdef Py_ssize_t e
        cdef double price
        if not self.bound > self.best_value + self.tolerance:
            return 0
        e = self.element_between()
        if e < 0:
            return 0
        PyErr_CheckSignals()
        price = self.own_price(self.line_of(self.right))
        self.forced[e] = 1
        if self.walk_from(price):
            self.branch()
        self.forced[e] = -1
        self.n_allowed -= 1
        if self.walk_from(price):
            self.branch()
        self.n_allowed += 1
        self.forced[e] = 0
        return 0

    cdef Py_ssize_t element_between(self) noexcept:
        """The element most worth deciding on: in `right`, not in `left`, of the largest spread."""
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t k, e
        for k in range(self.rank):
            self.in_left[self.left[k]] = 1
        for k in range(self.rank):
            e = self.right[k]
            if not self.in_left[e] and (
                best < 0
                or self.spread[e] > self.spread[best]
                or (self.spread[e] == self.spread[best] and e < best)
            ):
                best = e
        for k in range(self.rank):
            self.in_left[self.left[k]] = 0
        return best


cdef class ExchangeKernel(ESCBKernel):
    """Best improving exchanges from the basis last played, until there is none [PPV19]."""

    cdef Py_ssize_t[::1] basis  # by weight, largest first
    cdef unsigned char[::1] is_member
    cdef bint has_last  # whether `chosen` is the result of a search

    def __init__(self, matroid, double noise):
        super().__init__(matroid, noise)
        if isinstance(self.asks, PythonKernel):
            self.asks = RememberingKernel(
                self.asks, self.rank, has_circuit=self.asks.has_circuit
            )
        self.basis = np.zeros(self.rank, dtype=np.intp)
        self.is_member = np.zeros(self.size, dtype=np.uint8)

    cdef int search(self) except -1:
        cdef Py_ssize_t i, e
        if self.has_last:
            self.basis[:] = self.chosen
        else:
            for i in range(self.playable.shape[0]):
                e = self.playable[i]
                self.weight[e] = self.means[e] + self.root * sqrt(self.spread[e])
            self.greedy_on(self.weight)
            self.basis[:] = self.found
        while self.exchange():
            pass
        self.best[:] = self.basis
        self.has_last = True
        return 0

    cdef bint exchange(self) except -1:
        """Make the best exchange, if any makes the basis better."""
        cdef Line line = self.line_of(self.basis)
        cdef double bonus = self.root * sqrt(line.spread)
        cdef double best_gain = self.tolerance
        cdef Py_ssize_t best_position = -1
        cdef Py_ssize_t best_element = -1
        cdef Py_ssize_t i, k, e, x
        cdef double gain
        self.weigh(self.own_price(line))
        sort_descending(self.weight, self.basis, self.scratch[: self.rank])
        self.asks.prepare(self.basis)
        for k in range(self.rank):
            self.is_member[self.basis[k]] = 1
        try:
            for i in range(self.playable.shape[0]):
                e = self.playable[i]
                if self.is_member[e]:
                    continue
                # The bonus is concave, so an exchange gains no more than it gains in weight.
                for k in range(self.rank - 1, -1, -1):
                    x = self.basis[k]
                    if not self.weight[e] > self.weight[x]:
                        break
                    gain = (self.means[e] - self.means[x]) + (
                        self.root * sqrt(line.spread + (self.spread[e] - self.spread[x])) - bonus
                    )
                    if gain > best_gain and self.asks.can_replace(k, e):
                        best_gain = gain
                        best_position = k
                        best_element = e
        finally:
            for k in range(self.rank):
                self.is_member[self.basis[k]] = 0
        if best_element < 0:
            return False
        self.basis[best_position] = best_element
        return True

    def state(self):
        return super().state() | {
            "has_last": self.has_last,
            "answers": self.asks.state() if isinstance(self.asks, RememberingKernel) else None,
        }

    def restore(self, state):
        super().restore(state)
        self.has_last = state["has_last"]
        if state["answers"] is not None:
            self.asks.restore(state["answers"])
