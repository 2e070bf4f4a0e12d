"""ESCB [CTPL15] with a bound: greedy at several prices, and branch and bound on top of it.

docs/explanation/escb.md has the proofs.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fmax, fmin

import numpy as np

from matroid_bandits._core.policies.escb.rule cimport ESCBKernel, Line
from matroid_bandits._core.sorting cimport sort_descending

# A walk ends after a few prices; its bound is valid wherever it ends.
cdef Py_ssize_t MOST_PRICES = 100


cdef inline double height(Line line, double price) noexcept:
    return line.mean + price * line.spread


cdef class SweepKernel(ESCBKernel):
    """Greedy at several prices, until the lowest upper bound of this form is found.

    At a price p, no value exceeds the height of the highest line plus root^2 / (4 p). This bound is
    convex in p. The walk goes to the lowest point of the bound of two lines. Greedy finds the
    highest line there, and the walk stops if it is one of the two. Lines alone miss bases below the
    chord between two of them, so exchanges follow, unless the bound shows that no basis is better.
    """

    # The two lines, the flatter one left, and those of the last round, to start from.
    cdef Py_ssize_t[::1] left
    cdef Py_ssize_t[::1] right
    cdef Py_ssize_t[::1] last_left
    cdef Py_ssize_t[::1] last_right
    cdef bint has_last
    cdef Py_ssize_t n_allowed  # elements that greedy may use: all that no branch excludes
    cdef Py_ssize_t[::1] branch_order  # the candidates as last sorted in a branch

    def __init__(self, matroid, double noise, bint counts_pending=False):
        super().__init__(matroid, noise, counts_pending)
        self.left = np.zeros(self.rank, dtype=np.intp)
        self.right = np.zeros(self.rank, dtype=np.intp)
        self.last_left = np.zeros(self.rank, dtype=np.intp)
        self.last_right = np.zeros(self.rank, dtype=np.intp)

    cdef int search(self) except -1:
        self.n_allowed = self.candidates.shape[0]
        self.walk_from_last()
        self.keep_lines(self.left, self.right)
        return 0

    cdef void keep_lines(self, const Py_ssize_t[::1] left, const Py_ssize_t[::1] right) noexcept:
        """Start from these two lines in the next round with all elements available."""
        if not self.is_restricted:
            self.last_left[:] = left
            self.last_right[:] = right
            self.has_last = True

    cdef int walk_from_last(self) except -1:
        """Walk from where the walk of the last round ended, then make exchanges."""
        if self.has_last and not self.is_restricted:
            self.left[:] = self.last_left
            self.right[:] = self.last_right
            self.walk()
        else:
            self.walk_from(self.root / 2)
        if self.may_improve():
            self.climb_from(self.best)
        return 0

    cdef inline bint may_improve(self) noexcept:
        """Whether the bound leaves room for a better basis than the best one found."""
        return self.bound > self.best_value + self.tolerance

    cdef bint walk_from(self, double price) except -1:
        """Walk from a price; return whether any basis satisfies the branch."""
        if not self.probe(price):
            return False
        self.left[:] = self.found
        self.right[:] = self.found
        self.walk()
        return True

    cdef int walk(self) except -1:
        """Go from the lines `left` and `right` to those at the lowest bound, and write `bound`."""
        cdef Line left = self.propose(self.left)
        cdef Line right = self.propose(self.right)
        cdef Line line
        cdef double price, highest
        cdef bint in_left, in_right  # whether the lowest point is that of one line alone
        cdef Py_ssize_t _step
        self.bound = INFINITY
        if left.spread > right.spread:
            self.left, self.right = self.right, self.left
            left, right = right, left
        for _step in range(MOST_PRICES):
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
            line = self.propose(self.found)
            self.bound = fmin(
                self.bound, height(line, price) + self.root * (self.root / (4 * price))
            )
            highest = fmax(height(left, price), height(right, price))
            # Negated, so that NaN after an overflow ends the walk.
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
        """Greedy at a price, into `found`; return whether any basis satisfies the branch."""
        cdef Py_ssize_t taken
        self.weigh(price)
        if self.n_allowed == self.candidates.shape[0]:
            self.greedy_on(self.weight)
            return True
        sort_descending(self.weight, self.branch_order, self.scratch[: self.branch_order.shape[0]])
        taken = self.oracle.greedy(
            self.branch_order[: self.n_allowed], self.round_rank, self.found
        )
        self.greedy_calls += 1
        self.oracle_calls += self.oracle.tested
        return taken == self.round_rank

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
    """Branch and bound with the bound of the sweep: finds a best basis."""

    cdef signed char[::1] forced  # 1: the element is in the basis, -1: it is not, 0: undecided
    cdef Py_ssize_t[::1] root_left
    cdef Py_ssize_t[::1] root_right

    def __init__(self, matroid, double noise, bint counts_pending=False):
        super().__init__(matroid, noise, counts_pending)
        self.forced = np.zeros(self.size, dtype=np.int8)
        self.root_left = np.zeros(self.rank, dtype=np.intp)
        self.root_right = np.zeros(self.rank, dtype=np.intp)

    cdef int search(self) except -1:
        # An error in a branch may have left these changed.
        self.forced[:] = 0
        self.n_allowed = self.candidates.shape[0]
        self.branch_order = np.array(self.candidates)
        self.walk_from_last()
        self.root_left[:] = self.left
        self.root_right[:] = self.right
        self.branch()
        self.bound = self.best_value + self.tolerance
        self.keep_lines(self.root_left, self.root_right)
        return 0

    cdef void weigh(self, double price) noexcept:
        cdef Py_ssize_t i, e
        ESCBKernel.weigh(self, price)
        for i in range(self.candidates.shape[0]):
            e = self.candidates[i]
            if self.forced[e]:
                self.weight[e] = self.forced[e] * INFINITY

    cdef int branch(self) except -1:
        """After a walk: search the branches that may have a better basis."""
        cdef Py_ssize_t e
        cdef double price
        if not self.may_improve():
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
        """The element to branch on: in `right`, not in `left`, with the largest spread."""
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t k, e
        for k in range(self.round_rank):
            self.is_member[self.left[k]] = 1
        for k in range(self.round_rank):
            e = self.right[k]
            # Never the same element twice: with an oracle that is no matroid this might not end.
            if not self.is_member[e] and self.forced[e] == 0 and (
                best < 0
                or self.spread[e] > self.spread[best]
                or (self.spread[e] == self.spread[best] and e < best)
            ):
                best = e
        for k in range(self.round_rank):
            self.is_member[self.left[k]] = 0
        return best
