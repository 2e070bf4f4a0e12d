"""Output to terminals that may not have all characters."""

import os
import sys
from typing import TextIO

__all__ = ["echo", "open_closed", "plus_minus", "silence"]


def plus_minus() -> str:
    """The plus-minus sign, or ``+/-`` if the terminal does not have it."""
    return "\N{PLUS-MINUS SIGN}" if _can_show("\N{PLUS-MINUS SIGN}") else "+/-"


def echo(text: str, *, error: bool = False) -> None:
    """Print a text, with replacements for characters that the terminal does not have."""
    if not _can_show(text):
        plain = {
            "\N{PLUS-MINUS SIGN}": "+/-",
            "\N{MINUS SIGN}": "-",
            "\N{ALMOST EQUAL TO}": "~",
        }
        for sign, instead in plain.items():
            text = text.replace(sign, instead)
        text = text.encode("ascii", "replace").decode()
    stream = sys.stderr if error else sys.stdout
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has ended; the work goes on.
        silence(stream)


def silence(stream: TextIO) -> None:
    """Send all further output of `stream` to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def open_closed() -> None:
    """Send the output that the caller has closed (``>&-``) to the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
