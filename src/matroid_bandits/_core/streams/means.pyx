"""Means that change: piecewise constant, a random walk, seasons, or a function of the round."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport M_PI, sin
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.streams.rewards cimport Streams

from matroid_bandits._streams import WALKS


cdef class MeansKernel:
    """The means of the rounds of one run, cheap to read in the order of the rounds.

    A subclass defines `write`.
    """

    def __init__(self, Py_ssize_t size):
        self.size = size
        self.means = np.zeros(size)

    cdef int write(self, int64_t round) except -1:
        """Write the means of a round to `means`; set `next_change`."""
        raise NotImplementedError

    cdef int move_to(self, int64_t round) except -1:
        """Make `means` those of a round, counted from 1."""
        if not self.round <= round < self.next_change:
            self.write(round)
        self.round = round
        return 0

    def at(self, int64_t round):
        """The means of a round, as a new array."""
        self.move_to(round)
        return np.array(self.means)


cdef class PiecewiseMeans(MeansKernel):
    """Means that stay until the next of the rounds `changes`; one row of `pieces` each."""

    cdef const double[:, ::1] pieces
    cdef const int64_t[::1] changes

    def __init__(self, const double[:, ::1] pieces, const int64_t[::1] changes):
        super().__init__(pieces.shape[1])
        self.pieces = pieces
        self.changes = changes

    cdef int write(self, int64_t round) except -1:
        cdef Py_ssize_t piece = 0
        cdef Py_ssize_t e
        while piece < self.changes.shape[0] and self.changes[piece] <= round:
            piece += 1
        for e in range(self.size):
            self.means[e] = self.pieces[piece, e]
        self.next_change = self.changes[piece] if piece < self.changes.shape[0] else NEVER
        return 0


cdef class DriftingMeans(MeansKernel):
    """A random walk of every mean, reflected at `low` and `high`.

    Only the present means are kept. A round before the present one starts the walk again.
    """

    cdef object seed
    cdef const double[::1] start
    cdef double step, low, high
    cdef Streams walks

    def __init__(self, seed, const double[::1] start, double step, double low, double high):
        super().__init__(start.shape[0])
        self.seed = seed
        self.start = start
        self.step = step
        self.low = low
        self.high = high

    cdef int write(self, int64_t round) except -1:
        cdef int64_t steps_between_signals = 1_000_000 // (self.size + 1) + 1
        cdef Py_ssize_t e
        if self.round == 0 or round < self.round:
            self.walks = Streams(self.seed, self.size, WALKS)
            self.means[:] = self.start
            self.round = 1
        while self.round < round:
            for e in range(self.size):
                self.means[e] = self.reflected(self.means[e] + self.step * self.walks.normal(e))
            self.round += 1
            if self.round % steps_between_signals == 0:
                PyErr_CheckSignals()
        self.next_change = round + 1
        return 0

    cdef double reflected(self, double mean) noexcept:
        # A few times at most: a step is not longer than a few times the distance of the bounds.
        while True:
            if mean > self.high:
                mean = 2 * self.high - mean
            elif mean < self.low:
                mean = 2 * self.low - mean
            else:
                return mean


cdef class SeasonalMeans(MeansKernel):
    """``mean + amplitude * sin(2 * pi * ((round - 1) / period + phase))``."""

    cdef const double[::1] centers
    cdef const double[::1] amplitudes
    cdef const double[::1] phases
    cdef double period

    def __init__(
        self,
        const double[::1] centers,
        const double[::1] amplitudes,
        const double[::1] phases,
        double period,
    ):
        super().__init__(centers.shape[0])
        self.centers = centers
        self.amplitudes = amplitudes
        self.phases = phases
        self.period = period

    cdef int write(self, int64_t round) except -1:
        cdef double time = (round - 1) / self.period
        cdef Py_ssize_t e
        for e in range(self.size):
            self.means[e] = self.centers[e] + self.amplitudes[e] * sin(
                2 * M_PI * (time + self.phases[e])
            )
        self.next_change = round + 1
        return 0


cdef class FunctionMeans(MeansKernel):
    """What a Python function of the round returns: an array that has been checked."""

    cdef object function

    def __init__(self, Py_ssize_t size, function):
        super().__init__(size)
        self.function = function

    cdef int write(self, int64_t round) except -1:
        cdef const double[::1] means = self.function(round)
        self.means[:] = means
        self.next_change = round + 1
        return 0
