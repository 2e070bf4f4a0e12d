"""Options: parsed with one-line answers to mistakes."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from matroid_bandits._arguments import suggestion
from matroid_bandits.environments.base import LARGEST
from matroid_bandits.simulation import LONGEST

__all__ = ["Parser", "count", "named", "spread"]


class Parser(argparse.ArgumentParser):
    """Answers mistakes with one line that says what is allowed."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")

    def refuse(self, unknown: str) -> NoReturn:
        """Answer an argument that is not among the options."""
        known = sorted(option for option in self._option_string_actions if option[:2] == "--")
        self.error(f"unknown argument {unknown}; {suggestion(unknown, known)}")


def named(find: Callable[[str], Any]) -> Callable[[str], Any]:
    """An option's type that hands the finder's own message to the user."""

    def parse(text: str) -> Any:
        try:
            return find(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def count(least: int, most: int = LONGEST) -> Callable[[str], int]:
    """An option's type: a whole number in a range."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {least} to {most}, got {text!r}"
            )
        return value

    return parse


def spread(text: str) -> float:
    """An option's type: a standard deviation."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LARGEST:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {LARGEST:g}, got {text!r}")
    return value
