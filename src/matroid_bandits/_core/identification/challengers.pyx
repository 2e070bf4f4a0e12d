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
        cdef double *scores = &self.scores[0]
        cdef Py_ssize_t *challengers = &self.challengers[0]
        cdef const double *means = &learner.means[0]
        cdef const double *root = &learner.root[0]
        cdef const Py_ssize_t *starts = &learner.starts[0]
        cdef const Py_ssize_t *positions = &learner.positions[0]
        # First the bound of the challenger alone: the element is the same for all of them.
        for i in range(learner.n_outside):
            e = learner.outside[i]
            upper = means[e] + width * root[e]
            for k in range(starts[i], starts[i + 1]):
                p = positions[k]
                if upper > scores[p]:
                    scores[p] = upper
                    challengers[p] = e
        for p in range(learner.rank):
            if self.challengers[p] >= 0:
                x = learner.basis[p]
                self.scores[p] -= learner.means[x] - width * learner.root[x]
        return 0


cdef class BestChallengerKernel(ChallengersRule):
    """By the statistic of the pair, the smallest first."""

    cdef Py_ssize_t choose(self) except -1:
        return 0 if self.is_forced() else ChallengersRule.choose(self)

    cdef int find_challengers(self) except -1:
        cdef Learner learner = self.learner
        cdef Py_ssize_t i, k, p
        cdef double *scores = &self.scores[0]
        cdef Py_ssize_t *challengers = &self.challengers[0]
        cdef const double *ratios = &learner.ratios[0]
        cdef const Py_ssize_t *starts = &learner.starts[0]
        cdef const Py_ssize_t *positions = &learner.positions[0]
        for i in range(learner.n_outside):
            for k in range(starts[i], starts[i + 1]):
                p = positions[k]
                if -ratios[k] > scores[p]:
                    scores[p] = -ratios[k]
                    challengers[p] = learner.outside[i]
        return 0
