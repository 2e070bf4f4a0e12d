"""Example bandits with visitors, for a first look: a news page, and a backbone network."""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic
from typing import Any

import numpy as np

from matroid_bandits.client import Client, ServiceError

__all__ = ["Visitors"]

# Pauses between decisions, in seconds.
_PAUSE = 0.025
# So many visitors leave, and nobody hears of what they have clicked.
_LOST = 0.03

_SECTIONS = {
    "World": ["Flood in the delta", "Summit ends late", "A border reopens", "Harvest fails"],
    "Sport": ["Derby goes to extra time", "A record falls", "Coach resigns", "Rain stops play"],
    "Culture": ["Opera on a raft", "A lost novel", "Street piano", "The quiet film"],
    "Science": ["Comet tonight", "Bees remember", "Ice core speaks", "A better battery"],
}

# Longitude and latitude, in degrees.
_CITIES = {
    "Lisbon": (-9.1, 38.7),
    "Madrid": (-3.7, 40.4),
    "Paris": (2.4, 48.9),
    "London": (-0.1, 51.5),
    "Amsterdam": (4.9, 52.4),
    "Milan": (9.2, 45.5),
    "Rome": (12.5, 41.9),
    "Berlin": (13.4, 52.5),
    "Copenhagen": (12.6, 55.7),
    "Stockholm": (18.1, 59.3),
    "Warsaw": (21.0, 52.2),
    "Vienna": (16.4, 48.2),
}
_LINKS = [
    ("Lisbon", "Madrid"),
    ("Lisbon", "London"),
    ("Madrid", "Paris"),
    ("Madrid", "Milan"),
    ("Paris", "London"),
    ("Paris", "Milan"),
    ("Paris", "Amsterdam"),
    ("London", "Amsterdam"),
    ("Amsterdam", "Berlin"),
    ("Amsterdam", "Copenhagen"),
    ("Milan", "Rome"),
    ("Milan", "Vienna"),
    ("Rome", "Vienna"),
    ("Berlin", "Copenhagen"),
    ("Berlin", "Warsaw"),
    ("Berlin", "Vienna"),
    ("Copenhagen", "Stockholm"),
    ("Stockholm", "Warsaw"),
    ("Vienna", "Warsaw"),
]


class Visitors:
    """Make the example bandits, ask for decisions, and report what came of them, some of it late.

    Parameters
    ----------
    url : str
        Of the server.
    key : str, optional
    rounds : int
        Decisions of each bandit.
    """

    def __init__(self, url: str, key: str | None, rounds: int) -> None:
        self._client = Client(url, key=key)
        self._rounds = rounds
        self._rng = np.random.default_rng()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self.run, daemon=True)
        titles = [title for titles in _SECTIONS.values() for title in titles]
        self._appeal = dict(zip(titles, np.random.default_rng(2).beta(2, 8, 16), strict=True))
        self._latency = {
            link: 0.012 * float(np.hypot(*np.subtract(_CITIES[link[0]], _CITIES[link[1]]))) * 60
            for link in _LINKS
        }

    def start(self) -> None:
        """Run in a thread."""
        self._thread.start()

    def stop(self) -> None:
        """End soon."""
        self._is_over.set()

    def run(self) -> None:
        """Make all decisions, at an even pace."""
        try:
            self._create()
            late: deque[tuple[float, Any, dict[str, float]]] = deque()
            for _ in range(self._rounds):
                if self._is_over.wait(_PAUSE):
                    break
                self._visit_page(late)
                self._use_network()
        except ServiceError:
            # The server has ended, or refuses us.
            if not self._is_over.is_set() and threading.current_thread() is not self._thread:
                raise

    def _create(self) -> None:
        groups = [section for section, titles in _SECTIONS.items() for _ in titles]
        self._client.create(
            "news",
            {
                "matroid": {"type": "partition", "groups": groups, "capacities": 1},
                "labels": list(self._appeal),
                "sense": "max",
            },
            "MAUB(index=beta)",
            expire_after=20,
        )
        self._client.create(
            "backbone",
            {
                "matroid": {"type": "graphic", "edges": [list(link) for link in _LINKS]},
                "labels": [list(link) for link in _LINKS],
                "sense": "min",
            },
            "MAUB(noise=2)",
            expire_after=60,
            coordinates={city: list(place) for city, place in _CITIES.items()},
        )

    def _visit_page(self, late: deque[tuple[float, Any, dict[str, float]]]) -> None:
        """Show a page to a visitor, whose clicks are reported up to three seconds later, or never.

        An article that was not clicked is reported as 0. If only clicks came, and zeros when a
        decision expires, all articles would look like successes until then.
        """
        page = self._client.decide("news")
        clicks = {title: float(self._rng.random() < self._appeal[title]) for title in page.elements}
        if self._rng.random() >= _LOST:
            late.append((monotonic() + 3 * self._rng.random(), page.id, clicks))
        while late and late[0][0] < monotonic():
            _, decision, given = late.popleft()
            self._client.learn("news", decision, given)

    def _use_network(self) -> None:
        """Use a spanning tree, and measure the latency of its links."""
        tree = self._client.decide("backbone")
        measured = {
            link: float(self._latency[link] + self._rng.normal(0, 2.0)) for link in tree.elements
        }
        self._client.learn("backbone", tree, measured)
