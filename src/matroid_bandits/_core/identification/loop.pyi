from matroid_bandits._core.identification.learner import Learner
from matroid_bandits._core.identification.rule import RuleKernel
from matroid_bandits._core.streams.rewards import RewardKernel

def run(
    learner: Learner,
    rule: RuleKernel,
    rewards: RewardKernel,
    *,
    limit: int,
    by_element: bool,
    stops_itself: bool,
    are_costs: bool,
    pivot: float,
) -> tuple[bool, list[int], list[float]]: ...
