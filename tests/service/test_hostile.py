"""Requests that mean harm, or mean nothing: refused with a clear word, and nothing has changed."""

import json
import os
import random
import re
import socket
import struct
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import BaseModel, ValidationError

from matroid_bandits.service import schemas

from .in_process import NEWS, Clock, Reply, Service
from .processes import ServerProcess, logged_errors

# So many random bodies for each route; HOSTILE=5000 is the long form.
N_RANDOM = int(os.environ.get("HOSTILE", "200"))

# What no message to a user of HTTP has in it.
PYTHON = re.compile(
    r"Traceback|site-packages|\.py\b|\bpass |=\.\.\.|=True|decide\(\)|update\(\)|learn\(|classes="
    r"|matroid=|hashable|numpy|tuple|in Python, and|int too large|object at 0x"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "bandits.sqlite", clock=Clock()) as running:
        assert running.create().status == 201
        running.decide("first")
        yield running


def nested(value: Any, depth: int) -> Any:
    return reduce(lambda inner, _: [inner], range(depth), value)


def refused(reply: Reply, *statuses: int) -> dict[str, Any]:
    """The error of a reply, whose message is for users of HTTP."""
    assert reply.status in (statuses or (422,)), reply.text[:500]
    assert len(reply.content) < 3_000
    error = reply.error
    # What the user has sent may be in quotes.
    assert not PYTHON.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", error["message"])), error
    return error


# ---- bodies ----

FIRST = "/v1/bandits/news/decisions/first"


@pytest.mark.parametrize(
    "body, message",
    [
        ('{"id": "a", "id": "b"}', 'an object has the key "id" twice; give each key once'),
        (
            '{"available": [{"k": 1, "k": 2}]}',
            'an object has the key "k" twice; give each key once',
        ),
        ('{"available": [1e999]}', "1e999 is too large for a number"),
        ('{"available": [[-1e400]]}', "-1e400 is too large for a number"),
        ('{"available": [' + "9" * 400 + ".0]}", "9" * 60 + " is too large for a number"),
        ('{"shown": [{"a": NaN}]}', "NaN is not a value of JSON; leave out what is not known"),
        ('{"shown": [-Infinity]}', "-Infinity is not a value of JSON; leave out what is not known"),
    ],
)
def test_what_means_nothing_certain(service: Service, body: str, message: str) -> None:
    before = service.log()
    assert refused(service.post("/v1/bandits/news/decisions", content=body))["message"] == message
    assert service.log() == before


def test_numbers_that_overflow_make_no_bandit(service: Service) -> None:
    body = '{"name": "x", "problem": {"matroid": "U(1,2)", "labels": [1e999, 1]}}'
    refused(service.post("/v1/bandits", content=body))
    assert [row["name"] for row in service.get("/v1/bandits").json()["bandits"]] == ["news"]


def test_labels_that_are_too_deep(service: Service) -> None:
    deep = nested("x", 30)
    service.patch("/v1/bandits/news", {"sticky_for": 100})
    service.decide("sticky", client="visitor")
    problem = {"matroid": "U(1,2)", "labels": ["flood", "new"]}
    rows = [{"element": deep, "reward": 1}]
    prior = [{"element": deep, "mean": 0.5, "count": 1}]
    for reply, place in (
        (service.learn("first", rows), "rewards"),
        (service.decide("x", available=[deep]), "available"),
        (service.decide("x", shown=[deep]), "shown"),
        (service.decide("x", available=[deep], client="visitor"), "available"),
        (service.put("/v1/bandits/news/problem", problem | {"prior": prior}), "prior"),
        (service.put("/v1/bandits/news/problem", problem | {"labels": [deep, 1]}), "problem"),
        (service.create("x", problem=problem | {"labels": [deep, 1]}), "problem"),
    ):
        error = refused(reply)
        assert error["message"] == "a label may be nested 20 levels deep, this is deeper"
        assert error["place"] == place


def test_a_wrong_request_does_no_harm_to_its_neighbors(service: Service) -> None:
    path = "/v1/bandits/news/decisions"
    wrong = {"rewards": [{"element": nested("x", 30), "reward": 1}]}
    requests = [("POST", path, {"id": f"d{i}"}) for i in range(5)]
    requests.insert(2, ("POST", f"{path}/first/rewards", wrong))
    statuses = [reply.status for reply in service.together(requests)]
    assert statuses == [201, 201, 422, 201, 201, 201]


@pytest.mark.parametrize(
    "form, body",
    [
        (schemas.RewardRequest, '{"rewards": [' + "1," * 5_000 + "1]}"),
        (schemas.RewardBatch, '{"rewards": [' + "1," * 5_000 + "1]}"),
        (schemas.DecisionBatch, '{"decisions": [' + "1," * 5_000 + "1]}"),
        (schemas.DecisionBatch, '{"decisions": [' + "{}," * 20_000 + "{}]}"),
        (schemas.ProblemRequest, '{"matroid": "K4", "prior": [' + "1," * 5_000 + "1]}"),
    ],
)
def test_many_mistakes_are_not_all_written_down(form: type[BaseModel], body: str) -> None:
    # Eight megabytes of them took half a minute and six gigabytes.
    with pytest.raises(ValidationError) as caught:
        form.model_validate_json(body)
    assert caught.value.error_count() <= 2


def test_many_keys_and_labels(service: Service) -> None:
    keys = {str(i): 1 for i in range(200_001)}
    error = refused(service.learn("first", keys))
    assert error["message"] == "an object has 200,001 keys; it may have 200,000 at most"
    error = refused(service.decide("x", available=[0] * 100_001))
    assert error == error | {
        "message": "has 100,001 elements; 100,000 are the most",
        "place": "available",
    }


@pytest.mark.parametrize(
    "body",
    [
        {"k" * 100_000: 1},
        {"id": "k" * 100_000},
        {"available": ["k" * 100_000]},
        {"rewards": {"k" * 100_000: "x"}},
        {"rewards": {"k" * 100_000: 1}},
        {"rewards": [{"element": "k" * 100_000, "reward": 1}]},
        {"rewards": [{"element": 1, "reward": 1, "k" * 100_000: 2}]},
        {"matroid": "k" * 100_000},
        {"matroid": {"type": "k" * 100_000}},
        {"matroid": {"type": "uniform", "k" * 100_000: 1}},
        {"matroid": "K4", "prior": {"k" * 100_000: 1}},
    ],
)
def test_long_texts_are_not_sent_back(service: Service, body: dict[str, Any]) -> None:
    for method, path in TARGETS:
        reply = service.request(method, path, body)
        refused(reply, 404, 422)


def test_places(service: Service) -> None:
    # Names of types are no places, but a label may begin like one.
    for label in ("strange", "integer", "floating", "dictionary", "nullable-x"):
        assert refused(service.learn("first", {label: "x"}))["place"] == f"rewards.{label}"
    error = refused(service.learn("first", [{"element": 1, "reward": "x"}]))
    assert error["place"] == "rewards.0.reward"
    error = refused(service.create("x", problem={"matroid": 3}))
    assert error["place"] == "problem.matroid"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "\x7f"]
)
def test_other_content_types(service: Service, kind: str) -> None:
    """Bodies are JSON, whatever they are called."""
    for body, status in (('{"id": "a"}', 201), ("id=a", 422)):
        reply = service.post(
            "/v1/bandits/news/decisions", content=body, headers={"Content-Type": kind}
        )
        assert reply.status == status


@pytest.mark.parametrize("length", ["9" * 5_000, "9" * 19, "100000000", str(2**63)])
def test_lengths_that_are_too_large(service: Service, length: str) -> None:
    reply = service.post(FIRST + "/rewards", content="{}", headers={"Content-Length": length})
    assert refused(reply, 413)["code"] == "too_large"


# ---- random bodies ----

TARGETS = [
    ("POST", "/v1/bandits"),
    ("PATCH", "/v1/bandits/news"),
    ("PUT", "/v1/bandits/news/problem"),
    ("POST", "/v1/bandits/news/decisions"),
    ("POST", "/v1/bandits/news/decisions/batch"),
    ("POST", FIRST + "/rewards"),
    ("POST", FIRST + "/expire"),
    ("POST", "/v1/bandits/news/rewards/batch"),
]
ROWS = [{"element": "flood", "reward": 1}, {"element": "derby", "reward": 0.5}]
RIGHT: dict[str, list[Any]] = {
    "/v1/bandits": [
        NEWS,
        {
            "name": "x",
            "problem": {"matroid": {"type": "graphic", "edges": [[0, 1], [1, 2], ["a", 0]]}},
            "policy": {"type": "OMM", "index": {"type": "kl", "c": 1}, "pending": "count"},
            "coordinates": {"0": [0, 1], "a": [2.5, 3]},
        },
        {
            "name": "y",
            "problem": {
                "matroid": {
                    "sum": [
                        {"type": "linear", "vectors": [[1, 0], [0, 1]], "field": 2},
                        {"truncate": {"dual": "K4"}, "rank": 2},
                        {"type": "laminar", "sets": [[0, 1]], "capacities": [1], "size": 3},
                        {"type": "transversal", "neighbors": [[0], [0, 1]]},
                        {"type": "paving", "rank": 2, "size": 4, "hyperplanes": [[0, 1]]},
                        {"type": "gammoid", "arcs": [[0, 1]], "targets": [1], "elements": [0]},
                    ]
                },
                "sense": "min",
            },
        },
    ],
    "/v1/bandits/news": [{"status": "paused", "expire_after": 1, "sticky_for": 2}],
    "/v1/bandits/news/problem": [
        NEWS["problem"] | {"prior": {"new": {"mean": 0.5, "count": 2}}},
        {"matroid": "U(1,2)", "prior": [{"element": 1, "mean": 0.5, "count": 2}]},
    ],
    "/v1/bandits/news/decisions": [
        {"id": "a", "available": ["flood", "derby"], "client": "c", "allow_smaller": True},
        {"shown": ["flood"]},
    ],
    "/v1/bandits/news/decisions/batch": [{"decisions": [{"id": "a"}, {"available": ["flood"]}]}],
    FIRST + "/rewards": [{"rewards": {"flood": 1, "derby": 0}}, {"rewards": ROWS, "final": True}],
    FIRST + "/expire": [{"reward": 0.5}],
    "/v1/bandits/news/rewards/batch": [{"rewards": [{"id": "first", "rewards": ROWS}]}],
}
NASTY: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**31, 2**53 + 1, 2**63,
    10**30, 10**400, "", "a", "flood", "K4", "U(2,4)", "uniform", "MAUB", "os:system", "../../x",
    "'; DROP TABLE events; --", "<script>", "\u0000", "\u202e", "\ud83d\ude00", "%2F", "x" * 300,
    [], {}, [[]], [{}], {"": None}, ["flood"], {"type": "uniform"}, {"flood": 1}, nested(1, 25),
    {"type": "oracle", "size": 3}, [None] * 3, {"a": {"a": {"a": 1}}}, "__class__", "size",
]  # fmt: skip


def changed(value: Any, rng: random.Random) -> Any:
    """A body with something nasty in some place."""
    if rng.random() < 0.15 or not isinstance(value, (dict, list)) or not value:
        return rng.choice(NASTY)
    if isinstance(value, list):
        copy = list(value)
        place = rng.randrange(len(copy))
        match rng.randrange(6):
            case 0:
                copy.insert(place, rng.choice(NASTY))
            case 1:
                del copy[place]
            case 2:
                copy.append(copy[place])
            case _:
                copy[place] = changed(copy[place], rng)
        return copy
    key = rng.choice(list(value))
    match rng.randrange(8):
        case 0:
            return {k: v for k, v in value.items() if k != key}
        case 1:
            return value | {str(rng.choice(["x", "type", "size", "rank", "id", ""])): 1}
        case _:
            return value | {key: changed(value[key], rng)}


@pytest.mark.parametrize("method, path", TARGETS)
def test_random_bodies(service: Service, method: str, path: str) -> None:
    rng = random.Random(path)
    for _ in range(N_RANDOM):
        body = rng.choice(RIGHT[path])
        for _ in range(rng.randint(1, 3)):
            body = changed(body, rng)
        # Events of other bandits do not matter here.
        before = service.live().number
        reply = service.request(method, path, body)
        if reply.status >= 400:
            refused(reply, 404, 409, 410, 422, 429)
            assert service.live().number == before, body
        else:
            # All that has come of it can be told.
            for told in ("/v1/bandits", "/v1/bandits/news", "/v1/bandits/news/explain", "/"):
                assert service.get(told).status == 200, body
            for one in reply.json().get("results", ()):
                if "error" in one:
                    assert not PYTHON.search(re.sub(r"'[^']*'", "", one["error"]["message"]))
    for row in service.get("/v1/bandits").json()["bandits"]:
        assert service.get(f"/v1/bandits/{row['name']}").status == 200
        assert service.get(f"/bandits/{row['name']}").status == 200
        assert service.get(f"/v1/bandits/{row['name']}/confidence").status == 200


# ---- bombs ----

BOMBS: dict[str, Any] = {
    "size": {"type": "uniform", "rank": 1, "size": 10**12},
    "huge size": {"type": "uniform", "rank": 1, "size": 10**400},
    "rank": {"type": "paving", "rank": 10**9, "size": 4, "hyperplanes": []},
    "K100000": "K100000",
    "K1999 many times": {"sum": ["K1999"] * 1_000},
    "a sum of names": "+".join(["K1999"] * 1_000),
    "uniform": "U(1,1000000000000)",
    "long name": "K" + "9" * 100_000,
    "digits": "U(1," + "9" * 5_000 + ")",
    "brackets": "dual(" * 5_000 + "K4" + ")" * 5_000,
    "random": "linear(100000)",
    "random inside": {"dual": "truncate(union(5000), 3)"},
    "random without brackets": "gammoid100000",
    "geometry": "PG(100,101)",
    "depth": reduce(lambda inner, _: {"dual": inner}, range(150), "K4"),
    "long numbers": {"type": "linear", "vectors": [[10**100 + i] * 100 for i in range(200)]},
    "exact vectors": {
        "type": "linear",
        "vectors": [[10**18 + i * j for i in range(300)] for j in range(300)],
    },
    "vectors": {"type": "linear", "field": 2, "vectors": [[1] * 1_200] * 1_200},
    "matching": {"type": "transversal", "neighbors": [[i, i * 7 % 99_991] for i in range(99_991)]},
    "paths": {
        "type": "gammoid",
        "arcs": [[i, i + 1] for i in range(20_000)],
        "targets": list(range(10_000)),
    },
    "union": {
        "union": [{"type": "graphic", "edges": [[i, i + 1] for i in range(10_000)]}] * 2,
    },
    "Python": {"type": "python", "name": "x", "size": 3, "rank": 1},
    "oracle inside": {"sum": ["K4", {"type": "Oracle", "size": 3}]},
    "file": {"file": "/etc/passwd"},
    "code": {"code": "os:system"},
}


@pytest.mark.parametrize("matroid", BOMBS.values(), ids=BOMBS.keys())
def test_matroids_that_would_take_too_long(service: Service, matroid: Any) -> None:
    before = service.log()
    problem = {"matroid": matroid}
    error = refused(service.create("bomb", problem=problem, policy="MAUB"))
    assert error["place"].startswith("problem")
    assert refused(service.put("/v1/bandits/news/problem", problem))["place"].startswith("problem")
    assert service.log() == before
    assert service.get("/v1/bandits/bomb").status == 404


# Its first leader would be found by thousands of exchanges, each with a look at every element.
TRUNCATED = {
    "truncate": {"type": "graphic", "edges": [[i % 9_999, 9_999 + i // 9] for i in range(50_000)]},
    "rank": 5_000,
}


@pytest.mark.parametrize(
    "problem, policy",
    [
        ({"matroid": "U(50000,100000)"}, "OSUB"),
        ({"matroid": "U(99999,100000)"}, {"type": "osub"}),
        ({"matroid": "K50"}, " osub (index=ucb)"),
        ({"matroid": TRUNCATED}, "MAUB"),
        ({"matroid": {"sum": ["K4", {"dual": TRUNCATED}]}}, {"type": "MAUB", "index": "kl"}),
        ({"matroid": "K4"}, {"type": "MAUB", "matroid": "K447"}),
        ({"matroid": "K4"}, {"type": "MAUB", "problem": {"matroid": "K447"}}),
        ({"matroid": "K4"}, "MAUB(matroid=K447)"),
    ],
)
def test_policies_that_would_take_too_long(service: Service, problem: Any, policy: Any) -> None:
    error = refused(service.create("bomb", problem=problem, policy=policy))
    assert error["place"].startswith("policy")


def test_large_problems_that_are_served(service: Service) -> None:
    """Limits are for bombs: what a server can do quickly, it does."""
    edges = [[i % 300, 300 + i % 977] for i in range(20_000)]
    vectors = [[i >> j & 1 for j in range(15)] for i in range(5_000)]
    served = [
        "K447",
        "U(50000,100000)",
        {"union": ["K447", "K447"]},
        {"type": "graphic", "edges": edges},
        {"type": "transversal", "neighbors": [[i % 50, 50 + i % 30] for i in range(20_000)]},
        {"type": "linear", "field": 2, "vectors": vectors},
        {"type": "partition", "groups": [i // 7 for i in range(100_000)], "capacities": 1},
    ]
    for number, matroid in enumerate(served):
        name = f"large{number}"
        reply = service.post("/v1/bandits", {"name": name, "problem": {"matroid": matroid}})
        assert reply.status == 201, reply.text[:300]
        assert service.decide("a", name).status == 201


# ---- mistakes, and what is said about them ----

SMALL = {"matroid": "U(2,4)"}


def matroid(**keys: Any) -> dict[str, Any]:
    return {"problem": {"matroid": keys}}


MISTAKES: list[dict[str, Any]] = [
    matroid(type="python"),
    matroid(type="os:system"),
    matroid(type=3),
    matroid(type=None),
    matroid(),
    matroid(type="uniform"),
    matroid(type="uniform", rank=2, size="4"),
    matroid(type="uniform", rank=5, size=4),
    matroid(type="partition", groups="abc", capacities=1),
    matroid(type="partition", groups=["a", "b"], capacities=[1, 1]),
    matroid(type="partition", groups=["a"], capacities={"b": 1}),
    matroid(type="partition", groups=[["a"], {"b": 1}], capacities=1),
    matroid(type="partition", groups=[1, 2], capacities=[1]),
    matroid(type="graphic", edges="/etc/passwd"),
    matroid(type="graphic", edges=[1, 2]),
    matroid(type="graphic", edges=[[1, 2, 3]]),
    matroid(type="graphic", edges={"a": 1}),
    matroid(type="graphic", edges=[["a", {}]]),
    matroid(type="graphic", edges=[[1, 2]], file="x"),
    matroid(type="linear", vectors=[[1, 2], [1]]),
    matroid(type="linear", vectors="x"),
    matroid(type="linear", vectors=[["a"]]),
    matroid(type="linear", vectors=[[1]], field=4),
    matroid(type="linear", vectors=[[0.5]], field=2),
    matroid(type="linear", vectors=[[None]]),
    matroid(type="transversal", neighbors=[1]),
    matroid(type="transversal", neighbors="x"),
    matroid(type="laminar", sets=[[0, 1], [1, 2]], capacities=[1, 1], size=3),
    matroid(type="laminar", sets=[[0]], capacities=[1, 2], size=3),
    matroid(type="paving", rank=2, size=4, hyperplanes=[[0]]),
    matroid(type="gammoid", arcs="x", targets=[], elements=[]),
    matroid(type="dual"),
    matroid(type="dual", matroid=3),
    matroid(type="union", matroids=["K4", "K5"]),
    matroid(truncate="K4"),
    matroid(restrict="K4", elements=[99]),
    matroid(delete="K4", elements="x"),
    matroid(delete="K4", elements=[True]),
    matroid(contract="K4", elements=[[0]]),
    matroid(sum=[]),
    matroid(dual="K4", extra=1),
    *({"problem": {"matroid": name}} for name in ("", "K", "K4+", "U(5,2)", "fanoo", "{{7*7}}")),
    *({"problem": SMALL | {"labels": labels}} for labels in (["a"], ["a"] * 4, [1, 1.0, 2, 3])),
    *(
        {"policy": policy}
        for policy in (
            "",
            "MUAB",
            "os:system",
            "subprocess:Popen",
            "matroid_bandits.policies.maub:MAUB",
            "MAUB(",
            "MAUB(index)",
            "MAUB(indx=kl)",
            "MAUB(index=/etc/passwd)",
            "MAUB(noise=nan)",
            "MAUB(noise=1e999)",
            "MAUB(seed=-1)",
            "MAUB(problem=K4)",
            "MAUB(index=kl, noise=1)",
            "Policy",
            "CompiledPolicy",
            "__class__",
            "OMM(index=mean, pending=count)",
            {},
            {"type": 3},
            {"type": "MAUB", "index": {}},
            {"type": "MAUB", "index": {"type": "os:system"}},
            {"type": "MAUB", "index": {"type": "kl", "d": 1}},
            {"type": "MAUB", "index": ["kl"]},
            {"type": "MAUB", "classes": ["os:system"]},
            {"type": "OSUB", "graph": [[0, 1]]},
        )
    ),
    {"missing_reward": 5},
    {"max_open_decisions": 10**9},
    {"coordinates": {"a": [1]}},
]


def test_messages_are_for_users_of_http(service: Service) -> None:
    for number, mistake in enumerate(MISTAKES):
        body = {"name": f"b{number}", "problem": SMALL, "policy": "MAUB(index=kl)"} | mistake
        error = refused(service.post("/v1/bandits", body))
        assert error["place"].split(".")[0] in body, error
    assert len(service.get("/v1/bandits").json()["bandits"]) == 1


def test_messages_about_feedback(service: Service) -> None:
    closed = service.decide("closed").json()["elements"][0]
    service.learn("closed", {}, final=True)
    expired = service.decide("expired").json()["elements"][0]
    service.expire("expired")
    for reply, status in (
        (service.learn("first", {"flood": 7}), 422),
        (service.learn("first", {"record": 1}), 422),
        (service.learn("unknown", {"flood": 1}), 404),
        (service.learn("closed", {closed: 1}), 410),
        (service.learn("expired", {expired: 1}), 410),
        (service.decide("x", available=["flood"]), 422),
        (service.decide("x", shown=["flood", "summit", "derby"]), 422),
        (service.put("/v1/bandits/news/problem", SMALL | {"sense": "min"}), 422),
    ):
        refused(reply, status)


# ---- bytes ----


def answer_to(url: str, request: bytes) -> bytes:
    """What a server answers to some bytes."""
    target = urlsplit(url)
    with socket.create_connection((target.hostname, target.port), timeout=60) as connection:
        connection.sendall(request)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
        return received


HOST = b"Host: 127.0.0.1\r\n"
CLOSE = b"Connection: close\r\n\r\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    with ServerProcess(folder / "bandits.sqlite", folder) as server:
        yield server.wait_until_ready().url
        assert logged_errors(folder) == []


@pytest.mark.parametrize(
    "request_line, headers, status",
    [
        (b"GET /v1/bandits/\xff\xfe HTTP/1.1", HOST, 400),
        (b"GET /v1/bandits/%ff%fe HTTP/1.1", HOST, 404),
        (b"GET //v1/bandits HTTP/1.1", HOST, 404),
        (b"GET /v1/bandits HTTP/1.0", b"", 421),
        (b"GET /v1/bandits HTTP/1.1", b"Host: evil.example\r\n", 421),
        (b"GET /v1/bandits HTTP/1.1", HOST + b"Host: evil.example\r\n", 421),
        (b"GET /v1/bandits HTTP/1.1", b"Host: evil.example\r\n" + HOST, 421),
        (b"GET /v1/bandits HTTP/1.1", HOST + HOST, 421),
        (b"FOO /v1/bandits HTTP/1.1", HOST, 400),
        (b"TRACE /v1/bandits HTTP/1.1", HOST, 405),
        (b"CONNECT /v1/bandits HTTP/1.1", HOST, 405),
        (b"OPTIONS * HTTP/1.1", HOST, 404),
        (b"POST /v1/bandits HTTP/1.1", HOST + b"Content-Length: -5\r\n", 400),
        (b"POST /v1/bandits HTTP/1.1", HOST + b"Content-Length: " + b"9" * 30 + b"\r\n", 400),
        (b"POST /v1/bandits HTTP/1.1", HOST + b"Content-Length: 99999999\r\n", 413),
        (b"POST /v1/bandits HTTP/1.1", HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n", 400),
        (b"GET /" + b"a" * 200_000 + b" HTTP/1.1", HOST, 400),
        (b"GET /" + b"a" * 40_000 + b" HTTP/1.1", HOST, 400),
        (b"GET /healthz?" + b"a" * 40_000 + b" HTTP/1.1", HOST, 400),
        (b"GET /healthz HTTP/1.1", HOST + b"X: " + b"y" * 40_000 + b"\r\n", 400),
        (b"GET /healthz HTTP/1.1", HOST + b"X: y\r\n" * 40_000, 400),
        (b"GET /healthz HTTP/1.1", HOST + b"X: " + b"y" * 20_000 + b"\r\n", 200),
        (b"nonsense", b"", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"", 400),
    ],
)
def test_bytes(url: str, request_line: bytes, headers: bytes, status: int) -> None:
    received = answer_to(url, request_line + b"\r\n" + headers + CLOSE)
    assert received.startswith(b"HTTP/1.1 %d " % status)
    assert b"Traceback" not in received


@pytest.mark.parametrize(
    "endless",
    [
        b"GET /" + b"a" * 400_000,
        b"GET / HTTP/1.1\r\nX" + b"a" * 400_000,
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 400_000,
        b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 60_000,
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    ],
)
def test_requests_without_end(url: str, endless: bytes) -> None:
    """They are refused before they come to their end, and requests before the first is answered."""
    n = 1 if len(endless) > 1_000 else 5_000
    assert answer_to(url, endless * n).startswith(b"HTTP/1.1 400 ")


def test_clients_that_hang_up(url: str) -> None:
    """Half a request is not a fault of the server: its log has no error (see `url`)."""
    target = urlsplit(url)
    head = b"POST /v1/bandits HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{"
    chunked = b"POST /v1/bandits HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"
    for begun in (head, chunked, b"GET /v1/ban"):
        with socket.create_connection((target.hostname, target.port), timeout=60) as connection:
            connection.sendall(begun)
            # At once, without a word.
            option = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
    ready = b"GET /readyz HTTP/1.1\r\n" + HOST + CLOSE
    assert json.loads(answer_to(url, ready).split(b"\r\n\r\n")[1]) == {"status": "ready"}
