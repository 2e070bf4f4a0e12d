"""A bandit: a policy with all that the service knows about it, made from its events alone.

Two bandits with the same events are the same to the last bit.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits.policies.contract.saving import restore_content
from matroid_bandits.service.events import mask_from_text
from matroid_bandits.service.labels import is_same, json_text, label_of
from matroid_bandits.service.problems import made_policy, made_problem
from matroid_bandits.service.series import TimeSeries
from matroid_bandits.service.settings import NO_LIMITS, Settings

if TYPE_CHECKING:
    from typing import Self

    from matroid_bandits._types import IntArray
    from matroid_bandits.policies import Policy
    from matroid_bandits.problem import Problem
    from matroid_bandits.service.events import Event

__all__ = ["Bandit"]

# Columns of the time series.
_DECIDED, _OBSERVED, _REWARD, _EXPIRED = range(4)


class Bandit:
    """A bandit.

    Parameters
    ----------
    name : str
    content : dict
        The data of its event "created".
    """

    def __init__(self, name: str, content: dict[str, Any]) -> None:
        self.name = name
        self.created = content
        self.settings = Settings(**content["settings"])
        #: The number of the last event.
        self.number = 0
        self.last_time = 0.0
        self.last_learned: float | None = None
        #: Decisions decided, rewarded and expired; rewards observed.
        self.totals: Counter[str] = Counter()
        #: Decisions that a version of the library would have made differently.
        self.n_differences = 0
        self.series = TimeSeries()
        # When open decisions were made, oldest first; decisions of clients, with their times.
        self._opened: dict[str, float] = {}
        self._clients: dict[str, tuple[str, float]] = {}
        self._use(content["problem"], None)

    # ---- the problem and the policy ----

    @property
    def problem(self) -> Problem[Any, Any]:
        """What may be played; labels as `label_of` makes them."""
        return self.policy.problem

    @property
    def n_open(self) -> int:
        """Open decisions."""
        return len(self._opened)

    def _use(self, spec: dict[str, Any], policy: Policy[Any] | None) -> None:
        """Use a policy for the problem `spec`; a fresh one, if it is None."""
        if policy is None:
            policy = made_policy(self.created["policy"], made_problem(spec, NO_LIMITS))
        self.problem_spec = spec
        self.policy = policy
        self._kernel = policy._kernel
        # A warning that is raised as an error would refuse what is right.
        self._kernel.feedback.hold_warnings()
        #: How often each element was decided for.
        self.plays = np.zeros(policy.problem.size, dtype=np.int64)
        self._texts = [json_text(label) for label in policy.problem.labels or ()]
        # MAUB's leader says why a set was chosen.
        self._last_leader = getattr(self._kernel, "last_leader", None)

    # ---- events ----

    def apply(self, event: Event) -> None:
        """Do what an event of the log says."""
        if event.number != self.number + 1:
            raise ValueError(f"event {self.number + 1} is missing: the next one is {event.number}")
        content = event.content()
        identifier = event.decision or ""
        match event.kind:
            case "created":
                pass
            case "decided":
                self._apply_decided(identifier, event.time, content)
            case "rewarded":
                pairs = content["rewards"]
                elements = self._elements_of([label_of(element) for element, _ in pairs])
                self._learn_elements(identifier, elements, pairs, content.get("final", False))
                self._note_rewarded(identifier, event.time, [reward for _, reward in pairs])
            case "expired":
                n_missing = len(self._kernel.decisions.missing(identifier))
                self.policy.expire([identifier], content["reward"])
                self._note_expired(identifier, event.time, content["reward"], n_missing)
            case "moved":
                prior = {label_of(label): (mean, n) for label, mean, n in content["prior"]}
                problem = made_problem(content["problem"], NO_LIMITS)
                self._note_moved(content["problem"], self.policy.moved_to(problem, prior or None))
            case "configured":
                self.settings = self.settings.changed(content["settings"])
            case _:
                raise ValueError(
                    f"event {event.number} is of the kind {event.kind!r}, which this version does "
                    "not know; install a newer one"
                )
        self.number = event.number
        self.last_time = event.time

    def _apply_decided(self, identifier: str, now: float, content: dict[str, Any]) -> None:
        """Decide again, and take what was recorded, whatever comes out."""
        problem = self.problem
        mask = None
        if "available" in content:
            mask = mask_from_text(content["available"], problem.size)
        recorded = self._numbers(content["elements"])
        shown = self._numbers(content["shown"]) if "shown" in content else recorded
        allow_smaller = content.get("allow_smaller", False)
        opened = self._kernel.open(identifier, mask, allow_smaller, self.policy._rule, shown)
        if not np.array_equal(opened[2], recorded):
            self.n_differences += 1
        position = content.get("random")
        if position is not None and self._kernel.random_position() != int(position, 16):
            self._kernel.set_random_position(int(position, 16))
        if "propensities" in content:
            # They were estimated once, and are not again.
            self._kernel.decisions.reserve_propensities()
            propensities = np.array(content["propensities"], dtype=np.float64)
            self._kernel.decisions.set_propensities(identifier, propensities)
        self._note_decided(identifier, now, shown, content.get("client"))

    def _elements_of(self, names: list[Any]) -> IntArray:
        """The numbers of names in decisions; below 0 for elements that were dropped."""
        number = self.problem._number
        try:
            return np.array([number[name] for name in names], dtype=np.intp)
        except KeyError:
            return self.policy._elements_in_decisions(names)

    def _learn_elements(
        self, identifier: str, elements: IntArray, pairs: list[Any], is_final: bool
    ) -> None:
        """Let the policy learn the rewards of `elements`, which `pairs` has."""
        rewards = np.array([reward for _, reward in pairs], dtype=np.float64)
        policy = self.policy
        if not policy._is_plain:
            rewards = policy._translation.as_rewards(rewards)
        self._kernel.learn_decision(identifier, elements, rewards, is_final, policy._hook)

    def _note_decided(
        self, identifier: str, now: float, shown: IntArray, client: str | None
    ) -> None:
        self.plays[shown] += 1
        self.totals["decided"] += 1
        self.series.add(now, _DECIDED)
        if len(shown):
            self._opened[identifier] = now
        if client is not None and self.settings.sticky_for > 0:
            self._clients.pop(client, None)
            self._clients[client] = identifier, now
            self._forget_clients(now)

    def _forget_clients(self, now: float) -> None:
        """Forget clients whose time is over; they are in the order of their decisions."""
        while self._clients:
            client, (_, made) = next(iter(self._clients.items()))
            if now < made + self.settings.sticky_for:
                break
            del self._clients[client]

    def _note_rewarded(self, identifier: str, now: float, rewards: list[float]) -> None:
        if rewards:
            self.last_learned = now
            self._note_observed(now, len(rewards), sum(rewards))
        if identifier in self._opened and not self._kernel.decisions.is_open(identifier):
            del self._opened[identifier]
            self.totals["rewarded"] += 1

    def _note_expired(
        self, identifier: str, now: float, reward: float | None, n_missing: int
    ) -> None:
        del self._opened[identifier]
        self.totals["expired"] += 1
        self.series.add(now, _EXPIRED)
        if reward is not None and n_missing:
            self._note_observed(now, n_missing, n_missing * reward)

    def _note_observed(self, now: float, n: int, total: float) -> None:
        self.totals["observed"] += n
        self.series.add(now, _OBSERVED, n)
        self.series.add(now, _REWARD, total)

    def _note_moved(self, spec: dict[str, Any], policy: Policy[Any]) -> None:
        before = dict(zip(self.problem.labels or (), self.plays.tolist(), strict=True))
        self._use(spec, policy)
        self.plays[:] = [before.get(label, 0) for label in policy.problem.labels or ()]

    # ---- parts of answers ----

    def _numbers(self, labels: list[Any]) -> IntArray:
        number = self.problem._number
        return np.array([number[label_of(label)] for label in labels], dtype=np.intp)

    # ---- snapshots ----

    def state(self) -> dict[str, Any]:
        """All of it, as a snapshot has it."""
        kernel_state = self._kernel.state()
        former = [json_text(label) for label in kernel_state["former"]]
        return {
            "name": self.name,
            "created": json.dumps(self.created),
            "problem": json.dumps(self.problem_spec),
            "settings": self.settings.content(),
            "number": self.number,
            "last_time": self.last_time,
            "last_learned": self.last_learned,
            "totals": dict(self.totals),
            "n_differences": self.n_differences,
            "series": self.series.state(),
            "opened": [[identifier, made] for identifier, made in self._opened.items()],
            "clients": [[client, *entry] for client, entry in self._clients.items()],
            "plays": self.plays.copy(),
            "kernel": kernel_state | {"former": former},
            "n_dropped": self.policy._n_dropped,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The bandit with a state that `state` returned and a snapshot has kept."""
        if "n_dropped" not in state:
            raise ValueError(
                "an earlier version has saved it, without the number of elements dropped"
            )
        bandit = cls(state["name"], json.loads(state["created"]))
        problem = json.loads(state["problem"])
        if not is_same(problem, bandit.problem_spec):
            policy = made_policy(bandit.created["policy"], made_problem(problem, NO_LIMITS))
            bandit._use(problem, policy)
        kernel = state["kernel"]
        former = [label_of(json.loads(text)) for text in kernel["former"]]
        # The policy checks it like one that was read from a file.
        restore_content(
            bandit.policy,
            {
                "state": kernel | {"former": former},
                "own": None,
                "n_dropped": state["n_dropped"],
            },
        )
        bandit.settings = Settings(**state["settings"])
        for name in ("number", "last_time", "last_learned", "n_differences"):
            setattr(bandit, name, state[name])
        bandit.totals = Counter(state["totals"])
        bandit.series.restore(state["series"])
        bandit._opened = dict(state["opened"])
        bandit._clients = {client: (one, made) for client, one, made in state["clients"]}
        bandit.plays[:] = state["plays"]
        return bandit
