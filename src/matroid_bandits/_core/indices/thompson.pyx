"""Thompson sampling: the value of an element is a draw from the posterior of its mean."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.streams.random_stream cimport RandomStream
from matroid_bandits._core.indices.base cimport IndexKernel


cdef class BetaKernel(IndexKernel):
    """A draw from Beta(1 + successes, 1 + failures); a reward between 0 and 1 tosses a coin."""

    cdef double[:, ::1] tallies  # [e, 0] successes, [e, 1] failures; both begin with 1

    def __init__(self, str name, RandomStream random_stream):
        super().__init__(name, 0.0, 1.0, 0)
        self.needs_rewards = True
        self.random_stream = random_stream
        self.tallies = None

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1:
        IndexKernel.attach(self, counts, means, index_counts, inverse_root)
        if self.tallies is None:
            self.tallies = np.ones((counts.shape[0], 2))
        return 0

    cdef void observe(self, Py_ssize_t e, double reward) noexcept:
        cdef bint success = reward == 1 or (reward > 0 and self.random_stream.uniform() < reward)
        self.tallies[e, not success] += 1

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double a, b
        cdef int64_t pending
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            a = self.tallies[e, 0]
            b = self.tallies[e, 1]
            pending = self.index_counts[e] - self.counts[e]
            if pending > 0:
                # As many successes and failures more as the present mean promises.
                a, b = a + pending * a / (a + b), b + pending * b / (a + b)
            values[e] = self.random_stream.beta(a, b)
        return 0

    def state(self):
        return {"tallies": np.array(self.tallies)}

    def restore(self, state):
        np.asarray(self.tallies)[:] = state["tallies"]

    def merge(self, elements, means, counts, state):
        if "tallies" in state:
            added = state["tallies"] - 1
        else:
            added = np.stack([means * counts, (1 - means) * counts], axis=1)
        np.asarray(self.tallies)[elements] += added

    def __reduce__(self):
        return type(self), (self.name, self.random_stream)


cdef class GaussianKernel(IndexKernel):
    """A draw from the normal distribution around the mean."""

    cdef double noise

    def __init__(self, str name, double noise, RandomStream random_stream):
        super().__init__(name, -INFINITY, INFINITY, 1)
        self.noise = noise
        self.random_stream = random_stream

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = (
                self.means[e] + self.noise * self.inverse_root[e] * self.random_stream.normal()
            )
        return 0

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.random_stream)
