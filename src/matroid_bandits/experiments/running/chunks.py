"""Chunks of tasks that take about two seconds, by what runs took so far."""

from collections import deque
from collections.abc import Iterable

from matroid_bandits.experiments.study import Task

__all__ = ["ChunkMaker"]

# Long enough that handing over a chunk costs nothing beside it; what a lost worker costs.
_SECONDS = 2.0

# An answer of so many runs still fits into a message.
_MOST_TASKS = 1000


class ChunkMaker:
    """Divides tasks into chunks.

    Parameters
    ----------
    tasks : iterable of Task
        In the order in which they are to be run.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting = deque(tasks)
        # Runs and seconds so far, by instance and policy.
        self._seen: dict[tuple[str, str], list[float]] = {}
        self._waiting_of: dict[tuple[str, str], int] = {}
        for task in self._waiting:
            pair = task[:2]
            self._waiting_of[pair] = self._waiting_of.get(pair, 0) + 1

    def __len__(self) -> int:
        return len(self._waiting)

    def note(self, task: Task, seconds: float) -> None:
        """Learn how long a run took."""
        seen = self._seen.setdefault(task[:2], [0, 0.0])
        seen[0] += 1
        seen[1] += seconds

    def expected(self, task: Task) -> float | None:
        """The expected seconds of a run; None before the first run of its kind."""
        seen = self._seen.get(task[:2])
        return None if seen is None else seen[1] / seen[0]

    def take(self, n_workers: int) -> list[Task]:
        """The next chunk, for one of `n_workers`; empty if no task is waiting.

        A run of a kind that was not seen yet is a chunk of its own. Towards the end chunks get
        smaller, so that all workers have something to do.
        """
        left = sum(
            count * self._seen[pair][1] / self._seen[pair][0]
            for pair, count in self._waiting_of.items()
            if pair in self._seen
        )
        limit = min(_SECONDS, left / (2 * n_workers))
        chunk: list[Task] = []
        total = 0.0
        while self._waiting and len(chunk) < _MOST_TASKS:
            seconds = self.expected(self._waiting[0])
            if chunk and (seconds is None or total + seconds > limit):
                break
            task = self._waiting.popleft()
            self._waiting_of[task[:2]] -= 1
            chunk.append(task)
            if seconds is None:
                break
            total += seconds
        return chunk
