"""The log of a bandit for people and programs: JSON lines, or a table in Parquet.

JSON lines have an object for each event. The table has a row for each element: `learn_log` and
`evaluate_log` read it, and so do pandas, polars and others.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from matroid_bandits.service.events import mask_from_text
from matroid_bandits.service.labels import as_json, label_of

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator

    from matroid_bandits.service.events import Event
    from matroid_bandits.service.stores import EventStore

__all__ = ["FORMATS", "json_lines", "pages", "write_parquet"]

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
        lines = []
        for event in events:
            content = event.content()
            if event.kind in {"created", "moved"}:
                labels = _labels_of(content["problem"])
            if "available" in content:
                content["available"] = _available(content["available"], labels)
            if event.kind == "rewarded":
                content["rewards"] = [
                    {"element": element, "reward": reward} for element, reward in content["rewards"]
                ]
            head = {"number": event.number, "time": event.time, "kind": event.kind}
            if event.decision is not None:
                head["decision"] = event.decision
            lines.append(json.dumps(head | content, separators=(",", ":")))
        yield ("\n".join(lines) + "\n").encode()


async def write_parquet(
    store: EventStore, name: str, file: str | os.PathLike[str] | BinaryIO, after: int = 0
) -> None:
    """Write the rows of all elements to a file.

    The columns: `number` of the event, `time` (UTC), `kind`, `decision`, `round`, `element` (its
    label; as JSON, if it is not a text, or a text that is the JSON of another label), `reward`,
    `propensity`. A row of kind "decided" has no reward. The others have no propensity.
    `evaluate_log` puts them together.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415  (an extra)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "Parquet needs pyarrow: pip install 'matroid-bandits[service]'"
        ) from error
    schema = pa.schema(
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
    quoted = await _quoted(store, name)
    with pq.ParquetWriter(file, schema) as writer:
        async for events in pages(store, name, after):
            rows = [row for event in events for row in _rows(event, quoted)]
            columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * len(schema)
            writer.write_table(pa.table(columns, schema=schema))


def _rows(event: Event, quoted: set[str]) -> list[tuple[Any, ...]]:
    if event.kind not in {"decided", "rewarded"}:
        return []
    content = event.content()
    if event.kind == "decided":
        elements = content.get("shown", content["elements"])
        propensities = content.get("propensities") or [None] * len(elements)
        rows = [(name, None, p) for name, p in zip(elements, propensities, strict=True)]
    else:
        rows = [(element, reward, None) for element, reward in content["rewards"]]
    head = event.number, round(event.time * 1e6), event.kind, event.decision, content.get("round")
    return [(*head, _text(element, quoted), *values) for element, *values in rows]


def _text(element: Any, quoted: set[str]) -> str:
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
            await asyncio.to_thread(collect, event)
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
    found: list[Any] | None = None
    for kind in ("created", "moved"):
        for event in await store.latest(name, kind, 1_000):
            if event.number <= after:
                found = _labels_of(event.content()["problem"])
                break
    return found
