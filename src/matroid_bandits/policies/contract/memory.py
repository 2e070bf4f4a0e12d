"""Which observations a policy uses, where means change: the parameters of it, and checks of what is
loaded (docs/howto/change.md).

[CWZZ21]: Chen, Wang, Zhao & Zheng, Combinatorial Semi-Bandit in the Non-Stationary Environment (UAI
2021). [GM11]: Garivier & Moulines, On Upper-Confidence Bound Policies for Switching Bandit Problems
(ALT 2011). [ZWVL20]: `restarts`.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import integer, real
from matroid_bandits._core.policies.memory.discount import Discount
from matroid_bandits._core.policies.memory.restart import Restart
from matroid_bandits._core.policies.memory.window import Window
from matroid_bandits.restarts import chosen_restart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits._core.policies.memory.base import Memory
    from matroid_bandits.indices import Index
    from matroid_bandits.policies.contract.checked_state import State
    from matroid_bandits.restarts import GLR

__all__ = ["MemoryOption", "check_memory", "memory_caveat", "missing_elements", "moved_memory"]

# Rounds are counted exactly, also where they are floats.
_LONGEST = 2**53
_SMALLEST_DISCOUNT = 1e-6
# That of weights, after a last round.
_LARGEST_UNIT = 1e107
# Blocks of rewards of one size, and the sizes there can be.
_MAX_BLOCKS = 3
_MAX_LEVELS = 62


class MemoryOption:
    """The parameters `window`, `discount` and `restart` of a policy."""

    _window: int | None = None
    _discount: float | None = None
    _restart: GLR | None = None
    _kernel: Any

    def _set_memory(
        self,
        window: int | None,
        discount: float | None,
        restart: GLR | str | Mapping[str, Any] | None,
        index: Index,
        pending: str,
    ) -> None:
        """Check the parameters and store them."""
        given = {"window": window, "discount": discount, "restart": restart}
        used = [name for name, value in given.items() if value is not None]
        if len(used) > 1:
            raise ValueError(
                f"{used[0]}= and {used[1]}= cannot be used together: each says in its own way "
                "which observations count; leave one of them out"
            )
        self._window = (
            None if window is None else integer(window, "window", minimum=1, maximum=_LONGEST)
        )
        self._discount = None if discount is None else _checked_discount(discount)
        self._restart = chosen_restart(restart)
        if self._discount == 1:
            # No discount at all.
            used = []
        for name in used:
            reason = index._refused_memory.get(name)
            if reason is not None:
                raise ValueError(f"{name}= is not for the index {type(index).__name__}: {reason}")
        if self._window is not None and self._window < index.min_count:
            raise ValueError(
                f"window={self._window} is too short for the index {type(index).__name__}, which "
                f"needs {index.min_count} observations of an element"
            )
        if "discount" in used and pending == "count":
            raise ValueError(
                'discount= and pending="count" cannot be used together: a pending play has no '
                "round from which its weight would shrink; use window=, or leave pending= out"
            )
        if self._restart is not None:
            _noise_of(index)

    def _new_memory(self, size: int, index: Index) -> Memory | None:
        """What the kernel uses; None if all observations count equally."""
        if self._window is not None:
            return Window(size, self._window)
        # Without any discount all observations count equally.
        if self._discount is not None and self._discount < 1:
            return Discount(size, self._discount)
        if self._restart is not None:
            test = self._restart
            return Restart(
                size, test.delta, test.period or 0, test.scope == "all", _noise_of(index)
            )
        return None

    @property
    def window(self) -> int | None:
        """Only observations of so many rounds count; None for all."""
        return self._window

    @property
    def discount(self) -> float | None:
        """The factor by which the weight of an observation shrinks with every round, or None."""
        return self._discount

    @property
    def restart(self) -> GLR | None:
        """The test that finds changed means, after which they are learned anew; None without."""
        return self._restart

    @property
    def n_restarts(self) -> int:
        """How often changed means were found, and forgotten, so far."""
        memory = self._kernel.memory
        return memory.n_restarts if isinstance(memory, Restart) else 0


def _checked_discount(discount: float) -> float:
    value = real(discount, "discount", minimum=0.0, maximum=1.0)
    # Beyond these, weights cannot be told from 0, or from each other.
    if not (_SMALLEST_DISCOUNT <= value <= 1 - 1e-12 or value == 1):
        raise ValueError(
            f"discount must be from {_SMALLEST_DISCOUNT:g} to 1 - 1e-12, such as 0.999, or 1 for "
            f"none, got {discount!r}"
        )
    return value


def _noise_of(index: Index) -> float:
    """How rewards vary, as the test takes it: a standard deviation, or 0 for rewards in [0, 1]."""
    noise: float | None = getattr(index, "noise", None)
    if noise is not None and noise > 0:
        return noise
    if (index.low, index.high) == (0.0, 1.0):
        return 0.0
    raise ValueError(
        f"restart= needs to know how rewards vary, which {index!r} does not say: take an index "
        "with a noise above 0, such as UCB(noise=0.2), or one for rewards from 0 to 1, such as "
        "KLUCB()"
    )


def memory_caveat(kernel: Any) -> str:
    """What an answer about the best basis does not cover, where means change.

    Raises
    ------
    ValueError
        If there is no such answer.
    """
    memory = kernel.memory
    if isinstance(memory, Discount):
        raise ValueError(
            "confidence is for observations that count fully; with discount= no threshold for it "
            "is known: use window= or restart="
        )
    if isinstance(memory, Window):
        return (
            f"It is about the observations of the last {memory.length:,} rounds, if means did not "
            "change within them; and it is an answer for now, not for all times, as observations "
            "leave."
        )
    if isinstance(memory, Restart) and memory.n_restarts:
        since = f" after round {memory.restarted_at:,}" if memory.restarted_at else ""
        return f"It is about the observations since the last restart{since}."
    return ""


# ---- saved states ----


def check_memory(state: State, kernel: Any) -> None:
    """What a memory has kept, in a file: kinds, lengths and ranges, and that it is consistent."""
    memory = kernel.memory
    if memory is None:
        if state.is_given("memory"):
            raise state.refuse("memory", "None")
        return
    table = state.table("memory")
    rounds, counts = state.integer("rounds"), state.value("counts")
    is_past_initial = table.flag("is_past_initial")
    table.integer("restarted_at", 0, rounds)
    forgotten = table.array("forgotten", np.intp, [None], 0, kernel.size - 1)
    missing = missing_elements(kernel, counts) if is_past_initial else []
    if not np.array_equal(np.sort(forgotten), missing):
        raise table.refuse("forgotten", "the elements that have too few observations")
    if isinstance(memory, Window):
        _check_window(table, memory, counts, rounds)
        _check_sums(table, kernel.index)
        _check_tallies(table, state.value("index"))
    elif isinstance(memory, Discount):
        weights = table.array("weights", np.float64, [kernel.size], 0.0)
        if ((weights > 0) != (counts > 0)).any():
            raise table.refuse("weights", "above 0 where something was observed, and only there")
        table.number("unit", 1.0, _LARGEST_UNIT)
        table.integer("rescaled_at", 0, rounds)
        table.flag("is_overdue")
    else:
        _check_blocks(table, kernel.size, counts, rounds)
    table.finish()


def _check_window(table: State, memory: Window, counts: Any, rounds: int) -> None:
    """The observations in the window are those that are counted."""
    size = len(counts)
    first = max(1, rounds - memory.length + 1)
    numbers = table.array("round", np.int64, [None], first, rounds + 1)
    elements = table.array("element", np.int32, [len(numbers)], 0, size - 1)
    table.array("reward", np.float64, [len(numbers)])
    table.array("credit", np.uint8, [len(numbers)], 0, 1)
    if (np.diff(numbers) < 0).any():
        raise table.refuse("round", "an array that ascends")
    if not np.array_equal(np.bincount(elements, minlength=size), counts):
        raise table.refuse("element", "as many observations of each element as are counted")
    table.array("sums", np.float64, [size])
    table.array("errors", np.float64, [size])
    table.array("has_lost", np.uint8, [size], 0, 1)


def _check_sums(table: State, index: Any) -> None:
    """Means come from the sums in a window; for an index with bounds they must be within these."""
    if not (isfinite(index.low) and isfinite(index.high)):
        return
    elements, rewards = table.value("element"), table.value("reward")
    if len(rewards) and not index.low <= rewards.min() <= rewards.max() <= index.high:
        raise table.refuse("reward", f"rewards from {index.low:g} to {index.high:g}")
    sums = table.value("sums") + table.value("errors")
    if np.abs(sums - np.bincount(elements, rewards, len(sums))).max(initial=0.0) > 1e-6:
        raise table.refuse("sums", "the sums of the rewards in the window")


def _check_tallies(table: State, index: dict[str, Any]) -> None:
    """What leaves the window takes its success or failure along: the index must have counted it."""
    if "tallies" not in index:
        return
    elements, credit = table.value("element"), table.value("credit")
    for tallies, kept in zip(index["tallies"].T, (credit == 1, credit == 0), strict=True):
        if (tallies < 1 + np.bincount(elements[kept], minlength=len(tallies))).any():
            raise table.refuse("credit", "successes and failures that the index has counted")


def _check_blocks(table: State, size: int, counts: Any, rounds: int) -> None:
    """The blocks of each element contain as many rewards as are counted."""
    sums = table.array("sums", np.float64, [size, None, _MAX_BLOCKS + 1])
    levels = sums.shape[1]
    if not 1 <= levels <= _MAX_LEVELS:
        raise table.refuse("sums", f"sums of at most {_MAX_LEVELS} sizes of blocks")
    blocks = table.array("n_blocks", np.uint8, [size, levels], 0, _MAX_BLOCKS)
    if not np.array_equal(blocks @ (1 << np.arange(levels, dtype=np.int64)), counts):
        raise table.refuse("n_blocks", "as many rewards of each element as are counted")
    if counts.max(initial=0) > _LONGEST:
        raise table.refuse("n_blocks", "at most 2**53 rewards of an element")
    table.array("element_restarted_at", np.intp, [size], 0, rounds)
    changed = table.array("changed", np.intp, [None], 0, size - 1)
    if len(np.unique(changed)) < len(changed):
        raise table.refuse("changed", "different elements")
    table.integer("n_restarts")


def missing_elements(kernel: Any, counts: Any) -> Any:
    """Elements that can be played and have too few observations, ascending."""
    is_missing = counts < kernel.min_count
    is_missing[kernel.matroid.loops] = False
    return np.flatnonzero(is_missing)


def moved_memory(
    state: dict[str, Any] | None, fresh: dict[str, Any] | None, old_numbers: Any, missing: Any
) -> dict[str, Any] | None:
    """What a memory has kept, for other elements.

    Parameters
    ----------
    state, fresh : dict or None
        The state of the memory, and that of a fresh one for the other elements.
    old_numbers : array of int
        The former number of each of these; -1 for a new one.
    missing : array of int
        Those of them that can be played and have too few observations.
    """
    if state is None or fresh is None:
        return fresh
    moved = fresh | {
        name: state[name]
        for name in ("is_past_initial", "restarted_at", "unit", "rescaled_at", "n_restarts")
        if name in state
    }
    new_number = _NewNumbers(old_numbers)
    for name in ("forgotten", "changed"):
        if name in state:
            moved[name] = new_number.of(state[name], new_number.stays(state[name]))
    if "round" in state:
        kept = new_number.stays(state["element"])
        for name in ("round", "reward", "credit"):
            moved[name] = state[name][kept]
        moved["element"] = new_number.of(state["element"], kept).astype(np.int32)
    here = old_numbers >= 0
    for name in ("weights", "sums", "errors", "has_lost", "n_blocks", "element_restarted_at"):
        if name in state:
            # As many blocks as there were.
            moved[name] = np.zeros((len(old_numbers), *state[name].shape[1:]), state[name].dtype)
            moved[name][here] = state[name][old_numbers[here]]
    if moved["is_past_initial"]:
        # New elements wait for their turn like forgotten ones, and so do those that could not be
        # played before.
        stays = moved["forgotten"][np.isin(moved["forgotten"], missing)]
        moved["forgotten"] = np.append(stays, np.setdiff1d(missing, stays)).astype(np.intp)
    return moved


class _NewNumbers:
    """The new numbers of elements that stay."""

    def __init__(self, old_numbers: Any) -> None:
        self._new = np.full(int(old_numbers.max(initial=-1)) + 2, -1)
        self._new[old_numbers[old_numbers >= 0]] = np.flatnonzero(old_numbers >= 0)

    def stays(self, elements: Any) -> Any:
        """Which of former elements are still there."""
        # The last place stands for all that are beyond it.
        return self._new[np.minimum(elements, len(self._new) - 1)] >= 0

    def of(self, elements: Any, stays: Any) -> Any:
        """The new numbers of those that are still there."""
        return self._new[elements[stays]].astype(np.intp)
