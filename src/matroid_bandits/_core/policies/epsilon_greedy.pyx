"""Greedy on the means, and at random now and then."""

from matroid_bandits._core.policies.random_basis cimport RandomKernel
from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef class EpsilonGreedyKernel(RandomKernel):
    """Greedy on the means, but with a certain probability in a random order."""

    cdef double epsilon
    cdef bint explores
    cdef Py_ssize_t tossed  # the round that `explores` is for

    def __init__(self, matroid, RandomStream random_stream, double epsilon):
        super().__init__(matroid, random_stream, 1)
        self.epsilon = epsilon
        self.tossed = -1

    cdef int decide(self) except -1:
        if self.n_undersampled > 0:
            return self.initial_round()
        if self.tossed != self.rounds:
            self.explores = self.random_stream.uniform() < self.epsilon
            self.tossed = self.rounds
        if self.explores:
            return RandomKernel.decide(self)
        self.greedy_on(self.means)
        return self.choose_found()

    def __reduce__(self):
        return type(self), (self.matroid, self.random_stream, self.epsilon), self.state()
