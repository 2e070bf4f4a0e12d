"""The loop of a simulation: choose, draw, learn, add up the regret."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.best_basis cimport BestBasis
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.streams.means cimport NEVER
from matroid_bandits._core.streams.rewards cimport RewardKernel


cdef int play_rounds(
    PolicyKernel policy,
    RewardKernel rewards,
    const double[::1] means,
    double[::1] drawn,
    double best_value,
    int64_t t,
    int64_t stop,
    bint are_costs,
    double pivot,
    double *total,
) except -1:
    """Play the rounds after round `t`, up to `stop`, with the same means; add their regret."""
    # Signals are checked after about the same amount of work, however large the matroid is.
    cdef int64_t rounds_between_signals = max(1, 200_000 // (policy.work + 1))
    cdef double value
    while t < stop:
        policy.choose(None)
        value = play(policy, rewards, means, drawn, are_costs, pivot)
        if policy.prepares_learning:
            policy.prepare_chosen(drawn)
        if policy.rank > 0:
            policy.learn(&policy.chosen[0], &drawn[0], policy.rank)
        if policy.learns_sets:
            policy.learn_set(policy.chosen, drawn)
        policy.end_round()
        total[0] += best_value - value
        t += 1
        # Between rounds, when the policy is whole: other threads run, Ctrl-C is noticed.
        if t % rounds_between_signals == 0:
            with nogil:
                pass
            PyErr_CheckSignals()
    return 0


def run(
    PolicyKernel policy,
    RewardKernel rewards,
    const double[::1] means,
    double best_value,
    const int64_t[::1] checkpoints,
    *,
    bint are_costs=False,
    double pivot=0.0,
    BestBasis best=None,
):
    """Play until the last checkpoint; return the cumulative pseudo-regret and the counters at each.

    The counters are rows: oracle calls, greedy calls, neighborhood updates.

    A round's regret is `best_value` minus the sum of the true means of the basis played, added
    from the lowest element to the highest; a replay in the same order agrees to the last bit.

    If the environment draws costs, the policy learns `pivot` minus each; `means` and `best_value`
    are then negative costs.

    If means change, `best` has the best basis of every round. `means` are then its gains, and
    `rewards` draw with the same means; `best_value` is not used.

    Until the run ends, other threads wait, and calls from an environment or a matroid written in
    Python are refused.
    """
    if rewards.size != policy.size:
        raise ValueError(f"rewards are for {rewards.size} elements, the policy has {policy.size}")
    cdef double[::1] drawn = np.zeros(policy.rank)
    cdef double[::1] regret = np.zeros(checkpoints.shape[0])
    cdef int64_t[:, ::1] counters = np.zeros((3, checkpoints.shape[0]), dtype=np.int64)
    cdef double total = 0.0
    cdef int64_t t = 0
    # The next round with another best value.
    cdef int64_t next_change = NEVER if best is None else 1
    cdef int64_t stop
    cdef Py_ssize_t k
    cdef int before = policy.guard.take(False)
    try:
        policy.begin_run()
        for k in range(checkpoints.shape[0]):
            while t < checkpoints[k]:
                if t + 1 >= next_change:
                    next_change = best.move_to(t + 1)
                    best_value = best.value
                stop = min(checkpoints[k], next_change - 1)
                play_rounds(
                    policy, rewards, means, drawn, best_value, t, stop, are_costs, pivot, &total
                )
                t = stop
            regret[k] = total
            counters[0, k] = policy.oracle_calls
            counters[1, k] = policy.greedy_calls
            counters[2, k] = policy.neighborhood_updates
    finally:
        policy.guard.give_back(before)
    return np.asarray(regret), np.asarray(counters)
