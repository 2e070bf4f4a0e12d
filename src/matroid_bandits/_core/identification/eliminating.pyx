"""Rules that accept and reject elements one after another, until a basis is left."""

from libc.math cimport ceil, log
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.identification.learner cimport Learner
from matroid_bandits._core.identification.rule cimport RuleKernel
from matroid_bandits._core.matroids.partners import find_circuits


cdef class EliminatingRule(RuleKernel):
    """Keeps the elements that are active: neither accepted nor rejected."""

    cdef object is_active
    cdef object is_accepted
    cdef object basis
    cdef bint has_ended

    def __init__(self):
        super().__init__()
        self.needs_pairs = False

    cdef int begin(self, Learner learner, bint by_element) except -1:
        RuleKernel.begin(self, learner, by_element)
        self.is_active = np.asarray(learner.is_loop) == 0
        self.is_accepted = np.zeros(learner.size, dtype=np.bool_)
        self.basis = np.zeros(0, dtype=np.intp)
        self.has_ended = False
        return 0

    cdef Py_ssize_t want_active(self, int64_t below) except -1:
        """Want the active elements with fewer observations, the least observed first."""
        cdef Learner learner = self.learner
        cdef unsigned char[::1] active = self.is_active.view(np.uint8)
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t e = learner.first
        while e >= 0 and learner.counts[e] < below:
            if active[e]:
                self.wanted[n] = e
                n += 1
            e = learner.next[e]
        return n

    def gaps(self):
        """The best basis with all that is accepted and nothing that is rejected, and the gap of
        every active element: how much is lost if it changes sides.
        """
        cdef Learner learner = self.learner
        means = np.asarray(learner.means)
        active = np.flatnonzero(self.is_active)
        order = np.concatenate(
            [np.flatnonzero(self.is_accepted), active[np.argsort(-means[active], kind="stable")]]
        )
        self.basis = np.sort(learner.player.greedy_basis(order, learner.rank))
        is_inside = np.zeros(learner.size, dtype=np.bool_)
        is_inside[self.basis] = True
        others = np.flatnonzero(self.is_active & ~is_inside)
        inside, outside = find_circuits(learner.exchanges, self.basis, others)
        fits = self.is_active[inside]
        inside, outside = inside[fits], outside[fits]
        found = np.full(learner.size, np.inf)
        distances = means[inside] - means[outside]
        np.minimum.at(found, inside, distances)
        np.minimum.at(found, outside, distances)
        return is_inside, found

    cdef bint is_done(self) except -1:
        return self.has_ended

    def answer(self):
        return self.basis


cdef class CSARKernel(EliminatingRule):
    """Successive accepts and rejects: after each phase the clearest element is decided."""

    cdef readonly int64_t budget
    cdef object ends
    cdef Py_ssize_t phase

    def __init__(self, int64_t budget):
        super().__init__()
        self.budget = budget

    cdef int begin(self, Learner learner, bint by_element) except -1:
        EliminatingRule.begin(self, learner, by_element)
        n = learner.n_elements
        total = sum(1 / i for i in range(1, n + 1))
        self.ends = []
        end = before = 0
        for j in range(1, n + 1):
            target = <int64_t>ceil((self.budget - n) / (total * (n - j + 1)))
            end += (n - j + 1) * (target - before)
            before = target
            self.ends.append(end)
        self.phase = 0
        return 0

    cdef bint is_done(self) except -1:
        cdef Learner learner = self.learner
        while self.phase < len(self.ends) and learner.rounds >= self.ends[self.phase]:
            is_inside, found = self.gaps()
            clearest = np.argmax(np.where(self.is_active, found, -np.inf))
            self.is_active[clearest] = False
            self.is_accepted[clearest] = is_inside[clearest]
            self.phase += 1
        if self.phase == len(self.ends):
            self.basis = np.flatnonzero(self.is_accepted)
            self.has_ended = True
        return self.has_ended

    cdef Py_ssize_t choose(self) except -1:
        return self.want_active(2**62)


cdef class ExactExpGapKernel(EliminatingRule):
    """Rounds of growing precision: elements are decided as soon as their gap is clear."""

    cdef int64_t goal
    cdef int number
    cdef double precision

    cdef int begin(self, Learner learner, bint by_element) except -1:
        EliminatingRule.begin(self, learner, by_element)
        self.number = 0
        self.next_round()
        return 0

    cdef int next_round(self) except -1:
        cdef double share
        self.number += 1
        self.precision = 0.5 ** self.number / 4
        share = self.learner.delta / (50.0 * self.number**3)
        n = max(1, int(self.is_active.sum()))
        self.goal = <int64_t>ceil(
            2 * self.spread() ** 2 * log(2 * n / share) / self.precision**2
        )
        return 0

    cdef bint is_done(self) except -1:
        while not self.has_ended and self.want_active(self.goal) == 0:
            is_inside, found = self.gaps()
            inside = self.is_active & is_inside
            outside = self.is_active & ~is_inside
            is_clear = found > 2 * self.precision
            if inside.sum() <= outside.sum():
                self.is_active[outside & is_clear] = False
            else:
                self.is_accepted[inside & is_clear] = True
                self.is_active[inside & is_clear] = False
            inside, outside = self.is_active & is_inside, self.is_active & ~is_inside
            self.has_ended = not inside.any() or not outside.any()
            self.next_round()
        return self.has_ended

    cdef Py_ssize_t choose(self) except -1:
        return self.want_active(self.goal)
