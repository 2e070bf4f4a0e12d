"""Metrics in the format of Prometheus.

Counts of a bandit come from its log, so every worker reports the same ones. Latencies and conflicts
are those of one process, which has a label of its own: a scrape that meets several workers behind
one address must not mix them up.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric
    from starlette.types import Scope

    from matroid_bandits.service.worker import Worker

__all__ = ["Metrics"]

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """Latencies of requests, and what the log says.

    Parameters
    ----------
    worker : Worker
    """

    def __init__(self, worker: Worker) -> None:
        self.process = f"{socket.gethostname()}:{os.getpid()}"
        self._registry = CollectorRegistry()
        self._latency = Histogram(
            "matroid_bandits_request_seconds",
            "Time until a request was answered.",
            ["worker", "route", "status"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._children: dict[tuple[str, int], Histogram] = {}
        self._registry.register(_Bandits(worker, self.process))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Note how long a request took."""
        route = scope.get("route")
        # The route, not the path: names of bandits would make a series each.
        key = getattr(route, "path_format", "other"), status
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = self._latency.labels(self.process, key[0], str(status))
        child.observe(seconds)

    def text(self) -> bytes:
        """All metrics, in the text format."""
        return generate_latest(self._registry)


class _Bandits(Collector):
    """What the bandits in memory know."""

    def __init__(self, worker: Worker, process: str) -> None:
        self._worker = worker
        self._process = process

    def collect(self) -> Iterator[Metric]:
        start = "matroid_bandits_"
        decided = CounterMetricFamily(f"{start}decisions", "Decisions made.", labels=["bandit"])
        rewarded = CounterMetricFamily(
            f"{start}rewarded", "Decisions closed by their feedback.", labels=["bandit"]
        )
        expired = CounterMetricFamily(f"{start}expired", "Decisions expired.", labels=["bandit"])
        observed = CounterMetricFamily(
            f"{start}feedback", "Rewards of elements learned.", labels=["bandit"]
        )
        n_open = GaugeMetricFamily(
            f"{start}open_decisions", "Decisions that wait for feedback.", labels=["bandit"]
        )
        learned = GaugeMetricFamily(
            f"{start}seconds_since_learned", "Seconds since feedback came.", labels=["bandit"]
        )
        number = GaugeMetricFamily(f"{start}events", "Events in the log.", labels=["bandit"])
        behind = GaugeMetricFamily(
            f"{start}events_behind",
            "Events of others that this worker had still to read.",
            labels=["worker", "bandit"],
        )
        conflicts = CounterMetricFamily(
            f"{start}conflicts",
            "Feedback refused because other feedback was there.",
            labels=["worker", "bandit"],
        )
        ready = GaugeMetricFamily(f"{start}ready", "Whether it can serve.", labels=["worker"])
        ready.add_metric([self._process], float(self._worker.is_ready))
        for name, queue in self._worker.queues.items():
            behind.add_metric([self._process, name], queue.n_behind)
            conflicts.add_metric([self._process, name], queue.n_conflicts)
            bandit = queue.bandit
            if bandit is None:
                continue
            decided.add_metric([name], bandit.totals["decided"])
            rewarded.add_metric([name], bandit.totals["rewarded"])
            expired.add_metric([name], bandit.totals["expired"])
            observed.add_metric([name], bandit.totals["observed"])
            n_open.add_metric([name], bandit.n_open)
            number.add_metric([name], bandit.number)
            if bandit.last_learned is not None:
                learned.add_metric([name], max(0.0, self._worker.clock() - bandit.last_learned))
        yield from (decided, rewarded, expired, observed, n_open, learned, number)
        yield from (behind, conflicts, ready)
