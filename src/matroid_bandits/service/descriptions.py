"""What is told about a bandit: as JSON, and for the dashboard."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._core.matroids.partners import find_partners, find_replacements
from matroid_bandits.service.alerts import warnings_of
from matroid_bandits.service.dashboard.views import (
    BanditView,
    Bucket,
    DecisionView,
    EdgeView,
    ElementView,
    GraphView,
    Series,
)
from matroid_bandits.service.intervals import best_basis, intervals, leader_of, method_of
from matroid_bandits.service.labels import as_json, label_of, shown_text
from matroid_bandits.service.stopping import may_stop

if TYPE_CHECKING:
    from matroid_bandits._types import IntArray
    from matroid_bandits.policies.contract.explanation import Line
    from matroid_bandits.service.bandit import Bandit
    from matroid_bandits.service.events import RecordedDecision

__all__ = [
    "bandit_view",
    "confidence",
    "description",
    "explanation",
    "line",
    "line_without",
    "record",
    "short_view",
    "view_without",
]

# Of the intervals that are shown, and of the answer whether the best basis is settled.
_DELTA = 0.05
# More rows would not be read.
_MOST_ROWS = 500


# ---- as JSON ----


def line(bandit: Bandit) -> dict[str, Any]:
    """A bandit in a list."""
    return {
        "name": bandit.name,
        "status": bandit.settings.status,
        "policy": bandit.created["policy"],
        "rounds": bandit.policy.rounds,
        "open_decisions": bandit.n_open,
    }


def line_without(name: str, fault: str) -> dict[str, Any]:
    """A bandit in a list that cannot be loaded."""
    nothing = {"policy": None, "rounds": None, "open_decisions": None}
    return {"name": name, "status": "unavailable", **nothing, "fault": fault}


def description(bandit: Bandit, now: float, *, with_elements: bool) -> dict[str, Any]:
    """A bandit, all of it."""
    policy = bandit.policy
    leader = leader_of(policy)
    content = line(bandit) | {
        "problem": bandit.problem_spec,
        "settings": bandit.settings.content(),
        "leader": None if leader is None else _json(bandit, leader),
        "decided": bandit.totals["decided"],
        "rewarded": bandit.totals["rewarded"],
        "expired": bandit.totals["expired"],
        "seconds_since_learned": _since(bandit, now),
        "warnings": warnings_of(bandit, now),
    }
    if with_elements:
        low, high = intervals(policy, _DELTA)
        columns = (policy.means, policy.counts, low, high, bandit.plays, policy.n_pending)
        content["elements"] = [
            {
                "element": as_json(label),
                "mean": _number(mean),
                "count": count,
                "low": _number(a),
                "high": _number(b),
                "plays": plays,
                "pending": pending,
            }
            for label, mean, count, a, b, plays, pending in zip(
                bandit.problem.labels or (), *(column.tolist() for column in columns), strict=True
            )
        ]
    return content


def explanation(bandit: Bandit) -> dict[str, Any]:
    """Why the bandit would play a set now."""
    explained = bandit.policy.explain()
    return {
        "why": explained.why,
        "selected": [_explained(one) for one in explained.selected],
        "others": [_explained(one) for one in explained.others],
        "n_others": explained.n_others,
    }


def _explained(one: Line) -> dict[str, Any]:
    return {
        "element": as_json(one.element),
        "mean": _number(one.mean),
        "count": one.count,
        "index": _number(one.index),
        "partner": as_json(one.partner),
    }


def confidence(bandit: Bandit, delta: float) -> dict[str, Any]:
    """Whether the best basis is settled, and intervals of its elements and all others."""
    policy = bandit.policy
    best = best_basis(policy)
    found, text = may_stop(policy, delta)
    content: dict[str, Any] = {
        "delta": delta,
        "leader": None if best is None else _json(bandit, best),
        "settled": False,
        "statistic": None,
        "threshold": None,
        "threshold_name": "proven",
        "pair": None,
        "pair_statistic": None,
        "more_observations": None,
        "n_unobserved": _n_unobserved(bandit),
        "caveat": policy._caveat(),
        "text": text,
        "elements": [] if best is None else _intervals(bandit, delta),
        "method": method_of(policy),
    }
    if found is None:
        return content
    if found.pair is not None:
        own, other = map(as_json, found.pair)
        content["pair"] = {"element": own, "replaced_by": other}
    return content | {
        "settled": found.settled,
        "statistic": _finite(found.statistic),
        "pair_statistic": _finite(found.pair_statistic),
        "threshold": _finite(found.threshold),
        "threshold_name": found.threshold_name,
        "more_observations": found.more_observations,
    }


def _intervals(bandit: Bandit, delta: float) -> list[dict[str, Any]]:
    """Intervals that hold together with probability 1 - delta."""
    low, high = intervals(bandit.policy, delta / max(1, bandit.problem.size))
    return [
        {"element": as_json(label), "low": _number(a), "high": _number(b)}
        for label, a, b in zip(
            bandit.problem.labels or (), low.tolist(), high.tolist(), strict=True
        )
    ]


def _n_unobserved(bandit: Bandit) -> int:
    is_unknown = bandit.policy.counts == 0
    is_unknown[bandit.problem.matroid.loops] = False
    return int(is_unknown.sum())


def record(decision: RecordedDecision) -> dict[str, Any]:
    """A decision as the log has it."""
    data = decision.data
    kept = ("elements", "round", "shown", "propensities", "paused", "client")
    return {
        "id": decision.id,
        **{key: data[key] for key in kept if key in data},
        "time": decision.time,
        "status": decision.status,
        "rewards": [{"element": e, "reward": reward} for e, reward in decision.rewards],
    }


def _json(bandit: Bandit, elements: IntArray) -> list[Any]:
    return [as_json(label) for label in bandit.problem.names(elements)]


def _number(value: float) -> float | None:
    return None if isnan(value) else value


def _finite(value: float) -> float | None:
    """JSON has no infinite numbers."""
    return value if isfinite(value) else None


def _since(bandit: Bandit, now: float) -> float | None:
    return None if bandit.last_learned is None else max(0.0, now - bandit.last_learned)


# ---- for the dashboard ----


def short_view(bandit: Bandit, now: float) -> BanditView:
    """A bandit in a list."""
    problem = bandit.problem
    policy = bandit.created["policy"]
    totals = bandit.totals
    return BanditView(
        name=bandit.name,
        policy=policy if isinstance(policy, str) else json.dumps(policy),
        matroid=repr(problem.matroid),
        sense=problem.sense,
        status=bandit.settings.status,
        size=problem.size,
        rank=problem.rank,
        rounds=bandit.policy.rounds,
        decided=totals["decided"],
        rewarded=totals["rewarded"],
        pending=bandit.n_open,
        expired=totals["expired"],
        seconds_since_learned=_since(bandit, now),
        warnings=warnings_of(bandit, now),
        confidence=1 - _DELTA,
        expire_after=bandit.settings.expire_after,
        missing_reward=bandit.settings.missing_reward,
    )


def view_without(name: str, fault: str) -> BanditView:
    """A bandit in a list that cannot be loaded."""
    return BanditView(name, "", "", "max", "unavailable", *(0,) * 7, None, warnings=[fault])


def bandit_view(bandit: Bandit, latest: list[RecordedDecision], now: float) -> BanditView:
    """A bandit with everything that its page shows."""
    leader = leader_of(bandit.policy)
    shown = _shown_elements(bandit, leader)
    labels = bandit.problem.labels or ()
    return replace(
        short_view(bandit, now),
        leader=None if leader is None else [shown_text(labels[e]) for e in leader.tolist()],
        may_stop=may_stop(bandit.policy, _DELTA)[1],
        elements=_element_views(bandit, leader, shown),
        n_elements_left_out=bandit.problem.size - len(shown),
        series=Series(
            bandit.series.seconds,
            [
                Bucket(start, int(row[0]), int(row[1]), row[2], int(row[3]))
                for start, row in bandit.series.rows()
            ],
        ),
        latest=[_decision_view(one, bandit) for one in latest],
        graph=_graph(bandit, leader),
    )


def _shown_elements(bandit: Bandit, leader: IntArray | None) -> IntArray:
    """The leader first, then by mean, the best first; those never observed last."""
    gains = bandit.problem.gains(bandit.policy.means)
    key = np.where(np.isnan(gains), -np.inf, gains)
    is_other = np.ones(bandit.problem.size, dtype=bool)
    if leader is not None:
        is_other[leader] = False
    order = np.lexsort((-key, is_other))
    shown: IntArray = order[:_MOST_ROWS]
    return shown


def _element_views(bandit: Bandit, leader: IntArray | None, shown: IntArray) -> list[ElementView]:
    policy, labels = bandit.policy, bandit.problem.labels or ()
    low, high = intervals(policy, _DELTA)
    means, counts, pending = policy.means, policy.counts, policy.n_pending
    partner = {} if leader is None else _partners(bandit, leader, shown)
    in_leader = set() if leader is None else set(leader.tolist())
    n_decisions = max(1, bandit.totals["decided"])
    return [
        ElementView(
            label=shown_text(labels[e]),
            mean=_number(float(means[e])),
            low=_number(float(low[e])),
            high=_number(float(high[e])),
            count=int(counts[e]),
            plays=int(bandit.plays[e]),
            pending=int(pending[e]),
            share=float(bandit.plays[e]) / n_decisions,
            partner=shown_text(labels[partner[e]]) if partner.get(e, -1) >= 0 else None,
            is_in_leader=e in in_leader,
        )
        for e in shown.tolist()
    ]


def _partners(bandit: Bandit, leader: IntArray, shown: IntArray) -> dict[int, int]:
    """What would replace an element of the leader, and what any other would replace."""
    matroid = bandit.problem.matroid
    gains = bandit.problem.gains(bandit.policy.means)
    key = np.where(np.isnan(gains), -np.inf, gains)
    is_other = np.ones(bandit.problem.size, dtype=bool)
    is_other[leader] = False
    is_other[matroid.loops] = False
    others = np.flatnonzero(is_other)
    best_first = others[np.argsort(-key[others], kind="stable")]
    weakest_first = leader[np.argsort(key[leader], kind="stable")]
    kernel = matroid._new_kernel()
    wanted = shown[is_other[shown]]
    replacements = find_replacements(kernel, weakest_first, best_first)
    partners = find_partners(kernel, weakest_first, wanted)
    return dict(zip(weakest_first.tolist(), replacements.tolist(), strict=True)) | dict(
        zip(wanted.tolist(), partners.tolist(), strict=True)
    )


def _decision_view(decision: RecordedDecision, bandit: Bandit) -> DecisionView:
    data = decision.data
    return DecisionView(
        id=decision.id,
        time=decision.time,
        round=data["round"],
        elements=[shown_text(element) for element in decision.elements or data["elements"]],
        why=_why(data, bandit),
        status=decision.status,
    )


def _why(data: dict[str, Any], bandit: Bandit) -> str:
    """Why a set was decided for, in words."""
    why = data.get("why")
    if "shown" in data:
        return _why_not_its_own(data)
    if why == "initial":
        return "Elements that were not observed often enough come first."
    if why == "leader":
        return "The leader: the set that looks best so far."
    if isinstance(why, dict):
        came, went = (_listed(why[key]) for key in ("in", "out"))
        them = "it" if len(why["in"]) == 1 else "them"
        return f"The leader with {came} in place of {went}, to learn about {them}."
    return (type(bandit.policy).__doc__ or "").strip().partition("\n")[0]


def _listed(labels: list[Any]) -> str:
    """Labels in a sentence; where there are several, quotes show where each ends."""
    texts = [shown_text(label) for label in labels]
    if len(texts) < 2:
        return "".join(texts) or "nothing"
    *others, last = (
        f"\N{LEFT DOUBLE QUOTATION MARK}{text}\N{RIGHT DOUBLE QUOTATION MARK}" for text in texts
    )
    return f"{', '.join(others)} and {last}"


def _why_not_its_own(data: dict[str, Any]) -> str:
    """Why a set of the bandit was not shown."""
    if data["shown"]:
        return "The caller's own set."
    if data.get("paused"):
        return "Paused: the caller showed a set of its own in place of this one."
    return "The caller showed nothing of this set."


def _graph(bandit: Bandit, leader: IntArray | None) -> GraphView | None:
    """The graph, if the problem is one and the coordinates of its vertices were given."""
    coordinates = bandit.created.get("coordinates")
    matroid = bandit.problem_spec["matroid"]
    edges = matroid.get("edges") if isinstance(matroid, dict) else None
    is_graph = isinstance(matroid, dict) and matroid.get("type") in {"graphic", "cographic"}
    if not coordinates or not is_graph or not isinstance(edges, list):
        return None
    number: dict[Any, int] = {}
    for edge in edges:
        for vertex in edge:
            number.setdefault(label_of(vertex), len(number))
    texts = [shown_text(vertex) for vertex in number]
    if not all(text in coordinates for text in texts):
        return None
    means, labels = bandit.policy.means.tolist(), bandit.problem.labels or ()
    in_leader = set() if leader is None else set(leader.tolist())
    return GraphView(
        vertices=[(text, *coordinates[text]) for text in texts],
        edges=[
            EdgeView(
                tail=number[label_of(edge[0])],
                head=number[label_of(edge[1])],
                label=shown_text(labels[e]),
                is_in_leader=e in in_leader,
                mean=_number(means[e]),
            )
            for e, edge in enumerate(edges)
        ],
    )
