"""The loop of a run of identification: evaluate, perhaps stop, choose, observe."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.identification.learner cimport Learner
from matroid_bandits._core.identification.rule cimport RuleKernel
from matroid_bandits._core.streams.rewards cimport RewardKernel


def run(
    Learner learner,
    RuleKernel rule,
    RewardKernel rewards,
    *,
    int64_t limit,
    bint by_element,
    bint stops_itself,
    bint are_costs,
    double pivot,
):
    """Observe until the best basis is settled, or for `limit` rounds.

    Returns whether it is settled, and a curve: rounds, and the statistic after each of them.

    Parameters
    ----------
    by_element : bool
        Whether one element is observed in a round, and not a basis.
    stops_itself : bool
        Whether the rule ends the run, and not the threshold.
    are_costs : bool
        Whether costs are drawn; `pivot` minus each is learned.
    """
    cdef Py_ssize_t at_once = 1 if by_element else learner.rank
    cdef Py_ssize_t[::1] chosen = np.zeros(learner.rank, dtype=np.intp)
    cdef double[::1] drawn = np.zeros(learner.rank)
    cdef int64_t between_signals = max(1, 200_000 // (learner.size + learner.rank + 1))
    cdef int64_t next_point = 0
    cdef Py_ssize_t n_wanted, n, i
    cdef bint is_done
    cdef bint settled = False
    rounds, statistics = [], []
    rule.begin(learner, by_element)
    while True:
        n_wanted = 0
        if learner.n_unobserved == 0:
            if rule.needs_pairs:
                learner.evaluate()
            # Also where it does not count: what it computes, `choose` uses.
            is_done = rule.is_done()
            settled = is_done if stops_itself else learner.margin > learner.level()
            if settled or learner.rounds >= next_point:
                rounds.append(learner.rounds)
                statistics.append(learner.statistic)
                # A twentieth more rounds to the next point.
                next_point = learner.rounds + 1 + learner.rounds // 20
            if settled or learner.rounds >= limit:
                break
            n_wanted = rule.choose()
        elif learner.rounds >= limit:
            break
        n = learner.complete(rule.wanted, n_wanted, at_once, chosen)
        rewards.draw_into(chosen[:n], drawn[:n])
        if are_costs:
            for i in range(n):
                drawn[i] = pivot - drawn[i]
        learner.learn(chosen, drawn, n)
        if learner.rounds % between_signals == 0:
            PyErr_CheckSignals()
    if learner.n_unobserved == 0:
        # For the answer, also of rules that did not need it.
        learner.evaluate()
    return settled, rounds, statistics
