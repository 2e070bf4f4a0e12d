"""The loop of a simulation with late feedback: choose, draw, learn what is due."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.best_basis cimport BestBasis
from matroid_bandits._core.calendar cimport Calendar, DueReward
from matroid_bandits._core.loop cimport play
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.contract.decisions cimport CLOSED, OPEN, DecisionTable
from matroid_bandits._core.streams.means cimport NEVER
from matroid_bandits._core.streams.rewards cimport RewardKernel


cdef class LostFeedback:
    """Feedback of open decisions that is known never to come: nobody waits for it.

    A decision for which something is lost is never complete. It is closed when nothing more will
    come.
    """

    cdef PolicyKernel policy
    cdef DecisionTable table
    cdef dict counts  # how many elements are lost, by the row of their decision

    def __init__(self, PolicyKernel policy):
        self.policy = policy
        self.table = policy.decisions
        self.counts = {}

    def lose(self, identifier, Py_ssize_t element):
        """The feedback of an element of a decision is lost."""
        cdef int before = self.policy.guard.take(False)
        try:
            self.lose_in(self.table.find(identifier), element)
        finally:
            self.policy.guard.give_back(before)

    def close_if_settled(self, identifier):
        """Close a decision if all its other feedback has come."""
        cdef int before = self.policy.guard.take(False)
        try:
            self.settle(self.table.find(identifier))
        finally:
            self.policy.guard.give_back(before)

    def end(self):
        """The run is over: close all decisions for which something is lost."""
        cdef int before = self.policy.guard.take(False)
        try:
            for row in list(self.counts):
                self.close(row)
        finally:
            self.policy.guard.give_back(before)

    cdef int lose_in(self, Py_ssize_t row, Py_ssize_t element) except -1:
        cdef Py_ssize_t column = self.table.column_of(row, element)
        self.policy.reserve(2)
        self.policy.shift_pending(element, -1)
        # No reward is infinite. While this stands here, nothing is pending in its place.
        self.table.rewards[row, column] = INFINITY
        self.counts[row] = self.counts.get(row, 0) + 1
        return self.settle(row)

    cdef int settle(self, Py_ssize_t row) except -1:
        if self.counts and self.table.n_missing[row] == self.counts.get(row, -1):
            self.close(row)
        return 0

    cdef int close(self, Py_ssize_t row) except -1:
        cdef Py_ssize_t k
        self.policy.close_decision(row, CLOSED)
        for k in range(self.table.lengths[row]):
            if self.table.rewards[row, k] == INFINITY:
                self.table.rewards[row, k] = NAN
        del self.counts[row]
        return 0


def run_late(
    PolicyKernel policy,
    RewardKernel rewards,
    delays,
    const double[::1] means,
    double best_value,
    const int64_t[::1] checkpoints,
    *,
    bint are_costs=False,
    double pivot=0.0,
    BestBasis best=None,
):
    """Like `run` of `loop.pyx`, with feedback that is late or lost.

    `delays.take(n)` returns the delays of the n elements of the next decision. What is due after
    the last round is not learned; the decisions stay open, and the caller expires them.
    """
    if rewards.size != policy.size:
        raise ValueError(f"rewards are for {rewards.size} elements, the policy has {policy.size}")
    # Signals are checked after about the same amount of work, however large the matroid is.
    cdef int64_t rounds_between_signals = max(1, 200_000 // (policy.work + 1))
    cdef int64_t horizon = checkpoints[checkpoints.shape[0] - 1]
    cdef double[::1] drawn = np.zeros(policy.rank)
    cdef double[::1] regret = np.zeros(checkpoints.shape[0])
    cdef int64_t[:, ::1] counters = np.zeros((3, checkpoints.shape[0]), dtype=np.int64)
    cdef LostFeedback lost = LostFeedback(policy)
    cdef Calendar calendar = Calendar()
    cdef const int64_t[::1] late
    cdef double total = 0.0
    cdef double value
    cdef int64_t t = 0
    # The next round with another best value.
    cdef int64_t next_change = NEVER if best is None else 1
    cdef Py_ssize_t i, k, row
    cdef DueReward feedback
    cdef int before = policy.guard.take(False)
    try:
        policy.begin_run()
        for k in range(checkpoints.shape[0]):
            while t < checkpoints[k]:
                t += 1
                if t >= next_change:
                    next_change = best.move_to(t)
                    best_value = best.value
                policy.decisions.reserve()
                policy.choose(None)
                value = play(policy, rewards, means, drawn, are_costs, pivot)
                late = delays.take(policy.rank)
                row = policy.decisions.find(
                    policy.new_decision(None, policy.chosen[: policy.round_rank])
                )
                if policy.rank == 0:
                    # There is nothing to wait for.
                    policy.learn_row(row, 0, None, OPEN)
                feedback.round = t
                feedback.row = row
                for i in range(policy.rank):
                    feedback.is_lost = late[i] < 0
                    feedback.due = t + 1 + (-1 - late[i] if feedback.is_lost else late[i])
                    feedback.element = policy.chosen[i]
                    feedback.reward = drawn[i]
                    if feedback.due <= horizon + 1:
                        calendar.add(feedback)
                while calendar.has_due(t + 1):
                    learn_due(policy, calendar, lost)
                total += best_value - value
                # Between rounds, when the policy is whole: other threads run, Ctrl-C is noticed.
                if t % rounds_between_signals == 0:
                    with nogil:
                        pass
                    PyErr_CheckSignals()
            regret[k] = total
            counters[0, k] = policy.oracle_calls
            counters[1, k] = policy.greedy_calls
            counters[2, k] = policy.neighborhood_updates
    finally:
        policy.guard.give_back(before)
        lost.end()
    return np.asarray(regret), np.asarray(counters)


cdef int learn_due(PolicyKernel policy, Calendar calendar, LostFeedback lost) except -1:
    """Learn what is due first, as far as it belongs to one decision."""
    cdef DueReward first = calendar.heap[0]
    cdef DueReward feedback
    cdef Py_ssize_t n = 0
    cdef list gone = None
    while (
        calendar.n > 0
        and calendar.heap[0].due == first.due
        and calendar.heap[0].round == first.round
    ):
        feedback = calendar.take()
        if not feedback.is_lost:
            n = policy.note_reward(n, feedback.element, feedback.reward)
        elif gone is None:
            gone = [feedback.element]
        else:
            gone.append(feedback.element)
    if n > 0:
        policy.learn_row(first.row, n, None, OPEN)
        lost.settle(first.row)
    if gone is not None:
        for element in gone:
            lost.lose_in(first.row, element)
    return 0
