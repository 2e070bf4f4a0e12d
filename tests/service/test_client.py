"""The client, against a small service that can misbehave."""

import json
import math
import os
import pickle
import socket
import ssl
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from html import escape as html_text
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import client as package
from matroid_bandits.client import (
    Client,
    Conflict,
    Gone,
    Learned,
    NotFound,
    Refused,
    ServedDecision,
    ServiceError,
    Unavailable,
)

from .fake_service import (
    ADMIN,
    CERTIFICATE,
    PAIRS,
    PATIENCE,
    STORIES,
    Failure,
    Handler,
    Service,
    chunk,
    content,
    html,
    running,
    unavailable,
)


@pytest.fixture
def server() -> Iterator[Service]:
    """A service with two bandits; the labels of one are no texts."""
    with running(Service()) as service:
        for name, labels in (("news", STORIES), ("pairs", [["a", 1], ["a", 2], 3])):
            problem = {"matroid": {"type": "uniform"}, "labels": labels, "sense": "max"}
            service.bandits.create({"name": name, "problem": problem, "policy": "MAUB"})
        yield service


def connected(server: Service, **options: Any) -> Client:
    """A client that never sleeps."""
    client = Client(server.url, **({"key": ADMIN, "timeout": PATIENCE} | options))
    client._transport.sleep = server.pauses.append
    return client


@pytest.fixture
def client(server: Service) -> Iterator[Client]:
    with connected(server) as client:
        yield client


# ---- the client itself ----


@pytest.mark.parametrize(
    "url, prefix, shown",
    [
        ("http://127.0.0.1:8000", "", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/", "", "http://127.0.0.1:8000"),
        ("HTTPS://Bandits.example.org/a/b/", "/a/b", "https://bandits.example.org/a/b"),
        ("http://[::1]:8000/x", "/x", "http://[::1]:8000/x"),
        ("http://[::1]", "", "http://[::1]"),
        ("https://host:443", "", "https://host"),
        (
            "http://bücher.example/straße",
            "/stra%C3%9Fe",
            "http://xn--bcher-kva.example/stra%C3%9Fe",
        ),
    ],
)
def test_urls(url: str, prefix: str, shown: str) -> None:
    client = Client(url, key=ADMIN)
    assert repr(client) == f"Client({shown!r})"
    assert client._transport.address.prefix == prefix


@pytest.mark.parametrize(
    "url, message",
    [
        (None, "must be a text"),
        ("", "must begin with http"),
        ("127.0.0.1:8000", "must begin with http"),
        ("localhost:8000", "must begin with http"),
        ("ftp://host", "must begin with http"),
        ("http://", "must begin with http"),
        ("http://host:eight", "not a url"),
        ("http://host:70000", "not a url"),
        ("http://[::1", "not a url"),
        ("http://bü..cher", "not a url"),
        ("http://host/a b", "no spaces"),
        ("http://host\r\nX: y", "no spaces"),
        ("http://host?x=1", r"without \? and #"),
        ("http://host/#x", r"without \? and #"),
        ("http://me:pass1@host", "pass the key as key="),
    ],
)
def test_bad_urls(url: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Client(url)


@pytest.mark.parametrize("url", ["http//me:pass1@host", "http://me:pass1@host:x", "http://@pass1 "])
def test_a_password_in_a_bad_url_is_not_shown(url: str) -> None:
    with pytest.raises(ValueError, match="url") as raised:
        Client(url)
    assert "pass1" not in str(raised.value)


@pytest.mark.parametrize("key", ["se cret", "secret\n", "", "s€cret", b"secret", 5])
def test_a_bad_key_is_refused_and_not_shown(key: Any) -> None:
    with pytest.raises(ValueError, match="key must be") as raised:
        Client("http://host", key=key)
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": math.nan}, {"timeout": None}, {"retries": -1}]
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        Client("http://host", **options)


def test_a_prefix_comes_before_every_path(server: Service) -> None:
    server.prefix = "/api/bandits"
    with connected(server) as client:
        client.decide("news")
        assert client.is_ready()
        assert list(client.log("news"))
    assert [request.path for request in server.requests] == [
        "/api/bandits/v1/bandits/news/decisions",
        "/api/bandits/readyz",
        "/api/bandits/v1/bandits/news/log?format=jsonl&after=0",
    ]


def test_headers_and_bodies(server: Service, client: Client) -> None:
    client.decide("news", id="größe", client="Zoë")
    (request,) = server.requests
    assert request.headers["Authorization"] == f"Bearer {ADMIN}"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"] == f"matroid-bandits/{mb.__version__}"
    # Not escaped: "ö" and "ß" have two bytes.
    body = '{"id":"größe","client":"Zoë"}'
    assert int(request.headers["Content-Length"]) == len(body.encode())
    assert request.body == json.loads(body)


def test_without_a_key_none_is_sent(server: Service) -> None:
    with connected(server, key=None) as client, pytest.raises(Refused):
        client.bandits()
    assert "Authorization" not in server.requests[0].headers


def test_importing_it_is_cheap() -> None:
    code = """
import sys
import matroid_bandits
before = set(sys.modules)
import matroid_bandits.client
new = {name.partition(".")[0] for name in set(sys.modules) - before}
assert not new & {"asyncio", "httpx", "fastapi", "pydantic", "requests", "pandas"}, new
assert "urllib.request" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_are_there() -> None:
    assert all(hasattr(package, name) for name in package.__all__)


# ---- decisions ----


def test_decide_sends_what_is_given(server: Service, client: Client) -> None:
    decision = client.decide(
        "news",
        available=["derby", "opera"],
        allow_smaller=np.True_,
        id="visit-1",
        client="visitor-17",
        shown=("flood",),
    )
    assert decision == ServedDecision(
        "visit-1", ("derby", "opera"), 1, is_new=True, paused=False, shown=("flood",)
    )
    assert server.requests[0].body == {
        "id": "visit-1",
        "available": ["derby", "opera"],
        "allow_smaller": True,
        "client": "visitor-17",
        "shown": ["flood"],
    }
    assert hash(decision) == hash(pickle.loads(pickle.dumps(decision)))


def test_without_an_id_the_client_makes_one(server: Service, client: Client) -> None:
    first, second = client.decide("news"), client.decide("news")
    assert first.id != second.id
    assert [request.body for request in server.requests] == [{"id": first.id}, {"id": second.id}]
    assert len(first.id) == 32
    assert (first.is_new, first.round, second.round) == (True, 1, 2)


def test_an_id_that_is_known_gets_its_decision(client: Client) -> None:
    first = client.decide("news", id="x", available=["derby", "opera"])
    again = client.decide("news", id="x")
    assert again.elements == first.elements == ("derby", "opera")
    assert (first.is_new, again.is_new) == (True, False)


def test_a_client_gets_an_earlier_decision_again(server: Service, client: Client) -> None:
    server.faults.append(content({"id": "y", "elements": ["flood"], "round": 1}))
    made = client.decide("news", id="x", client="visitor")
    assert (made.id, made.is_new) == ("y", False)


def test_a_label_may_be_an_object(server: Service, client: Client) -> None:
    server.faults.append(content({"id": "x", "elements": [{"page": 1}], "round": 1}))
    made = client.decide("news", id="x")
    assert made.elements == ({"page": 1},)
    server.faults.append(content({"learned": 1, "already": 0}))
    client.learn("news", made, [0.5])
    assert server.requests[-1].body["rewards"] == [{"element": {"page": 1}, "reward": 0.5}]


def test_paused(client: Client) -> None:
    client.configure("news", status="paused")
    assert client.decide("news").paused


@pytest.mark.parametrize(
    "available", [{"derby", "flood"}, np.array(["flood", "derby"]), pd.Series(["flood", "derby"])]
)
def test_lists_of_labels(client: Client, available: Any) -> None:
    assert set(client.decide("news", available=available).elements) == {"flood", "derby"}


@pytest.mark.parametrize(
    "options, message",
    [
        ({"available": np.array([True, False, True])}, "available is a mask"),
        ({"available": "flood"}, "available must be a list"),
        ({"shown": [math.nan]}, "shown: nan cannot be written"),
        ({"shown": [object()]}, "cannot be written as plain data"),
        ({"allow_smaller": 1}, "allow_smaller must be True or False"),
        ({"client": 17}, "client must be a text"),
        ({"client": "\ud800"}, "cannot be sent as UTF-8"),
        ({"id": ""}, "is empty"),
        ({"id": "."}, "has a meaning in addresses"),
        ({"id": ".."}, "has a meaning in addresses"),
        ({"id": 17}, r"must be a text, got 17; pass str\(...\)"),
        ({"id": {"id": "x"}}, "pass its value at 'id'"),
        ({"id": "\ud800"}, "cannot be sent as UTF-8"),
    ],
)
def test_mistakes_are_found_before_anything_is_sent(
    server: Service, client: Client, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        client.decide("news", **options)
    assert server.requests == []


@pytest.mark.parametrize("name", ["", ".", "..", 5, None])
def test_names_that_are_refused(server: Service, client: Client, name: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: client.decide(name),
        lambda: client.bandit(name),
        lambda: client.log(name),
        lambda: client.create(name, mb.UniformMatroid(1, 2), "MAUB"),
        lambda: client.learn("news", name, {}),
        lambda: client.expire("news", name),
        lambda: client.decision("news", name),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"the (name|id) of a (bandit|decision)"):
            call()
    assert server.requests == []


def test_ids_of_all_kinds(server: Service, client: Client) -> None:
    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
    def check(text: str) -> None:
        if text in {".", ".."}:
            return
        decision = client.decide("news", id=text)
        assert decision.id == text
        client.learn("news", text, {"flood": 1})
        assert client.decision("news", decision)["id"] == text

    check()
    for text in ("a/b c?", "../x", "%2F", "a%", "#", "ä€😀", "+", "a;b=c&d", "\x00\n", "batch"):
        assert client.decide("news", id=text).id == text
        assert client.learn("news", text, {"derby": 0}) == Learned(1, 0)
        assert client.expire("news", text)
    assert client.decide("news", id="a/b c?").is_new is False
    assert any("/decisions/a%2Fb%20c%3F/rewards" in request.path for request in server.requests)


def test_names_of_bandits_are_quoted(client: Client) -> None:
    problem = mb.Problem(mb.UniformMatroid(2, 3), labels=STORIES)
    assert client.create("a/b c?", problem, "MAUB")["name"] == "a/b c?"
    assert client.decide("a/b c?").round == 1


# ---- feedback ----


def test_feedback_by_label_and_in_order(server: Service, client: Client) -> None:
    decision = client.decide("news", id="x")
    assert client.learn("news", "x", {"derby": 1}) == Learned(1, 0)
    assert client.learn("news", decision, [0.5, 1.0], final=True) == Learned(1, 1)
    assert [request.body for request in server.requests[1:]] == [
        {"rewards": {"derby": 1.0}, "final": False},
        {"rewards": {"flood": 0.5, "derby": 1.0}, "final": True},
    ]
    assert client.decision("news", "x") == {
        "id": "x",
        "elements": ("flood", "derby"),
        "round": 1,
        "time": 0.0,
        "status": "closed",
        "rewards": ({"element": "derby", "reward": 1.0}, {"element": "flood", "reward": 0.5}),
    }


def test_labels_that_are_no_texts(server: Service, client: Client) -> None:
    decision = client.decide("pairs", available=[("a", np.int64(2)), 3])
    assert decision.elements == (("a", 2), 3)
    assert server.requests[0].body["available"] == [["a", 2], 3]
    assert client.learn("pairs", decision, {("a", 2): 1.0, 3: 0.0}) == Learned(2, 0)
    assert client.learn("pairs", decision, [1, 0]) == Learned(0, 2)
    rewards = [{"element": ["a", 2], "reward": 1.0}, {"element": 3, "reward": 0.0}]
    assert [request.body["rewards"] for request in server.requests[1:]] == [rewards] * 2
    bandit = client.bandit("pairs")
    assert bandit["leader"] == (("a", 1), ("a", 2))
    assert {entry["element"]: entry["count"] for entry in bandit["elements"]} == dict.fromkeys(
        PAIRS, 0
    )
    assert client.explain("pairs")["partner"] == ("a", (1,))


@pytest.mark.parametrize(
    "rewards",
    [
        [0.5, 1.0],
        (Fraction(1, 2), True),
        np.array([0.5, 1.0]),
        np.array([0.5, 1], dtype=np.float32),
        [np.array(0.5), np.int8(1)],
        {"flood": np.float64(0.5), np.str_("derby"): np.bool_(1)},
        pd.Series([1.0, 0.5], index=["derby", "flood"]),
        {"flood": 0.5, "derby": np.array([1.0])},
    ],
)
def test_numbers_of_all_kinds(server: Service, client: Client, rewards: Any) -> None:
    decision = client.decide("news")
    assert client.learn("news", decision, rewards) == Learned(2, 0)
    assert server.requests[-1].body["rewards"] == {"flood": 0.5, "derby": 1.0}


@pytest.mark.parametrize(
    "rewards, message",
    [
        ({"flood": math.nan}, "the reward of 'flood' must be a finite number, got nan; leave out"),
        ({"flood": math.inf}, "must be a finite number, got inf"),
        ({"flood": np.float64("-inf")}, "must be a finite number"),
        ({"flood": None}, "must be a finite number, got None"),
        ({"flood": "1"}, "must be a finite number, got '1'"),
        ({"flood": 1j}, "must be a finite number"),
        ({"flood": 10**400}, "must be a finite number"),
        ({"flood": np.array([1.0, 2.0])}, "must be a finite number"),
        ({frozenset(): 1.0}, "cannot be written as plain data"),
        ({math.nan: 1.0}, "cannot be written as plain data"),
        (pd.Series([1, 2], index=["flood", "flood"]), "two rewards for 'flood'"),
        ([1.0, math.nan], "the reward of 'derby'"),
        (np.array([[1.0, 2.0], [1.0, 2.0]]), "the reward of 'flood'"),
        ([1.0], "has 2 elements, got 1 rewards"),
        (1.0, "rewards must be a list"),
        ("ab", "rewards must be a list"),
    ],
)
def test_rewards_that_are_refused(
    server: Service, client: Client, rewards: Any, message: str
) -> None:
    decision = client.decide("news")
    for call in (
        lambda: client.learn("news", decision, rewards),
        lambda: client.learn_many("news", [(decision, [0, 1]), (decision, rewards)]),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert len(server.requests) == 1


def test_rewards_without_labels_need_a_decision(client: Client) -> None:
    decision = client.decide("news")
    with pytest.raises(ValueError, match="need the decision itself, not its id"):
        client.learn("news", decision.id, [1.0, 0.0])
    other = client.decide("news", shown=["opera"])
    with pytest.raises(ValueError, match="something else was shown"):
        client.learn("news", other, [1.0, 0.0])
    same = client.decide("news", shown=["flood", "derby"])
    assert client.learn("news", same, [1.0, 0.0]).learned == 2


def test_feedback_that_the_service_refuses(client: Client) -> None:
    decision = client.decide("news", id="x")
    client.learn("news", decision, {"flood": 1.0})
    with pytest.raises(Conflict, match="flood has other feedback") as conflict:
        client.learn("news", decision, {"flood": 0.0})
    assert conflict.value.place == "rewards.flood"
    with pytest.raises(Refused, match="not in the decision") as invalid:
        client.learn("news", decision, {"opera": 0.0})
    assert (invalid.value.status, invalid.value.code) == (422, "invalid")
    with pytest.raises(NotFound, match="no decision 'y'"):
        client.learn("news", "y", {"flood": 1.0})


def test_expire(server: Service, client: Client) -> None:
    first, second = client.decide("news"), client.decide("news")
    assert client.expire("news", first)
    assert client.expire("news", second.id, np.float32(0.5))
    assert client.expire("news", first) is False
    assert [request.body for request in server.requests[2:]] == [{}, {"reward": 0.5}, {}]
    with pytest.raises(Gone, match="has expired"):
        client.learn("news", first, [1.0, 1.0])
    with pytest.raises(ValueError, match=r"reward must be a finite number, got nan$"):
        client.expire("news", first, math.nan)


# ---- batches ----


def test_many_decisions_and_their_feedback(server: Service, client: Client) -> None:
    decisions = client.decide_many("news", 2500)
    feedback = [(decision, [1.0, 0.0]) for decision in decisions]
    results = client.learn_many("news", feedback)
    sizes = [len(next(iter(request.body.values()))) for request in server.requests]
    assert sizes == [1000, 1000, 500] * 2
    assert {request.path for request in server.requests} == {
        "/v1/bandits/news/decisions/batch",
        "/v1/bandits/news/rewards/batch",
    }
    assert [decision.round for decision in decisions] == list(range(1, 2501))
    assert len({decision.id for decision in decisions}) == 2500
    assert {decision.is_new for decision in decisions} == {None}
    assert results == [Learned(2, 0)] * 2500


def test_an_empty_batch_is_not_sent(server: Service, client: Client) -> None:
    assert client.decide_many("news", 0) == client.decide_many("news", []) == []
    assert client.learn_many("news", iter([])) == []
    assert server.requests == []


def test_errors_of_items_are_in_their_places(server: Service, client: Client) -> None:
    requests = [{"id": "x"}, {"available": ["flood"]}, {"available": ["flood"], "id": "z"}]
    requests[2]["allow_smaller"] = True
    first, second, third = client.decide_many("news", requests)
    assert first == ServedDecision("x", ("flood", "derby"), 1)
    assert isinstance(second, Refused)
    assert (second.status, second.code, second.place) == (422, "no_basis", "available")
    assert third.elements == ("flood",)
    client.expire("news", "x")
    gone, learned = client.learn_many("news", [("x", {"flood": 1}), ["z", {"flood": 1}, True]])
    assert isinstance(gone, Gone)
    assert (gone.status, gone.request_id, str(gone)) == (410, "r-1", "the decision has expired")
    assert learned == Learned(1, 0)
    assert server.requests[-1].body == {
        "rewards": [
            {"id": "x", "rewards": {"flood": 1.0}, "final": False},
            {"id": "z", "rewards": {"flood": 1.0}, "final": True},
        ]
    }


def test_items_for_which_a_batch_had_no_time_are_sent_again(
    server: Service, client: Client
) -> None:
    left_out = Failure(413, "too_large", "would take too long together").content
    made = {"elements": ["flood", "derby"], "round": 1}
    server.faults.append(content({"results": [{"id": "a", **made}, left_out, left_out]}))
    # A first item that is refused will not be taken in another batch, either.
    server.faults.append(content({"results": [left_out, {"id": "c", **made}]}))
    first, second, third = client.decide_many("news", [{"id": name} for name in "abc"])
    assert [first.id, second.code, third.id] == ["a", "too_large", "c"]
    assert [len(request.body["decisions"]) for request in server.requests] == [3, 2]


def test_a_code_that_is_not_known_has_no_status(server: Service, client: Client) -> None:
    failure = Failure(418, "teapot", "short and stout")
    server.faults.append(content({"results": [failure.content]}))
    (error,) = client.decide_many("news", 1)
    assert type(error) is ServiceError
    assert (error.status, error.code) == (None, "teapot")


def test_a_batch_that_fails_later_keeps_what_was_done(server: Service) -> None:
    server.faults.extend([None, unavailable()])
    with connected(server, retries=0) as client:
        results = client.decide_many("news", 3500)
    assert [isinstance(result, ServedDecision) for result in results] == [True] * 1000 + [
        False
    ] * 2500
    assert {type(result) for result in results[1000:]} == {Unavailable}
    assert len(server.requests) == 2


def test_a_batch_that_fails_at_once_is_an_error(client: Client) -> None:
    with pytest.raises(NotFound, match="no bandit 'olds'"):
        client.decide_many("olds", 1001)


@pytest.mark.parametrize(
    "requests, message",
    [
        (-1, "requests must be at least 0"),
        (2.5, "requests must be an integer"),
        ("ab", "requests must be a list"),
        ({}, "requests must be a list"),
        ([{}, "x"], "request 1: it must be a dict"),
        ([{"avialable": []}], "request 0: decide has no parameter 'avialable'; did you mean"),
        ([{1: 2}], "request 0: decide has no parameter '1'"),
        ([{"id": ""}], "request 0: the id of a decision is empty"),
    ],
)
def test_bad_requests_in_a_batch(
    server: Service, client: Client, requests: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        client.decide_many("news", requests)
    assert server.requests == []


@pytest.mark.parametrize(
    "feedback, message",
    [
        ({"x": {}}, "feedback must be a list"),
        ([("x", {}), "yz1"], r"feedback 1: it must be \(decision, rewards\)"),
        ([("x",)], r"feedback 0: it must be \(decision, rewards\)"),
        ([("x", {}, "yes")], "feedback 0: final must be True or False"),
    ],
)
def test_bad_feedback_in_a_batch(
    server: Service, client: Client, feedback: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        client.learn_many("news", feedback)
    assert server.requests == []


# ---- bandits ----


def test_create(server: Service, client: Client) -> None:
    groups = np.array(["world", "sport", "arts"])
    problem = mb.Problem(mb.PartitionMatroid(groups, np.int64(1)), labels=np.array(STORIES))
    settings = {"expire_after": np.int64(3600), "missing_reward": np.float32(0)}
    made = client.create("page", problem, "MAUB(index=kl)", **settings)
    assert (made["name"], made["status"]) == ("page", "active")
    assert server.requests[0].body == {
        "name": "page",
        "problem": problem.to_spec(),
        "policy": "MAUB(index=kl)",
        "expire_after": 3600,
        "missing_reward": 0,
    }
    assert mb.problem_from_spec(made["problem"]) == problem
    spec = problem.to_spec()
    assert client.create("page", spec, "MAUB(index=kl)", **settings)["name"] == "page"
    with pytest.raises(Conflict, match="another bandit has this name"):
        client.create("page", problem, "OMM")


def test_create_with_a_matroid_and_with_nonsense(client: Client) -> None:
    made = client.create("plain", mb.UniformMatroid(1, 3), "MAUB")
    assert mb.problem_from_spec(made["problem"]) == mb.Problem(mb.UniformMatroid(1, 3))
    with pytest.raises(TypeError, match="needs a matroid"):
        client.create("plain", "K20", "MAUB")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="settings: nan cannot be written"):
        client.create("plain", mb.UniformMatroid(1, 3), "MAUB", expire_after=math.nan)


def test_what_can_be_read(server: Service, client: Client) -> None:
    assert [bandit["name"] for bandit in client.bandits()] == ["news", "pairs"]
    assert len(client.bandit("news")["elements"]) == 3
    assert "elements" not in client.bandit("news", elements=False)
    assert client.explain("news")["what"] == "explain"
    assert client.confidence("news", delta=np.float64(1e-6))["query"] == {"delta": "1e-06"}
    assert client.confidence("news")["query"] == {"delta": "0.05"}
    with pytest.raises(ValueError, match="delta must be a number from 0 to 1"):
        client.confidence("news", delta=2)


def test_configure(server: Service, client: Client) -> None:
    assert client.configure("news", status="paused", sticky_for=5)["settings"] == {"sticky_for": 5}
    assert server.requests[0].method == "PATCH"
    with pytest.raises(ValueError, match="nothing to change"):
        client.configure("news")


def test_move(server: Service, client: Client) -> None:
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels=["comet", "flood"], sense="min")
    moved = client.move("news", problem, prior={"comet": (np.float64(0.3), np.int64(5))})
    assert mb.problem_from_spec(moved["problem"]) == problem
    assert moved["prior"] == {"comet": {"mean": 0.3, "count": 5}}
    assert (server.requests[0].method, server.requests[0].path) == (
        "PUT",
        "/v1/bandits/news/problem",
    )
    assert client.move("news", problem)["prior"] is None
    prior: Any = {("a", 1): {"mean": 0.5, "count": 2}}
    listed = ({"element": ("a", 1), "mean": 0.5, "count": 2},)
    assert client.move("pairs", problem, prior=prior)["prior"] == listed
    assert client.move("pairs", problem, prior=listed)["prior"] == listed
    for wrong in (0.3, (1, 2, 3), {"mean": 0.3, "n": 5}, "ab"):
        with pytest.raises(ValueError, match="prior of 'comet'"):
            client.move("news", problem, prior={"comet": wrong})  # type: ignore[dict-item]


# ---- errors ----


@pytest.mark.parametrize(
    "status, code, kind",
    [
        (401, "unauthorized", Refused),
        (403, "forbidden", Refused),
        (404, "unknown_bandit", NotFound),
        (405, "method_not_allowed", ServiceError),
        (409, "archived", Conflict),
        (410, "closed", Gone),
        (413, "too_large", ServiceError),
        (422, "invalid", Refused),
        (429, "too_many_open", ServiceError),
        (500, "internal", ServiceError),
    ],
)
def test_refusals_are_not_repeated(
    server: Service, client: Client, status: int, code: str, kind: type[ServiceError]
) -> None:
    failure = Failure(status, code, "a sentence", "rewards.a7")
    server.faults.append(("reply", status, {}, json.dumps(failure.content).encode()))
    with pytest.raises(ServiceError, match=r"^a sentence$") as raised:
        client.decide("news")
    error = raised.value
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, code, "a sentence")
    assert (error.place, error.request_id) == ("rewards.a7", "r-1")
    assert len(server.requests) == 1
    assert server.pauses == []
    # The connection is still good.
    assert client.decide("news").round == 1
    assert server.n_connections == 1


@pytest.mark.parametrize("key, message", [("wrong", "unknown key"), ("key-of-a-reader", "allow")])
def test_a_key_that_does_not_allow_it(server: Service, key: str, message: str) -> None:
    with connected(server, key=key) as client, pytest.raises(Refused, match=message) as raised:
        client.decide("news")
    assert key not in f"{raised.value!s}{raised.value!r}"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "status, kind", [(404, NotFound), (500, ServiceError), (302, ServiceError)]
)
def test_pages_of_a_proxy(
    server: Service, client: Client, status: int, kind: type[ServiceError]
) -> None:
    server.faults.append(html(status, "Oh dear"))
    with pytest.raises(kind, match=f"answered GET /v1/bandits with {status} .*Oh dear") as raised:
        client.bandits()
    assert (raised.value.code, raised.value.status) == ("foreign", status)
    assert raised.value.request_id == "r-1"
    assert len(str(raised.value)) < 400
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'"x"',
        b'{"error": "x"}',
        b'{"error": {"code": 5}}',
        b'{"error": {"code": "x", "message": null}}',
        b'{"detail": "Not Found"}',
        b"[" * 100_000,
    ],
)
def test_errors_in_other_forms(server: Service, client: Client, data: bytes) -> None:
    server.faults.append(("reply", 404, {}, data))
    with pytest.raises(NotFound, match="not in the form of the service"):
        client.bandits()


@pytest.fixture
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matroid_bandits.client.transport._LARGEST", 5_000, raising=False)


@pytest.mark.usefixtures("small_answers")
@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(
    "size, status, message",
    [
        (5_000, 200, None),
        (5_001, 200, "to GET /v1/bandits, or a line of it, has more than 5,000 bytes"),
        (5_001, 404, "answered GET /v1/bandits with 404"),
        (5_001, 500, "answered GET /v1/bandits with 500"),
        (300_000, 200, "to GET /v1/bandits, or a line of it, has more than 5,000 bytes"),
    ],
)
def test_answers_that_are_too_long(
    server: Service, client: Client, size: int, status: int, message: str | None, is_chunked: bool
) -> None:
    data = b'{"bandits": []}'.ljust(size)
    headers = {"Transfer-Encoding": "chunked"} if is_chunked else {}
    framed = chunk(data) + chunk(b"") if is_chunked else data
    server.faults.append(("reply", status, headers, framed))
    if message is None:
        assert client.bandits() == []
        return
    with pytest.raises(ServiceError, match=message):
        client.bandits()
    assert len(server.requests) == 1
    # What was not read is not taken for the answer to the next request.
    assert client.decide("news").round == 1
    assert server.n_connections == 2


@pytest.mark.usefixtures("small_answers")
def test_a_line_of_the_log_that_is_too_long(server: Service, client: Client) -> None:
    sent: list[int] = []

    def write(handler: Handler) -> None:
        handler.close_connection = True
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b'{"seq": 1}\n' * 1_000)
        with suppress(OSError):
            sent.extend(handler.wfile.write(b"x" * 100_000) for _ in range(1_000))

    server.write_log = write
    rows = client.log("news")
    assert [next(rows)["seq"] for _ in range(1_000)] == [1] * 1_000
    with pytest.raises(ServiceError, match="has more than 5,000 bytes"):
        next(rows)
    server.wait_for_open(0)
    assert len(sent) < 1_000


def test_redirects_are_not_followed(server: Service, client: Client) -> None:
    server.faults.append(("reply", 301, {"Location": "https://elsewhere.example/"}, b""))
    with pytest.raises(ServiceError, match=r"it points to https://elsewhere\.example/"):
        client.bandits()
    assert len(server.requests) == 1


@pytest.mark.parametrize("key", ["zqx-key-5", "zqx&b<c>d&", 'zqx"back\\slash', "zqx'/+=it's/"])
def test_the_key_is_in_no_exception(server: Service, key: str) -> None:
    """Not even if the answer repeats it, as debugging pages do, in whatever form."""
    failure = Failure(403, key, f"the key {key} is unknown", key)
    failure.content["error"]["request_id"] = key
    described = json.dumps(failure.content).encode()
    page = " ".join([key, repr(key), json.dumps(key), html_text(key), quote(key, safe="")]).encode()
    for fault in [
        ("reply", 403, {}, described),
        ("reply", 500, {"X-Request-Id": key}, page),
        # Cut in the middle of the key.
        *[("reply", 500, {}, b"x" * length + key.encode()) for length in (112, 113, 114)],
        ("reply", 302, {"Location": f"http://host/?key={key}"}, b""),
        content(f"Bearer {key}".encode()),
        content({"bandits": key}),
        ("reply", 200, {"X-Request-Id": key}, b"{}"),
        ("lose",),
    ]:
        server.faults.append(fault)
        with connected(server, key=key, retries=0) as client:
            with pytest.raises(ServiceError) as raised:
                client.bandits()
            error = raised.value
            texts = [str(error), repr(error), repr(vars(error)), repr(error.args), repr(client)]
            # The beginning is the same in all forms.
            assert not any("zqx" in text for text in texts)


def test_errors_can_be_pickled(server: Service) -> None:
    server.faults.append(unavailable(**{"Retry-After": "7"}))
    with connected(server, retries=0) as client, pytest.raises(Unavailable) as raised:
        client.bandits()
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is Unavailable
    assert isinstance(again, ConnectionError)
    assert vars(again) == vars(raised.value)
    assert (str(again), again.status, again.code) == ("the database is away", 503, "unavailable")
    assert again.retry_after == 7.0


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[" * 100_000,
        b"[" * 500 + b"]" * 500,
        b'{"id": "x", "elements": [NaN], "round": 1}',
        b'{"id": "x", "elements": [], "round": 1} {}',
        [],
        {},
        {"id": "y", "elements": ["flood"], "round": 1},
        {"id": "x", "elements": "flood", "round": 1},
        {"id": "x", "elements": ["flood"]},
        {"id": "x", "elements": ["flood"], "round": 1.0},
        {"id": "x", "elements": ["flood"], "round": True},
        {"id": "x", "elements": ["flood"], "round": 1, "paused": 1},
        {"id": "x", "elements": ["flood"], "round": 1, "shown": "flood"},
    ],
)
def test_answers_that_cannot_be_right(server: Service, client: Client, value: Any) -> None:
    server.faults.append(content(value))
    with pytest.raises(ServiceError, match="the answer is not as expected") as raised:
        client.decide("news", id="x")
    assert (raised.value.code, raised.value.status) == ("bad_answer", 200)
    assert raised.value.request_id == "r-1"
    assert len(str(raised.value)) < 400
    assert len(server.requests) == 1


@pytest.mark.parametrize("results", [None, {}, [], [{"learned": 1, "already": 0}] * 2, [5], [{}]])
def test_batches_that_cannot_be_right(server: Service, client: Client, results: Any) -> None:
    server.faults.append(content({"results": results}))
    with pytest.raises(ServiceError, match="the answer is not as expected"):
        client.learn_many("news", [("x", {"flood": 1.0})])


# ---- repeated requests ----


def test_a_lost_answer(server: Service, client: Client) -> None:
    server.faults.append(("lose",))
    decision = client.decide("news")
    first, second = server.requests
    assert first.body == second.body == {"id": decision.id}
    # The first attempt had made it.
    assert (decision.is_new, decision.round) == (False, 1)
    assert len(server.bandits.bandits["news"]["decisions"]) == 1
    assert len(server.pauses) == 1


CALLS: dict[str, Callable[[Client], Any]] = {
    "decide": lambda client: client.decide("news"),
    "learn": lambda client: client.learn("news", "x", {"flood": 1.0}),
    "expire": lambda client: client.expire("news", "x"),
    "decide_many": lambda client: client.decide_many("news", 3),
    "learn_many": lambda client: client.learn_many("news", [("x", {"flood": 1.0})]),
    "create": lambda client: client.create("new", mb.UniformMatroid(1, 2), "MAUB"),
    "bandits": lambda client: client.bandits(),
    "bandit": lambda client: client.bandit("news"),
    "configure": lambda client: client.configure("news", sticky_for=5),
    "move": lambda client: client.move("news", {"labels": STORIES}, prior={"flood": (0.5, 1)}),
    "explain": lambda client: client.explain("news"),
    "confidence": lambda client: client.confidence("news"),
    "decision": lambda client: client.decision("news", "x"),
}


@pytest.mark.parametrize("fault", [("lose",), ("truncate",), unavailable(), html(502), html(504)])
@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_repeated(
    server: Service, client: Client, name: str, fault: tuple[Any, ...]
) -> None:
    client.decide("news", id="x")
    server.faults.extend([fault, fault])
    # Over a connection that was used before, the first loss would not count.
    with connected(server) as fresh:
        assert CALLS[name](fresh) is not None
    requests = server.requests[1:]
    assert len(requests) == 3
    assert {(x.method, x.path, json.dumps(x.body)) for x in requests} == {
        (requests[0].method, requests[0].path, json.dumps(requests[0].body))
    }
    assert len(server.pauses) == 2
    assert len(server.bandits.bandits["news"]["decisions"]) <= 4


def test_pauses_grow_and_are_bounded(server: Service) -> None:
    server.faults.extend([unavailable()] * 11)
    with connected(server, retries=10) as client, pytest.raises(Unavailable) as raised:
        client.bandits()
    assert len(server.requests) == 11
    assert raised.value.__notes__ == ["attempts: 11"]
    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0]
    assert len(server.pauses) == 10
    assert all(m / 2 <= p <= m for m, p in zip(longest, server.pauses, strict=True))


@pytest.mark.parametrize(
    "header, low, high",
    [
        ("1", 1.0, 1.0),
        (" 2 ", 2.0, 2.0),
        ("86400", 30.0, 30.0),
        ("9" * 400, 30.0, 30.0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 30.0, 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.05, 0.1),
        ("0", 0.05, 0.1),
        ("-5", 0.05, 0.1),
        ("soon", 0.05, 0.1),
        ("", 0.05, 0.1),
    ],
)
def test_retry_after(server: Service, client: Client, header: str, low: float, high: float) -> None:
    server.faults.append(unavailable(**{"Retry-After": header}))
    assert client.decide("news").is_new
    (pause,) = server.pauses
    assert low <= pause <= high


def test_without_retries(server: Service) -> None:
    with connected(server, retries=0) as client:
        for fault in (unavailable(), html(502), html(504), ("truncate",), ("lose",)):
            # Each over a new connection.
            server.faults.append(fault)
            with connected(server, retries=0) as fresh, pytest.raises(Unavailable):
                fresh.decide("news")
        assert client.bandits()
    assert len(server.requests) == 6
    assert server.pauses == []


def test_no_service() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    pauses: list[float] = []
    with Client(f"http://127.0.0.1:{port}", key=ADMIN, retries=3) as client:
        client._transport.sleep = pauses.append
        with pytest.raises(Unavailable, match=r"no answer from http.* to GET /v1/bandits: ") as one:
            client.bandits()
        assert client.is_ready() is False
        with pytest.raises(Unavailable):
            next(client.log("news"))
    assert (one.value.status, one.value.code, one.value.place) == (None, "no_answer", None)
    assert isinstance(one.value.__cause__, ConnectionRefusedError)
    assert len(pauses) == 6


def impatient(client: Client) -> None:
    """Let the open connection wait for a moment only; new ones wait as long as all others."""
    channel = client._transport._connections.here()._of_thread.channel
    channel._connection.sock.settimeout(0.02)


def test_an_answer_that_is_too_late(server: Service, client: Client) -> None:
    client.bandits()
    impatient(client)
    server.faults.append(("hang",))
    decision = client.decide("news", id="x")
    assert decision.elements == ("flood", "derby")
    server.wait_for_requests(3)
    assert [request.body for request in server.requests[1:]] == [{"id": "x"}] * 2
    # It counts, also over a connection that was used before.
    assert len(server.pauses) == 1


def test_answers_that_never_come(server: Service) -> None:
    server.faults.extend([("hang",)] * 3)
    with (
        connected(server, timeout=0.02, retries=2) as client,
        pytest.raises(Unavailable, match=r"nothing came within 0\.02 seconds") as raised,
    ):
        client.decide("news", id="x")
    assert isinstance(raised.value.__cause__, TimeoutError)
    server.wait_for_requests(3)
    assert len(server.pauses) == 2


def test_a_refusal_that_breaks_off_is_not_repeated(server: Service, client: Client) -> None:
    server.faults.append(("truncate",))
    with pytest.raises(NotFound, match="not in the form of the service"):
        client.bandit("olds")
    assert len(server.requests) == 1
    assert client.bandit("news")


def test_an_answer_to_a_body_that_was_not_read(
    server: Service, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = Failure(413, "too_large", "the body is too large")
    server.faults.append(("reply", 413, {}, json.dumps(failure.content).encode()))
    usual = HTTPConnection.request

    def request(*arguments: Any, **options: Any) -> None:
        usual(*arguments, **options)
        raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(HTTPConnection, "request", request)
        with pytest.raises(ServiceError, match="the body is too large"):
            client.decide("news")
    assert len(server.requests) == 1


# ---- connections ----


def test_one_connection_for_all_calls_of_a_thread(server: Service, client: Client) -> None:
    for call in (*CALLS.values(), *CALLS.values()):
        with suppress(NotFound):
            call(client)
    assert {request.connection for request in server.requests} == {1}


@pytest.mark.parametrize("retries", [0, 5])
def test_a_connection_closed_while_idle(server: Service, retries: int) -> None:
    with connected(server, retries=retries) as client:
        for _ in range(3):
            server.faults.append(("close afterwards",))
            assert client.decide("news").is_new
            server.wait_for_open(0)
        assert client.decide("news").round == 4
    assert server.pauses == []
    assert [request.connection for request in server.requests] == [1, 2, 3, 4]


def test_an_idle_connection_is_reopened_once_only(server: Service) -> None:
    with connected(server, retries=0) as client:
        client.bandits()
        server.faults.extend([("lose",), ("lose",)])
        with pytest.raises(Unavailable):
            client.bandits()
        assert client.bandits()
    assert len(server.requests) == 4


def test_connections_that_the_service_announces_to_close(server: Service, client: Client) -> None:
    for _ in range(3):
        server.faults.append(("reply", 200, {"Connection": "close"}, b'{"bandits": []}'))
        assert client.bandits() == []
    assert [request.connection for request in server.requests] == [1, 2, 3]
    assert server.pauses == []


def test_threads(server: Service, client: Client) -> None:
    barrier = threading.Barrier(4, timeout=PATIENCE)

    def work(thread: int) -> list[ServedDecision]:
        barrier.wait()
        decisions = [client.decide("news") for _ in range(25)]
        assert all(client.learn("news", d, [1.0, 0.0]).learned == 2 for d in decisions)
        barrier.wait()
        return decisions

    with ThreadPoolExecutor(4) as pool:
        decisions = [d for made in pool.map(work, range(4)) for d in made]
        assert server.n_open == 4
        client.close()
        server.wait_for_open(0)
    assert sorted(decision.round for decision in decisions) == list(range(1, 101))
    assert len({request.connection for request in server.requests}) == 4
    assert len(server.requests) == 200


def test_the_connection_of_a_thread_that_ended_is_closed(server: Service, client: Client) -> None:
    thread = threading.Thread(target=client.bandits)
    thread.start()
    thread.join()
    del thread
    server.wait_for_open(0)
    assert len(server.requests) == 1


def test_closing_lets_a_request_under_way_finish(server: Service, client: Client) -> None:
    server.faults.append(("slow",))
    with ThreadPoolExecutor(1) as pool:
        decision = pool.submit(client.decide, "news")
        assert server.hanging.wait(PATIENCE)
        client.close()
        server.released.set()
        assert decision.result(PATIENCE).round == 1
        server.wait_for_open(0)


def test_a_closed_client_is_refused(server: Service) -> None:
    with connected(server) as client:
        assert client.is_ready()
        server.faults.append(unavailable())
        client._transport.sleep = lambda _: client.close()
        with pytest.raises(RuntimeError, match="this client is closed; make a new one"):
            client.bandits()
    client.close()
    for call in (*CALLS.values(), lambda client: client.is_ready(), lambda c: next(c.log("news"))):
        with pytest.raises(RuntimeError, match="this client is closed"):
            call(client)
    assert len(server.requests) == 2
    server.wait_for_open(0)


def test_a_call_in_the_middle_of_a_call(server: Service, client: Client) -> None:
    """As a signal handler makes it: it has a connection of its own."""
    connections = client._transport._connections.here()
    with connections.channel() as outer:
        assert client.bandits()
        with connections.channel() as inner:
            assert inner is not outer
            del inner
    with connections.channel() as last:
        assert last is outer
    server.wait_for_open(0)


def test_an_interrupted_call_leaves_no_half_answer(
    server: Service, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.bandits()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("http.client.HTTPResponse.read", interrupted)
        with pytest.raises(KeyboardInterrupt) as raised:
            client.bandits()
        # Although the traceback still holds it.
        server.wait_for_open(0)
        del raised
    assert client.decide("news").round == 1
    assert [request.connection for request in server.requests] == [1, 1, 2]


def forked(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 (shown by the parent)
                result = repr(error)
            os.write(writing, pickle.dumps(result))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_a_forked_process_has_connections_of_its_own(server: Service, client: Client) -> None:
    client.decide("news")
    in_child = forked(lambda: [client.decide("news").round, client.decide("news").round])
    assert in_child == [2, 3]
    assert client.decide("news").round == 4
    assert [request.connection for request in server.requests] == [1, 2, 2, 1]
    # To close it there closes nothing here, and the other way round.
    assert forked(client.close) is None
    assert client.decide("news").round == 5
    assert server.requests[-1].connection == 1
    client.close()
    assert "this client is closed" in forked(client.bandits)


@needs_fork
def test_a_log_is_not_shared_with_a_fork(client: Client) -> None:
    log = client.log("news")
    assert next(log)["seq"] == 1
    assert forked(lambda: next(log)) == {"seq": 2}  # received before
    assert "cannot be read on in a forked process" in forked(lambda: list(log))
    assert [row["seq"] for row in log] == [2, 3]


# ---- certificates ----


@pytest.fixture
def secure(server: Service, tmp_path: Path) -> tuple[str, Path]:
    """The url of the service over https, and the file with its certificate."""
    file = tmp_path / "certificate.pem"
    file.write_text(CERTIFICATE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    # The handshake is made by the thread of the connection.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    return server.url.replace("http:", "https:"), file


def test_certificates_are_checked(server: Service, secure: tuple[str, Path]) -> None:
    with Client(secure[0], key=ADMIN, timeout=PATIENCE) as client:
        client._transport.sleep = server.pauses.append
        with pytest.raises(Unavailable, match="certificate verify failed"):
            client.decide("news")
    # Another attempt would not help; and the key was not sent.
    assert server.pauses == []
    assert server.requests == []


def test_certificates_that_are_trusted(
    server: Service, secure: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, file = secure
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Client(url, key=ADMIN, timeout=PATIENCE, retries=0) as client:
        assert client.decide("news").round == 1
        assert [row["seq"] for row in client.log("news")] == [1, 2, 3]
        server.faults.append(("close afterwards",))
        assert client.decide("news").round == 2
        server.wait_for_open(0)
        assert client.decide("news").round == 3
    # The same address by a name that is not in the certificate.
    other = url.replace("127.0.0.1", "127.1")
    with (
        Client(other, key=ADMIN, timeout=PATIENCE, retries=0) as client,
        pytest.raises(Unavailable, match="mismatch"),
    ):
        client.decide("news")


# ---- the log ----


def test_the_log(server: Service, client: Client) -> None:
    rows = client.log("news", after=np.int64(7))
    assert list(rows) == [{"seq": 1, "element": ("a", 1)}, {"seq": 2}, {"seq": 3}]
    assert server.requests[0].path == "/v1/bandits/news/log?format=jsonl&after=7"
    with pytest.raises(ValueError, match="after must be at least 0"):
        client.log("news", after=-1)


def test_the_log_is_read_while_it_is_written(server: Service, client: Client) -> None:
    seen: list[threading.Event] = [threading.Event() for _ in range(3)]

    def write(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for number, event in enumerate(seen):
            handler.wfile.write(chunk(b'{"seq": %d}\n' % number))
            # The next line is not written before this one has been read.
            assert event.wait(PATIENCE)
        handler.wfile.write(chunk(b""))

    server.write_log = write
    for number, row in enumerate(client.log("news")):
        assert row == {"seq": number}
        # Other calls may be made meanwhile.
        assert client.decide("news").round == number + 1
        seen[number].set()
    assert all(event.is_set() for event in seen)


def log_with(headers: dict[str, str], data: bytes) -> Callable[[Handler], None]:
    def write(handler: Handler) -> None:
        handler.close_connection = True
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return write


@pytest.mark.parametrize(
    "headers, data",
    [
        ({"Content-Length": "22"}, b'{"seq": 1}\n{"seq": 2}\n'),
        ({"Content-Length": "21"}, b'{"seq": 1}\n{"seq": 2}'),
        ({"Connection": "close"}, b'{"seq": 1}\n{"seq": 2}'),
    ],
)
def test_logs_in_other_framings(
    server: Service, client: Client, headers: dict[str, str], data: bytes
) -> None:
    server.write_log = log_with(headers, data)
    assert len(list(client.log("news"))) == 2
    server.wait_for_open(0)


@pytest.mark.parametrize(
    "headers, data",
    [
        ({"Content-Length": "100"}, b'{"seq": 1}\n{"seq": 2'),
        ({"Content-Length": "100"}, b'{"seq": 1}\n'),
        ({"Transfer-Encoding": "chunked"}, chunk(b'{"seq": 1}\n')),
        ({"Transfer-Encoding": "chunked"}, chunk(b'{"seq": 1}\n') + b"ff\r\n{"),
        ({"Transfer-Encoding": "chunked"}, chunk(b'{"seq": 1}\n') + b"what?\r\n"),
    ],
)
def test_a_log_that_breaks_off(
    server: Service, client: Client, headers: dict[str, str], data: bytes
) -> None:
    server.write_log = log_with(headers, data)
    rows = client.log("news")
    assert next(rows) == {"seq": 1}
    with pytest.raises(Unavailable, match="the answer broke off"):
        next(rows)
    assert list(rows) == []
    assert len(server.requests) == 1


@pytest.mark.parametrize("line", [b"[1]", b"null", b"{", b'{"x": NaN}', b"<html>", b"\xff"])
def test_a_log_with_other_lines(server: Service, client: Client, line: bytes) -> None:
    server.write_log = log_with({"Connection": "close"}, b'{"seq": 1}\n' + line + b"\n")
    rows = client.log("news")
    assert next(rows) == {"seq": 1}
    with pytest.raises(ServiceError, match="the answer is not as expected"):
        next(rows)


def test_a_log_is_asked_for_again(server: Service, client: Client) -> None:
    server.faults.extend([("lose",), unavailable(**{"Retry-After": "3"}), html(502)])
    assert len(list(client.log("news"))) == 3
    assert len(server.requests) == 4
    assert server.pauses[1] == 3.0
    server.wait_for_open(0)


def test_a_log_that_is_refused(server: Service, client: Client) -> None:
    # Answered like all other requests, not with a log; the second answer breaks off.
    server.faults.extend([("none",), ("truncate",)])
    for message in ("no bandit 'olds'", "not in the form of the service"):
        with pytest.raises(NotFound, match=message):
            list(client.log("olds"))
    assert len(server.requests) == 2


def test_a_log_that_is_not_read_to_the_end(server: Service, client: Client) -> None:
    first, second = client.log("news"), client.log("news")
    assert (next(first)["seq"], next(second)["seq"]) == (1, 1)
    assert next(client.log("news"))["seq"] == 1
    server.wait_for_open(2)
    first.close()  # type: ignore[attr-defined]
    server.wait_for_open(1)
    client.close()
    server.wait_for_open(0)
    with pytest.raises(RuntimeError, match="this client is closed"):
        list(second)


# ---- whether it is there ----


def test_is_ready(server: Service, client: Client) -> None:
    assert client.is_ready()
    server.faults.extend([("reply", 200, {}, b"ok"), unavailable(), html(502), ("truncate",)])
    assert [client.is_ready() for _ in range(4)] == [True, False, False, False]
    assert len(server.requests) == 5
    server.faults.append(html(404, "nothing here"))
    with pytest.raises(NotFound):
        client.is_ready()
    assert server.pauses == []


def test_the_usual_pause_is_a_real_one() -> None:
    with Client("http://127.0.0.1") as client:
        assert client._transport.sleep is time.sleep
