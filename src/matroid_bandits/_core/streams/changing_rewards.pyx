"""Rewards whose means change: the k-th noise of an element, and the mean of the round."""

from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.streams.means cimport MeansKernel
from matroid_bandits._core.streams.rewards cimport Streams

from matroid_bandits._arguments import integer

# Rounds are counted exactly, also where they are floats.
LATEST = 2**53


cdef class ChangingRewards(Streams):
    """Draws with the means of one round. A subclass defines `draw_into`."""

    def __init__(self, seed, MeansKernel means):
        super().__init__(seed, means.size)
        self.means = means

    @property
    def round(self):
        """The round of the last draw; 0 before the first."""
        return self.means.round

    def draw(self, elements, *, round=None):
        """The next reward of each of `elements`, as an array.

        By default every call is a round: the first call draws in round 1, the next one in the round
        after that of the call before. `round` says which one it is instead.
        """
        cdef int64_t now = self.means.round + 1
        checked = self.checked(elements)
        if round is not None:
            now = integer(round, "round", minimum=1, maximum=LATEST)
        rewards = np.empty(len(checked))
        self.means.move_to(now)
        self.draw_into(checked, rewards)
        return rewards


cdef class ChangingGaussianRewards(ChangingRewards):
    """``mean + std * rng.standard_normal()``, with the mean of the round."""

    cdef const double[::1] stds

    def __init__(self, seed, MeansKernel means, const double[::1] stds):
        super().__init__(seed, means)
        self.stds = stds

    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1:
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            rewards[i] = self.means.means[e] + self.stds[e] * self.normal(e)
        return 0


cdef class ChangingBernoulliRewards(ChangingRewards):
    """``1.0 if rng.random() < mean else 0.0``, with the mean of the round."""

    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1:
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            rewards[i] = self.uniform(e) < self.means.means[e]
        return 0
