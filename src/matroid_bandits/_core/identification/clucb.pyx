"""CLUCB: compare the best basis with the best one by pessimistic and optimistic values."""

from libc.math cimport log, sqrt

import numpy as np

from matroid_bandits._core.identification.learner cimport Learner
from matroid_bandits._core.identification.rule cimport RuleKernel
from matroid_bandits._core.sorting cimport sort_descending


cdef class CLUCBKernel(RuleKernel):
    """Wants the elements in which two bases differ, the widest confidence interval first."""

    cdef double[::1] radius
    cdef double[::1] values
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] scratch
    cdef Py_ssize_t[::1] other
    cdef Py_ssize_t n_different
    cdef bint is_separated

    cdef int begin(self, Learner learner, bint by_element) except -1:
        RuleKernel.begin(self, learner, by_element)
        self.radius = np.zeros(learner.size)
        self.values = np.zeros(learner.size)
        self.order = np.flatnonzero(np.asarray(learner.is_loop) == 0)
        self.scratch = np.zeros(learner.n_elements, dtype=np.intp)
        self.other = np.zeros(learner.rank, dtype=np.intp)
        self.n_different = 0
        self.is_separated = False
        return 0

    cdef int compare(self) except -1:
        """Find the elements in which the best basis differs from the best one by other values."""
        cdef Learner learner = self.learner
        cdef double t = <double>learner.rounds
        cdef double width
        cdef double gain = 0.0
        cdef Py_ssize_t i, e
        cdef Py_ssize_t n = 0
        width = self.spread() * sqrt(2 * log(4 * learner.n_elements * t * t * t / learner.delta))
        for e in range(learner.size):
            if learner.is_loop[e]:
                continue
            self.radius[e] = width * learner.root[e]
            if learner.position[e] >= 0:
                self.values[e] = learner.means[e] - self.radius[e]
            else:
                self.values[e] = learner.means[e] + self.radius[e]
        sort_descending(self.values, self.order, self.scratch)
        learner.player.greedy(self.order, learner.rank, self.other)
        is_other = np.zeros(learner.size, dtype=np.uint8)
        cdef unsigned char[::1] marks = is_other
        for i in range(learner.rank):
            marks[self.other[i]] = 1
        for e in range(learner.size):
            if marks[e] and learner.position[e] < 0:
                gain += self.values[e]
            elif not marks[e] and learner.position[e] >= 0:
                gain -= self.values[e]
            else:
                continue
            self.wanted[n] = e
            n += 1
        self.n_different = n
        self.is_separated = n == 0 or gain <= 0
        return 0

    cdef bint is_done(self) except -1:
        self.compare()
        return self.is_separated

    cdef Py_ssize_t choose(self) except -1:
        # `is_done` was called before.
        cdef Py_ssize_t n = self.n_different
        if n:
            sort_descending(self.radius, self.wanted[:n], self.scratch[:n])
        return n
