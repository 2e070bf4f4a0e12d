"""The forms of requests and answers, literally."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits._core.policies.contract import decisions
from matroid_bandits._snapshots import content_of, snapshot_bytes
from matroid_bandits.policies.contract import explanation

from .in_process import NEWS, Clock, Service

# 1, true and "1" are different; 1.0 is 1.
LABELS: list[Any] = ["1", 1, True, None, 0.5, ["a", 1], {"k": [None], "j": 2}, False]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> Iterator[Service]:
    with Service(tmp_path / "bandits.sqlite", clock=clock) as running:
        assert running.create().status == 201
        yield running


# ---- bandits ----


def test_create(service: Service) -> None:
    made = service.create("other")
    assert made.status == 201
    content = made.json()
    assert content["problem"] == NEWS["problem"]
    assert (content["rounds"], content["leader"], content["open_decisions"]) == (0, None, 0)
    assert [row["element"] for row in content["elements"]] == NEWS["problem"]["labels"]
    assert content["settings"]["expire_after"] == 3600
    assert service.create("other").status == 200
    other = service.create("other", policy="OMM")
    assert (other.status, other.error["code"], other.error["place"]) == (409, "conflict", "name")
    names = [row["name"] for row in service.get("/v1/bandits").json()["bandits"]]
    assert names == ["news", "other"]


@pytest.mark.parametrize(
    "changes, place",
    [
        ({"name": "a/b"}, "name"),
        ({"name": ""}, "name"),
        ({"policy": "MUAB"}, "policy"),
        ({"policy": "MAUB(indx=kl)"}, "policy"),
        ({"policy": "os:system"}, "policy"),
        ({"policy": 3}, "policy"),
        ({"problem": {"matroid": "K"}}, "problem.matroid"),
        ({"problem": {"matroid": {"type": "oracle", "size": 3}}}, "problem.matroid.type"),
        ({"problem": {"matroid": "K4", "labels": ["a"]}}, "problem"),
        ({"problem": {"matroid": "U(1,2)", "labels": [1, 1.0]}}, "problem"),
        ({"problem": {"matroid": {"type": "uniform", "rank": 1, "size": 10**12}}}, None),
        ({"problem": {"matroid": "U(1,200000)"}}, "problem.matroid"),
        ({"missing_reward": 7}, "missing_reward"),
        ({"expire_after": -1}, "expire_after"),
        ({"max_open_decisions": 10**9}, "max_open_decisions"),
        ({"expire_afer": 1}, "expire_afer"),
    ],
)
def test_mistakes_in_a_bandit(service: Service, changes: dict[str, Any], place: str | None) -> None:
    refused = service.post("/v1/bandits", NEWS | {"name": "wrong"} | changes)
    assert refused.status == 422
    assert refused.error["code"] == "invalid"
    assert place is None or refused.error["place"].startswith(place)
    assert [row["name"] for row in service.get("/v1/bandits").json()["bandits"]] == ["news"]


def test_pause_and_archive(service: Service) -> None:
    first = service.decide("a").json()
    assert service.patch("/v1/bandits/news", {"status": "paused"}).json()["status"] == "paused"
    watched = service.decide("b", shown=["summit", "derby"]).json()
    assert watched["paused"] is True
    assert watched["shown"] == ["summit", "derby"]
    assert service.learn("b", {"summit": 1}).json() == {"learned": 1, "already": 0}
    # Without a word about what was shown, nothing can be learned.
    assert service.decide("c").json()["shown"] == []
    assert service.learn("c", {"flood": 1}).status == 422
    assert service.patch("/v1/bandits/news", {"status": "archived"}).status == 200
    refused = service.decide("d")
    assert (refused.status, refused.error["code"]) == (409, "archived")
    assert service.learn("a", {"flood": 1}).error["code"] == "archived"
    # What was answered is answered again.
    assert service.decide("a").json() == first
    assert service.patch("/v1/bandits/news", {"status": "active"}).status == 200
    assert service.learn("a", {"flood": 1}).status == 200


def test_move(service: Service) -> None:
    made = service.decide("a").json()
    service.learn("a", {made["elements"][0]: 1})
    problem = {
        "matroid": {"type": "partition", "groups": ["world", "sport", "sport"], "capacities": 1},
        "labels": ["flood", "record", "comet"],
        "prior": {"comet": {"mean": 0.3, "count": 5}},
    }
    for _ in range(2):
        assert service.put("/v1/bandits/news/problem", problem).status == 200
    counts = {row["element"]: row["count"] for row in service.look()["elements"]}
    assert counts == {"flood": 1, "record": 0, "comet": 5}
    # Its element was dropped: accepted, and nothing is learned.
    assert service.learn("a", {"derby": 1}).json() == {"learned": 1, "already": 0}
    assert service.look()["open_decisions"] == 0
    assert [event["kind"] for event in service.log()].count("moved") == 1
    rows = [{"element": "opera", "mean": 0.5, "count": 2}]
    problem |= {"labels": ["flood", "record", "opera"], "prior": rows}
    assert service.put("/v1/bandits/news/problem", problem).status == 200
    assert service.look()["elements"][2]["count"] == 2
    wrong = service.put("/v1/bandits/news/problem", problem | {"labels": ["flood", "x", "x"]})
    assert wrong.status == 422


# ---- decisions ----


def test_a_decision_and_its_feedback(service: Service) -> None:
    made = service.decide("abc")
    assert made.status == 201
    assert made.json() == {"id": "abc", "elements": ["flood", "derby"], "round": 1}
    for more in ({}, {"available": ["nonsense"]}, {"shown": ["flood"]}, {"allow_smaller": True}):
        again = service.decide("abc", **more)
        assert (again.status, again.json()) == (200, made.json())
    assert service.learn("abc", {"flood": 1.0}).json() == {"learned": 1, "already": 0}
    assert service.learn("abc", {"flood": 1.0}).json() == {"learned": 0, "already": 1}
    both = [{"element": "flood", "reward": 1}, {"element": "derby", "reward": 0}]
    assert service.learn("abc", both).json() == {"learned": 1, "already": 1}
    look = service.get("/v1/bandits/news/decisions/abc").json()
    assert look["status"] == "rewarded"
    assert look["rewards"] == [
        {"element": "flood", "reward": 1.0},
        {"element": "derby", "reward": 0.0},
    ]
    kinds = [event["kind"] for event in service.log()]
    assert kinds == ["created", "decided", "rewarded", "rewarded"]


def test_an_id_is_made_where_none_is_given(service: Service) -> None:
    one, other = service.decide().json(), service.post("/v1/bandits/news/decisions").json()
    assert len(one["id"]) == 32
    assert one["id"] != other["id"]


@pytest.mark.parametrize("identifier", ["a/b c?", "\u00e9\U0001f600", "%2F", "batch", "x" * 200])
def test_ids_of_all_kinds(service: Service, identifier: str) -> None:
    assert service.decide(identifier).json()["id"] == identifier
    assert service.learn(identifier, {"flood": 1}).status == 200


@pytest.mark.parametrize("identifier", ["", "x" * 201, "a\nb", "a\0b", ".", "..", 3, ["a"]])
def test_ids_that_are_refused(service: Service, identifier: Any) -> None:
    refused = service.decide(identifier)
    assert (refused.status, refused.error["place"]) == (422, "id")


def test_feedback_that_is_refused(service: Service, clock: Clock) -> None:
    made = {one: service.decide(one, available=["flood", "derby", "record"]) for one in "abcd"}
    assert made["a"].json()["elements"] == made["c"].json()["elements"] == ["flood", "derby"]
    assert made["b"].json()["elements"] == ["flood", "record"]
    service.learn("a", {"flood": 1})
    service.learn("b", {"flood": 1}, final=True)
    service.expire("c", reward=0)
    for identifier, rewards, status, code in (
        ("a", {"flood": 0}, 409, "conflict"),
        ("a", {"record": 0}, 422, "invalid"),
        ("a", {"nothing": 0}, 422, "invalid"),
        ("a", {"derby": 7}, 422, "invalid"),
        ("a", {"derby": "1"}, 422, "invalid"),
        ("a", {"derby": True}, 422, "invalid"),
        (
            "a",
            [{"element": "derby", "reward": 1}, {"element": "derby", "reward": 1}],
            422,
            "invalid",
        ),
        ("a", "derby", 422, "invalid"),
        ("b", {"record": 0}, 410, "closed"),
        ("c", {"derby": 1}, 410, "expired"),
        ("x", {"derby": 0}, 404, "unknown_decision"),
    ):
        before = len(service.log())
        refused = service.learn(identifier, rewards)
        assert (refused.status, refused.error["code"]) == (status, code), (identifier, rewards)
        assert len(service.log()) == before
    assert service.expire("c").json() == {"expired": False}
    assert service.expire("x").status == 404
    clock.now += 3601
    assert service.learn("d", {"record": 1}).error["code"] == "expired"


def test_decisions_closed_long_ago(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MAX_CLOSED", 3)
    service.create("short")
    first = service.decide("first", "short").json()
    service.learn("first", {"flood": 1, "derby": 0}, "short")
    gone = service.decide("gone", "short").json()["elements"]
    service.expire("gone", "short", reward=0)
    for i in range(8):
        made = service.decide(f"d{i}", "short").json()
        service.learn(f"d{i}", dict.fromkeys(made["elements"], 1), "short")
    assert not service.live("short")._kernel.decisions.has("first")
    again = service.decide("first", "short")
    assert (again.status, again.json()) == (200, first)
    assert service.learn("first", {"flood": 1}, "short").json() == {"learned": 0, "already": 1}
    assert service.learn("first", {"flood": 0}, "short").status == 409
    assert service.learn("first", {"record": 0}, "short").status == 422
    assert service.learn("gone", {gone[0]: 1}, "short").error["code"] == "expired"
    assert service.expire("first", "short").json() == {"expired": False}


def test_labels_of_every_type(service: Service) -> None:
    service.create("types", problem={"matroid": "U(3,8)", "labels": LABELS})
    chosen = service.decide("a", "types", available=LABELS[1:4]).json()["elements"]
    assert chosen == LABELS[1:4]
    rewards = [{"element": label, "reward": i / 4} for i, label in enumerate(chosen)]
    assert service.learn("a", rewards, "types").json() == {"learned": 3, "already": 0}
    means = [row["mean"] for row in service.look("types")["elements"]]
    assert means == [None, 0.0, 0.25, 0.5, None, None, None, None]
    # A key of an object is a text, and 1.0 is 1.
    assert service.learn("a", {"1": 0}, "types").status == 422
    assert service.learn("a", [{"element": 1.0, "reward": 0}], "types").json()["already"] == 1
    other = service.decide("b", "types", available=LABELS[4:]).json()["elements"]
    assert other == LABELS[4:7]


def test_no_basis(service: Service) -> None:
    refused = service.decide("a", available=["flood"])
    assert (refused.status, refused.error["code"]) == (422, "no_basis")
    assert '"allow_smaller": true' in refused.error["message"]
    made = service.decide("a", available=["flood"], allow_smaller=True)
    assert made.json()["elements"] == ["flood"]
    assert service.decide("b", available=["x"]).error["place"] == "available"


def test_batches(service: Service) -> None:
    items = [{"id": "a"}, {"available": ["x"]}, {"id": "a"}, {}]
    results = service.post("/v1/bandits/news/decisions/batch", {"decisions": items}).json()
    one, wrong, again, other = results["results"]
    assert one == again
    assert wrong["error"]["code"] == "invalid"
    assert other["round"] == 2
    feedback = [
        {"id": "a", "rewards": {"flood": 1}},
        {"id": "x", "rewards": {"flood": 1}},
        {"id": "a", "rewards": {"flood": 0}},
        {"id": "a", "rewards": [{"element": "derby", "reward": 1}], "final": True},
    ]
    results = service.post("/v1/bandits/news/rewards/batch", {"rewards": feedback}).json()
    codes = [one.get("error", {}).get("code", one.get("learned")) for one in results["results"]]
    assert codes == [1, "unknown_decision", "conflict", 1]
    assert service.post("/v1/bandits/news/decisions/batch", {"decisions": []}).json() == {
        "results": []
    }
    many = {"decisions": [{}] * 1001}
    refused = service.post("/v1/bandits/news/decisions/batch", many)
    assert (refused.status, refused.error["place"]) == (422, "decisions")


def test_sticky_decisions(service: Service, clock: Clock) -> None:
    service.patch("/v1/bandits/news", {"sticky_for": 60})
    first = service.decide("a", client="visitor").json()
    assert service.decide("b", client="visitor").json() == first
    assert service.decide("c", client="somebody else").json()["id"] == "c"
    # Not if something of it cannot be shown any more.
    without = [label for label in NEWS["problem"]["labels"] if label != first["elements"][0]]
    other = service.decide("d", client="visitor", available=without)
    assert (other.status, other.json()["id"]) == (201, "d")
    assert service.decide("e", client="visitor").json()["id"] == "d"
    clock.now += 61
    assert service.decide("f", client="visitor").status == 201


def test_expiry(service: Service, clock: Clock) -> None:
    service.decide("a")
    service.learn("a", {"flood": 1})
    clock.now += 3599
    service.decide("b")
    assert service.look()["open_decisions"] == 2
    clock.now += 1
    # The next request brings it about, and so does the sweep in the background.
    service.decide("c")
    look = service.look()
    assert (look["open_decisions"], look["expired"]) == (2, 1)
    assert {row["element"]: row["mean"] for row in look["elements"]}["derby"] == 0.0
    assert service.get("/v1/bandits/news/decisions/a").json()["status"] == "expired"


def test_expiry_without_requests(service: Service, clock: Clock) -> None:
    import asyncio  # noqa: PLC0415

    service.decide("a")
    clock.now += 4000

    async def wait() -> bool:
        for _ in range(2_000):
            if service.worker.queues["news"].bandit.n_open == 0:
                return True
            await asyncio.sleep(0.01)
        return False

    assert service.run(wait())


def test_too_many_open_decisions(service: Service) -> None:
    service.patch("/v1/bandits/news", {"max_open_decisions": 2})
    assert [service.decide(one).status for one in ("a", "b", "c")] == [201, 201, 429]
    assert service.decide("a").status == 200
    service.expire("a")
    assert service.decide("c").status == 201


# ---- the same as the library ----


@pytest.mark.parametrize(
    "policy", [name for name, cls in catalog.POLICIES.items() if not catalog.takes_features(cls)]
)
@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_service_plays_as_the_library_does(tmp_path: Path, policy: str, sense: str) -> None:
    import numpy as np  # noqa: PLC0415

    rng = np.random.default_rng(7)
    labels = [f"e{i}" for i in range(10)]
    own = catalog.policy(policy)(
        mb.Problem(catalog.matroid("K5"), labels=labels, sense=sense)  # type: ignore[arg-type]
    )
    problem = {"matroid": "K5", "labels": labels, "sense": sense}
    with Service(tmp_path / "bandits.sqlite", clock=Clock()) as service:
        body = {"name": "k5", "problem": problem, "policy": policy}
        assert service.post("/v1/bandits", body).status == 201
        waiting = []
        for i in range(120):
            more = {}
            if rng.random() < 0.3:
                more["available"] = [e for e in labels if rng.random() < 0.9]
            made = service.decide(f"d{i}", "k5", **more)
            try:
                expected = own.decide(more.get("available"), id=f"d{i}")
            except mb.NoBasisError:
                assert made.error["code"] == "no_basis"
                continue
            assert made.json()["elements"] == expected.elements
            assert made.json()["round"] == expected.round
            waiting.append(expected)
            if rng.random() < 0.8:
                one = waiting.pop(rng.integers(len(waiting)))
                seen = {e: float(rng.random() < 0.5) for e in one.elements if rng.random() < 0.9}
                is_final = bool(rng.random() < 0.5)
                assert service.learn(one.id, seen, "k5", final=is_final).status == 200
                own.learn(one, seen, final=is_final)
                if rng.random() < 0.1 and waiting:
                    old = waiting.pop(0)
                    service.expire(old.id, "k5", reward=0.5)
                    own.expire(old, reward=0.5)
        rows = service.look("k5")["elements"]
        assert [row["count"] for row in rows] == own.counts.tolist()
        means = [float("nan") if row["mean"] is None else row["mean"] for row in rows]
        assert np.array_equal(means, own.means, equal_nan=True)


# ---- other routes ----


@pytest.mark.parametrize("policy", [NEWS["policy"], "OMM(noise=0.01)"])
def test_explain_and_confidence(service: Service, policy: str) -> None:
    service.create("other", policy=policy)
    for i in range(200):
        made = service.decide(f"d{i}", "other").json()
        rewards = {e: float(e in {"flood", "derby"}) for e in made["elements"]}
        service.learn(f"d{i}", rewards, "other")
    explained = service.get("/v1/bandits/other/explain").json()
    assert [row["element"] for row in explained["selected"]] == ["flood", "derby"]
    sure = service.get("/v1/bandits/other/confidence?delta=0.1").json()
    assert sure["leader"] == ["flood", "derby"]
    own = service.live("other").policy.confidence(0.1)
    assert own.settled == (policy == "OMM(noise=0.01)")
    for name in (
        *("delta", "settled", "statistic", "pair_statistic", "threshold", "threshold_name"),
        *("more_observations", "n_unobserved", "caveat"),
    ):
        assert sure[name] == getattr(own, name)
    assert (sure["pair"]["element"], sure["pair"]["replaced_by"]) == own.pair
    assert sure["text"] == str(own)
    assert len(sure["elements"]) == 4
    for row in service.look("other")["elements"]:
        assert row["low"] <= row["mean"] <= row["high"]
    assert service.get("/v1/bandits/news/confidence?delta=2").status == 422
    assert service.get("/v1/bandits/nws/explain").error["code"] == "unknown_bandit"


def test_confidence_before_everything_is_observed(service: Service) -> None:
    service.decide("a")
    sure = service.get("/v1/bandits/news/confidence").json()
    assert (sure["delta"], sure["settled"], sure["leader"], sure["elements"]) == (
        *(0.05, False, None),
        [],
    )
    assert (sure["statistic"], sure["threshold"], sure["pair"]) == (0, None, None)
    assert (sure["n_unobserved"], sure["more_observations"]) == (4, None)
    assert sure["text"] == (
        "The best basis is not settled with confidence 95 %. 4 elements were never observed."
    )


def test_confidence_if_there_is_one_basis(service: Service) -> None:
    assert service.create("one", problem={"matroid": "U(2,2)"}).status == 201
    service.decide("a", "one")
    service.learn("a", [{"element": 0, "reward": 1}, {"element": 1, "reward": 0}], "one")
    sure = service.get("/v1/bandits/one/confidence").json()
    assert (sure["settled"], sure["statistic"], sure["pair"]) == (True, None, None)
    assert sure["text"] == "There is only one basis."


@pytest.mark.parametrize(
    "policy, noise", [("FollowTheLeader", "nothing about the noise"), ("MAUB(noise=0)", "no noise")]
)
def test_confidence_of_a_policy_that_assumes_nothing(
    service: Service, policy: str, noise: str
) -> None:
    service.create("other", policy=policy)
    for i in range(9):
        made = service.decide(f"d{i}", "other").json()
        service.learn(
            f"d{i}", {e: float(e in {"flood", "derby"}) for e in made["elements"]}, "other"
        )
    sure = service.get("/v1/bandits/other/confidence").json()
    assert (sure["settled"], sure["statistic"], sure["threshold"]) == (False, None, None)
    assert (sure["leader"], sure["n_unobserved"]) == (["flood", "derby"], 0)
    assert sure["text"] == (
        f"It cannot be said whether the best basis is settled: {policy.partition('(')[0]} assumes "
        f"{noise} of the rewards. Create a bandit with a policy that does, such as MAUB(noise=0.5) "
        "or MAUB(index=kl), both for rewards between 0 and 1."
    )


def test_confidence_of_a_large_problem(service: Service, monkeypatch) -> None:
    monkeypatch.setattr(explanation, "_MOST_PAIRS", 1)
    assert service.get("/v1/bandits/news/confidence").json()["n_unobserved"] == 4
    for i in range(9):
        made = service.decide(f"d{i}").json()
        service.learn(f"d{i}", dict.fromkeys(made["elements"], 0.5))
    sure = service.get("/v1/bandits/news/confidence").json()
    assert (sure["settled"], sure["pair"], sure["threshold"]) == (False, None, None)
    assert sure["text"].startswith("It is not said here whether the best basis is settled")
    assert sure["text"] in service.get("/bandits/news").text


@pytest.mark.parametrize("which", ["log", "snapshot", "old snapshot"])
def test_elements_that_were_dropped_are_not_forgotten(
    tmp_path: Path, clock: Clock, which: str
) -> None:
    path = tmp_path / "bandits.sqlite"
    caveat = (
        "This is not valid: 2 elements were dropped when the problem changed, perhaps because of "
        "what was observed."
    )
    with Service(path, clock=clock) as service:
        service.create()
        for i in range(99):
            made = service.decide(f"d{i}").json()
            service.learn(f"d{i}", {e: float(e in {"flood", "derby"}) for e in made["elements"]})
        assert service.get("/v1/bandits/news/confidence").json()["caveat"] == ""
        moved = {"matroid": "U(1,2)", "labels": ["flood", "record"]}
        service.put("/v1/bandits/news/problem", moved)
        # Back again: what was dropped has no statistics any more.
        service.put("/v1/bandits/news/problem", NEWS["problem"])
        service.put("/v1/bandits/news/problem", {**moved, "labels": ["record", "flood"]})
        caveat = caveat.replace("2 elements", "4 elements")
        sure = service.get("/v1/bandits/news/confidence").json()
        assert sure["caveat"] == caveat
        assert sure["text"].endswith(caveat)
        assert caveat in service.get("/bandits/news").text
    with sqlite3.connect(path) as connection:
        ((data,),) = connection.execute("SELECT data FROM snapshots ORDER BY number DESC LIMIT 1")
        if which == "log":
            connection.execute("DELETE FROM snapshots")
        elif which == "old snapshot":
            content = content_of(data, "it")
            assert content.pop("n_dropped") == 4
            connection.execute("UPDATE snapshots SET data = ?", (snapshot_bytes(content),))
    connection.close()
    with Service(path, clock=clock) as service:
        assert service.get("/v1/bandits/news/confidence").json() == sure


def test_operations(service: Service) -> None:
    service.decide("a")
    service.learn("a", {"flood": 1})
    service.learn("a", {"flood": 0})
    assert service.get("/healthz").json() == {"status": "ok"}
    assert service.get("/readyz").json() == {"status": "ready"}
    text = service.get("/metrics").text
    for line in (
        'matroid_bandits_decisions_total{bandit="news"} 1.0',
        'matroid_bandits_feedback_total{bandit="news"} 1.0',
        'matroid_bandits_rewarded_total{bandit="news"} 0.0',
        'matroid_bandits_expired_total{bandit="news"} 0.0',
        'matroid_bandits_open_decisions{bandit="news"} 1.0',
        'matroid_bandits_seconds_since_learned{bandit="news"} 0.0',
        'matroid_bandits_events{bandit="news"} 3.0',
    ):
        assert f"{line}\n" in text
    for name in ("conflicts_total", "events_behind", "request_seconds_bucket", "ready"):
        assert f"matroid_bandits_{name}" in text


def test_request_ids(service: Service) -> None:
    given = service.get("/healthz", headers={"X-Request-Id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made = service.get("/healthz", headers={"X-Request-Id": "<script>"}).headers["x-request-id"]
    assert "<" not in made
    assert made != service.get("/healthz").headers["x-request-id"]


@pytest.mark.parametrize(
    "method, path, status, code",
    [
        ("GET", "/v1/bandits/nws", 404, "unknown_bandit"),
        ("GET", "/v1/bandit", 404, "unknown_route"),
        ("GET", "/v1/bandits/news/decisions/x", 404, "unknown_decision"),
        ("POST", "/v1/bandits/nws/decisions", 404, "unknown_bandit"),
        ("DELETE", "/v1/bandits/news", 405, "method_not_allowed"),
        ("GET", "/v1/bandits/news/log?format=csv", 422, "invalid"),
        ("GET", "/v1/bandits/news/log?after=-1", 422, "invalid"),
        ("GET", "/v1/bandits/news?elements=perhaps", 422, "invalid"),
    ],
)
def test_errors(service: Service, method: str, path: str, status: int, code: str) -> None:
    refused = service.request(method, path)
    assert (refused.status, refused.error["code"]) == (status, code)


@pytest.mark.parametrize(
    "method, path, body, place, hint",
    [
        ("POST", "", {"nmae": "a"}, "nmae", "did you mean name?"),
        (
            "POST",
            "",
            {"problem": {"matroid": "K3", "lables": []}},
            "problem.lables",
            "did you mean labels?",
        ),
        ("PATCH", "/news", {"staus": "paused"}, "staus", "did you mean status?"),
        ("POST", "/news/decisions", {"avaliable": []}, "avaliable", "did you mean available?"),
        ("POST", "/news/decisions", {"x" * 10**6: 1}, None, "allowed are id, available,"),
        (
            "POST",
            "/news/decisions/batch",
            {"decisions": [{}, {"show": []}]},
            "decisions.1.show",
            "did you mean shown?",
        ),
        (
            "POST",
            "/news/rewards/batch",
            {"rewards": [{"id": "a", "rewards": [{"elment": 1, "reward": 0}]}]},
            "rewards.0.rewards.0.elment",
            "did you mean element? allowed are element, reward",
        ),
        (
            "PUT",
            "/news/problem",
            {"matroid": "K3", "prior": {"mean": {"mean": 0, "cuont": 1}}},
            "prior.mean.cuont",
            "did you mean count? allowed are mean, count",
        ),
        (
            "PUT",
            "/news/problem",
            {"matroid": "K3", "prior": [{"element": 1, "mean": 0, "count": 1, "noise": 2}]},
            "prior.0.noise",
            "allowed are element, mean, count",
        ),
    ],
)
def test_unknown_keys(
    service: Service, method: str, path: str, body: Any, place: str | None, hint: str
) -> None:
    refused = service.request(method, f"/v1/bandits{path}", body)
    assert refused.status == 422
    assert place is None or refused.error["place"] == place
    assert "unknown key" in refused.error["message"]
    assert hint in refused.error["message"]


@pytest.mark.parametrize(
    "path, methods",
    [
        ("/v1/bandits", "GET, POST"),
        ("/v1/bandits/news", "GET, PATCH"),
        ("/v1/bandits/news/decisions", "POST"),
        ("/healthz", "GET"),
        ("/static/style.css", "GET, HEAD"),
    ],
)
def test_methods_that_are_not_allowed(service: Service, path: str, methods: str) -> None:
    refused = service.request("DELETE", path)
    assert (refused.status, refused.headers["allow"]) == (405, methods)
    assert f"does not take DELETE, but {methods}; see /api" in refused.error["message"]
