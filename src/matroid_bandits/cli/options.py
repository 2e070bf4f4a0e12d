"""Parsing of options, with one-line messages about mistakes."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from matroid_bandits._arguments import abbreviated, integer, number_from, suggestion
from matroid_bandits.environments.base import LARGEST
from matroid_bandits.simulation import LONGEST

__all__ = ["Parser", "named", "nonempty", "standard_deviation", "whole_number"]


class Parser(argparse.ArgumentParser):
    """A parser whose messages are one line that says what is allowed."""

    def error(self, message: str) -> NoReturn:
        """End the command with a message, without the usage."""
        self.exit(2, f"{self.prog}: {message}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Suggest a command for one that does not exist."""
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            hint = suggestion(str(value), action.choices)
            self.error(f"unknown command {abbreviated(value)}; {hint}")
        super()._check_value(action, value)

    def reject_unknown(self, unknown: str) -> NoReturn:
        """End the command because of an argument that is not among the options."""
        known = sorted(option for option in self._option_string_actions if option[:2] == "--")
        self.error(f"unknown argument {unknown}; {suggestion(unknown, known)}")


def named(find: Callable[[str], Any]) -> Callable[[str], Any]:
    """The type of an option: what `find` returns for its text; its errors are shown."""

    def parse(text: str) -> Any:
        try:
            return find(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse


def whole_number(minimum: int, maximum: int = LONGEST) -> Callable[[str], int]:
    """The type of an option: a whole number in a range, such as 100000, 100_000 or 1e5."""

    def parse(text: str) -> int:
        try:
            value = number_from(text, float if set(".eE").intersection(text) else int)
            return integer(value, "the value", minimum=minimum, maximum=maximum)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {minimum} to {maximum}, got {text!r}"
            ) from None

    return parse


def nonempty(text: str) -> str:
    """The type of an option: a path or an address."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty; is a variable of the shell not set?")
    return text


def standard_deviation(text: str) -> float:
    """The type of an option: a standard deviation."""
    try:
        value = number_from(text, float)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LARGEST:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {LARGEST:g}, got {text!r}")
    return value
