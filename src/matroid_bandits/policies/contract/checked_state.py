"""Checks of a state that was read from a file, before a kernel takes it over.

A kernel trusts its arguments. A file can come from anyone. So every value is checked here: kinds,
lengths, ranges, and that what has to be a basis is one.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits._core.matroids.partners import find_partners
from matroid_bandits._core.policies.contract.decisions import MAX_CLOSED, STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits.matroids import Matroid

__all__ = [
    "SLACK",
    "State",
    "check_decisions",
    "check_outcome",
    "check_partners",
    "check_round",
    "check_statistics",
]

# More rounds, or calls, than any policy will see.
_MOST = 2**62
_LARGEST_POSITION = 2**128 - 1
# What a mean may be beyond the range of the rewards, by rounding.
SLACK = 1e-9
# The first is that of open decisions.
_OPEN = STATUSES[0]
_WIDEST = 2**20


class State:
    """A table of a state, at a place that messages name; its methods return checked values."""

    def __init__(self, values: Any, place: str) -> None:
        if not isinstance(values, dict):
            raise ValueError(f"{place} must be a table, got {abbreviated(values)}")
        self._values = values
        self._left = set(values)
        self.place = place

    def value(self, key: str) -> Any:
        """A value, unchecked."""
        if key not in self._values:
            raise ValueError(f"{self.place} has no {key}")
        self._left.discard(key)
        return self._values[key]

    def has(self, key: str) -> bool:
        """Whether a value is there, and not None."""
        return self.value(key) is not None

    def is_given(self, key: str) -> bool:
        """Whether a value is there that files of earlier versions do not have, and not None."""
        return key in self._values and self.has(key)

    def finish(self) -> None:
        """Refuse values that nobody has asked for."""
        for key in sorted(self._left, key=str):
            raise ValueError(f"{self.place} has the unknown value {abbreviated(key)}")

    def refuse(self, key: str, what: str) -> ValueError:
        """The error for a value that is not `what`."""
        got = abbreviated(self._values.get(key))
        return ValueError(f"{self.place}.{key} must be {what}, got {got}")

    def flag(self, key: str) -> bool:
        """A truth value."""
        value = self.value(key)
        if type(value) is not bool:
            raise self.refuse(key, "True or False")
        return value

    def optional_flag(self, key: str) -> bool:
        """A truth value that files of earlier versions do not have; there it is False."""
        return self.is_given(key) and self.flag(key)

    def integer(self, key: str, low: int = 0, high: int = _MOST) -> int:
        """An integer in a range."""
        value = self.value(key)
        if type(value) is not int or not low <= value <= high:
            raise self.refuse(key, f"an integer from {low} to {high}")
        return value

    def integers(self, key: str, count: int, high: int = _MOST) -> list[int]:
        """So many integers from 0 on."""
        value = self.value(key)
        if (
            not isinstance(value, (list, tuple))
            or len(value) != count
            or not all(type(number) is int and 0 <= number <= high for number in value)
        ):
            raise self.refuse(key, f"{count} integers from 0 to {high}")
        return list(value)

    def number(self, key: str, low: float = -inf, high: float = inf) -> float:
        """A float in a range, not NaN."""
        value = self.value(key)
        if type(value) is not float or not low <= value <= high:
            raise self.refuse(key, f"a number from {low:g} to {high:g}")
        return value

    def table(self, key: str) -> State:
        """A table inside this one."""
        return State(self.value(key), f"{self.place}.{key}")

    def array(
        self,
        key: str,
        dtype: npt.DTypeLike,
        shape: Sequence[int | None],
        low: float = -inf,
        high: float = inf,
        *,
        is_finite: bool = True,
    ) -> npt.NDArray[Any]:
        """An array of numbers in a range; None in the shape stands for any length."""
        value = self.value(key)
        kind = np.dtype(dtype)
        fits = (
            isinstance(value, np.ndarray)
            and value.dtype == kind
            and value.ndim == len(shape)
            and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
        )
        if not fits:
            lengths = " x ".join("any number" if n is None else str(n) for n in shape)
            raise self.refuse(key, f"an array of {lengths} {kind.name}")
        if value.size and kind.kind == "f" and is_finite and not np.isfinite(value).all():
            raise self.refuse(key, "an array of finite numbers")
        if value.size and not (value.min() >= low and value.max() <= high):
            raise self.refuse(key, f"an array of numbers from {low:g} to {high:g}")
        array: npt.NDArray[Any] = value
        return array

    def floats(self, key: str, length: int) -> npt.NDArray[Any]:
        """An array of any floats, infinities and NaN included."""
        value = self.value(key)
        if not isinstance(value, np.ndarray) or value.dtype != float or value.shape != (length,):
            raise self.refuse(key, f"an array of {length} float64")
        return value

    def independent(self, key: str, matroid: Matroid, dtype: npt.DTypeLike = np.intp) -> int:
        """The size of an independent set, ascending."""
        elements = self.array(key, dtype, [None], 0, matroid.size - 1)
        self._check_independent(key, elements, matroid)
        return len(elements)

    def basis(self, key: str, matroid: Matroid, *, is_sorted: bool = True) -> npt.NDArray[Any]:
        """The elements of a basis."""
        elements = self.array(key, np.intp, [matroid.rank], 0, matroid.size - 1)
        self._check_independent(key, elements if is_sorted else np.sort(elements), matroid)
        return elements

    def independent_key(self, key: str, matroid: Matroid) -> None:
        """An independent set as bytes."""
        value = self.value(key)
        if type(value) is not bytes or len(value) % np.intp().itemsize:
            raise self.refuse(key, "the bytes of a set")
        elements = np.frombuffer(value, dtype=np.intp)
        State({key: elements}, self.place).independent(key, matroid)

    def _check_independent(self, key: str, elements: Any, matroid: Matroid) -> None:
        if (np.diff(elements) <= 0).any() or not matroid.is_independent(elements):
            raise self.refuse(key, "an independent set")


# ---- what all kernels have ----


def check_statistics(state: State, kernel: PolicyKernel) -> None:
    """What was learned, random numbers, and counters."""
    fresh = kernel.state()
    state.integer("rounds")
    counts = state.array("counts", np.int64, [kernel.size], 0, _MOST)
    means = state.array("means", np.float64, [kernel.size])
    if kernel.index is not None:
        low, high = kernel.index.low - SLACK, kernel.index.high + SLACK
        observed = means[counts > 0]
        if observed.size and not (observed.min() >= low and observed.max() <= high):
            raise state.refuse("means", f"means from {kernel.index.low:g} to {kernel.index.high:g}")
    index = state.table("index")
    for key, start in fresh["index"].items():
        # What an index sums up begins with the smallest values there can be.
        # Squares of the largest rewards are infinite.
        is_finite = key != "squares"
        index.array(key, start.dtype, start.shape, start.min(initial=inf), is_finite=is_finite)
    index.finish()
    if state.is_given("earlier_means"):
        earlier = state.value("earlier_means")
        if (
            not isinstance(earlier, np.ndarray)
            or earlier.dtype != float
            or earlier.shape != (kernel.size, 2)
        ):
            raise state.refuse("earlier_means", f"an array of {kernel.size} x 2 float64")
    state.integers("calls", 3)
    is_marked = state.has("calls_before")
    if is_marked:
        state.integers("calls_before", 3)
    if fresh["stream"] is not None:
        state.integers("stream", 1 + is_marked, _LARGEST_POSITION)
    elif state.has("stream"):
        raise state.refuse("stream", "None")


def check_round(state: State, kernel: PolicyKernel, matroid: Matroid) -> list[State]:
    """The round under way; returns the outcomes for other sets of available elements."""
    is_chosen = state.flag("is_chosen")
    is_selected, is_decided = state.flag("is_selected"), state.flag("is_decided")
    state.flag("is_initial")
    state.optional_flag("is_forced")
    if (is_selected or is_decided) and not is_chosen:
        raise state.refuse("is_chosen", "True, as something was selected")
    if state.has("available"):
        state.array("available", np.uint8, [kernel.size], 0, 1)
    if is_chosen:
        size = state.independent("chosen", matroid)
        state.floats("values", kernel.size)
        if size < kernel.rank and not state.has("available"):
            raise state.refuse("chosen", "a basis")
    else:
        state.array("chosen", np.intp, [None], 0, max(kernel.size - 1, 0))
        if len(state.value("chosen")) > kernel.rank or state.has("values"):
            raise state.refuse("chosen", "at most a basis, without values")
    if is_chosen and not state.has("calls_before"):
        raise state.refuse("calls_before", "known")
    answers = state.value("answers")
    if not isinstance(answers, list):
        raise state.refuse("answers", "a list")
    outcomes = []
    for i, answer in enumerate(answers):
        place = f"{state.place}.answers[{i}]"
        if not isinstance(answer, list) or len(answer) != 2:
            raise ValueError(f"{place} must be a pair, got {abbreviated(answer)}")
        check_available_key(answer[0], kernel, place)
        outcomes.append(State(answer[1], place))
    return outcomes


def check_available_key(key: Any, kernel: PolicyKernel, place: str) -> None:
    """Available elements as bytes; none, if all are available."""
    if type(key) is not bytes or len(key) not in (0, kernel.size) or set(key) - {0, 1}:
        raise ValueError(f"{place} must have a byte per element, got {abbreviated(key)}")


def check_outcome(outcome: State, kernel: PolicyKernel, matroid: Matroid) -> None:
    """What choosing for other available elements would change."""
    outcome.independent("chosen", matroid)
    outcome.floats("values", kernel.size)
    outcome.integers("calls", 3)
    outcome.flag("is_decided")
    outcome.flag("is_initial")
    outcome.optional_flag("is_forced")
    if kernel.state()["stream"] is not None:
        outcome.integer("stream", 0, _LARGEST_POSITION)
    elif outcome.has("stream"):
        raise outcome.refuse("stream", "None")


# ---- decisions ----


def check_decisions(state: State, kernel: PolicyKernel) -> None:
    """Open decisions, those closed most recently, and the selection that is one of them."""
    table = state.table("decisions")
    ids = table.value("ids")
    if not isinstance(ids, list) or not all(type(i) in (int, str) for i in ids):
        raise table.refuse("ids", "a list of texts and integers")
    n = len(ids)
    # Decisions from before the problem changed may be larger. Each takes this width in the file.
    width = table.integer("width", max(1, kernel.rank), max(_WIDEST, kernel.rank))
    if len(set(ids)) != n:
        raise table.refuse("ids", "all different")
    table.array("rounds", np.int64, [n], 1, max(1, state.integer("rounds")))
    lengths = table.array("lengths", np.int32, [n], 0, width)
    status = table.array("status", np.uint8, [n], _OPEN, STATUSES[-1])
    table.array("is_reordered", np.uint8, [n], 0, 1)
    is_used = np.arange(width) < lengths[:, np.newaxis]
    # Dropped elements are below 0.
    former = state.value("former")
    try:
        n_labels = len(set(former)) if isinstance(former, list) else -1
    except TypeError:
        n_labels = -1
    if n_labels != len(former or ()):
        raise state.refuse("former", "a list of different labels")
    _check_elements(table, (n, width), is_used, -len(former), kernel.size - 1)
    rewards = table.value("rewards")
    if (
        not isinstance(rewards, np.ndarray)
        or rewards.dtype != float
        or rewards.shape != (n, width)
        or np.isinf(rewards[is_used]).any()
    ):
        raise table.refuse("rewards", f"an array of {n} x {width} float64, none infinite")
    _check_propensities(table, (n, width), is_used)
    closed = table.array("closed", np.int64, [None], 0, max(0, n - 1))
    if len(closed) > MAX_CLOSED or not np.array_equal(
        np.sort(closed), np.flatnonzero(status != _OPEN)
    ):
        raise table.refuse("closed", "the closed decisions")
    table.finish()
    if not state.has("selection"):
        if state.has("selection_key"):
            raise state.refuse("selection_key", "None")
        return
    selection = state.value("selection")
    if type(selection) is not int or selection not in ids or status[ids.index(selection)] != _OPEN:
        raise state.refuse("selection", "the id of an open decision")
    check_available_key(state.value("selection_key"), kernel, f"{state.place}.selection_key")


def _check_elements(
    table: State, shape: tuple[int, int], is_used: npt.NDArray[np.bool_], low: int, high: int
) -> None:
    """Each row ascending, as far as it is used."""
    elements = table.array("elements", np.int32, shape)
    used = elements[is_used]
    is_bad = (np.diff(elements, axis=1) <= 0) & is_used[:, 1:]
    if is_bad.any() or (used.size and not low <= used.min() <= used.max() <= high):
        raise table.refuse("elements", f"ascending elements from {low} to {high}")


def _check_propensities(
    table: State, shape: tuple[int, int], is_used: npt.NDArray[np.bool_]
) -> None:
    """Those of a decision are all known, or none; files without any have no such table."""
    if not table.is_given("propensities"):
        return
    propensities = table.value("propensities")
    what = f"an array of {shape[0]} x {shape[1]} float64 above 0 and at most 1"
    if (
        not isinstance(propensities, np.ndarray)
        or propensities.dtype != float
        or propensities.shape != shape
    ):
        raise table.refuse("propensities", what)
    is_known = ~np.isnan(propensities)
    used = propensities[is_used & is_known]
    is_part = (is_known & is_used).any(axis=1) & (~is_known & is_used).any(axis=1)
    if is_part.any() or not ((used > 0) & (used <= 1)).all():
        raise table.refuse("propensities", what)


# ---- MAUB ----


def check_partners(
    state: State,
    matroid: Matroid,
    leader: npt.NDArray[np.intp],
    classes: npt.NDArray[np.int32],
) -> None:
    """The partners of symmetry classes outside a leader, as positions in it."""
    kernel = matroid._new_kernel()
    n_classes = int(classes.max(initial=-1)) + 1
    partner = state.array("partner", np.int64, [n_classes], -1, matroid.rank - 1)
    outside = np.setdiff1d(np.arange(matroid.size), np.append(leader, matroid.loops))
    positions = partner[classes[outside]]
    # Of a matroid written in Python, this would take a call for every element and partner.
    if (positions < 0).any() or not (
        kernel.is_python
        or np.array_equal(leader[positions], find_partners(kernel, leader, outside))
    ):
        raise state.refuse("partner", "positions of partners in the leader")
