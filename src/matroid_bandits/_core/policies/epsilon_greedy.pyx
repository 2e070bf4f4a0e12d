"""Greedy on the means, in some rounds greedy in a random order."""

from matroid_bandits._core.policies.random_basis cimport RandomKernel
from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef class EpsilonGreedyKernel(RandomKernel):
    """Greedy on the means, but with a certain probability in a random order."""

    cdef double epsilon

    def __init__(self, matroid, RandomStream random_stream, double epsilon):
        super().__init__(matroid, random_stream, 1)
        self.epsilon = epsilon

    cdef int decide(self) except -1:
        if self.n_initial > 0:
            return self.initial_round()
        if self.random_stream.uniform() < self.epsilon:
            return RandomKernel.decide(self)
        self.greedy_on(self.means)
        return self.choose_found()

    def parameters(self):
        return self.random_stream, self.epsilon
