"""Greedy on an index, every round: OMM, CUCB, KL-OSM, CTS, or any other index."""

import numpy as np

from matroid_bandits._core.policies.base cimport PolicyKernel


cdef class GreedyKernel(PolicyKernel):
    """The basis of largest total index."""

    cdef double[::1] values
    cdef Py_ssize_t valued  # the round that `values` are for

    def __init__(self, matroid, index, bint counts_pending=False, memory=None):
        super().__init__(matroid, index, index.min_count, counts_pending, memory)
        self.values = np.zeros(self.size)
        self.valued = -1

    cdef int decide(self) except -1:
        if self.n_initial > 0:
            return self.initial_round()
        if self.force_round():
            return 0
        # Once, even if greedy then fails: an index written in Python may draw at random.
        if self.valued != self.rounds:
            # The number of this round is the time.
            self.index.evaluate(
                self.candidates, self.index_time(self.round_time()), self.values
            )
            self.valued = self.rounds
        self.greedy_on(self.values)
        return self.choose_found()

    def round_values(self):
        values = np.full(self.size, np.nan)
        if self.valued == self.rounds and not self.is_initial:
            candidates = np.asarray(self.candidates)
            values[candidates] = np.asarray(self.values)[candidates]
        return values

    cdef void forget_draws(self) noexcept:
        self.valued = -1

    def parameters(self):
        return self.index, self.counts_pending, self.memory
