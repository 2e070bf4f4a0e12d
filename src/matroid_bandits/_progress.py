"""A progress bar on terminals and in notebooks, and nothing elsewhere."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

try:
    from tqdm import tqdm

    HAS_TQDM = True
except ImportError:
    HAS_TQDM = False

__all__ = ["Progress", "in_notebook", "say"]

# Columns for what is running, beside a bar in a notebook.
_ROOM_IN_NOTEBOOK = 40


def say(text: str) -> None:
    """Print a line to standard error, wherever that leads."""
    print(text, file=sys.stderr, flush=True)


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows bars but is no terminal."""
    # A kernel has imported IPython already; a script need not.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Progress:
    """Steps done of `total`, drawn by tqdm if it is installed (the extra ``experiments``)."""

    def __init__(self, total: int, *, unit: str, done_before: int = 0, quiet: bool = False) -> None:
        self._in_notebook = in_notebook()
        wanted = (sys.stderr.isatty() or self._in_notebook) and not quiet
        self._bar: Any = None
        if wanted and HAS_TQDM:
            self._bar = _bar_class(in_notebook=self._in_notebook)(
                total=total,
                initial=done_before,
                unit=unit,
                leave=False,
                dynamic_ncols=True,
                smoothing=0.05,  # durations differ a hundredfold: estimate by their mean
            )
        if wanted and not HAS_TQDM:
            print(
                "(pip install 'matroid-bandits[experiments]' for a progress bar)", file=sys.stderr
            )

    def now(self, text: str) -> None:
        """Show what is running."""
        if self._bar is not None:
            # The numbers beside it need about fifty columns.
            room = max(0, shutil.get_terminal_size().columns - 50)
            self._bar.set_description(text[: _ROOM_IN_NOTEBOOK if self._in_notebook else room])

    def done(self, steps: int = 1) -> None:
        """Count finished steps."""
        if self._bar is not None:
            self._bar.update(steps)

    def print(self, text: str) -> None:
        """Print to standard output without disturbing the bar."""
        if self._bar is not None:
            self._bar.clear()
        print(text, flush=True)
        if self._bar is not None:
            self._bar.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar_class(*, in_notebook: bool) -> Any:
    """The bar of tqdm that fits: a widget in a notebook that has widgets, otherwise text."""
    if in_notebook and find_spec("ipywidgets") is not None:
        try:
            return import_module("tqdm.notebook").tqdm
        except ImportError:
            # Another version of the widgets than tqdm knows.
            return tqdm
    return tqdm
