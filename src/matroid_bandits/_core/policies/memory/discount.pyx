"""Discounted observations: their weight shrinks by a factor in every round.

All counts shrink by the same factor, so they are kept up to a common unit, which grows instead: a
round changes the elements that were observed and no others. From time to time all of them are
divided by the unit, so that numbers stay moderate.
"""

import numpy as np

from libc.math cimport floor, log, pow, sqrt
from libc.stdint cimport int64_t

from matroid_bandits._core.indices.base cimport IndexKernel

# Weights are rescaled when the unit is about this.
cdef double LARGEST_UNIT = 1e12
# And at this unit even if no decision is made, as when a log is learned.
cdef double OVERDUE_UNIT = 1e100
cdef double SMALLEST_WEIGHT = 1e-300
# An element whose count is below this at that time is forgotten.
cdef double SMALLEST_COUNT = 1e-6


cdef class Discount(Memory):
    """Weights `factor ** age` of observations."""

    def __init__(self, Py_ssize_t size, double factor):
        super().__init__(size)
        self.factor = factor
        self.period = <Py_ssize_t>floor(log(LARGEST_UNIT) / -log(factor)) + 1
        self.unit = 1.0
        self.weights = np.zeros(size)

    def __reduce__(self):
        return type(self), (self.size, self.factor)

    cdef int attach(
        self, IndexKernel index, const int64_t[::1] counts, const double[::1] means,
        Py_ssize_t n_playable
    ) except -1:
        Memory.attach(self, index, counts, means, n_playable)
        index.use_weights(self.weights, self.factor)
        self.set_unit(1.0)
        return 0

    cdef void set_unit(self, double unit) noexcept:
        self.unit = unit
        self.index.weight_unit = unit
        self.index.width_unit = sqrt(unit)

    cdef void begin(self, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        """An observation of the present round will have the age 0 when that has ended."""
        if round > rounds:
            # The unit at the end of this round, to the last bit.
            self.weight = self.unit / self.factor
        else:
            self.weight = self.unit * pow(self.factor, <double>(rounds - round))
        self.index.weight = self.weight

    cdef bint accepts(self, Py_ssize_t e, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        # So old that it has no weight.
        return pow(self.factor, <double>(rounds - round)) > 0

    cdef void add(self, Py_ssize_t e, double reward) noexcept:
        cdef double total = self.weights[e] + self.weight
        self.new_count = self.counts[e] + 1
        self.new_mean = (self.weights[e] * self.means[e] + self.weight * reward) / total
        self.weights[e] = total

    cdef void end_round(self) noexcept:
        self.set_unit(self.unit / self.factor)
        if self.unit > OVERDUE_UNIT:
            self.rescale()
            self.is_overdue = True

    cdef void rescale(self) noexcept:
        """Divide all weights by the unit."""
        cdef Py_ssize_t e
        for e in range(self.size):
            self.weights[e] /= self.unit
            # Where nothing was observed for very long, a weight of 0 would be that of no
            # observation. The next decision forgets it.
            if self.weights[e] == 0 and self.counts[e] > 0:
                self.weights[e] = SMALLEST_WEIGHT
        self.index.rescale(1 / self.unit)
        self.set_unit(1.0)

    cdef bint is_due(self, Py_ssize_t rounds) noexcept:
        return self.is_overdue or (rounds % self.period == 0 and rounds > self.rescaled_at)

    cdef object forget(self, Py_ssize_t rounds):
        """Divide all weights by the unit; elements that have next to no weight are forgotten."""
        self.rescale()
        self.is_overdue = False
        self.rescaled_at = rounds
        weights = np.asarray(self.weights)
        is_lost = (weights > 0) & (weights < SMALLEST_COUNT)
        weights[is_lost] = 0.0
        return np.flatnonzero(is_lost)

    def effective_counts(self):
        return np.asarray(self.weights) / self.unit

    def state(self, Py_ssize_t rounds):
        return super().state(rounds) | {
            "weights": np.array(self.weights),
            "unit": self.unit,
            "rescaled_at": self.rescaled_at,
            "is_overdue": bool(self.is_overdue),
        }

    def restore(self, state, rounds):
        super().restore(state, rounds)
        np.asarray(self.weights)[:] = state["weights"]
        self.set_unit(state["unit"])
        self.rescaled_at = state["rescaled_at"]
        self.is_overdue = state["is_overdue"]
