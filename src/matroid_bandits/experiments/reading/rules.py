"""Sampling rules of a study of identification: read, and tried before anything runs."""

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from matroid_bandits import catalog, identification
from matroid_bandits._arguments import choice, suggestion
from matroid_bandits._call_text import call_text, parse_call
from matroid_bandits.experiments.reading.classes import (
    class_at,
    parameters_for,
    with_call_parameters,
)
from matroid_bandits.experiments.reading.fingerprint import identity_of_class, plain
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.experiments.study import Instance, RuleSpec
from matroid_bandits.identification import SamplingRule, identify
from matroid_bandits.identification.running import family_of

__all__ = ["RULES", "rule_at", "rule_spec", "try_rule"]

Threshold = Literal["proven", "customary", "own"]

_THRESHOLDS: tuple[Threshold, ...] = ("proven", "customary", "own")

# Keys of a rule that are not its parameters.
_NOT_PARAMETERS = ("type", "label", "threshold")


#: The rules of the package by the names of their classes.
RULES: Mapping[str, type[SamplingRule]] = {
    name: cls
    for name, cls in ((name, getattr(identification, name)) for name in identification.__all__)
    if inspect.isclass(cls) and issubclass(cls, SamplingRule) and not inspect.isabstract(cls)
}


def rule_at(section: Section) -> RuleSpec:
    """A class with its parameters, given in brackets after its name or as keys of their own."""
    section, written = with_call_parameters(section, _NOT_PARAMETERS)
    cls = class_at(section, _rule_class, RULES)
    if not issubclass(cls, SamplingRule):
        raise section.error(
            f"{cls.__name__} is not a sampling rule: derive it from SamplingRule", "type"
        )
    parameters = parameters_for(
        cls, section, exclude=_NOT_PARAMETERS, given=("matroid", "problem"), optional=("seed",)
    )
    threshold: Threshold | None = None
    if "threshold" in section:
        threshold = section.choice("threshold", _THRESHOLDS, "own")
    ordered = {key: written[key] for key in inspect.signature(cls).parameters if key in written}
    label = section.name("label", call_text(cls.__name__, ordered))
    return _spec(cls, parameters, label, threshold)


def rule_spec(text: str) -> RuleSpec:
    """The rule of the package called `text`, such as ``LUCBExchange(model=element)``."""
    name, parameters = parse_call(text)
    cls = _rule_class(name)
    names = [key for key in inspect.signature(cls).parameters if key != "matroid"]
    for key in parameters:
        if key not in names:
            raise ValueError(f"{cls.__name__} has no parameter {key}; {suggestion(key, names)}")
    return _spec(cls, parameters, call_text(cls.__name__, parameters), None)


def try_rule(rule: RuleSpec, instance: Instance, seed: int) -> None:
    """Make the rule once for an instance, and play a round.

    Raises
    ------
    ValueError
        If it cannot identify anything there. A class of the user's may raise any other exception.
    """
    if instance.stopping is None:
        raise ValueError("an instance of a study of identification says when to stop")
    made = rule.new_rule(instance.problem, seed)
    if made.problem.sense != instance.sense:
        raise ValueError(
            f"means are costs, but {type(made).__name__} has kept the matroid of the problem that "
            "it was given, and so looks for rewards; let it keep the problem"
        )
    matroid = instance.matroid
    if matroid.size - len(matroid.loops) == matroid.rank:
        raise ValueError("the matroid has only one basis: there is nothing to identify")
    environment = instance.environment_for(seed)
    try:
        family_of(environment, None, None)
    except ValueError:
        raise ValueError(
            "identification needs Gaussian rewards with a std above 0, or Bernoulli rewards, got "
            f"{type(environment).__name__}"
        ) from None
    identify(
        made,
        environment,
        delta=instance.stopping.delta,
        limit=1,
        seed=seed,
        threshold=rule.threshold_for(made, instance.stopping),
    )


def _rule_class(name: str) -> type[SamplingRule]:
    return RULES[choice(name, "rule", RULES, ignore_case=True)]


def _spec(
    cls: type, parameters: dict[str, Any], label: str, threshold: Threshold | None
) -> RuleSpec:
    return RuleSpec(
        name=label,
        make=partial(_make, cls, parameters),
        origin={
            **identity_of_class(cls),
            "parameters": plain(parameters),
            **({} if threshold is None else {"threshold": threshold}),
        },
        takes_seed="seed" not in parameters and catalog.takes_seed(cls),
        threshold=threshold,
    )


def _make(cls: type, parameters: Mapping[str, Any], problem: Any, **more: Any) -> Any:
    return cls(problem, **parameters, **more)
