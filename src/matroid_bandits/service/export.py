"""The log of a bandit for people and programs: JSON lines, or a table in Parquet.

JSON lines have an object for each event. The table has a row for each element: `learn_log` and
`evaluate_log` read it, and so do pandas, polars and others.
"""

from __future__ import annotations

import json
from io import RawIOBase
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from matroid_bandits.service.background import in_background
from matroid_bandits.service.events import mask_from_text
from matroid_bandits.service.labels import as_json, label_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from matroid_bandits.service.events import Event
    from matroid_bandits.service.stores import EventStore

__all__ = ["FORMATS", "json_lines", "pages", "parquet", "write_parquet"]

FORMATS = ("jsonl", "parquet")

_PAGE = 1_000


async def pages(store: EventStore, name: str, after: int = 0) -> AsyncIterator[list[Event]]:
    """The events of a bandit, some at a time."""
    while events := await store.events(name, after, _PAGE):
        yield events
        after = events[-1].number


async def json_lines(store: EventStore, name: str, after: int = 0) -> AsyncIterator[bytes]:
    """The events as lines of JSON: number, time, kind, decision, and their data."""
    labels = await _labels_at(store, name, after)
    async for events in pages(store, name, after):
        lines, labels = await in_background(_lines, events, labels)
        yield lines


def _lines(events: list[Event], labels: list[Any] | None) -> tuple[bytes, list[Any] | None]:
    """The lines of some events, and the labels after them."""
    lines = []
    for event in events:
        head = {"number": event.number, "time": event.time, "kind": event.kind}
        if event.decision is not None:
            head["decision"] = event.decision
        if event.kind == "decided" and '"available"' not in event.data:
            # The data are told as they are stored, and need not be read.
            text = json.dumps(head, separators=(",", ":"))
            lines.append(f"{text[:-1]},{event.data[1:]}")
            continue
        content = event.content()
        if event.kind in {"created", "moved"}:
            labels = _labels_of(content["problem"])
        if "available" in content:
            content["available"] = _available(content["available"], labels)
        if event.kind == "rewarded":
            content["rewards"] = [
                {"element": element, "reward": reward} for element, reward in content["rewards"]
            ]
        lines.append(json.dumps(head | content, separators=(",", ":")))
    return ("\n".join(lines) + "\n").encode(), labels


async def parquet(store: EventStore, name: str, after: int = 0) -> AsyncIterator[bytes]:
    """The rows of all elements as a table in Parquet, piece by piece.

    The columns: `number` of the event, `time` (UTC), `kind`, `decision`, `round`, `element` (its
    label; as JSON, if it is not a text, or a text that is the JSON of another label), `reward`,
    `propensity`. A row of kind "decided" has no reward. The others have no propensity.
    `evaluate_log` puts them together.
    """
    table = await in_background(_Table, await _quoted(store, name))
    async for events in pages(store, name, after):
        yield await in_background(table.rows_of, events)
    yield await in_background(table.end)


async def write_parquet(store: EventStore, name: str, file: BinaryIO, after: int = 0) -> None:
    """Write the same to a file."""
    async for piece in parquet(store, name, after):
        file.write(piece)


class _Table:
    """A table in Parquet that is written while it is read: it is never in memory as a whole."""

    def __init__(self, quoted: set[str]) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415  (an extra)
            import pyarrow.parquet as pq  # noqa: PLC0415
        except ImportError as error:
            raise ImportError(
                "Parquet needs pyarrow: pip install 'matroid-bandits[service]'"
            ) from error
        self._pa = pa
        self._quoted = quoted
        self._schema = pa.schema(
            [
                ("number", pa.int64()),
                ("time", pa.timestamp("us", tz="UTC")),
                ("kind", pa.string()),
                ("decision", pa.string()),
                ("round", pa.int64()),
                ("element", pa.string()),
                ("reward", pa.float64()),
                ("propensity", pa.float64()),
            ]
        )
        self._pieces = _Pieces()
        self._writer = pq.ParquetWriter(self._pieces, self._schema)

    def rows_of(self, events: list[Event]) -> bytes:
        """The bytes that the rows of some events add."""
        heads, counts = [], []
        elements: list[str] = []
        rewards: list[float | None] = []
        propensities: list[float | None] = []
        for event in events:
            if event.kind not in {"decided", "rewarded"}:
                continue
            content = event.content()
            if event.kind == "decided":
                labels = content.get("shown", content["elements"])
                rewards += [None] * len(labels)
                propensities += content.get("propensities") or [None] * len(labels)
            else:
                labels = [label for label, _ in content["rewards"]]
                rewards += [reward for _, reward in content["rewards"]]
                propensities += [None] * len(labels)
            elements += [_text(label, self._quoted) for label in labels]
            time = round(event.time * 1e6)
            heads.append((event.number, time, event.kind, event.decision, content.get("round")))
            counts.append(len(labels))
        if heads:
            # What an event has once is repeated for each of its elements.
            repeated = self._pa.array(np.repeat(np.arange(len(heads)), counts))
            columns = [
                self._pa.array(column, field.type).take(repeated)
                for column, field in zip(zip(*heads, strict=True), self._schema, strict=False)
            ]
            columns += [elements, rewards, propensities]
            self._writer.write_table(self._pa.table(columns, schema=self._schema))
        return self._pieces.taken()

    def end(self) -> bytes:
        """The last bytes."""
        self._writer.close()
        return self._pieces.taken()


class _Pieces(RawIOBase):
    """A file whose bytes are taken away as they are written."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._written.append(bytes(data))
        self._length += len(data)
        return len(data)

    def tell(self) -> int:
        return self._length

    def taken(self) -> bytes:
        """What was written since the last call."""
        written, self._written = b"".join(self._written), []
        return written


def _text(element: Any, quoted: set[str]) -> str:
    if type(element) is int:
        return str(element)
    is_plain = isinstance(element, str) and element not in quoted
    return element if is_plain else json.dumps(element)


async def _quoted(store: EventStore, name: str) -> set[str]:
    """The texts that are the JSON of another label that the bandit has, or had: "1", if 1 is."""
    texts, written = set[str](), set[str]()

    def collect(event: Event) -> None:
        for label in _labels_of(event.content()["problem"]) or ():
            written.add(json.dumps(as_json(label_of(label))))
            if isinstance(label, str):
                texts.add(label)

    for kind in ("created", "moved"):
        for event in await store.latest(name, kind, 1_000):
            # A problem may be large: other requests do not wait.
            await in_background(collect, event)
    return texts & written


def _labels_of(problem: dict[str, Any]) -> list[Any] | None:
    """The labels of a problem; None, if they are 0, 1, 2, ..."""
    labels: list[Any] | None = problem.get("labels")
    return labels


def _available(text: str, labels: list[Any] | None) -> list[Any]:
    """The labels of available elements."""
    # Bits that fill up the last byte are 0.
    size = 6 * len(text) if labels is None else len(labels)
    elements = np.flatnonzero(mask_from_text(text, size)).tolist()
    return elements if labels is None else [labels[e] for e in elements]


async def _labels_at(store: EventStore, name: str, after: int) -> list[Any] | None:
    """The labels of the problem after an event."""
    if not after:
        return None
    made = await store.latest(name, "moved", 1, after) or await store.events(name, 0, 1)
    return _labels_of((await in_background(made[0].content))["problem"]) if made else None
