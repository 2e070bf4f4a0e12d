"""Propensities of served decisions: answered, logged, exported and evaluated."""

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.service import create_app
from matroid_bandits.service.commands import Decide
from matroid_bandits.service.granting import ServedBandit, created
from matroid_bandits.service.settings import NO_LIMITS, Settings

LABELS = ["flood", "summit", "derby", "record"]
BANDIT = {"name": "news", "problem": {"matroid": "U(2,4)", "labels": LABELS}, "policy": "CTS"}


@pytest.fixture
def http(tmp_path: Path):
    with TestClient(create_app(tmp_path / "log.sqlite"), base_url="http://127.0.0.1") as client:
        assert client.post("/v1/bandits", json=BANDIT).status_code == 201
        yield client


def test_they_are_those_of_the_library(http) -> None:
    policy = mb.CTS(mb.Problem(mb.UniformMatroid(2, 4), labels=LABELS))
    for i in range(5):
        body = {"id": f"d{i}", "propensities": 50}
        made = http.post("/v1/bandits/news/decisions", json=body)
        expected = policy.decide(id=f"d{i}", propensities=50)
        assert made.status_code == 201
        assert made.json()["elements"] == expected.elements
        assert made.json()["propensities"] == expected.propensities.tolist()
        # The same id again gets the same answer.
        assert http.post("/v1/bandits/news/decisions", json={"id": f"d{i}"}).json() == made.json()
        recorded = http.get(f"/v1/bandits/news/decisions/d{i}").json()
        assert recorded["propensities"] == expected.propensities.tolist()
    assert "propensities" not in http.post("/v1/bandits/news/decisions", json={"id": "x"}).json()


@pytest.mark.parametrize(
    "body, words",
    [
        ({"propensities": 0}, "greater than or equal to 1"),
        ({"propensities": 1001}, "less than or equal to 1000"),
        ({"propensities": 2.5}, "integer"),
        ({"propensities": 5, "shown": ["flood"]}, "not known to it"),
    ],
)
def test_mistakes(http, body, words) -> None:
    answer = http.post("/v1/bandits/news/decisions", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]["message"]
    assert answer.json()["error"]["place"] == "propensities"


def test_draws_that_would_take_long_are_refused(http) -> None:
    large = {"matroid": "U(2,20000)"}
    assert http.post("/v1/bandits", json=BANDIT | {"name": "large", "problem": large}).is_success
    answer = http.post("/v1/bandits/large/decisions", json={"propensities": 251})
    assert answer.status_code == 422
    assert "251 draws with 20,000 elements" in answer.json()["error"]["message"]
    assert "at most 250" in answer.json()["error"]["message"]
    # The same together in a batch: those that fit are made.
    items = [{"id": f"d{i}", "propensities": 1 if i else 250} for i in range(3)]
    made = http.post("/v1/bandits/large/decisions/batch", json={"decisions": items}).json()
    assert ["error" in result for result in made["results"]] == [False, True, True]
    assert "another batch" in made["results"][1]["error"]["message"]
    # The next transaction begins anew, and nothing was decided for the refused ones.
    again = http.post("/v1/bandits/large/decisions", json={"id": "d1", "propensities": 1})
    assert again.status_code == 201
    assert again.json()["round"] == 2


def test_a_paused_bandit_has_none(http) -> None:
    http.patch("/v1/bandits/news", json={"status": "paused"})
    made = http.post("/v1/bandits/news/decisions", json={"propensities": 5}).json()
    assert made["paused"]
    assert "propensities" not in made


def test_the_log_can_be_evaluated_and_replayed(tmp_path: Path, capsys) -> None:
    path = tmp_path / "log.sqlite"
    means = dict(zip(LABELS, [0.9, 0.6, 0.4, 0.1], strict=True))
    rng = np.random.default_rng(1)
    settings = {"policy": "RandomBasis"}
    with TestClient(create_app(path), base_url="http://127.0.0.1") as http:
        http.post("/v1/bandits", json=BANDIT | settings)
        for i in range(400):
            body = {"id": f"d{i}", "propensities": 40}
            elements = http.post("/v1/bandits/news/decisions", json=body).json()["elements"]
            rewards = {e: float(rng.random() < means[e]) for e in elements}
            http.post(f"/v1/bandits/news/decisions/d{i}/rewards", json={"rewards": rewards})
        content = http.get("/v1/bandits/news/log?format=parquet").content
    table = pq.read_table(BytesIO(content))
    assert table.column_names[-2:] == ["reward", "propensity"]
    # Weights are about 2, so weighted rewards of a decision are from 0 to about 4, with a standard
    # deviation below 2: 2 / sqrt(400) = 0.1. The margin is 4 of it.
    result = mb.evaluate_log(table, ["flood", "summit"])
    assert result.n_decisions == 400
    assert result.value == pytest.approx(1.5, abs=0.4)
    assert main(["log", "news", "--database", str(path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(len(line["propensities"]) == 2 for line in lines if line["kind"] == "decided")
    assert main(["replay", "news", "--database", str(path)]) == 0
    # A process that begins anew has the same decisions.
    with TestClient(create_app(path), base_url="http://127.0.0.1") as http:
        made = http.post("/v1/bandits/news/decisions", json={"id": "d7"}).json()
        assert len(made["propensities"]) == 2


def test_snapshots_have_them() -> None:
    content = json.loads(created(BANDIT["problem"], "CTS", Settings(), None, NO_LIMITS))
    live = ServedBandit("news", content)
    for i in range(4):
        live.handle(Decide(f"d{i}", propensities=20 if i % 2 else None), {}, 1.0 + i)
    events = live.take_events()
    rebuilt = ServedBandit("news", content)
    for event in events:
        rebuilt.apply(event)
    restored = ServedBandit.from_state(live.state())
    for one in (rebuilt, restored):
        decisions = one.policy.open_decisions
        assert decisions["d0"].propensities is None
        assert (
            decisions["d3"].propensities.tolist()
            == live.policy.open_decisions["d3"].propensities.tolist()
        )
