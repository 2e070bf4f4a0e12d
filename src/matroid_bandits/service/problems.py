"""Problems and policies from requests: built-in ones only, of bounded size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matroid_bandits.catalog import policy_class, takes_features
from matroid_bandits.catalog._sizes import at_most
from matroid_bandits.problem import Problem
from matroid_bandits.service.bombs import refuse_bombs, refuse_slow, refuse_slow_policy
from matroid_bandits.service.errors import at_place, invalid
from matroid_bandits.service.labels import label_of
from matroid_bandits.service.settings import NO_LIMITS
from matroid_bandits.specs import policy_from_spec, problem_from_spec

if TYPE_CHECKING:
    from matroid_bandits.policies import Policy
    from matroid_bandits.service.settings import Limits

__all__ = ["made_policy", "made_problem"]

# What the library raises about a specification.
_MISTAKES = (ValueError, TypeError, OverflowError, LookupError, AttributeError, RecursionError)
# What is composed may have parts that are larger than the whole, or that are used twice.
_PARTS = 4


def made_problem(spec: Any, limits: Limits) -> Problem[Any, Any]:
    """The problem that a request describes: ``matroid``, and optionally ``labels`` and ``sense``.

    Without labels, elements are called 0, 1, 2, ...
    """
    if not isinstance(spec, dict):
        raise invalid('must be an object such as {"matroid": "K5", "sense": "max"}', "problem")
    labels = spec.get("labels")
    if labels is not None and not isinstance(labels, list):
        raise invalid("must be a list of labels", "problem.labels")
    try:
        plain = _unlabeled({key: spec[key] for key in spec if key != "labels"}, limits)
        names = range(plain.size) if labels is None else [label_of(label) for label in labels]
        return Problem(plain.matroid, list(names), sense=plain.sense)
    except _MISTAKES as error:
        raise at_place(error, "problem") from error
    except MemoryError:
        raise invalid("is too large", "problem.matroid") from None


def _unlabeled(spec: dict[str, Any], limits: Limits) -> Problem[Any, Any]:
    if limits is NO_LIMITS:
        return problem_from_spec(spec)
    refuse_bombs(spec.get("matroid"), limits, "problem.matroid")
    with at_most(_PARTS * limits.elements):
        plain = problem_from_spec(spec)
    if plain.size > limits.elements:
        raise invalid(
            f"{plain.size:,} elements are too many: this server takes at most {limits.elements:,}",
            "problem.matroid",
        )
    refuse_slow(plain.matroid, "problem.matroid")
    return plain


def made_policy(spec: Any, problem: Problem[Any, Any]) -> Policy[Any]:
    """The policy that a request describes: a text such as ``MAUB(index=kl)``, or an object."""
    if not isinstance(spec, (str, dict)):
        raise invalid('must be a text such as "MAUB(index=kl)", or an object', "policy")
    for key in ("problem", "matroid"):
        if isinstance(spec, dict) and key in spec:
            raise invalid("the problem stands beside the policy, not inside it", f"policy.{key}")
    _refuse_features(spec)
    try:
        refuse_slow_policy(spec, problem)
        return policy_from_spec(spec, problem)
    except _MISTAKES as error:
        raise at_place(error, "policy") from error
    except MemoryError:
        raise invalid("needs more memory than there is", "policy") from None


def _refuse_features(spec: str | dict[str, Any]) -> None:
    """Refuse a policy with features: a log is replayed to the last bit on any machine, and products
    of matrices are not the same on all.
    """
    name = spec.partition("(")[0] if isinstance(spec, str) else spec.get("type")
    try:
        cls = policy_class(str(name).strip())
    except ValueError:
        # Refused with its own message.
        return
    if takes_features(cls):
        raise invalid(
            f"{cls.name} learns from features, which this server does not take; use the library, "
            "where decide(features=...) does",
            "policy",
        )
