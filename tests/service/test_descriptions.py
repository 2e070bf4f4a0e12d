"""What is told about real bandits, and the pages that are made of it."""

import json
import re
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from matroid_bandits.client import ServedDecision
from matroid_bandits.service import create_app, demo
from matroid_bandits.service.commands import Configure, Decide, Expire, Learn, Move
from matroid_bandits.service.dashboard import api_page, bandit_page, error_page
from matroid_bandits.service.dashboard.formatting import ends, number
from matroid_bandits.service.dashboard.views import BanditView, DecisionView
from matroid_bandits.service.descriptions import (
    bandit_view,
    confidence,
    description,
    short_view,
)
from matroid_bandits.service.events import Event, RecordedDecision
from matroid_bandits.service.granting import ServedBandit, created
from matroid_bandits.service.labels import shown_text
from matroid_bandits.service.problems import made_problem
from matroid_bandits.service.settings import LIMITS, Settings

from .dashboard_views import news
from .html_tree import Node, check_page

START = 1_790_000_000.0
LINKS = [["Oslo", "Rome"], ["Rome", "Cork"], ["Cork", "Oslo"], ["Cork", "Wien"], ["Wien", "Rome"]]
PLACES = {"Oslo": [0, 0], "Rome": [2, 0], "Cork": [0, 1], "Wien": [3, 2]}
ARTICLES = {
    "matroid": {"type": "partition", "groups": [0, 0, 0, 1, 1, 1], "capacities": 1},
    "labels": ["flood", "summit", "border", "derby", "record", "coach"],
    "sense": "max",
}


def graph(kind: str = "graphic", links: list[Any] | None = None) -> dict[str, Any]:
    links = LINKS if links is None else links
    return {"matroid": {"type": kind, "edges": links}, "labels": links, "sense": "min"}


class Played:
    """A bandit that is played with, a second for every request."""

    def __init__(
        self,
        problem: dict[str, Any] = ARTICLES,
        policy: Any = "MAUB(index=kl)",
        coordinates: Any = None,
        **settings: Any,
    ) -> None:
        data = created(problem, policy, Settings(**settings), coordinates, LIMITS)
        self.bandit = ServedBandit("played", json.loads(data))
        self.bandit.apply(Event(1, START, "created", None, data))
        self.now = START

    def ask(self, command: Any) -> dict[str, Any]:
        self.now += 1
        return json.loads(self.bandit.handle(command, {}, self.now).text)

    def decide(self, **options: Any) -> dict[str, Any]:
        return self.ask(Decide(f"d{self.bandit.totals['decided']}", **options))

    def round(self, means: Any) -> None:
        made = self.decide()
        self.ask(Learn(made["id"], [(e, means(e)) for e in made["elements"]]))

    @property
    def latest(self) -> list[RecordedDecision]:
        events: dict[str, list[Event]] = {}
        for event in self.bandit.new_events:
            if event.decision is not None:
                events.setdefault(event.decision, []).append(event)
        return [RecordedDecision(one) for one in reversed(events.values())]

    @property
    def view(self) -> BanditView:
        return bandit_view(self.bandit, self.latest, self.now)

    @property
    def warnings(self) -> list[str]:
        return self.view.warnings


def page_of(view: BanditView) -> Node:
    return check_page(bandit_page(view, now=START + 1000))


def known(label: Any) -> float:
    """A mean for every label, between 0 and 1."""
    return (hash_of(label) % 97 + 1) / 99


def hash_of(label: Any) -> int:
    return int.from_bytes(json.dumps(label).encode(), "big")


# ---- graphs ----


@pytest.mark.parametrize("kind", ["graphic", "cographic"])
def test_a_graph_with_all_coordinates_is_drawn(kind: str) -> None:
    played = Played(graph(kind), "MAUB(noise=1)", PLACES)
    assert played.view.graph is not None
    assert not any(edge.is_in_leader for edge in played.view.graph.edges)
    for _ in range(20):
        played.round(known)
    view = played.view
    assert view.graph.vertices == [(city, *map(float, place)) for city, place in PLACES.items()]
    assert [(e.tail, e.head) for e in view.graph.edges] == [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)]
    leading = [edge.label for edge in view.graph.edges if edge.is_in_leader]
    assert leading == view.leader
    assert len(leading) == view.rank == (3 if kind == "graphic" else 2)
    means = {row.label: row.mean for row in view.elements}
    assert {edge.label: edge.mean for edge in view.graph.edges} == means
    drawn = page_of(view).one(id="drawing")
    assert len(drawn.all("g", class_="leading")) == len(leading)


@pytest.mark.parametrize(
    "coordinates", [None, {}, {city: PLACES[city] for city in ("Oslo", "Rome", "Cork")}]
)
def test_without_all_coordinates_nothing_is_drawn(coordinates: Any) -> None:
    view = Played(graph(), "MAUB(noise=1)", coordinates).view
    assert view.graph is None
    assert not page_of(view).all(id="drawing")


def test_only_graphs_are_drawn() -> None:
    assert Played(coordinates=PLACES).view.graph is None
    named = {"matroid": "K4", "labels": list("abcdef")}
    assert Played(named, "MAUB(noise=1)", PLACES).view.graph is None


def test_the_drawing_ends_with_a_city_that_has_no_place() -> None:
    played = Played(graph(), "MAUB(noise=1)", PLACES)
    spec = graph(links=[*LINKS, ["Wien", "Bern"]])
    played.ask(Move(spec, made_problem(spec, LIMITS), []))
    assert played.view.graph is None


def test_vertices_that_look_the_same_are_different() -> None:
    view = Played(graph(links=[[1, "1"], ["1", 2]]), "MAUB(noise=1)", {"1": [0, 0], "2": [1, 1]})
    assert [name for name, _, _ in view.view.graph.vertices] == ["1", "1", "2"]
    assert [(e.tail, e.head) for e in view.view.graph.edges] == [(0, 1), (1, 2)]


# ---- elements ----


@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_leader_comes_first_then_the_best(sense: str) -> None:
    played = Played({**ARTICLES, "sense": sense})
    for _ in range(40):
        played.round(known)
    played.decide()
    rows = played.view.elements
    assert [row.is_in_leader for row in rows] == [True] * 2 + [False] * 4
    for part in (rows[:2], rows[2:]):
        means = [row.mean for row in part]
        assert means == sorted(means, reverse=sense == "max")
    assert {row.label for row in rows[:2]} == set(played.view.leader)
    assert sum(row.plays for row in rows) == 2 * 41
    assert sum(row.pending for row in rows) == 2
    assert sum(row.share for row in rows) == pytest.approx(2)
    told = description(played.bandit, played.now, with_elements=True)
    assert {row.label: (row.mean, row.low, row.high, row.count) for row in rows} == {
        e["element"]: (e["mean"], e["low"], e["high"], e["count"]) for e in told["elements"]
    }


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("policy", ["MAUB(index=kl)", "MAUB(noise=1)", "OMM(noise=0.5)"])
def test_intervals_contain_the_mean_and_get_narrower(policy: str, sense: str) -> None:
    played = Played({**ARTICLES, "sense": sense}, policy)
    played.round(known)
    first = {row.label: row for row in played.view.elements}
    assert sum(row.mean is None for row in first.values()) == 4
    assert all(row.low is row.high is None for row in first.values() if row.mean is None)
    for _ in range(30):
        played.round(known)
    rows = {row.label: row for row in played.view.elements}
    assert all(row.low < row.mean < row.high for row in rows.values())
    for label, row in first.items():
        if row.low is not None:
            assert rows[label].high - rows[label].low < row.high - row.low
    # 95 %: for Gaussian noise s, s * sqrt(2 ln 40 / n) to both sides.
    if "noise" in policy:
        noise = float(re.search(r"noise=(.*)\)", policy)[1])
        row = next(iter(rows.values()))
        assert row.high - row.mean == pytest.approx(noise * np.sqrt(2 * np.log(40) / row.count))
    assert played.view.confidence == 0.95
    page = page_of(played.view)
    assert "its 95 % confidence interval" in page.one(id="elements-caption").text


@pytest.mark.parametrize("policy", ["MAUB(index=kl)", "MAUB(noise=1)", "OMM(noise=0.01)"])
def test_the_page_says_whether_one_may_stop(policy: str) -> None:
    played = Played(graph() if "noise" in policy else ARTICLES, policy, PLACES)
    question = page_of(played.view).one(id="leader").one(id="may-stop")
    assert "elements were never observed." in question.text
    for _ in range(60):
        played.round(known)
    own = played.bandit.policy.confidence()
    text = page_of(played.view).one(id="leader").one(id="may-stop").one("p").text
    is_not = "is" if own.settled else "is not"
    assert own.settled == (policy == "OMM(noise=0.01)")
    assert text.startswith(f"The best basis {is_not} settled with confidence 95 %: the statistic")
    own_name, other = (shown_text(label) for label in own.pair)
    assert f"The hardest pair is {own_name!r} in the basis and {other!r} outside" in text
    assert ("more observations" in text) != own.settled


def test_long_labels_in_the_answer() -> None:
    played = Played({"matroid": "U(1,2)", "labels": ["x" * 5000, ["y" * 5000]]}, "MAUB(noise=1)")
    for _ in range(9):
        played.round(lambda e: float(e != "x" * 5000))
    text = page_of(played.view).one(id="may-stop").one("p").text
    assert text.endswith("more observations of them would do.")
    assert len(text) < 600
    told = confidence(played.bandit, 0.05)
    assert told["pair"] == {"element": ["y" * 5000], "replaced_by": "x" * 5000}


def test_a_policy_that_knows_no_noise_has_no_intervals() -> None:
    played = Played(policy="FollowTheLeader")
    for _ in range(5):
        played.round(known)
    assert all(row.low is row.high is None for row in played.view.elements)
    caption = page_of(played.view).one(id="elements-caption").text
    assert caption == "Mean reward of every element, the leader first"
    text = page_of(played.view).one(id="may-stop").text
    assert "FollowTheLeader assumes nothing about the noise of the rewards." in text


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("seed", range(5))
def test_partners(seed: int, sense: str) -> None:
    rng = np.random.default_rng(seed)
    links = [[a, b] for a in range(6) for b in range(a) if rng.random() < 0.8] + [[0, 0]]
    links += [[k, k + 1] for k in range(5) if [k + 1, k] not in links]
    played = Played({**graph(links=links), "sense": sense}, "MAUB(noise=1)")
    for _ in range(60):
        played.round(known)
    matroid = played.bandit.problem.matroid
    rows = {row.label: row for row in played.view.elements}
    labels = [" \N{EN DASH} ".join(map(str, link)) for link in links]
    leader = [labels.index(label) for label in played.view.leader]

    def gain(e: int) -> float:
        mean = rows[labels[e]].mean
        return -np.inf if mean is None else mean if sense == "max" else -mean

    def exchanged(own: int, other: int) -> bool:
        return matroid.is_independent([other if e == own else e for e in leader])

    others = [e for e in range(len(links)) if e not in leader]
    for e in others:
        partner = rows[labels[e]].partner
        possible = [gain(own) for own in leader if exchanged(own, e)]
        if not possible:
            assert partner is None
            assert links[e] == [0, 0]
        else:
            assert exchanged(labels.index(partner), e)
            assert gain(labels.index(partner)) == min(possible)
    for own in leader:
        partner = rows[labels[own]].partner
        possible = [gain(e) for e in others if exchanged(own, e)]
        assert (partner is None) == (not possible)
        if possible:
            assert exchanged(own, labels.index(partner))
            assert gain(labels.index(partner)) == max(possible)


def test_of_many_elements_some_are_left_out() -> None:
    played = Played({"matroid": {"type": "uniform", "size": 700, "rank": 3}}, "MAUB(noise=1)")
    view = played.view
    assert (len(view.elements), view.n_elements_left_out, view.leader) == (500, 200, None)
    page = page_of(view)
    assert "and 200 more" in page.one(id="elements").text
    assert page.one(id="elements-caption").text == "Mean reward of 500 of 700 elements"


def test_the_same_in_the_list() -> None:
    played = Played(expire_after=60.0, missing_reward=0.0)
    played.round(known)
    short, long = short_view(played.bandit, played.now), played.view
    assert (short.elements, short.series, short.leader) == ([], None, None)
    own = ("leader", "may_stop", "elements", "series", "latest")
    changed = {name: getattr(short, name) for name in own}
    assert replace(long, **changed) == short


# ---- decisions ----


def why(played: Played) -> dict[str, str]:
    return {one.id: one.why for one in played.view.latest}


def test_latest_decisions_say_why() -> None:
    played = Played(policy="MAUB(noise=1)")
    for _ in range(60):
        played.round(known)
    reasons = list(why(played).values())
    assert reasons[-1] == "Elements that were not observed often enough come first."
    assert "The leader: the set that looks best so far." in reasons
    explored = [one for one in played.view.latest if " in place of " in one.why]
    assert explored
    for one in explored:
        came, went = re.fullmatch(
            r"The leader with (\w+) in place of (\w+), to learn about it\.", one.why
        ).groups()
        assert came in one.elements
        assert went not in one.elements


def test_several_exchanges_are_told_apart() -> None:
    labels = ["Ice, again", "B and C", "D", "E"]
    problem = {"matroid": {"type": "uniform", "size": 4, "rank": 2}, "labels": labels}
    played = Played(problem, "MAUB(noise=1)")
    data = {"elements": labels[2:], "round": 7, "why": {"in": labels[2:], "out": labels[:2]}}
    event = Event(2, START, "decided", "d", json.dumps(data))
    [told] = bandit_view(played.bandit, [RecordedDecision([event])], START).latest
    assert told == DecisionView(
        *("d", START, 7, ["D", "E"]),
        "The leader with “D” and “E” in place of “Ice, again” and “B and C”, to learn about them.",
        "open",
    )


def test_unavailable_elements_are_not_called_exploration() -> None:
    played = Played(policy="MAUB(noise=0.01)")
    for _ in range(60):
        played.round(known)
    best = played.view.leader[0]
    others = [label for label in ARTICLES["labels"] if label != best]
    made = played.decide(available=others)
    assert best not in made["elements"]
    assert f"in place of {best}" not in why(played)[made["id"]]


def test_sets_of_the_caller() -> None:
    played = Played()
    own = played.decide(shown=["border", "coach"])["id"]
    none = played.decide(shown=[])["id"]
    played.ask(Configure({"status": "paused"}))
    paused = played.decide()["id"]
    reasons = why(played)
    assert reasons[own] == "The caller's own set."
    assert reasons[none] == "The caller showed nothing of this set."
    assert reasons[paused] == "Paused: the caller showed a set of its own in place of this one."
    by_id = {one.id: one for one in played.view.latest}
    assert by_id[own].elements == ["border", "coach"]
    assert len(by_id[paused].elements) == 2
    assert [by_id[one].status for one in (own, none, paused)] == ["open", "closed", "closed"]


def test_policies_without_a_leader_say_what_they_are() -> None:
    played = Played(policy="RandomBasis")
    played.decide()
    [reason] = why(played).values()
    assert reason == type(played.bandit.policy).__doc__.strip().splitlines()[0]


def test_statuses_of_decisions() -> None:
    played = Played()
    ids = [played.decide()["id"] for _ in range(4)]
    elements = {one.id: one.elements for one in played.view.latest}
    played.ask(Learn(ids[0], [(e, 1.0) for e in elements[ids[0]]]))
    played.ask(Learn(ids[1], [(elements[ids[1]][0], 1.0)], final=True))
    played.ask(Expire(ids[2], 0.0))
    assert {one.id: one.status for one in played.view.latest} == dict(
        zip(ids, ("rewarded", "closed", "expired", "open"), strict=True)
    )
    page = page_of(played.view)
    [link] = [a for a in page.one("table", class_="latest").all("a") if a.text == ids[3]]
    assert link.attributes["href"] == f"/v1/bandits/played/decisions/{ids[3]}"


# ---- warnings ----


def test_nothing_is_wrong_with_a_bandit_that_learns() -> None:
    played = Played()
    assert played.warnings == []
    for _ in range(30):
        played.round(known)
    assert played.warnings == []


def test_feedback_that_never_came() -> None:
    played = Played()
    for _ in range(19):
        played.decide()
    assert played.warnings == []
    played.decide()
    assert played.warnings == ["20 decisions were made, and nothing was ever learned."]


def test_feedback_that_has_ended() -> None:
    played = Played()
    for _ in range(20):
        played.round(known)
    played.now += 3600
    # Nobody asks, so nothing can be learned.
    assert played.warnings == []
    played.decide()
    assert played.warnings == ["Decisions are made, but nothing was learned for 60 minutes."]


@pytest.mark.parametrize("missing_reward", [None, 0.0])
def test_decisions_that_expire(missing_reward: float | None) -> None:
    played = Played(expire_after=100.0, missing_reward=missing_reward)
    for _ in range(10):
        played.round(known)
    for _ in range(15):
        played.ask(Expire(played.decide()["id"], missing_reward))
    warning = "60% of all decisions expired before all their feedback had come."
    # With a reward for what is missing, that is how decisions end.
    assert played.warnings == ([warning] if missing_reward is None else [])
    page = page_of(played.view)
    kind = "expired" if missing_reward is None else "settled"
    assert page.one("div", class_=kind).text == "expired 15"
    assert page.one(id="outcome-bar").one("rect", class_=kind).text == "15 expired"
    rest = (
        ", and what is missing stays unknown."
        if missing_reward is None
        else ("; what is missing then counts as 0.")
    )
    told = page.one(id="feedback").text
    assert f"A decision without all its feedback expires after 100 s{rest}" in told


def test_decisions_that_never_expire() -> None:
    assert "without limit" in page_of(Played().view).one(id="feedback").text


def test_an_element_without_any_feedback() -> None:
    played = Played(policy="RandomBasis")
    for _ in range(200):
        made = played.decide()
        heard = [(e, 1.0) for e in made["elements"] if e != "derby"]
        played.ask(Learn(made["id"], heard, final=True))
    assert played.warnings == ["No feedback ever came for derby, though often shown."]


@pytest.mark.parametrize("memory", ["", ", window=50", ", discount=0.9", ", restart=glr"])
def test_means_that_have_changed(memory: str) -> None:
    played = Played(policy=f"MAUB(index=kl{memory})")
    for _ in range(100):
        played.round(lambda _: 1.0)
    assert played.warnings == []
    for _ in range(100):
        played.round(lambda _: 0.0)
    # Those who asked for a policy that forgets need no advice.
    assert bool(played.warnings) == (not memory)
    if not memory:
        [warning] = played.warnings
        pattern = r"Means of \d elements seem to have changed: \w+, \w+.*restart change that\."
        assert re.fullmatch(pattern, warning)
        assert warning in page_of(played.view).text


def test_open_decisions_near_the_limit() -> None:
    played = Played(max_open_decisions=10)
    for _ in range(9):
        played.decide()
    assert played.warnings == ["9 decisions wait for feedback; at 10, new ones are refused."]


def test_statuses_are_warned_of() -> None:
    played = Played()
    played.ask(Configure({"status": "paused"}))
    assert [text.partition(":")[0] for text in played.warnings] == ["Paused"]
    played.ask(Configure({"status": "archived"}))
    assert [text.partition(":")[0] for text in played.warnings] == ["Archived"]


def test_decisions_of_another_version() -> None:
    played = Played()
    played.bandit.n_differences = 3
    [warning] = played.warnings
    assert "3 decisions of the log differently" in warning


# ---- pages ----


def test_costs_are_called_costs() -> None:
    played = Played(graph(), "MAUB(noise=1)", PLACES, expire_after=60.0)
    for _ in range(30):
        played.round(known)
    played.decide()
    page = page_of(played.view)
    text = page.one("main").text
    assert "reward" not in text.lower()
    assert "lowest cost wins" in text
    assert "plays 3 of 5 elements at a time" in text
    assert "costs known" in page.one(id="feedback").text
    assert "Oslo \N{EN DASH} Rome" in text


def test_rounds_are_told_where_they_differ_from_decisions() -> None:
    assert "round" not in page_of(news()).one(id="feedback").text
    view = replace(news(), rounds=60_000)
    assert "60,000 rounds." in page_of(view).one(id="feedback").text


@pytest.mark.parametrize(
    "value, scale, text",
    [
        (0.00012345, None, "0.0001234"),
        (0.00012345, 0.5, "0.00012"),
        (0.000001, 0.5, "0"),
        (0.000006, 0.5, "0.00001"),
        (-0.00012345, 0.5, "\N{MINUS SIGN}0.00012"),
        (0.0625, 0.5, "0.06250"),
        (0.4567891, 0.5, "0.4568"),
        (2.43312, 13.46, "2.433"),
        (0.0123456, 13.46, "0.012"),
        (0.4, 123_456.0, "0"),
        (7.3, 123_456.0, "7"),
        (12.3, 1e-9, "12.30"),
        (3e-7, 5e-7, "3.000e\N{MINUS SIGN}7"),
        (0.5, float("inf"), "0.5000"),
    ],
)
def test_numbers_beside_larger_ones(value: float, scale: float | None, text: str) -> None:
    assert number(value, scale) == text


def test_long_ids_are_known_by_their_ends() -> None:
    assert ends("visit-12345678") == "visit-12345678"
    assert ends("0123456789abcdef") == "0123456…abcdef"
    assert len(ends("x" * 200)) == 14
    assert ends(" ") == "(blank)"


def test_errors_are_sentences() -> None:
    page = check_page(error_page(404, "there is no bandit 'x'"))
    assert page.one("p", class_="message").text == "There is no bandit 'x'."
    assert "password" not in page.one("main").text
    page = check_page(error_page(401, "a key is needed"))
    assert "enter the key as the password" in page.one("main").text


def test_reference() -> None:
    schema = {
        "type": "object",
        "required": ["z"],
        "properties": {
            "a": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]},
            "z": {"type": "string", "minLength": 1, "maxLength": 2},
        },
        "examples": [{"z": "q", "a": [1, "x"]}],
    }
    content = {"application/json": {"schema": schema, "example": {"a": [1, "x"], "z": "q"}}}
    route = {
        "tags": ["zebras"],
        "requestBody": {"content": content},
        "responses": {"503": {"description": "`away`"}, "200": {"description": "Here"}},
    }
    document = {
        "info": {"title": "T", "summary": "In short.", "description": "At length."},
        "paths": {"/b": {"post": route}, "/a": {"get": {"tags": ["ants"], "security": []}}},
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{"key": []}, {}],
    }
    page = check_page(api_page(document))
    head = page.one(id="head").text
    assert "In short." in head
    assert "At length." in head
    assert [h.text for h in page.all("h2")][-2:] == ["Ants", "Zebras"]
    posted = page.one("article", id="post-b")
    assert "Needs a key, if the server was started with keys." in posted.text
    assert "Needs a key" not in page.one("article", id="get-a").text
    cells = [[c.text for c in row.all("th") + row.all("td")] for row in posted.all("tr")[1:]]
    assert cells == [
        ["z required", "string", "at least 1 character; at most 2 characters"],
        ["a", "list [number, string]", ""],
    ]
    assert len(posted.all("pre")) == 1
    assert [d.text for d in posted.one("dl").all("div")] == ["200 Here", "503 away"]
    assert posted.one("dl").one("code").text == "away"


def test_answers_of_the_api_have_an_icon(tmp_path: Any) -> None:
    app = create_app(tmp_path / "bandits.sqlite")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.get("/favicon.ico")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml"


# ---- the demo ----


class Direct:
    """In place of a client: it asks bandits in this process."""

    def __init__(self, url: str, *, key: str | None) -> None:
        self.bandits: dict[str, Played] = {}

    def create(self, name: str, problem: Any, policy: Any, **settings: Any) -> None:
        coordinates = settings.pop("coordinates", None)
        self.bandits[name] = Played(problem, policy, coordinates, **settings)

    def decide(self, name: str) -> ServedDecision:
        made = self.bandits[name].decide()
        elements = [tuple(e) if isinstance(e, list) else e for e in made["elements"]]
        return ServedDecision(made["id"], tuple(elements), made["round"])

    def learn(self, name: str, decision: Any, rewards: dict[Any, float]) -> None:
        pairs = [(list(e) if isinstance(e, tuple) else e, reward) for e, reward in rewards.items()]
        self.bandits[name].ask(Learn(getattr(decision, "id", decision), pairs))


def test_the_demo_is_worth_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = count()
    monkeypatch.setattr(demo, "Client", Direct)
    monkeypatch.setattr(demo, "_PAUSE", 0.0)
    monkeypatch.setattr(demo, "monotonic", lambda: 0.01 * next(steps))
    visitors = demo.Visitors("http://127.0.0.1", None, 1500)
    visitors._rng = np.random.default_rng(0)
    visitors.run()
    news, backbone = (visitors._client.bandits[name].view for name in ("news", "backbone"))
    assert (news.decided, backbone.decided) == (1500, 1500)
    assert news.warnings == backbone.warnings == []
    # Reports are late, and a few are lost.
    assert 1200 < news.rewarded < 1480
    assert backbone.rewarded == 1500
    # Not only clicks are reported: nobody sees articles that seem to please everybody.
    clicked = {row.label: row.mean for row in news.elements}
    assert all(
        clicked[title] == pytest.approx(chance, abs=0.35)
        for title, chance in visitors._appeal.items()
    )
    assert max(clicked.values()) < 0.8
    assert backbone.graph is not None
    assert sum(edge.is_in_leader for edge in backbone.graph.edges) == 11
