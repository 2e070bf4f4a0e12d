"""Frank-Wolfe sampling: a step towards the proportions at which the statistic grows fastest."""

from libc.math cimport exp

import numpy as np

from matroid_bandits._core.identification.bernoulli cimport common_mean, divergence
from matroid_bandits._core.identification.learner cimport Learner
from matroid_bandits._core.identification.rule cimport RuleKernel
from matroid_bandits._core.sorting cimport sort_descending

# How sharply the hardest pair is preferred to others, and what is not worth a look.
cdef double SHARPNESS = 3.0
cdef double NEGLIGIBLE = 1e-9
# Beyond this distance from the least statistic, weights are negligible.
cdef double FAR = 7.0


cdef class FrankWolfeKernel(RuleKernel):
    """Wants the elements by the gradient of a soft minimum of the statistics.

    [TWPL23] make the minimum smooth by random perturbations. Here pairs are weighted by how close
    their statistics are to the least one, which needs no random numbers and one look at each pair.
    """

    cdef double[::1] gradient
    cdef Py_ssize_t[::1] scratch

    cdef int begin(self, Learner learner, bint by_element) except -1:
        RuleKernel.begin(self, learner, by_element)
        self.gradient = np.zeros(learner.size)
        self.scratch = np.zeros(learner.size, dtype=np.intp)
        return 0

    cdef Py_ssize_t choose(self) except -1:
        cdef Learner learner = self.learner
        cdef Py_ssize_t i, k, e, x
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t wanted
        cdef double weight, gap, share, a, n_x, n_e
        cdef double scale = 2 * learner.noise * learner.noise
        if self.is_forced():
            return 0
        for i in range(learner.n_outside):
            e = learner.outside[i]
            for k in range(learner.starts[i], learner.starts[i + 1]):
                if learner.ratios[k] - learner.statistic > FAR:
                    continue
                weight = exp(-SHARPNESS * (learner.ratios[k] - learner.statistic))
                if weight < NEGLIGIBLE:
                    continue
                x = learner.basis[learner.positions[k]]
                n = self.want(x, n)
                n = self.want(e, n)
                n_x, n_e = <double>learner.counts[x], <double>learner.counts[e]
                if learner.is_bernoulli:
                    a = common_mean(learner.means[x], n_x, learner.means[e], n_e, learner.eps)
                    self.gradient[x] += weight * divergence(learner.means[x], a)
                    self.gradient[e] += weight * divergence(learner.means[e], a + learner.eps)
                else:
                    gap = learner.means[x] - learner.means[e] + learner.eps
                    share = n_e / (n_x + n_e)
                    self.gradient[x] += weight * (gap * gap / scale) * (share * share)
                    self.gradient[e] += weight * (gap * gap / scale) * ((1 - share) * (1 - share))
        if n == 0:
            return 0
        # Of equal ones, the lowest first.
        sort_descending(self.gradient, self.wanted[:n], self.scratch[:n])
        # Those without a gradient are the last ones.
        wanted = n
        for i in range(n):
            e = self.wanted[i]
            if self.gradient[e] <= 0 and wanted == n:
                wanted = i
            self.gradient[e] = 0.0
            self.is_wanted[e] = 0
        return wanted
