"""Rules that compare each element of the best basis with its strongest challenger."""

from libc.math cimport INFINITY, sqrt

import numpy as np

from matroid_bandits._core.identification.learner cimport Learner
from matroid_bandits._core.identification.rule cimport RuleKernel
from matroid_bandits._core.sorting cimport sort_descending


cdef class ChallengersRule(RuleKernel):
    """Wants the pairs of an element of the basis and its challenger, by their scores."""

    cdef int begin(self, Learner learner, bint by_element) except -1:
        RuleKernel.begin(self, learner, by_element)
        self.scores = np.zeros(learner.rank)
        self.challengers = np.zeros(learner.rank, dtype=np.intp)
        self.order = np.zeros(learner.rank, dtype=np.intp)
        self.scratch = np.zeros(learner.rank, dtype=np.intp)
        self.scores_by_element = np.zeros(learner.size)
        self.is_wanted = np.zeros(learner.size, dtype=np.uint8)
        return 0

    cdef int find_challengers(self) except -1:
        """Find the challenger with the largest score for each position."""
        raise NotImplementedError

    cdef Py_ssize_t choose(self) except -1:
        cdef Learner learner = self.learner
        cdef Py_ssize_t p, i, x, e
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t n_pairs = 0
        for p in range(learner.rank):
            self.scores[p] = -INFINITY
            self.challengers[p] = -1
        self.find_challengers()
        for p in range(learner.rank):
            if self.challengers[p] >= 0:
                x = learner.basis[p]
                self.scores_by_element[x] = self.scores[p]
                self.order[n_pairs] = x
                n_pairs += 1
        if n_pairs == 0:
            return 0
        # By score; of equal ones, the lowest element of the basis first.
        sort_descending(self.scores_by_element, self.order[:n_pairs], self.scratch[:n_pairs])
        for i in range(n_pairs):
            x = self.order[i]
            e = self.challengers[learner.position[x]]
            # Of a pair, the less observed one first.
            if learner.counts[e] <= learner.counts[x]:
                n = self.want(e, n)
                n = self.want(x, n)
            else:
                n = self.want(x, n)
                n = self.want(e, n)
        for i in range(n):
            self.is_wanted[self.wanted[i]] = 0
        return n

    cdef Py_ssize_t want(self, Py_ssize_t e, Py_ssize_t n) noexcept:
        """Add an element to those wanted, each once; return their number."""
        if self.is_wanted[e]:
            return n
        self.is_wanted[e] = 1
        self.wanted[n] = e
        return n + 1


cdef class LUCBExchangeKernel(ChallengersRule):
    """By the upper confidence bound of the challenger above the lower one of the element.

    The widths are those of the largest threshold. A pair that has not passed it overlaps then, and
    pairs that do not overlap are not chosen before it: none is forgotten.
    """

    cdef int find_challengers(self) except -1:
        cdef Learner learner = self.learner
        cdef double width = self.spread() * sqrt(2 * learner.highest_threshold())
        cdef Py_ssize_t i, k, e, p, x
        cdef double upper
        # First the bound of the challenger alone: the element is the same for all of them.
        for i in range(learner.n_outside):
            e = learner.outside[i]
            upper = learner.means[e] + width * sqrt(learner.inverse[e])
            for k in range(learner.starts[i], learner.starts[i + 1]):
                p = learner.positions[k]
                if upper > self.scores[p]:
                    self.scores[p] = upper
                    self.challengers[p] = e
        for p in range(learner.rank):
            if self.challengers[p] >= 0:
                x = learner.basis[p]
                self.scores[p] -= learner.means[x] - width * sqrt(learner.inverse[x])
        return 0


cdef class BestChallengerKernel(ChallengersRule):
    """By the statistic of the pair, the smallest first."""

    cdef Py_ssize_t choose(self) except -1:
        return 0 if self.is_forced() else ChallengersRule.choose(self)

    cdef int find_challengers(self) except -1:
        cdef Learner learner = self.learner
        cdef Py_ssize_t i, k, e, p
        for i in range(learner.n_outside):
            e = learner.outside[i]
            for k in range(learner.starts[i], learner.starts[i + 1]):
                p = learner.positions[k]
                if -learner.ratios[k] > self.scores[p]:
                    self.scores[p] = -learner.ratios[k]
                    self.challengers[p] = e
        return 0
