"""The two kinds of studies: how their files call the same things, and what only one of them has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.experiments.study import Kind, Stopping
from matroid_bandits.stopping import checked_delta

__all__ = ["IDENTIFICATION", "KINDS", "REGRET", "KindOfStudy", "stopping_at"]

_DELTA = 0.05
_THRESHOLDS: tuple[Literal["proven", "customary"], ...] = ("proven", "customary")


@dataclass(frozen=True)
class KindOfStudy:
    """The keys of a kind of studies.

    Attributes
    ----------
    name : {"regret", "identification"}
        The value of ``kind``.
    players : str
        The key of what is compared.
    player : str
        One of them, for messages.
    example : str
        A list of them, for messages.
    rounds : str
        The key of the number of rounds.
    usual_rounds : int
        Without this key.
    own : tuple of str
        Keys of a study that only this kind has, besides these two.
    of_instances : tuple of str
        The same for its instances.
    """

    name: Kind
    players: str
    player: str
    example: str
    rounds: str
    usual_rounds: int
    own: tuple[str, ...]
    of_instances: tuple[str, ...]

    def check_keys(self, section: Section, common: Sequence[str]) -> None:
        """Refuse keys of a study that it cannot have; `common` has those of all kinds."""
        self._refuse_others(section)
        section.check_keys((*common, self.players, self.rounds, *self.own))

    def check_instance_keys(self, section: Section, common: Sequence[str]) -> None:
        """The same for an instance."""
        self._refuse_others(section)
        section.check_keys((*common, self.players, self.rounds, *self.of_instances))

    def _refuse_others(self, section: Section) -> None:
        """Refuse keys of the other kind, and say what to write instead."""
        (other,) = (kind for kind in KINDS.values() if kind is not self)
        instead = {other.players: self.players, other.rounds: self.rounds}
        for key in (*instead, *other.own):
            if key in section and key not in self.own:
                hint = f"; write {instead[key]}" if key in instead else "; leave it out"
                if self is REGRET:
                    hint += f', or write kind = "{other.name}" at the top'
                raise section.error(
                    f'is for studies of kind "{other.name}", and this one is of kind '
                    f'"{self.name}"{hint}',
                    key,
                )


REGRET = KindOfStudy(
    name="regret",
    players="policies",
    player="a policy",
    example='["MAUB", "OMM"]',
    rounds="horizon",
    usual_rounds=100_000,
    own=("delay", "reference", "settle"),
    of_instances=("delay", "settle"),
)

IDENTIFICATION = KindOfStudy(
    name="identification",
    players="rules",
    player="a rule",
    example='["LUCBExchange", "UniformSampling"]',
    rounds="limit",
    usual_rounds=10_000_000,
    own=("delta", "threshold"),
    of_instances=("delta", "threshold"),
)

#: By the value of the key ``kind``.
KINDS: dict[Kind, KindOfStudy] = {kind.name: kind for kind in (REGRET, IDENTIFICATION)}


def stopping_at(top: Section, section: Section) -> Stopping:
    """When the runs of an instance end: by its own keys, else by those of the study."""
    home = section if "delta" in section else top
    delta: float = home.call("delta", checked_delta, home.value("delta", _DELTA))
    general = top.choice("threshold", _THRESHOLDS, "proven")
    return Stopping(delta, section.choice("threshold", _THRESHOLDS, general))
