"""Errors of the package, and messages that several places share."""

from collections.abc import Iterable
from typing import Protocol

from matroid_bandits._arguments import abbreviated

__all__ = ["DecisionError", "MatroidAxiomError", "NoBasisError", "SnapshotError"]


class MatroidAxiomError(ValueError):
    """An independence test contradicts the axioms of a matroid.

    Raised when a maximal independent set is smaller than the rank, or an element that is not a loop
    cannot replace any element of a basis. The message names the sets, so that they can be tested by
    hand.
    """


class NoBasisError(ValueError):
    """The available elements of a round contain no full basis.

    Raised by ``policy.select(available=...)`` and ``policy.decide(available=...)`` before anything
    changes. The message names elements that would complete a basis.
    """


class SnapshotError(ValueError):
    """A file is not a snapshot of a policy, or damaged, or newer than this library.

    Raised by :func:`~matroid_bandits.load`. The message says which.
    """


class DecisionError(ValueError):
    """Feedback does not fit the decision it is for, or there is no such decision.

    Raised by ``policy.decide``, ``policy.learn`` and ``policy.expire`` before anything changes.

    Attributes
    ----------
    reason : str
        "unknown", "closed", "expired", "conflict", "outside" (the element is not in the decision)
        or "taken" (the id is in use).
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (str(self), self.reason)


class Advised(Protocol):
    """A matroid, as far as messages need it."""

    @property
    def _correction(self) -> str: ...


def too_small(matroid: Advised, found: list[int], rank: int) -> MatroidAxiomError:
    """The error for a maximal independent set smaller than the rank."""
    return MatroidAxiomError(
        f"not a matroid: {sorted(found)} is independent and no element can be added to it, yet "
        f"{matroid!r} has independent sets of {rank} elements; {matroid._correction}"
    )


def not_a_basis(elements: Iterable[int], rank: int) -> MatroidAxiomError:
    """The error for a set that cannot be a basis because of its size."""
    members = sorted(map(int, elements))
    return MatroidAxiomError(
        f"a set of {len(members)} elements was passed as a basis of a matroid of rank {rank}: "
        f"{members}; a matroid must not change, and its `rank` must be the size of every basis"
    )


def no_partner(matroid: Advised, element: int, basis: list[int]) -> MatroidAxiomError:
    """The error for an element that is no loop and can replace no element of a basis."""
    return MatroidAxiomError(
        f"not a matroid: element {element} is no loop of {matroid!r}, yet it can replace none of "
        f"the basis {sorted(basis)}; {matroid._correction}"
    )


def not_reached(matroid: Advised, basis: list[int]) -> MatroidAxiomError:
    """The error for a basis that exchanges from the other bases do not lead to."""
    return MatroidAxiomError(
        f"not a matroid: {sorted(basis)} is a basis of {matroid!r}, yet no exchanges of single "
        f"elements lead to it from the other bases; {matroid._correction}"
    )


def no_end(matroid: Advised, basis: list[int]) -> MatroidAxiomError:
    """The error for improving exchanges that do not end."""
    return MatroidAxiomError(
        f"not a matroid: the basis {sorted(basis)} of {matroid!r} was improved by more exchanges "
        f"than it has elements; {matroid._correction}"
    )


def changed_matroid(matroid: object, size: int, rank: int, n_loops: int) -> ValueError:
    """The error for a matroid whose size, rank and loops contradict one another."""
    return ValueError(
        f"{type(matroid).__name__} contradicts itself: {size} elements, {n_loops} of them loops, "
        f"and rank {rank}; a matroid must not change while it is in use, make a new one instead"
    )


def out_of_range(
    owner: str, what: str, element: str, value: float, bounds: tuple[float, float]
) -> ValueError:
    """The error for a reward, or a cost, outside the range that `owner` is for."""
    return ValueError(
        f"the {what} of {element} is {value:.6g}, but {owner} is for {what}s from {bounds[0]:g} to "
        f"{bounds[1]:g}; rescale them, or {unbounded_policies(what)}"
    )


def unbounded_policies(what: str) -> str:
    """The advice to take a policy that is for any rewards, or costs."""
    policies = 'MAUB(noise=1.0) or CTS(prior="gaussian")'
    return f"take a policy for {what}s without bounds, such as {policies}"


def no_basis(rank: int, available_rank: int, missing: list[object]) -> NoBasisError:
    """The error for a round whose available elements contain no full basis."""
    return NoBasisError(
        f"no full basis is available: of the {rank} elements of a basis, at most {available_rank} "
        f"can be played together. A full one would need more, for instance "
        f"{', '.join(map(str, missing))}; pass allow_smaller=True to play what there is"
    )


def unknown_decision(identifier: object) -> DecisionError:
    """The error for an id that no decision has."""
    return DecisionError(
        f"no decision with the id {abbreviated(identifier)} is open or was closed recently; an id "
        "is that of the Decision which decide() returned",
        "unknown",
    )


def foreign_decision(identifier: object, given: int, own: int) -> DecisionError:
    """The error for a decision of another policy with the id of one of this policy."""
    name = abbreviated(identifier)
    return DecisionError(
        f"this Decision has the id {name} and the round {given}; decision {name} of this policy is "
        f"another one, made in round {own}. Feedback is for the policy that made the decision; "
        "with ids of your own, decide(id=...), decisions of several policies, or from before a "
        "restart, are never confused",
        "unknown",
    )


def known_decision(identifier: object) -> DecisionError:
    """The error for an id that is given to a second decision."""
    return DecisionError(
        f"the id {abbreviated(identifier)} belongs to another decision; pass an id that was not "
        "used before, or none, or read open_decisions if the call is a repetition",
        "taken",
    )


def closed_decision(identifier: object, is_expired: bool) -> DecisionError:
    """The error for feedback that comes after its decision was closed."""
    how = "has expired" if is_expired else "was closed with final=True, or by update or select"
    return DecisionError(
        f"decision {abbreviated(identifier)} {how}: missing feedback is no longer accepted; expire "
        "or close decisions later if feedback takes longer",
        "expired" if is_expired else "closed",
    )


def conflicting_feedback(
    name: object, identifier: object, known: float, given: float
) -> DecisionError:
    """The error for a second, different value for an element of a decision."""
    return DecisionError(
        f"{name!r} in decision {abbreviated(identifier)} has the feedback {known:.6g} already, and "
        f"now {given:.6g}; each element of a decision is learned once",
        "conflict",
    )


def wrong_length(identifier: object, n_elements: int, n_rewards: int) -> ValueError:
    """The error for rewards without names that are not one for each element of a decision."""
    return ValueError(
        f"decision {abbreviated(identifier)} has {n_elements} elements, got {n_rewards} values; "
        "pass one for each element, in their order, or a mapping: {element: reward}"
    )


def reordered_decision(identifier: object) -> ValueError:
    """The error for rewards without names after the order of the labels has changed."""
    return ValueError(
        f"decision {abbreviated(identifier)} was made before moved_to changed the order of its "
        "elements; pass a mapping: {element: reward}"
    )


def not_in_decision(name: object, identifier: object) -> DecisionError:
    """The error for feedback about an element that is not in the decision."""
    return DecisionError(
        f"{name!r} is not in decision {abbreviated(identifier)}; feedback is about the elements of "
        "the decision. update() takes feedback about any elements",
        "outside",
    )


# ---- features ----


def no_features(policy: str) -> ValueError:
    """The error for features that a policy has no use for."""
    return ValueError(
        f"{policy} uses no features: features=... is for CombLinUCB and CombLinTS, made with "
        "LinearFeatures"
    )


def features_missing() -> ValueError:
    """The error for a round without features, where they come with the round."""
    return ValueError(
        "this policy has no fixed features: pass those of the round, select(features=...) or "
        "decide(features=...), or make it with LinearFeatures(phi)"
    )


def no_features_in_logs(has_own: bool) -> ValueError:
    """The error for rounds of a log that would be learned without features, or with wrong ones."""
    reason = (
        "the round under way has features of its own: end it with update(...) first"
        if has_own
        else "this policy has no fixed ones: learn decisions that it made with features, or make "
        "it with LinearFeatures(phi)"
    )
    return ValueError(f"the decisions of a log come without features, and {reason}")


def reward_too_large(what: str, element: str, value: float, largest: float) -> ValueError:
    """The error for a reward, or a cost, that could overflow when it is multiplied."""
    return ValueError(
        f"the {what} {value:g} of {element} is too large for a policy with features, a window, a "
        f"discount or restarts: at most {largest:g} in size; rescale the {what}s"
    )
