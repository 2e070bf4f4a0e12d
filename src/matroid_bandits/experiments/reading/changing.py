"""Environments of a study whose means change."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matroid_bandits._arguments import abbreviated, integer, real_array, whole
from matroid_bandits._types import FloatArray
from matroid_bandits.environments import ChangingEnvironment
from matroid_bandits.experiments.changes import USUAL_SETTLE, ChangeSpec
from matroid_bandits.experiments.reading.classes import is_own, own_object, parameters_for
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.simulation import LONGEST

__all__ = ["change_at", "check_change", "rows_of_means", "settle_at"]


def change_at(section: Section, cls: type[ChangingEnvironment]) -> ChangeSpec:
    """How the means of the environment at `section` change."""
    accepted = inspect.signature(cls).parameters
    parameters = parameters_for(
        cls, section, exclude=("type", "means"), given=("means", "size"), optional=("seed",)
    )
    if "changes" in parameters:
        parameters["changes"] = _changes(section)
    function = parameters.get("function")
    if isinstance(function, str):
        if not is_own(function):
            raise section.error(
                f'must be a function in a file, such as "mine.py:means", got {function!r}',
                "function",
            )
        parameters["function"] = own_object(
            section, "function", function, kind="function", is_kind=callable
        )
    takes_means = "means" in accepted
    if not takes_means and "means" in section:
        raise section.error(f"{cls.__name__} has means of its own; leave them out", "means")
    return ChangeSpec(
        cls=cls,
        parameters=parameters,
        takes_means=takes_means,
        takes_seed="seed" in accepted and "seed" not in parameters,
    )


def _changes(section: Section) -> int | list[Any]:
    """The rounds of changes, or their number."""
    value = section.value("changes")
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str):
        return [whole(c) for c in value]
    try:
        return integer(value, "changes", minimum=0)
    except ValueError:
        raise section.error(
            "must be a list of rounds, such as [5001], or a number of changes, which are spread "
            f"evenly over the horizon, got {abbreviated(value)}",
            "changes",
        ) from None


def rows_of_means(section: Section, pieces: int) -> FloatArray:
    """The rows of means of a piecewise environment, one for each piece."""
    value = section.value("means")
    if (
        isinstance(value, (str, Mapping))
        or not isinstance(value, (Sequence, np.ndarray))
        or len(value) != pieces
        or any(np.ndim(row) != 1 for row in value)
    ):
        raise section.error(
            f"must be {pieces} rows of means, one for each piece, or drawn anew in each, "
            f"{{ uniform = [0.5, 1.0] }}, got {abbreviated(value)}",
            "means",
        )
    rows = [section.call("means", real_array, row, "a row of means") for row in value]
    if len({len(row) for row in rows}) > 1:
        lengths = ", ".join(str(len(row)) for row in rows)
        raise section.error(f"must be rows of the same length, got {lengths} means", "means")
    return np.array(rows)


def settle_at(top: Section, section: Section, *, is_changing: bool) -> int | None:
    """After how many rounds policies should have settled: by the instance, else by the study."""
    if not is_changing:
        if "settle" in section:
            raise section.error(
                "is for means that change, and these do not; leave it out", "settle"
            )
        return None
    general = top.integer("settle", USUAL_SETTLE, minimum=1, maximum=LONGEST)
    return section.integer("settle", general, minimum=1, maximum=LONGEST)


def check_change(
    section: Section,
    change: ChangeSpec,
    means: FloatArray | tuple[float, float] | None,
    *,
    size: int,
    horizon: int,
) -> None:
    """Make the environment with the extreme means of its runs; refuse what it refuses."""
    changes = change.parameters.get("changes", 0)
    if isinstance(changes, int) and changes >= max(horizon, 1):
        raise section.error(
            f"{changes:,} changes are too many for {horizon:,} rounds; a list of rounds says when "
            "means change, such as [5001]",
            "changes",
        )
    for late in () if isinstance(changes, int) else (c for c in changes if c > horizon):
        raise section.error(
            f"the change in round {late:,} is after the last round, {horizon:,}", "changes"
        )
    shape = (size,) if change.pieces is None else (change.pieces, size)

    def make(chosen: FloatArray | None) -> None:
        environment = change.environment(chosen, size=size, horizon=horizon, seed=0)
        if not isinstance(environment, ChangingEnvironment) or environment.size != size:
            raise ValueError(f"{change.cls.__name__} must have {size} elements, as the matroid has")
        # A function of the user's may fail, or return anything.
        environment.means_at(1)

    call: Callable[..., Any] = section.call
    for extreme in means if isinstance(means, tuple) else (means,):
        call(None, make, None if extreme is None else np.broadcast_to(extreme, shape))
