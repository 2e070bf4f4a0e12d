"""Policies that a plot needs to be honest: random play, and random play now and then."""

import numpy as np

from matroid_bandits._core.chance cimport Chance
from matroid_bandits._core.policy cimport PolicyKernel


cdef class RandomKernel(PolicyKernel):
    """Greedy in a random order, every round."""

    cdef Chance chance
    cdef double[::1] values
    cdef Py_ssize_t drawn  # the round that `values` are for

    def __init__(self, matroid, Chance chance, least=0):
        super().__init__(matroid, None, least)
        self.chance = chance
        self.values = np.zeros(self.size)
        self.drawn = -1

    cdef int decide(self) except -1:
        cdef Py_ssize_t i
        # Once, even if greedy then fails: a second attempt is no second draw.
        if self.drawn != self.rounds:
            for i in range(self.playable.shape[0]):
                self.values[self.playable[i]] = self.chance.uniform()
            self.drawn = self.rounds
        self.greedy_on(self.values)
        return self.choose_found()

    def __reduce__(self):
        return type(self), (self.matroid, self.chance), self.state()


cdef class EpsilonGreedyKernel(RandomKernel):
    """Greedy on the means, but with a certain probability in a random order."""

    cdef double epsilon
    cdef bint explores
    cdef Py_ssize_t tossed  # the round that `explores` is for

    def __init__(self, matroid, Chance chance, double epsilon):
        super().__init__(matroid, chance, 1)
        self.epsilon = epsilon
        self.tossed = -1

    cdef int decide(self) except -1:
        if self.unready > 0:
            return self.first_round()
        if self.tossed != self.rounds:
            self.explores = self.chance.uniform() < self.epsilon
            self.tossed = self.rounds
        if self.explores:
            return RandomKernel.decide(self)
        self.greedy_on(self.means)
        return self.choose_found()

    def __reduce__(self):
        return type(self), (self.matroid, self.chance, self.epsilon), self.state()
