"""Clients of a server that may go away at any moment, over HTTP on this machine.

Each visitor is a thread with decisions of its own. A request without an answer is sent again, with
the same id, until there is one. What came is noted in a ledger.
"""

import json
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from random import Random
from typing import Any
from urllib.parse import quote, urlsplit

from .ledger import Ledger, key_of
from .processes import PATIENCE, asked, until

__all__ = ["BANDITS", "Load", "archived_and_read", "created", "under_load"]

_STORIES = [f"story-{i}" for i in range(12)]
_ROADS = [[a, b] for a in range(5) for b in range(a)]
_GROUPS = [i // 3 for i in range(12)]

#: Requests that create them: policies with and without randomness, rewards and costs, labels that
#: are texts, lists and numbers.
BANDITS: dict[str, dict[str, Any]] = {
    "news": {
        "problem": {
            "matroid": {"type": "partition", "groups": _GROUPS, "capacities": 1},
            "labels": _STORIES,
        },
        "policy": "MAUB(index=kl)",
        "expire_after": 3.0,
        "missing_reward": 0,
        "sticky_for": 1.0,
    },
    "roads": {
        "problem": {"matroid": "K5", "labels": _ROADS, "sense": "min"},
        "policy": "CTS",
        "expire_after": 2.0,
    },
    "menu": {
        "problem": {"matroid": "U(3,8)"},
        "policy": "EpsilonGreedy",
        "expire_after": 4.0,
        "missing_reward": 0,
        "max_open_decisions": 300,
    },
}

# Problems that bandits are moved to and back, with some other elements.
_OTHERS = {
    "news": {
        "matroid": {"type": "partition", "groups": _GROUPS[:-1], "capacities": 1},
        "labels": [*_STORIES[1:-1], "late-story"],
        "prior": {"late-story": {"mean": 0.5, "count": 3}},
    },
    "roads": {"matroid": "K5", "labels": [*_ROADS[1:], "ferry"], "sense": "min"},
    "menu": {"matroid": "U(3,9)"},
}

# Never 0, which is what is learned for missing feedback.
_REWARDS = (0.25, 0.5, 0.75, 1.0)


class _Visitor(threading.Thread):
    """Asks, reports, repeats, and makes mistakes on purpose."""

    def __init__(self, load: "Load", number: int, bandits: list[str]) -> None:
        super().__init__(daemon=True)
        self.ledger = Ledger()
        self._load = load
        self._number = number
        self._bandits = bandits
        self._random = Random(f"{load.seed} {number}")
        self._n_ids = 0
        self._connections: dict[str, HTTPConnection] = {}
        # Decisions that wait for feedback, with their elements that have none.
        self._open: list[tuple[str, str, list[Any]]] = []
        self._acts = [
            (self._decide, 30),
            (self._decide_again, 5),
            (self._decide_batch, 6),
            (self._learn, 30),
            (self._learn_batch, 6),
            (self._learn_again, 4),
            (self._contradict, 2),
            (self._expire, 3),
            (self._ask_for_unknown, 1),
            (self._look, 2),
            # One visitor changes bandits, now and then.
            (self._pause, 0.3 if number == 0 else 0),
            (self._move, 0.5 if number == 0 else 0),
        ]

    def run(self) -> None:
        acts, weights = zip(*self._acts, strict=True)
        try:
            for _ in range(self._load.most):
                if self._load.is_stopping.wait(self._random.random() * self._load.pause):
                    break
                self._random.choices(acts, weights)[0]()
        except Exception:  # noqa: BLE001  (the test looks at it)
            self.ledger.faults.append(traceback.format_exc())
        for connection in self._connections.values():
            connection.close()

    # ---- requests ----

    def _call(
        self, method: str, path: str, body: Any = None, *, allowed: tuple[int, ...] = (200,)
    ) -> tuple[int, Any, int]:
        """The status and the content of the answer, and how often it was asked for."""
        data = None if body is None else json.dumps(body)
        end = time.monotonic() + PATIENCE
        attempt = 0
        while time.monotonic() < end:
            attempt += 1
            answer = self._tried(method, path, data)
            if answer is None:
                time.sleep(0.01 + 0.03 * self._random.random())
                continue
            status, content = answer
            self.ledger.counts[str(status)] += 1
            if status not in allowed:
                raise AssertionError(f"{method} {path} {data}: {status} {content}")
            return status, content, attempt
        raise AssertionError(f"{method} {path} got no answer in {PATIENCE} seconds")

    def _tried(self, method: str, path: str, data: str | None) -> tuple[int, Any] | None:
        """An answer; None if the server is away, or says that its database is."""
        addresses = list(self._load.addresses)
        if not addresses:
            return None
        address = self._random.choice(addresses)
        connection = self._connections.get(address)
        if connection is None:
            connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE / 2)
            self._connections[address] = connection
        try:
            connection.request(method, path, data, {"content-type": "application/json"})
            answer = connection.getresponse()
            content = json.loads(answer.read() or b"null")
        except (OSError, HTTPException):
            self.ledger.counts["lost"] += 1
            connection.close()
            del self._connections[address]
            return None
        if answer.status == 503:
            self.ledger.counts["503"] += 1
            assert answer.headers["retry-after"] == "1"
            assert content["error"]["code"] == "unavailable"
            return None
        return answer.status, content

    # ---- decisions ----

    def _new_decision(self, bandit: str) -> dict[str, Any]:
        self._n_ids += 1
        body: dict[str, Any] = {"id": f"{self._load.seed}/{self._number}-{self._n_ids}"}
        self.ledger.requested.add((bandit, body["id"]))
        labels = BANDITS[bandit]["problem"].get("labels", list(range(8)))
        kind = self._random.random()
        if kind < 0.2:
            body["available"] = self._random.sample(labels, len(labels) - 2)
            body["allow_smaller"] = True
        elif kind < 0.25:
            # No set can be made from these; or they are not there, after a move.
            body["available"] = labels[:1]
        elif kind < 0.35:
            body["client"] = f"client-{self._number}-{self._random.randrange(5)}"
        elif kind < 0.4:
            body["shown"] = [labels[2]]
        return body

    def _note(self, bandit: str, asked: dict[str, Any], status: int, answer: Any) -> None:
        """Note the answer to a new decision."""
        if status in {200, 201}:
            self.ledger.note_decided(bandit, answer)
            if answer["id"] == asked["id"]:
                shown = answer.get("shown", answer["elements"])
                self._open.append((bandit, answer["id"], shown))
                return
            assert "client" in asked, (asked, answer)
        self.ledger.absent.add((bandit, asked["id"]))

    def _decide(self) -> None:
        bandit = self._random.choice(self._bandits)
        body = self._new_decision(bandit)
        path = f"/v1/bandits/{bandit}/decisions"
        status, answer, attempt = self._call("POST", path, body, allowed=(200, 201, 422, 429))
        assert status != 200 or attempt > 1 or "client" in body, (body, answer)
        self._note(bandit, body, status, answer)

    def _decide_again(self) -> None:
        """An id from before gets the same answer, whatever else is asked."""
        if not self.ledger.decided:
            return
        bandit, identifier = self._random.choice(list(self.ledger.decided))
        body = {"id": identifier, "available": []}
        _, answer, _ = self._call("POST", f"/v1/bandits/{bandit}/decisions", body)
        self.ledger.note_decided(bandit, answer)

    def _decide_batch(self) -> None:
        bandit = self._random.choice(self._bandits)
        items = [self._new_decision(bandit) for _ in range(self._random.randint(1, 5))]
        # One id twice in the batch, one from before, if there is one, and one mistake.
        known = [identifier for name, identifier in self.ledger.decided if name == bandit]
        again = [items[0], *({"id": one} for one in known[-1:])]
        wrong = [self._new_decision(bandit) | {"available": [], "allow_smaller": False}]
        for item in wrong:
            item.pop("client", None)
        body = {"decisions": [*items, *again, *wrong]}
        _, answer, _ = self._call("POST", f"/v1/bandits/{bandit}/decisions/batch", body)
        results = answer["results"]
        assert len(results) == len(body["decisions"])
        for item, result in zip(items + wrong, results[: len(items)] + results[-1:], strict=True):
            status = 422 if "error" in result else 201
            self._note(bandit, item, status, result)
        for result in results[len(items) : -1]:
            if "error" not in result:
                self.ledger.note_decided(bandit, result)

    # ---- feedback ----

    def _feedback(self) -> tuple[str, str, dict[str, Any], list[Any]] | None:
        """Feedback for some elements of an open decision, and the elements that are left."""
        if not self._open:
            return None
        place = self._random.randrange(len(self._open))
        bandit, identifier, elements = self._open.pop(place)
        n = self._random.randint(1, len(elements)) if elements else 0
        rewards = [
            {"element": one, "reward": self._random.choice(_REWARDS)} for one in elements[:n]
        ]
        if self._random.random() < 0.2:
            # What is known already, together with what is new.
            rewards += [
                {"element": json.loads(key[2]), "reward": reward}
                for key, reward in self.ledger.rewarded.items()
                if key[:2] == (bandit, identifier)
            ]
        body = {"rewards": rewards, "final": self._random.random() < 0.1}
        return bandit, identifier, body, elements[n:]

    def _note_feedback(
        self, bandit: str, identifier: str, body: dict[str, Any], left: list[Any], code: str | None
    ) -> None:
        if code is not None:
            assert code in {"expired", "closed"}, (identifier, body, code)
            for row in body["rewards"]:
                key = bandit, identifier, key_of(row["element"])
                if key not in self.ledger.rewarded:
                    self.ledger.not_learned.add((*key, row["reward"]))
            return
        for row in body["rewards"]:
            self.ledger.rewarded[bandit, identifier, key_of(row["element"])] = row["reward"]
        if body["final"]:
            self.ledger.closed.add((bandit, identifier))
        elif left and self._random.random() < 0.8:
            self._open.append((bandit, identifier, left))

    def _learn(self) -> None:
        found = self._feedback()
        if found is not None:
            bandit, identifier, body, left = found
            path = f"/v1/bandits/{bandit}/decisions/{quote(identifier)}/rewards"
            status, answer, _ = self._call("POST", path, body, allowed=(200, 410))
            code = answer["error"]["code"] if status == 410 else None
            self._note_feedback(bandit, identifier, body, left, code)

    def _learn_batch(self) -> None:
        some = [self._feedback() for _ in range(self._random.randint(1, 6))]
        mine: dict[str, list[Any]] = {name: [] for name in self._bandits}
        for one in some:
            if one is not None:
                mine[one[0]].append(one)
        for bandit, found in mine.items():
            items = [{"id": identifier} | body for _, identifier, body, _ in found]
            items.append({"id": "nobody's", "rewards": {}})
            path = f"/v1/bandits/{bandit}/rewards/batch"
            _, answer, _ = self._call("POST", path, {"rewards": items})
            *results, unknown = answer["results"]
            assert unknown["error"]["code"] == "unknown_decision"
            for one, result in zip(found, results, strict=True):
                code = result["error"]["code"] if "error" in result else None
                self._note_feedback(*one, code)

    def _learned(self) -> tuple[str, str, Any, float] | None:
        """Feedback that was acknowledged."""
        if not self.ledger.rewarded:
            return None
        key, reward = self._random.choice(list(self.ledger.rewarded.items()))
        return key[0], key[1], json.loads(key[2]), reward

    def _learn_again(self) -> None:
        found = self._learned()
        if found is not None:
            bandit, identifier, element, reward = found
            body = {"rewards": [{"element": element, "reward": reward}]}
            path = f"/v1/bandits/{bandit}/decisions/{quote(identifier)}/rewards"
            _, answer, _ = self._call("POST", path, body)
            assert answer == {"learned": 0, "already": 1}

    def _contradict(self) -> None:
        found = self._learned()
        if found is not None:
            bandit, identifier, element, reward = found
            body = {"rewards": [{"element": element, "reward": reward / 2}]}
            path = f"/v1/bandits/{bandit}/decisions/{quote(identifier)}/rewards"
            self._call("POST", path, body, allowed=(409, 410))

    def _expire(self) -> None:
        if self._open:
            bandit, identifier, _ = self._open.pop(self._random.randrange(len(self._open)))
            body = self._random.choice(({}, {"reward": 0}))
            path = f"/v1/bandits/{bandit}/decisions/{quote(identifier)}/expire"
            self._call("POST", path, body)
            self.ledger.closed.add((bandit, identifier))

    # ---- others ----

    def _ask_for_unknown(self) -> None:
        bandit = self._random.choice(self._bandits)
        path = f"/v1/bandits/{bandit}/decisions/nobody-{self._number}/rewards"
        self._call("POST", path, {"rewards": {}}, allowed=(404,))

    def _look(self) -> None:
        bandit = self._random.choice(self._bandits)
        for path in ("", "/explain", "/confidence"):
            self._call("GET", f"/v1/bandits/{bandit}{path}")

    def _pause(self) -> None:
        path = f"/v1/bandits/{self._random.choice(self._bandits)}"
        for status in ("paused", "active"):
            self._call("PATCH", path, {"status": status})

    def _move(self) -> None:
        bandit = self._random.choice(self._bandits)
        for problem in (_OTHERS[bandit], BANDITS[bandit]["problem"]):
            self._call("PUT", f"/v1/bandits/{bandit}/problem", problem)


class Load:
    """Visitors of some bandits.

    Parameters
    ----------
    addresses : list of str
        Of servers; the list may change.
    bandits : list of str, optional
        Some of `BANDITS`, by default all.
    seed : int
        The same seed asks the same, as far as the answers are the same.
    n_visitors : int
    pause : float
        The longest pause between two requests of a visitor, in seconds.
    most : int
        So many acts of each visitor.
    """

    def __init__(
        self,
        addresses: list[str],
        bandits: list[str] | None = None,
        *,
        seed: int = 0,
        n_visitors: int = 5,
        pause: float = 0.01,
        most: int = 20_000,
    ) -> None:
        self.addresses = addresses
        self.seed = seed
        self.pause = pause
        self.most = most
        self.is_stopping = threading.Event()
        names = list(BANDITS) if bandits is None else bandits
        self._visitors = [_Visitor(self, number, names) for number in range(n_visitors)]

    @property
    def n_answers(self) -> int:
        """How many requests were answered."""
        return sum(sum(visitor.ledger.counts.values()) for visitor in self._visitors)

    @property
    def n_unavailable(self) -> int:
        """How many were answered with 503."""
        return sum(visitor.ledger.counts["503"] for visitor in self._visitors)

    def start(self) -> None:
        """Begin."""
        for visitor in self._visitors:
            visitor.start()

    def stop(self) -> Ledger:
        """Wait until every request that is under way was answered; what came of all of them."""
        self.is_stopping.set()
        ledger = Ledger()
        for visitor in self._visitors:
            visitor.join(2 * PATIENCE)
            assert not visitor.is_alive()
            ledger.add(visitor.ledger)
        return ledger


@contextmanager
def under_load(load: Load) -> Iterator[Load]:
    """A load that ends with the context, also if the test fails."""
    load.start()
    try:
        yield load
    finally:
        load.is_stopping.set()


def created(url: str) -> None:
    """Create the bandits."""
    for name, body in BANDITS.items():
        status, content = asked(url, "/v1/bandits", {"name": name} | body)
        assert status in {200, 201}, content


def archived_and_read(urls: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What servers say about each bandit, when nothing happens to it any more."""
    for name in BANDITS:
        path = f"/v1/bandits/{name}"
        until(lambda path=path: asked(urls[0], path, {"status": "archived"}, "PATCH")[0] == 200)
    return {name: [asked(url, f"/v1/bandits/{name}")[1] for url in urls] for name in BANDITS}
