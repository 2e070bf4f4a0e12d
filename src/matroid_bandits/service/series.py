"""What has happened to a bandit over time, in at most 120 intervals of equal length."""

from __future__ import annotations

from typing import Any

__all__ = ["TimeSeries"]

_MOST = 120


class TimeSeries:
    """Counts by interval. Intervals get twice as long when there are too many of them."""

    def __init__(self) -> None:
        self._seconds = 1.0
        # By number of the interval: decided, observed, sum of rewards, expired.
        self._rows: dict[int, list[float]] = {}
        self._last = -1
        self._row: list[float] = []

    def add(self, time: float, column: int, amount: float = 1.0) -> None:
        """Add to a column of the interval of `time`, which is never before the last one."""
        number = int(time // self._seconds)
        if number != self._last:
            row = self._rows.get(number)
            if row is None:
                while self._rows and number - min(self._rows) >= _MOST:
                    self._merge()
                    number = int(time // self._seconds)
                row = self._rows.setdefault(number, [0.0, 0.0, 0.0, 0.0])
            self._row = row
            self._last = number
        self._row[column] += amount

    def _merge(self) -> None:
        """Intervals of twice the length."""
        self._seconds *= 2
        merged: dict[int, list[float]] = {}
        for number, row in self._rows.items():
            total = merged.setdefault(number // 2, [0.0, 0.0, 0.0, 0.0])
            for column, value in enumerate(row):
                total[column] += value
        self._rows = merged
        self._last = -1

    @property
    def seconds(self) -> float:
        """The length of an interval."""
        return self._seconds

    def rows(self) -> list[tuple[float, list[float]]]:
        """Where each interval begins, and decided, observed, sum of rewards, expired."""
        return [(number * self._seconds, row) for number, row in sorted(self._rows.items())]

    def state(self) -> dict[str, Any]:
        """All of it, as plain data."""
        rows = [[number, *row] for number, row in self._rows.items()]
        return {"seconds": self._seconds, "rows": rows}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned."""
        self._seconds = state["seconds"]
        self._rows = {number: list(row) for number, *row in state["rows"]}
        self._last = -1
