"""Problems and policies from requests: built-in ones only, of bounded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matroid_bandits.problem import Problem
from matroid_bandits.service.errors import at_place, invalid
from matroid_bandits.service.labels import label_of
from matroid_bandits.specs import policy_from_spec, problem_from_spec

if TYPE_CHECKING:
    from matroid_bandits.policies import Policy
    from matroid_bandits.service.settings import Limits

__all__ = ["made_policy", "made_problem"]

# What the library raises about a specification.
_MISTAKES = (ValueError, TypeError, OverflowError, LookupError, AttributeError, RecursionError)


def made_problem(spec: Any, limits: Limits) -> Problem[Any, Any]:
    """The problem that a request describes: ``matroid``, and optionally ``labels`` and ``sense``.

    Without labels, elements are called 0, 1, 2, ...
    """
    if not isinstance(spec, dict):
        raise invalid("must be an object such as {'matroid': 'K5', 'sense': 'max'}", "problem")
    labels = spec.get("labels")
    if labels is not None and not isinstance(labels, list):
        raise invalid("must be a list of labels", "problem.labels")
    try:
        _refuse_large(spec, limits, "problem")
        plain = problem_from_spec({key: spec[key] for key in spec if key != "labels"})
        if plain.size > limits.elements:
            raise invalid(
                f"{plain.size:,} elements are too many: this server takes at most "
                f"{limits.elements:,}",
                "problem.matroid",
            )
        names = range(plain.size) if labels is None else [label_of(label) for label in labels]
        return Problem(plain.matroid, list(names), sense=plain.sense)
    except _MISTAKES as error:
        raise at_place(error, "problem") from error
    except MemoryError:
        raise invalid("is too large", "problem.matroid") from None


def made_policy(spec: Any, problem: Problem[Any, Any]) -> Policy[Any]:
    """The policy that a request describes: a text such as ``MAUB(index=kl)``, or an object."""
    if not isinstance(spec, (str, dict)):
        raise invalid("must be a text such as 'MAUB(index=kl)' or an object", "policy")
    if isinstance(spec, dict) and "problem" in spec:
        raise invalid("the problem stands beside the policy, not inside it", "policy.problem")
    try:
        return policy_from_spec(spec, problem)
    except _MISTAKES as error:
        raise at_place(error, "policy") from error


def _refuse_large(value: Any, limits: Limits, place: str) -> None:
    """Refuse numbers of elements that are too large, before anything is made."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "labels":
                _refuse_large(inner, limits, f"{place}.{key}")
            is_size = key in {"size", "rank"} and isinstance(inner, (int, float))
            if is_size and inner > limits.elements:
                raise invalid(
                    f"{inner:g} is too large: this server takes at most {limits.elements:,} "
                    "elements",
                    f"{place}.{key}",
                )
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            if isinstance(inner, dict):
                _refuse_large(inner, limits, f"{place}[{i}]")
