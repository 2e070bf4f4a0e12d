"""One run of a study of identification."""

from collections.abc import Callable
from math import isfinite
from typing import Literal

from matroid_bandits.experiments.storing.parts import identification_line
from matroid_bandits.experiments.study import Instance, PolicySpec, RuleSpec, Task
from matroid_bandits.identification import Identification, SamplingRule, identify

__all__ = ["identified", "identified_line"]


def identified(instance: Instance, policy: PolicySpec, seed: int) -> Identification:
    """Run number `seed` of a rule on an instance."""
    return _identified(instance, *_made(instance, policy, seed), seed)


def identified_line(
    instance: Instance,
    policy: PolicySpec,
    task: Task,
    bound_for: Callable[[Literal["basis", "element"]], float],
) -> bytes:
    """Run a task; return the line of a part.

    `bound_for` returns the lower bound of the run, for what a rule observes in a round.
    """
    spec, rule = _made(instance, policy, task.seed)
    result = _identified(instance, spec, rule, task.seed)
    if not isfinite(result.statistic):
        raise ValueError(f"the statistic must be finite, got {result.statistic}")
    return identification_line(task, instance.horizon, result, bound_for(rule.model))


def _made(instance: Instance, policy: PolicySpec, seed: int) -> tuple[RuleSpec, SamplingRule]:
    if not isinstance(policy, RuleSpec):
        raise TypeError(f"{policy.name} is not a rule of identification")
    return policy, policy.new_rule(instance.problem, seed)


def _identified(
    instance: Instance, spec: RuleSpec, rule: SamplingRule, seed: int
) -> Identification:
    if instance.stopping is None:
        raise ValueError(f"{instance.name} is not an instance of identification")
    return identify(
        rule,
        instance.environment_for(seed),
        delta=instance.stopping.delta,
        limit=instance.horizon,
        seed=seed,
        threshold=spec.threshold_for(rule, instance.stopping),
    )
