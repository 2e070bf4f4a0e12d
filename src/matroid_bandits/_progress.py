"""A progress bar on terminals, and nothing elsewhere."""

import shutil
import sys
from types import TracebackType
from typing import Self

try:
    from tqdm import tqdm

    HAS_TQDM = True
except ImportError:
    HAS_TQDM = False

__all__ = ["Progress", "say"]


def say(text: str) -> None:
    """Print a line to standard error, wherever that leads."""
    print(text, file=sys.stderr, flush=True)


class Progress:
    """Steps done of `total`, drawn by tqdm if it is installed (the extra ``experiments``)."""

    def __init__(self, total: int, *, unit: str, done_before: int = 0, quiet: bool = False) -> None:
        wanted = sys.stderr.isatty() and not quiet
        self._bar = None
        if wanted and HAS_TQDM:
            self._bar = tqdm(
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
            self._bar.set_description(text[:room])

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
