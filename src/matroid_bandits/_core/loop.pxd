from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.streams.rewards cimport RewardKernel


cdef inline double play(
    PolicyKernel policy,
    RewardKernel rewards,
    const double[::1] means,
    double[::1] drawn,
    bint are_costs,
    double pivot,
) except? -1:
    """Draw the rewards of the basis chosen, as the policy learns them; return its true value."""
    cdef double value = 0.0
    cdef Py_ssize_t i
    rewards.draw_into(policy.chosen, drawn)
    for i in range(policy.rank):
        value += means[policy.chosen[i]]
    if are_costs:
        for i in range(policy.rank):
            drawn[i] = pivot - drawn[i]
    if policy.feedback.is_bounded:
        for i in range(policy.rank):
            policy.feedback.check_range(policy.chosen[i], drawn[i])
    return value
