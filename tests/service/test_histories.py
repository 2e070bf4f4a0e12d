"""Whatever is asked of a bandit, also in vain: its log makes it again, to the last bit."""

import asyncio
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pytest

from matroid_bandits import catalog
from matroid_bandits._core.policies.contract import decisions
from matroid_bandits.service import bandit_queue
from matroid_bandits.service.labels import label_of
from matroid_bandits.service.replay import first_difference

from .in_process import Clock, Service

# So many histories of each policy; HISTORIES=100 is the long form.
N_HISTORIES = int(os.environ.get("HISTORIES", "6"))
N_STEPS = 60

POLICIES: list[Any] = [
    *(name for name, cls in catalog.POLICIES.items() if not catalog.takes_features(cls)),
    *(f"MAUB(index={index}, seed=3)" for index in catalog.INDICES),
    # Those that know how often an element was observed.
    *(
        f"OMM(index={index}, pending=count)"
        for index in catalog.INDICES
        if index not in ("mean", "imed")
    ),
    "MAUB(noise=0.3, window=20)",
    "MAUB(index=kl, discount=0.9)",
    "MAUB(noise=0.1, restart=glr)",
    "CTS(window=15, seed=2)",
    "MAUB(neighborhood=paper, index=kl)",
    "MAUB(exchanges=all, noise=0.3, pending=count)",
    "MAUB(exchanges=2, index=kl)",
    {"type": "MAUB", "index": {"type": "kl", "c": 0.5}, "pending": "count"},
    "CTS(prior=gaussian, noise=0.3, seed=5, pending=count)",
    "CUCB(pending=count)",
    "KLOSM(pending=count)",
    "ESCB(method=sweep)",
    "ESCB(method=exact, pending=count)",
    "EpsilonGreedy(epsilon=0.5)",
    "FasterCUCB(eps=0.7, pending=count)",
    "OSUB(index=ucb, pending=count)",
]
MATROIDS = [
    "U(2,5)",
    "U(0,3)",
    "K4",
    "wheel(3)",
    "fano",
    "K4+U(1,2)",
    *(f"{family}({size})" for family in catalog.MATROIDS for size in (4, 7)),
    {"type": "partition", "groups": ["a", "a", "b", "b", "b"], "capacities": {"a": 1, "b": 2}},
    {"type": "graphic", "edges": [[0, 1], [1, 2], [2, 0], [0, 0], [2, 3]]},
]
# Of every type that JSON has.
LABELS: list[Any] = ["a", "b", "1", 1, 0, True, False, None, 0.5, []]
LABELS += [[1, "x"], {"k": [True]}, "", "\u00e9\U0001f600"]


class Request(NamedTuple):
    """A request about a bandit, and what is done with its answer, if it is granted."""

    method: str
    path: str
    body: Any
    note: Callable[[Any], None] | None = None


class History:
    """Random requests to one bandit; all that was decided is remembered."""

    def __init__(self, service: Service, clock: Clock, name: str, policy: Any, seed: int) -> None:
        self._service = service
        self._clock = clock
        self._rng = np.random.default_rng(seed)
        self._policy = policy
        self.name = name
        self.problem: dict[str, Any] = {}
        self._sets: dict[str, list[Any]] = {}
        self._answers: dict[str, Any] = {}
        self._last_feedback: dict[str, Any] = {}
        self._is_archived = False
        # The state when it was checked last, and a copy of it.
        self._kept: tuple[Any, Any] = None, None
        #: How often each code of an error came.
        self.codes: Counter[str] = Counter()
        self._sense = self._one_of(["max", "max", "min"])

    # ---- random parts ----

    def _one_of(self, values: Any) -> Any:
        return values[int(self._rng.integers(len(values)))]

    def _chance(self, probability: float) -> bool:
        return bool(self._rng.random() < probability)

    def _some(self, values: list[Any], probability: float) -> list[Any]:
        return [value for value in values if self._chance(probability)]

    def _new_problem(self) -> dict[str, Any]:
        matroid = self._one_of(MATROIDS)
        spec = {"matroid": matroid, "sense": self._sense}
        if self._chance(0.8):
            size = _size(matroid)
            order = self._rng.permutation(len(LABELS))[:size]
            spec["labels"] = [LABELS[i] for i in order]
        return spec

    def _reward(self) -> float:
        kind = self._rng.random()
        if kind < 0.03:
            return float(self._one_of([-1.0, 2.0, 1e100, -1e100]))
        if kind < 0.4:
            return float(self._rng.integers(0, 2))
        return float(self._rng.random())

    def _some_id(self) -> str:
        if self._sets and self._chance(0.9):
            return str(self._one_of(list(self._sets)[-12:]))
        return f"unknown {self._rng.integers(10)}"

    def _labels(self) -> list[Any]:
        size = _size(self.problem["matroid"])
        labels: list[Any] = self.problem.get("labels", list(range(size)))
        return labels

    # ---- requests ----

    def create(self) -> bool:
        """Create the bandit; False, if the policy is not for the problem."""
        for _ in range(20):
            self.problem = self._new_problem()
            body = {"name": self.name, "problem": self.problem, "policy": self._policy}
            reply = self._service.post("/v1/bandits", body)
            if reply.status == 201:
                return True
            assert reply.status == 422, reply.text
        return False

    def step(self) -> None:
        """One random request, or several at the same time, or something else that happens."""
        kind = self._rng.random()
        if kind < 0.02:
            self._forget()
        elif kind < 0.05:
            self._wait()
        elif kind < 0.9:
            self._send([self._random_request()])
        else:
            self._send([self._random_request() for _ in range(int(self._rng.integers(2, 8)))])

    def _random_request(self) -> Request:
        kinds: list[tuple[float, Callable[[], Request]]] = [
            (12, self._decide),
            (9, self._learn),
            (2, self._expire),
            (1, self._decide_batch),
            (1, self._learn_batch),
            (1, self._move),
            (1, self._configure),
            (2, self._look),
        ]
        weights = np.array([weight for weight, _ in kinds])
        return kinds[int(self._rng.choice(len(kinds), p=weights / weights.sum()))][1]()

    def _send(self, requests: list[Request]) -> None:
        root = f"/v1/bandits/{self.name}"
        for request, reply in zip(
            requests,
            self._service.together([(one.method, root + one.path, one.body) for one in requests]),
            strict=True,
        ):
            assert reply.status < 500, (request, reply.text)
            if reply.status >= 400:
                self.codes[reply.error["code"]] += 1
            elif request.note is not None:
                request.note(reply.json())

    # ---- decisions ----

    def _decision(self) -> dict[str, Any]:
        body: dict[str, Any] = {}
        if self._chance(0.7):
            is_old = bool(self._sets) and self._chance(0.1)
            body["id"] = self._some_id() if is_old else f"d{self._rng.integers(10**6)}"
        if self._chance(0.4):
            body["available"] = self._some(self._labels(), self._one_of([0.3, 0.7, 0.95]))
        if self._chance(0.02):
            body["available"] = [*body.get("available", []), "nobody"]
        if self._chance(0.3):
            body["allow_smaller"] = True
        if self._chance(0.3):
            body["client"] = f"client {self._rng.integers(3)}"
        if self._chance(0.1):
            body["shown"] = self._some(self._labels(), 0.4)
        return body

    def _decide(self) -> Request:
        return Request("POST", "/decisions", self._decision(), self._note_decision)

    def _note_decision(self, answer: Any) -> None:
        if "error" in answer:
            self.codes[answer["error"]["code"]] += 1
            return
        identifier = answer["id"]
        # The same id has the same answer for ever.
        assert self._answers.setdefault(identifier, answer) == answer
        self._sets[identifier] = answer.get("shown", answer["elements"])

    def _decide_batch(self) -> Request:
        decisions = [self._decision() for _ in range(int(self._rng.integers(0, 6)))]
        decisions += self._some(decisions, 0.2)
        return Request("POST", "/decisions/batch", {"decisions": decisions}, self._note_batch)

    def _note_batch(self, answer: Any) -> None:
        for item in answer["results"]:
            self._note_decision(item)

    # ---- feedback ----

    def _feedback(self, identifier: str) -> Any:
        elements = self._some(self._sets.get(identifier, []), self._one_of([0.5, 1.0]))
        if self._chance(0.04):
            elements.append(self._one_of(LABELS))
        rows = [{"element": element, "reward": self._reward()} for element in elements]
        if rows and self._chance(0.03):
            rows.append(dict(rows[0]))
        if self._chance(0.5) and all(isinstance(element, str) for element in elements):
            return {row["element"]: row["reward"] for row in rows}
        return rows

    def _reward_request(self, identifier: str) -> dict[str, Any]:
        if self._last_feedback and self._chance(0.1):
            # The same again.
            return self._last_feedback
        body = {"id": identifier, "rewards": self._feedback(identifier)}
        if self._chance(0.15):
            body["final"] = True
        self._last_feedback = body
        return body

    def _learn(self) -> Request:
        body = dict(self._reward_request(self._some_id()))
        return Request("POST", f"/decisions/{quote(body.pop('id'))}/rewards", body)

    def _learn_batch(self) -> Request:
        n = int(self._rng.integers(0, 6))
        rewards = [self._reward_request(self._some_id()) for _ in range(n)]
        rewards += self._some(rewards, 0.2)
        return Request("POST", "/rewards/batch", {"rewards": rewards}, self._note_learned)

    def _note_learned(self, answer: Any) -> None:
        for item in answer["results"]:
            if "error" in item:
                self.codes[item["error"]["code"]] += 1

    def _expire(self) -> Request:
        body = self._one_of([{}, {"reward": 0}, {"reward": self._reward()}])
        return Request("POST", f"/decisions/{quote(self._some_id())}/expire", body)

    # ---- changes ----

    def _move(self) -> Request:
        problem = self._new_problem()
        if self._chance(0.3):
            # The same matroid, with other labels in another order.
            size = _size(self.problem["matroid"])
            order = self._rng.permutation(len(LABELS))[:size].tolist()
            problem = self.problem | {"labels": [LABELS[i] for i in order]}
        if self._chance(0.1):
            problem = self.problem
        if self._chance(0.1):
            problem = problem | {"sense": "min" if self._sense == "max" else "max"}
        body = dict(problem)
        if self._chance(0.5):
            known = {label_of(label) for label in self._labels()}
            labels = problem.get("labels", list(range(_size(problem["matroid"]))))
            # One that is not new is refused.
            new = [x for x in labels if label_of(x) not in known or self._chance(0.03)]
            body["prior"] = [
                {"element": element, "mean": self._reward(), "count": int(self._rng.integers(5))}
                for element in self._some(new, 0.7)
            ]

        def note(answer: Any) -> None:
            self.problem = answer["problem"]

        return Request("PUT", "/problem", body, note)

    def _configure(self) -> Request:
        changes: dict[str, Any] = {
            "status": self._one_of(["active", "active", "active", "paused", "archived"]),
            "expire_after": self._one_of([None, 5, 20.5]),
            "missing_reward": self._one_of([None, 0, 0.25, -3]),
            "sticky_for": self._one_of([0, 3, 30]),
            "max_open_decisions": self._one_of([3, 10, 1000]),
        }
        body = {key: changes[key] for key in self._some(list(changes), 0.5)}
        if self._is_archived:
            body["status"] = "active"

        def note(answer: Any) -> None:
            self._is_archived = answer["status"] == "archived"

        return Request("PATCH", "", body, note)

    def _look(self) -> Request:
        paths = ["", "/explain", "/confidence", "/log", "/log?format=parquet"]
        return Request("GET", self._one_of(paths), None)

    # ---- other things that happen ----

    def _forget(self) -> None:
        """What is in memory is lost."""
        self._service.worker.queues[self.name].bandit = None

    def _wait(self) -> None:
        self._clock.now += float(self._one_of([0.001, 1.0, 6.0, 200.0]))

    # ---- what has come of it ----

    def check(self) -> None:
        """Compare the bandit with those that its log and its snapshot make."""
        service = self._service
        # A snapshot is written while the bandit goes on.
        assert first_difference(*self._kept) is None
        for use_snapshots in (False, True):
            state, made = service.live_and_from_log(self.name, use_snapshots=use_snapshots)
            assert first_difference(state, made.state()) is None
            assert made.n_differences == 0
        self._kept = state, deepcopy(state)
        # A snapshot that cannot be read is left out without a word to the user.
        for number, _ in service.run(service.worker.store.snapshots(self.name))[:1]:
            restored = service.run(bandit_queue.rebuilt(service.worker.store, self.name))
            assert restored.number >= number


def _size(matroid: Any) -> int:
    key = json.dumps(matroid)
    if key not in _SIZES:
        from matroid_bandits import matroid_from_spec  # noqa: PLC0415

        _SIZES[key] = matroid_from_spec(matroid).size
    return _SIZES[key]


_SIZES: dict[str, int] = {}


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_a_bandit_made_from_its_log_is_the_same(policy, tmp_path, monkeypatch):
    monkeypatch.setattr(bandit_queue, "SNAPSHOT_EVERY", 10)
    clock = Clock()
    codes: Counter[str] = Counter()
    n_made = 0
    with Service(Path(tmp_path) / "bandits.sqlite", clock=clock) as service:
        for number in range(N_HISTORIES):
            seed = 1_000 * POLICIES.index(policy) + number
            # Closed decisions are soon forgotten, and found in the log.
            monkeypatch.setattr(decisions, "MAX_CLOSED", (10_000, 2)[number % 2])
            history = History(service, clock, f"b{number}", policy, seed)
            if not history.create():
                continue
            n_made += 1
            for step in range(N_STEPS):
                history.step()
                if step % 10 == 9:
                    history.check()
            # What would be played now is looked at, and nothing has changed.
            assert service.get(f"/v1/bandits/{history.name}/explain").status == 200
            history.check()
            codes += history.codes
    assert n_made > N_HISTORIES / 2


def test_a_snapshot_that_is_written_slowly_has_nothing_of_later_events(tmp_path, monkeypatch):
    may_write = threading.Event()
    write = bandit_queue.snapshot_bytes

    def write_later(state: dict[str, Any]) -> bytes:
        may_write.wait(60)
        return write(state)

    monkeypatch.setattr(bandit_queue, "SNAPSHOT_EVERY", 20)
    monkeypatch.setattr(bandit_queue, "snapshot_bytes", write_later)
    with Service(Path(tmp_path) / "bandits.sqlite") as service:
        # The answers of an oracle are cached, and a snapshot has them.
        problem = {"matroid": {"type": "dual", "matroid": "oracle(7)"}}
        service.create(problem=problem, policy="MAUB(index=beta, seed=3)")
        queue = service.worker.queues["news"]
        rng = np.random.default_rng(0)
        for number in range(40):
            elements = service.decide(f"d{number}").json()["elements"]
            rewards = [{"element": e, "reward": float(rng.integers(2))} for e in elements]
            assert service.learn(f"d{number}", rewards).status == 200
        saving = queue._saving
        assert saving is not None
        may_write.set()
        service.run(asyncio.wait([saving]))
        store = service.worker.store
        restored = service.run(bandit_queue.rebuilt(store, "news"))
        made = service.run(bandit_queue.rebuilt(store, "news", use_snapshots=False))
        for event in service.run(store.events("news", 0, restored.number)):
            made.apply(event)
        assert first_difference(restored.state(), made.state()) is None
