"""What requests say and answers mean: between Python's objects and those of the contract."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from matroid_bandits._arguments import abbreviated, as_list, check_known, integer, truth_value
from matroid_bandits._plain_data import plain
from matroid_bandits.client.transport import Answer
from matroid_bandits.problem import Problem

__all__ = [
    "Learned",
    "ServedDecision",
    "decision_request",
    "decision_requests",
    "feedback_item",
    "feedback_items",
    "identifier",
    "learned",
    "name_of",
    "number",
    "prior_of",
    "problem_of",
    "segment",
    "served",
]

_REQUEST_KEYS = ("available", "allow_smaller", "id", "client", "shown", "propensities")


@dataclass(frozen=True)
class ServedDecision:
    """A set to play, as the service decided it.

    Attributes
    ----------
    id : str
        What `learn` and `expire` call it.
    elements : tuple
        Labels, in the order of the problem.
    round : int
        The number of the round, counted from 1.
    is_new : bool or None
        False if the service had a decision of this id already: that of an earlier call, or of an
        earlier attempt of this call, whose answer was lost. None in a batch, where it is not said.
    paused : bool
        Whether the bandit is paused.
    shown : tuple or None
        What is shown instead of `elements`, if that was said.
    propensities : tuple of float or None
        How likely each of `elements` was, in their order, if that was asked for.
    """

    id: str
    elements: tuple[Any, ...]
    round: int
    is_new: bool | None = None
    paused: bool = False
    shown: tuple[Any, ...] | None = None
    propensities: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Learned:
    """What became of feedback.

    Attributes
    ----------
    learned : int
        For how many elements it was new.
    already : int
        For how many elements the service had the same feedback before.
    """

    learned: int
    already: int


# ---- names ----


def name_of(value: Any, what: str) -> str:
    """A checked text that can be a part of a path."""
    if not isinstance(value, str):
        hint = "its value at 'id'" if isinstance(value, Mapping) and "id" in value else "str(...)"
        raise ValueError(f"{what} must be a text, got {abbreviated(value)}; pass {hint}")
    if not value:
        raise ValueError(f"{what} is empty; pass a text with at least one character")
    # Servers and proxies take them for "here" and "one level up", even if they are quoted.
    if value in {".", ".."}:
        raise ValueError(f"{what} cannot be {value!r}, which has a meaning in addresses")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} cannot be sent as UTF-8: {abbreviated(value)}") from None
    return value


def segment(value: Any, what: str) -> str:
    """A name, quoted as one part of a path."""
    return quote(name_of(value, what), safe="")


def identifier(decision: Any) -> str:
    """The id of a decision, or an id as it is."""
    value = decision.id if isinstance(decision, ServedDecision) else decision
    return name_of(value, "the id of a decision")


# ---- decisions ----


def decision_request(
    *,
    available: Iterable[Any] | None = None,
    allow_smaller: bool = False,
    id: str | None = None,  # noqa: A002
    client: str | None = None,
    shown: Iterable[Any] | None = None,
    propensities: int | None = None,
) -> dict[str, Any]:
    """The body of a request for a decision, always with an id."""
    request: dict[str, Any] = {"id": uuid4().hex if id is None else identifier(id)}
    if available is not None:
        request["available"] = _labels(available, "available")
    if truth_value(allow_smaller, "allow_smaller"):
        request["allow_smaller"] = True
    if client is not None:
        if not isinstance(client, str):
            raise ValueError(f"client must be a text, got {abbreviated(client)}; pass str(...)")
        request["client"] = client
    if shown is not None:
        request["shown"] = _labels(shown, "shown")
    if propensities is not None:
        request["propensities"] = integer(propensities, "propensities", minimum=1)
    return request


def decision_requests(requests: list[Any]) -> list[dict[str, Any]]:
    """The items of a batch of decisions; the message about a wrong one has its position."""
    items = []
    for position, request in enumerate(requests):
        try:
            if not isinstance(request, Mapping):
                raise ValueError(f"it must be a dict, got {abbreviated(request)}; {{}} is enough")
            check_known("decide", map(str, request), _REQUEST_KEYS)
            items.append(decision_request(**request))
        except ValueError as error:
            raise ValueError(f"request {position}: {error}") from None
    return items


def _labels(labels: Any, what: str) -> list[Any]:
    if getattr(getattr(labels, "dtype", None), "kind", None) == "b":
        raise ValueError(f"{what} is a mask; the service needs the labels themselves")
    values = as_list(labels.tolist() if hasattr(labels, "tolist") else labels, what)
    return [plain(label, what) for label in values]


def served(answer: Answer, request: dict[str, Any], *, is_new: bool | None) -> ServedDecision:
    """The decision in an answer: that with the id that was sent, or an earlier one of a client."""
    made = answer.get("id", str)
    if made != request["id"] and "client" not in request:
        raise answer.bad(f"it is not about the decision {request['id']!r}")
    elements, shown = answer.get("elements", tuple), None
    if answer.table.get("shown") is not None:
        shown = answer.get("shown", tuple)
    paused = "paused" in answer.table and answer.get("paused", bool)
    propensities = None
    if answer.table.get("propensities") is not None:
        propensities = answer.get("propensities", tuple)
    number = answer.get("round", int)
    return ServedDecision(made, elements, number, is_new, paused, shown, propensities)


# ---- feedback ----


def feedback_item(decision: Any, rewards: Any, final: Any = False) -> dict[str, Any]:
    """An item of a batch of feedback; without its id, the body of a request."""
    return {
        "id": identifier(decision),
        "rewards": _rewards(decision, rewards),
        "final": truth_value(final, "final"),
    }


def feedback_items(feedback: list[Any]) -> list[dict[str, Any]]:
    """The items of a batch of feedback; the message about a wrong one has its position."""
    items = []
    for position, entry in enumerate(feedback):
        try:
            if not isinstance(entry, (tuple, list)) or not 2 <= len(entry) <= 3:
                raise ValueError(
                    "it must be (decision, rewards) or (decision, rewards, final), got "
                    f"{abbreviated(entry)}"
                )
            items.append(feedback_item(*entry))
        except ValueError as error:
            raise ValueError(f"feedback {position}: {error}") from None
    return items


def _rewards(decision: Any, rewards: Any) -> dict[str, float] | list[dict[str, Any]]:
    """Rewards as the contract has them: by label if all labels are texts, else in a list."""
    # A Series of pandas has items, too.
    if hasattr(rewards, "items"):
        pairs = list(rewards.items())
        names, values = [name for name, _ in pairs], [value for _, value in pairs]
        if len(set(names)) < len(names):
            doubled = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"there are two rewards for {doubled!r}; pass one")
    else:
        names, values = _in_order(decision, rewards)
    numbers = [
        number(value, f"the reward of {name!r}", "; leave out elements without feedback")
        for name, value in zip(names, values, strict=True)
    ]
    labels = [plain(name, "a label") for name in names]
    if all(isinstance(label, str) for label in labels):
        return dict(zip(labels, numbers, strict=True))
    return [{"element": e, "reward": x} for e, x in zip(labels, numbers, strict=True)]


def _in_order(decision: Any, rewards: Any) -> tuple[list[Any], list[Any]]:
    """Elements and rewards, of rewards that come without names."""
    values = as_list(rewards.tolist() if hasattr(rewards, "tolist") else rewards, "rewards")
    if not isinstance(decision, ServedDecision):
        raise ValueError(
            "rewards without labels need the decision itself, not its id; pass a mapping: "
            "{label: reward}"
        )
    if decision.shown is not None and decision.shown != decision.elements:
        raise ValueError(
            "something else was shown than the service decided, so that rewards without labels "
            "have two meanings; pass a mapping: {label: reward}"
        )
    if len(values) != len(decision.elements):
        raise ValueError(
            f"the decision has {len(decision.elements)} elements, got {len(values)} rewards; for "
            "some of them, pass a mapping: {label: reward}"
        )
    return list(decision.elements), values


def number(value: Any, what: str, hint: str = "") -> float:
    """A finite number, of Python or NumPy; `what` and `hint` are for messages."""
    try:
        plain_value = value.item() if hasattr(value, "item") else value
        result = float(plain_value) if isinstance(plain_value, Real) else None
    except (ValueError, TypeError, OverflowError):
        result = None
    if result is None or not isfinite(result):
        raise ValueError(f"{what} must be a finite number, got {abbreviated(value)}{hint}")
    return result


def learned(answer: Answer) -> Learned:
    """What an answer says about feedback."""
    return Learned(answer.get("learned", int), answer.get("already", int))


# ---- problems ----


def problem_of(problem: Any) -> dict[str, Any]:
    """A problem as plain data."""
    if not isinstance(problem, Mapping):
        problem = Problem.of(problem).to_spec()
    spec: dict[str, Any] = plain(problem, "problem")
    return spec


def prior_of(prior: Any) -> Any:
    """What is expected of new elements, as the contract has it."""
    if not isinstance(prior, Mapping):
        return plain(as_list(prior, "prior"), "prior")
    entries = {}
    for name, given in prior.items():
        pair = (given.get("mean"), given.get("count")) if isinstance(given, Mapping) else given
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                f"the prior of {name!r} must be a mean and a count, such as (0.5, 10), got "
                f"{abbreviated(given)}"
            )
        entries[name] = {
            "mean": number(pair[0], f"the mean in the prior of {name!r}"),
            "count": integer(pair[1], f"the count in the prior of {name!r}", minimum=0),
        }
    if all(isinstance(name, str) for name in entries):
        return entries
    return [{"element": plain(name, "a label"), **entry} for name, entry in entries.items()]
