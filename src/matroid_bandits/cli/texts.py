"""Text for terminals."""

import os
import sys
from typing import TextIO

__all__ = ["plus_minus", "say", "silence"]


def plus_minus() -> str:
    """The sign, where the terminal has it."""
    return "\N{PLUS-MINUS SIGN}" if _can_show("\N{PLUS-MINUS SIGN}") else "+/-"


def say(text: str, *, error: bool = False) -> None:
    """Print a text whose signs the terminal may not all have."""
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
        # The reader of a pipe (`| head`) has gone; the work goes on.
        silence(stream)


def silence(stream: TextIO) -> None:
    """Let all further output to `stream` go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
