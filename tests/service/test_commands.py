"""``matroid-bandits log``, ``replay``, ``backup``, ``demo``, and mistakes of ``serve``."""

import asyncio
import json
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import BytesIO
from pathlib import Path
from time import sleep

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.service import bandit_queue, create_app, store_at
from matroid_bandits.service.replay import first_difference, replay

LABELS = ["flood", "summit", ["Oslo", 1], 4]


@pytest.fixture
def database(tmp_path: Path, monkeypatch) -> Path:
    """A log of two bandits, with snapshots, a move and some decisions for available elements."""
    monkeypatch.setattr(bandit_queue, "SNAPSHOT_EVERY", 40)
    path = tmp_path / "bandits.sqlite"
    with TestClient(create_app(path), base_url="http://127.0.0.1") as http:
        for name, policy in (("news", "MAUB(index=kl)"), ("other", "CTS")):
            problem = {"matroid": "U(2,4)", "labels": LABELS}
            http.post("/v1/bandits", json={"name": name, "problem": problem, "policy": policy})
            for i in range(60):
                body = {"id": f"{name}-{i}"}
                if i % 3 == 0:
                    body["available"] = LABELS[1 if i > 30 else 0 : 3]
                made = http.post(f"/v1/bandits/{name}/decisions", json=body).json()
                rewards = [
                    {"element": e, "reward": float((i + k) % 2)}
                    for k, e in enumerate(made["elements"][: 1 + i % 2])
                ]
                http.post(
                    f"/v1/bandits/{name}/decisions/{made['id']}/rewards", json={"rewards": rewards}
                )
                if i == 30:
                    moved = {"matroid": "U(2,4)", "labels": [*LABELS[1:], "comet"]}
                    http.put(f"/v1/bandits/{name}/problem", json=moved)
    return path


def test_json_lines(database: Path, capsys) -> None:
    assert main(["log", "news", "--database", str(database)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))
    decided = [line for line in lines if line["kind"] == "decided"]
    assert len(decided) == 60
    # The labels that were available, of the problem of that time.
    assert decided[0]["available"] == LABELS[:3]
    assert decided[33]["available"] == LABELS[1:3]
    assert main(["log", "news", "--database", str(database), "--after", "40"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == lines[40:]


def test_parquet_can_be_learned(database: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "news.parquet"
    command = ["log", "news", "--format", "parquet", "--database", str(database)]
    assert main([*command, "--output", str(target)]) == 0
    table = pq.read_table(target)
    assert capsys.readouterr().out == f"the log of news is in {target}\n"
    labels = ["flood", "summit", '["Oslo", 1]', "4", "comet"]
    policy = mb.MAUB(mb.Problem(mb.UniformMatroid(2, 5), labels=labels), index="kl")
    policy.learn_log(table)
    assert policy.rounds == 60
    assert policy.counts.sum() == sum(kind == "rewarded" for kind in table["kind"].to_pylist())


def test_parquet_tells_labels_apart(tmp_path: Path) -> None:
    path, target = tmp_path / "bandits.sqlite", tmp_path / "mixed.parquet"
    labels = ["1", 1, '"1"', "2", [1, "a"], '[1, "a"]', True, "text"]
    texts = ['"1"', "1", '"\\"1\\""', "2", '[1, "a"]', '"[1, \\"a\\"]"', "true", "text"]
    with TestClient(create_app(path), base_url="http://127.0.0.1") as http:
        problem = {"matroid": "U(8,8)", "labels": labels}
        http.post("/v1/bandits", json={"name": "mixed", "problem": problem, "policy": "OMM"})
        http.post("/v1/bandits/mixed/decisions", json={"id": "a"})
        moved = {"matroid": "U(1,1)", "labels": ["1"]}
        http.put("/v1/bandits/mixed/problem", json=moved)
        http.post("/v1/bandits/mixed/decisions", json={"id": "b"})
    command = ["log", "mixed", "--format", "parquet", "--output", str(target)]
    assert main([*command, "--database", str(path)]) == 0
    # The same before and after the move.
    assert pq.read_table(target)["element"].to_pylist() == [*texts, texts[0]]


def test_parquet_to_a_pipe(database: Path) -> None:
    command = [sys.executable, "-m", "matroid_bandits", "log", "news", "--format", "parquet"]
    command += ["--database", str(database)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert pq.read_table(BytesIO(done.stdout)).column_names[-3:] == [
        "element",
        "reward",
        "propensity",
    ]


def test_a_log_without_an_output(database: Path) -> None:
    command = f"{sys.executable} -m matroid_bandits log news --database {database} >&-"
    done = subprocess.run(command, shell=True, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_replay(database: Path, capsys) -> None:
    assert main(["replay", "--database", str(database)]) == 0
    text = capsys.readouterr().out
    assert text.count("every decision of the log would be made again") == 2
    assert text.count("bit for bit") == 2


def test_replay_finds_a_wrong_snapshot(database: Path, capsys) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM snapshots WHERE bandit = 2")
        # That of another bandit.
        connection.execute("INSERT INTO snapshots SELECT 2, number, data FROM snapshots")
    connection.close()
    assert main(["replay", "other", "--database", str(database)]) == 1
    assert "NOT the same as from the snapshot after event" in capsys.readouterr().out


def test_a_version_that_decides_differently(database: Path, capsys) -> None:
    with sqlite3.connect(database) as connection:
        data = '{"elements":["summit",4],"round":1,"why":"initial"}'
        connection.execute(
            "UPDATE events SET data = ? WHERE bandit = 1 AND kind = 'decided' AND number = 2",
            (data,),
        )
        connection.execute(
            "UPDATE events SET data = ? WHERE bandit = 1 AND number = 3",
            ('{"rewards":[["summit",1.0]]}',),
        )
        connection.execute("DELETE FROM snapshots")
    connection.close()

    async def result():
        store = store_at(database)
        await store.open()
        try:
            return await replay(store, "news")
        finally:
            await store.close()

    found = asyncio.run(result())
    # Later decisions follow from other statistics, so they differ too.
    assert found.n_differences >= 1
    assert "would be made differently by this version" in str(found)
    with TestClient(create_app(database), base_url="http://127.0.0.1") as http:
        (warning,) = http.get("/v1/bandits/news").json()["warnings"]
        assert warning.startswith("This version of the library would have made")


def test_backup(database: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "copy.sqlite"
    for _ in range(2):  # the second one has nothing to do
        assert main(["backup", str(target), "--database", str(database)]) == 0
    assert "events of 2 bandits are in SQLite file" in capsys.readouterr().out

    async def states(path: Path) -> list:
        store = store_at(path)
        await store.open()
        try:
            found = []
            for row in await store.bandits():
                bandit = await bandit_queue.rebuilt(store, row.name, use_snapshots=False)
                for event in await store.events(row.name, 0, 10_000):
                    bandit.apply(event)
                found.append(bandit.state())
            return found
        finally:
            await store.close()

    assert first_difference(asyncio.run(states(database)), asyncio.run(states(target))) is None


@pytest.mark.parametrize(
    "command, message",
    [
        (["log", "news", "--database", "none.sqlite"], "there is no database none.sqlite"),
        (["log", "nws"], "there is no bandit 'nws'; there are: news, other"),
        (["replay", "nws"], "there is no bandit 'nws'; there are: news, other"),
        (["backup", "bandits.sqlite"], "the target is the database itself"),
        (["serve", "--database", "mysql://host/name"], "got a 'mysql' address"),
        (["serve", "--database", "nowhere/bandits.sqlite"], "there is no folder nowhere"),
        (["serve", "--host", "0.0.0.0"], "pass --keys FILE"),
        (["serve", "--keys", "bandits.sqlite"], "is not a file of keys"),
        (["serve", "--port", "70000"], "must be a whole number from 0 to 65535"),
        (["serve", "--database", "notes.txt"], "file is not a database"),
        (["serve", "--database", "."], ". is a folder; name a file in it"),
        (["serve", "--database", ""], "argument --database: must not be empty"),
        (["serve", "--keys", ""], "argument --keys: must not be empty"),
        (["serve", "--keys", "."], "the file of keys . cannot be read: Is a directory"),
        (["log", "news", "--output", ""], "argument --output: must not be empty"),
        (["backup", ""], "argument TARGET: must not be empty"),
    ],
)
def test_mistakes(database: Path, monkeypatch, capsys, command: list[str], message: str) -> None:
    monkeypatch.chdir(database.parent)
    Path("notes.txt").write_text("These are notes, not a database." * 100)
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("command", [["serve"], ["replay"], ["log", "news"]])
def test_a_database_that_cannot_be_used(
    database: Path, monkeypatch, capsys, command: list[str]
) -> None:
    monkeypatch.setattr("matroid_bandits.service.stores.sqlite._PATIENCE", 0.0)
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SystemExit) as ended:
            main([*command, "--database", str(database)])
    assert ended.value.code == 2
    program = f"matroid-bandits {command[0]}"
    assert capsys.readouterr().err == (
        f"{program}: the database cannot be used: database is locked\n"
    )


def test_a_port_that_is_in_use(tmp_path: Path, capsys) -> None:
    import socket  # noqa: PLC0415

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port, "--database", str(tmp_path / "x.sqlite")]) == 1
    assert "cannot listen on 127.0.0.1 port" in capsys.readouterr().err


def test_demo_ends_by_ctrl_c() -> None:
    command = [sys.executable, "-m", "matroid_bandits", "demo", "--port", "0", "--rounds", "30"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())[0]
            with mb.Client(url, retries=20) as client:
                for _ in range(3_000):
                    rows = client.bandits()
                    if [row["rounds"] for row in rows] == [30, 30]:
                        break
                    sleep(0.02)
            assert [row["name"] for row in rows] == ["backbone", "news"]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert process.stdout.read() == "stopped\n"
        finally:
            process.kill()
