"""How long a study took, and how evenly the work was shared out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from matroid_bandits.experiments.analysis.formatting import duration
from matroid_bandits.experiments.storing.results import Results

__all__ = ["time_taken"]


class _Share(NamedTuple):
    """What one worker, or one shard, has done."""

    runs: int
    seconds: float


def time_taken(results: Results) -> str:
    """Sentences about the time from start to end, and about shards and workers.

    Empty for results of earlier versions, which do not say.
    """
    sessions = [_completed(session, results) for session in results.sessions]
    sessions = [session for session in sessions if session.get("workers")]
    if not sessions:
        return ""
    sharded = [session for session in sessions if session["shard"]]
    sentences = [_whole(sessions)]
    if sharded:
        sentences.append(_evenness("shards", _by_shard(sharded)))
    alone = [session for session in sessions if len(session["workers"]) > 1]
    if len(alone) == 1 and not sharded:
        workers = [_Share(w["runs"], w["seconds"]) for w in alone[0]["workers"].values()]
        sentences.append(_evenness("workers", workers))
    return " ".join(sentence for sentence in sentences if sentence)


def _completed(session: dict[str, Any], results: Results) -> dict[str, Any]:
    """A session; if it was cut off, with all that it had finished."""
    if "ended" in session or "last_run" not in session:
        return session
    runs = results.runs[results.runs["session"] == session["name"]]
    done = {"runs": len(runs), "seconds": float(runs["seconds"].sum())}
    workers = {"all": done} if len(runs) else {}
    return session | {"elapsed": session["last_run"], "workers": workers}


def _whole(sessions: Sequence[Mapping[str, Any]]) -> str:
    """From the first start to the last end."""
    starts = [datetime.fromisoformat(session["started"]).timestamp() for session in sessions]
    spans = [
        (start, start + session["elapsed"]) for start, session in zip(starts, sessions, strict=True)
    ]
    busy = sum(worker["seconds"] for session in sessions for worker in session["workers"].values())
    # Between sessions nothing was running: an interrupted study may have waited for days.
    covered, reached = 0.0, spans[0][0]
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    n_hosts = len({session["host"] for session in sessions})
    text = (
        f"The runs took {duration(covered)} in {len(sessions)} session{'s' * (len(sessions) > 1)}"
    )
    text += f" on {n_hosts} hosts" if n_hosts > 1 else ""
    if covered > 0:
        text += f"; {busy / covered:.1f} were under way at the same time, on average"
    return f"{text}."


def _by_shard(sessions: Sequence[Mapping[str, Any]]) -> list[_Share]:
    """A shard may have been started several times."""
    found: dict[str, _Share] = {}
    for session in sessions:
        before = found.get(session["shard"], _Share(0, 0.0))
        workers = session["workers"].values()
        found[session["shard"]] = _Share(
            before.runs + sum(worker["runs"] for worker in workers),
            before.seconds + sum(worker["seconds"] for worker in workers),
        )
    return list(found.values())


def _evenness(what: str, shares: Sequence[_Share]) -> str:
    if len(shares) < 2:
        return ""
    seconds = [share.seconds for share in shares]
    runs = [share.runs for share in shares]
    mean = sum(seconds) / len(seconds)
    spread = _range(duration(min(seconds)), duration(max(seconds)))
    text = f"The {len(shares)} {what} computed for {spread}"
    text += f" and made {_range(f'{min(runs):,}', f'{max(runs):,}')} runs each"
    if max(seconds) > 0:
        text += f"; on average {100 * mean / max(seconds):.0f} % as long as the longest"
    return f"{text}."


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
