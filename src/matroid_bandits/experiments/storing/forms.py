"""How the runs of each kind of study are stored: columns, and what must hold for their numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from matroid_bandits.experiments.storing.tables import CURVE_COLUMNS, KEY, RUN_COLUMNS
from matroid_bandits.experiments.study import StudyError
from matroid_bandits.simulation import COUNTERS

__all__ = ["IDENTIFICATION", "REGRET", "Form", "form_of"]

#: For each problem that a line may have, which lines do not have it.
Checks = dict[str, "pd.Series[bool]"]


@dataclass(frozen=True)
class Form:
    """How runs are stored.

    Attributes
    ----------
    run_columns, curve_columns : list of str
        Of the two tables.
    value : str
        What a curve is of: the column of numbers that are no counters.
    results : list of str
        The numbers in which two results of the same run must agree.
    ends : dict of str to str
        Column of a curve to the number of the run that it ends with.
    checks : callable
        What holds for runs of this kind, besides what holds for all.
    """

    run_columns: list[str]
    curve_columns: list[str]
    value: str
    results: list[str]
    ends: Mapping[str, str]
    checks: Callable[[pd.DataFrame], Checks]

    @property
    def of_curves(self) -> list[str]:
        """What a line of a curve has besides the key of its run."""
        return [name for name in self.curve_columns if name not in KEY]


def form_of(identity: Mapping[str, Any]) -> Form:
    """How the runs of a study are stored, from what ``study.json`` says."""
    kind = identity.get("kind", "regret")
    if kind not in _FORMS:
        raise StudyError(
            f"this version of matroid-bandits reads studies of kind {' and '.join(_FORMS)}, got "
            f"one of kind {kind!r}"
        )
    return _FORMS[kind]


def _checks_of_regret(runs: pd.DataFrame) -> Checks:
    counters = runs[[*COUNTERS]]
    return {
        "a regret that is not finite": np.isfinite(runs["regret"]),
        "a negative counter": ~(counters < 0).fillna(value=False).any(axis=1),
    }


def _checks_of_identification(runs: pd.DataFrame) -> Checks:
    return {
        "rounds that are not between 1 and the limit": runs["rounds"].between(1, runs["horizon"]),
        "fewer observations than rounds": runs["observations"] >= runs["rounds"],
        "no word on whether it is settled and correct": runs["settled"].notna()
        & runs["correct"].notna(),
        "a statistic that is negative or not finite": np.isfinite(runs["statistic"])
        & (runs["statistic"] >= 0),
    }


REGRET = Form(
    run_columns=RUN_COLUMNS,
    curve_columns=CURVE_COLUMNS,
    value="regret",
    results=["horizon", "regret", *COUNTERS],
    ends={"round": "horizon", "regret": "regret", **{name: name for name in COUNTERS}},
    checks=_checks_of_regret,
)

IDENTIFICATION = Form(
    run_columns=[
        *KEY,
        *("horizon", "rounds", "observations", "settled", "correct", "statistic"),
        *("lower_bound", "seconds", "session"),
    ],
    curve_columns=[*KEY, "round", "statistic"],
    value="statistic",
    results=["horizon", "rounds", "observations", "settled", "correct", "statistic"],
    ends={"round": "rounds", "statistic": "statistic"},
    checks=_checks_of_identification,
)

_FORMS = {"regret": REGRET, "identification": IDENTIFICATION}
