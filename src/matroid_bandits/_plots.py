"""Axes of matplotlib for the ``plot`` methods. Nothing is imported before one is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["checked_axes", "pyplot", "with_unit"]


def pyplot() -> Any:
    """``matplotlib.pyplot``, which notebooks show by themselves.

    Raises
    ------
    ImportError
        If matplotlib is not installed; the message names the extra.
    """
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            f"plot needs matplotlib ({error}): pip install 'matroid-bandits[plots]'"
        ) from error


def checked_axes(ax: Any) -> Axes:
    """The axes to draw on: `ax`, or those of a new figure if it is None."""
    if ax is None:
        axes: Axes = pyplot().subplots(figsize=(5.0, 3.4), layout="constrained")[1]
        return axes
    if not callable(getattr(ax, "plot", None)) or not hasattr(ax, "set_xlabel"):
        raise TypeError(
            f"ax must be Axes of matplotlib, such as plt.subplots()[1], got {type(ax).__name__}"
        )
    given: Axes = ax
    return given


def with_unit(value: float, _position: float | None = None) -> str:
    """50000 as 50k, 1000000 as 1M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
