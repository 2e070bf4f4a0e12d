"""The interface of sampling rules, and the rule without wishes: the least observed come first."""

from libc.math cimport sqrt

import numpy as np

from matroid_bandits._core.identification.learner cimport Learner


cdef class RuleKernel:
    """Says what is to be observed next. Without wishes, as here, all are observed equally often."""

    def __init__(self):
        self.needs_pairs = True

    cdef int begin(self, Learner learner, bint by_element) except -1:
        """A run begins."""
        self.learner = learner
        self.by_element = by_element
        self.wanted = np.zeros(learner.size, dtype=np.intp)
        self.is_wanted = np.zeros(learner.size, dtype=np.uint8)
        return 0

    cdef Py_ssize_t choose(self) except -1:
        """Write distinct elements to `wanted`, in the order of the wishes; return their number."""
        return 0

    cdef bint is_done(self) except -1:
        """Whether the rule itself ends the run."""
        return False

    cdef Py_ssize_t want(self, Py_ssize_t e, Py_ssize_t n) noexcept:
        """Add an element to those wanted, each once; return their number."""
        if self.is_wanted[e]:
            return n
        self.is_wanted[e] = 1
        self.wanted[n] = e
        return n + 1

    cdef bint is_forced(self) noexcept:
        """Whether some element was observed so seldom that it comes first, whatever its mean.

        An element with an unlucky first reward may otherwise be forgotten.
        """
        cdef Learner learner = self.learner
        cdef double at_once = 1.0 if self.by_element else <double>learner.rank
        cdef double share = learner.rounds * at_once / learner.n_elements
        return learner.counts[learner.first] < 0.5 * sqrt(share)

    cdef double spread(self) noexcept:
        """The standard deviation of rewards, or a bound on it."""
        return 0.5 if self.learner.is_bernoulli else self.learner.noise

    def answer(self):
        """The basis that the rule answers; None for the best one by the means."""
        return None
