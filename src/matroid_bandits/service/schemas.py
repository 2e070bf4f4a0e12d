"""The forms of requests and answers, which are also the OpenAPI document."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

__all__ = [
    "BanditAnswer",
    "BanditChanges",
    "BanditList",
    "BanditRequest",
    "ConfidenceAnswer",
    "DecisionAnswer",
    "DecisionBatch",
    "DecisionBatchAnswer",
    "DecisionRecord",
    "DecisionRequest",
    "ErrorAnswer",
    "ExpireAnswer",
    "ExpireRequest",
    "ExplanationAnswer",
    "LearnedAnswer",
    "ProblemRequest",
    "RewardBatch",
    "RewardBatchAnswer",
    "RewardRequest",
    "StatusAnswer",
]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")
]
# As large as a reward may be without overflow in sums.
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e100, le=1e100)]
Point = Annotated[list[Number], Field(min_length=2, max_length=2, fail_fast=True)]
Seconds = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e10)]
Labels = Annotated[list[Any], Field(description="Labels: any values of JSON.")]
# No longer batch is looked at; that of a server may be shorter. A list of millions of wrong items
# is wrong at its first one.
_LONGEST_BATCH = 10_000
# So many entries of an object are checked together.
_PART = 100


class _Form(BaseModel):
    """A form of a request: no conversions, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown_keys(cls, value: Any) -> Any:
        """One unknown key is enough to refuse it: not all of them are written down."""
        known = cls.model_fields.keys()
        if not isinstance(value, dict) or len(value) <= len(known):
            return value
        unknown = next(key for key in value if key not in known)
        return {key: value[key] for key in (*known, unknown) if key in value}


def _in_parts(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Check an object part by part, up to a mistake: not all of them are written down."""
    if not isinstance(value, dict):
        return check(value)
    checked: dict[str, Any] = {}
    entries = iter(value.items())
    while part := dict(islice(entries, _PART)):
        checked |= check(part)
    return checked


_InParts = WrapValidator(_in_parts)


class _Answer(BaseModel):
    """A form of an answer."""


# ---- requests ----


class ProblemSpec(_Form):
    """What may be played."""

    matroid: str | dict[str, Any] = Field(
        description="A name such as K5 or U(3,10), or an object: type and the arguments of a "
        "built-in matroid.",
        examples=[{"type": "partition", "groups": ["world", "world", "sport"], "capacities": 1}],
    )
    labels: Labels | None = Field(default=None, description="One label per element.")
    sense: Literal["max", "min"] = Field(default="max", description="Rewards, or costs.")


class _Changeable(_Form):
    expire_after: Seconds | None = Field(
        default=None, description="Seconds after which a decision expires; null: never."
    )
    missing_reward: Number | None = Field(
        default=None,
        description="What is learned for missing feedback when a decision expires; null: nothing.",
    )
    sticky_for: Seconds = Field(
        default=0.0, description="Seconds for which a named client gets the same decision again."
    )
    max_open_decisions: Annotated[int, Field(ge=1, le=10**9)] = Field(
        default=1_000_000, description="With so many open decisions, new ones are refused."
    )


class BanditRequest(_Changeable):
    """A new bandit."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "news",
                    "problem": {
                        "matroid": {
                            "type": "partition",
                            "groups": ["world", "world", "sport", "sport"],
                            "capacities": 1,
                        },
                        "labels": ["flood", "summit", "derby", "record"],
                        "sense": "max",
                    },
                    "policy": "MAUB(index=kl)",
                    "expire_after": 3600,
                    "missing_reward": 0,
                }
            ]
        }
    )

    name: Name = Field(description="The name of the bandit, which is a part of addresses.")
    problem: ProblemSpec
    policy: str | dict[str, Any] = Field(
        default="MAUB", description="A name with parameters, or an object: type and parameters."
    )
    coordinates: Annotated[dict[str, Point], _InParts] | None = Field(
        default=None,
        description="Places of the vertices of a graph in the drawing: x to the right, y upwards.",
    )


class BanditChanges(_Changeable):
    """Changes of a bandit; what is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "paused"}]})

    status: Literal["active", "paused", "archived"] = Field(
        default="active",
        description="While it is paused, you show a set of your own; an archived one is only read.",
    )


class PriorRow(_Form):
    """What is known of a new element, as if it had been observed."""

    element: Any
    mean: Number
    count: Annotated[int, Field(ge=0, le=10**12)]


class PriorEntry(_Form):
    """What is known of a new element, whose label is the key."""

    mean: Number
    count: Annotated[int, Field(ge=0, le=10**12)]


class ProblemRequest(ProblemSpec):
    """The problem that a bandit moves to."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "matroid": {
                        "type": "partition",
                        "groups": ["world", "sport", "sport"],
                        "capacities": 1,
                    },
                    "labels": ["flood", "derby", "comet"],
                    "prior": {"comet": {"mean": 0.3, "count": 5}},
                }
            ]
        }
    )

    prior: (
        Annotated[dict[str, PriorEntry], _InParts]
        | Annotated[list[PriorRow], Field(fail_fast=True)]
        | None
    ) = Field(default=None, description="For new elements: means and counts.")


class DecisionRequest(_Form):
    """A request for a decision."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "abc", "available": ["flood", "derby", "record"]}]}
    )

    id: Text | None = Field(
        default=None,
        description="An id of your own. The same id again gets the same answer.",
    )
    available: Labels | None = Field(default=None, description="What can be shown now.")
    allow_smaller: bool = Field(
        default=False, description="Whether a smaller set will do if there is no full basis."
    )
    client: Text | None = Field(default=None, description="Who asks, for sticky decisions.")
    shown: Labels | None = Field(
        default=None, description="What you show yourself; feedback is then about these."
    )
    propensities: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        default=None,
        description="Estimate how likely each element was, by so many more draws of the policy.",
    )

    @field_validator("id")
    @classmethod
    def _no_dots(cls, value: str | None) -> str | None:
        if value in {".", ".."}:
            raise ValueError("dots alone cannot be a part of an address")
        return value


class DecisionBatch(_Form):
    """Several decisions."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"decisions": [{"id": "abc"}, {"id": "def"}]}]}
    )

    decisions: list[DecisionRequest] = Field(max_length=_LONGEST_BATCH, fail_fast=True)


class RewardRow(_Form):
    """The reward of an element."""

    element: Any
    reward: Number


Rewards = Annotated[dict[str, Number], _InParts] | Annotated[list[RewardRow], Field(fail_fast=True)]


class RewardRequest(_Form):
    """Feedback for a decision."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"rewards": {"flood": 1.0}},
                {"rewards": [{"element": ["Oslo", "Rome"], "reward": 12.5}], "final": True},
            ]
        }
    )

    rewards: Rewards = Field(
        description="An object, if labels are texts; otherwise a list of element and reward."
    )
    final: bool = Field(default=False, description="Whether nothing more will come.")


class RewardItem(RewardRequest):
    """Feedback for a decision, in a batch."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "abc", "rewards": {"flood": 1.0}}]}
    )

    id: Text


class RewardBatch(_Form):
    """Feedback for several decisions."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rewards": [{"id": "abc", "rewards": {"flood": 1.0}}]}]}
    )

    rewards: list[RewardItem] = Field(max_length=_LONGEST_BATCH, fail_fast=True)


class ExpireRequest(_Form):
    """A decision for which nothing more is expected."""

    reward: Number | None = Field(
        default=None, description="What is learned for missing feedback; null: nothing."
    )


# ---- answers ----


class DecisionAnswer(_Answer):
    """A decision."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": "abc", "elements": ["flood", "derby"], "round": 17}]}
    )

    id: str
    elements: Labels
    round: int
    shown: Labels | None = None
    propensities: list[float] | None = None
    paused: bool = False


class LearnedAnswer(_Answer):
    """What was learned."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"learned": 1, "already": 0}]})

    learned: int
    already: int


class StatusAnswer(_Answer):
    """How the process is."""

    status: str = Field(examples=["ok"])


class ExpireAnswer(_Answer):
    """Whether the decision was open."""

    expired: bool


class ErrorContent(_Answer):
    """What was wrong."""

    code: str = Field(examples=["conflict"])
    message: str
    place: str | None = Field(
        description="Where in the request, if it is in one place.", examples=["rewards.flood"]
    )
    request_id: str = Field(description="The header X-Request-Id; the log of the server has it.")


class ErrorAnswer(_Answer):
    """Every error has this form."""

    error: ErrorContent


class DecisionBatchAnswer(_Answer):
    """A decision or an error for each item, in their order."""

    results: list[DecisionAnswer | ErrorAnswer]


class RewardBatchAnswer(_Answer):
    """What was learned, or an error, for each item, in their order."""

    results: list[LearnedAnswer | ErrorAnswer]


class RecordedReward(_Answer):
    """The reward of an element."""

    element: Any
    reward: float


class DecisionRecord(_Answer):
    """A decision as the log has it."""

    id: str
    elements: Labels
    round: int
    shown: Labels | None = None
    propensities: list[float] | None = None
    paused: bool = False
    client: str | None = None
    time: float = Field(description="Seconds since 1970.")
    status: Literal["open", "rewarded", "closed", "expired"]
    rewards: list[RecordedReward]


class ElementAnswer(_Answer):
    """What is known of an element."""

    element: Any
    mean: float | None
    count: int
    low: float | None
    high: float | None
    plays: int
    pending: int


Status = Literal["active", "paused", "archived"]


class SettingsAnswer(_Answer):
    """What can be changed."""

    status: Status
    expire_after: float | None
    missing_reward: float | None
    sticky_for: float
    max_open_decisions: int


class BanditAnswer(_Answer):
    """A bandit."""

    name: str
    status: Status
    policy: Any
    problem: dict[str, Any]
    settings: SettingsAnswer
    rounds: int
    leader: Labels | None
    open_decisions: int
    decided: int
    rewarded: int
    expired: int
    seconds_since_learned: float | None
    warnings: list[str]
    elements: list[ElementAnswer] | None = None


class BanditLine(_Answer):
    """A bandit in a list. One that cannot be loaded is "unavailable", and has its `fault`."""

    name: str
    status: Status | Literal["unavailable"]
    policy: Any
    rounds: int | None
    open_decisions: int | None
    fault: str | None = None


class BanditList(_Answer):
    """All bandits."""

    bandits: list[BanditLine]


class ExplainedElement(_Answer):
    """An element in an explanation."""

    element: Any
    mean: float | None
    count: int
    index: float | None
    partner: Any


class ExplanationAnswer(_Answer):
    """Why the bandit would play a set now."""

    why: str
    selected: list[ExplainedElement]
    others: list[ExplainedElement]
    n_others: int


class ExchangeAnswer(_Answer):
    """An exchange: an element of the best basis, and one that could replace it."""

    element: Any
    replaced_by: Any


class IntervalAnswer(_Answer):
    """The interval of an element; null, where nothing is known."""

    element: Any
    low: float | None
    high: float | None


class ConfidenceAnswer(_Answer):
    """Whether the best basis is settled, so that one may stop.

    `leader` is the basis of the best means, null as long as elements were never observed. `pair` is
    the exchange that is hardest to rule out: its statistic must exceed the `threshold`. `statistic`
    is the least of all exchanges, usually the same. Numbers are null where they are infinite, or
    not known. About `more_observations` of the pair would settle it. `caveat` says why the answer
    is not valid, and is empty otherwise. `text` says all of it in sentences. The intervals of
    `elements` hold together with probability 1 - delta.
    """

    delta: float
    leader: Labels | None
    settled: bool
    statistic: float | None
    threshold: float | None
    threshold_name: str
    pair: ExchangeAnswer | None
    pair_statistic: float | None
    more_observations: int | None
    n_unobserved: int
    caveat: str
    text: str
    elements: list[IntervalAnswer]
    method: str
