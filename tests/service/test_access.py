"""Who may do what: keys and roles, hosts, other sites, sizes, and hostile requests."""

import base64
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from matroid_bandits.cli import main
from matroid_bandits.service import Limits, create_app
from matroid_bandits.service.keys import ROLES, KeyFile, allows

from .in_process import NEWS, Service

OPEN = {"/healthz", "/readyz"}


@pytest.fixture
def keys(tmp_path: Path) -> dict[str, str]:
    """A key for each role, by role."""
    file = KeyFile(tmp_path / "bandits.keys")
    return {role: file.add(f"the-{role}", role) for role in ROLES}


@pytest.fixture
def guarded(tmp_path: Path, keys: dict[str, str]) -> Iterator[Service]:
    path = tmp_path / "bandits.sqlite"
    with Service(path, keys=tmp_path / "bandits.keys", hosts=None) as service:
        made = service.post("/v1/bandits", NEWS, headers=bearer(keys["admin"]))
        assert made.status == 201
        yield service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "bandits.sqlite", limits=Limits(body=100_000)) as running:
        running.create()
        yield running


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def routes() -> list[tuple[str, str]]:
    """Every documented method and path; a new route is found by itself."""
    paths = create_app("unused.sqlite").openapi()["paths"]
    found = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    return [*found, ("GET", "/"), ("GET", "/bandits/{name}"), ("GET", "/api")]


def needed(method: str, path: str) -> str:
    """The role that a route needs."""
    if method == "GET":
        return "reader"
    return "writer" if "/decisions" in path or "/rewards" in path else "admin"


# ---- keys ----


@pytest.mark.parametrize("method, path", routes())
def test_roles(guarded: Service, keys: dict[str, str], method: str, path: str) -> None:
    target = path.replace("{name}", "news").replace("{id}", "x")
    unknown = [{}, bearer("mb_wrong"), {"Authorization": "Bearer"}, {"Authorization": "x y"}]
    for headers in unknown:
        status = guarded.request(method, target, headers=headers).status
        assert (status == 401) is (path not in OPEN)
    for role in ROLES:
        status = guarded.request(method, target, headers=bearer(keys[role])).status
        is_refused = path not in OPEN and not allows(role, needed(method, path))
        assert (status == 403) is is_refused
        assert status != 401


def test_errors_of_keys(guarded: Service, keys: dict[str, str]) -> None:
    missing = guarded.get("/v1/bandits")
    assert (missing.status, missing.error["code"]) == (401, "unauthorized")
    assert missing.headers["www-authenticate"] == 'Bearer realm="matroid-bandits"'
    refused = guarded.post("/v1/bandits", NEWS, headers=bearer(keys["writer"]))
    assert refused.error["message"] == "the key 'the-writer' has the role writer; this needs admin"
    page = guarded.get("/")
    assert page.headers["www-authenticate"].startswith("Basic")
    assert page.headers["content-type"].startswith("text/html")


def test_browsers_read_with_a_password(guarded: Service, keys: dict[str, str]) -> None:
    word = base64.b64encode(f"anybody:{keys['admin']}".encode()).decode()
    headers = {"Authorization": f"Basic {word}"}
    assert guarded.get("/bandits/news", headers=headers).status == 200
    # A browser sends it by itself, also for a page of somebody else.
    assert guarded.post("/v1/bandits/news/decisions", {}, headers=headers).status == 401


def test_keys_come_and_go(tmp_path: Path, guarded: Service, monkeypatch) -> None:
    monkeypatch.setattr("matroid_bandits.service.keys._INTERVAL", 0.0)
    file = KeyFile(tmp_path / "bandits.keys")
    new = file.add("new", "reader")
    assert guarded.get("/v1/bandits", headers=bearer(new)).status == 200
    file.remove("new")
    assert guarded.get("/v1/bandits", headers=bearer(new)).status == 401
    (tmp_path / "bandits.keys").write_text("damaged")
    assert guarded.get("/v1/bandits", headers=bearer(new)).status == 401
    assert guarded.get("/healthz").status == 200


def test_a_key_is_kept_nowhere(
    tmp_path: Path, guarded: Service, keys: dict[str, str], caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "bandits.keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    answer = guarded.get("/v1/bandits/nothing", headers=bearer(keys["admin"]))
    for key in keys.values():
        assert key not in path.read_text()
        assert key not in answer.text
        assert key not in caplog.text


def test_commands_of_keys(tmp_path: Path, capsys) -> None:
    path = str(tmp_path / "own.keys")
    assert main(["keys", "add", "website", "--role", "writer", "--keys", path]) == 0
    shown = capsys.readouterr().out.splitlines()[-1]
    assert KeyFile(path).find(shown).name == "website"
    assert main(["keys", "list", "--keys", path]) == 0
    assert "website  writer" in capsys.readouterr().out
    assert main(["keys", "remove", "website", "--keys", path]) == 0
    assert KeyFile(path).read() == []


@pytest.mark.parametrize(
    "command, message",
    [
        (["add", "a b", "--role", "writer"], "has up to 64 letters"),
        (["add", "x", "--role", "king"], "invalid choice: 'king'"),
        (["add", "known", "--role", "reader"], "there is a key 'known' already"),
        (["remove", "x"], "there is no key 'x'; the keys are: known"),
        (["list", "--keys", "notes.txt"], "is not a file of keys"),
        (["list", "--keys", "."], "keys list: the file of keys . cannot be read: Is a directory"),
        (["remove", "x", "--keys", "."], "the file of keys . cannot be read: Is a directory"),
        (
            ["add", "x", "--role", "reader", "--keys", "no/keys"],
            "the file of keys no/keys cannot be written: No such file or directory",
        ),
        (["list", "--keys", ""], "argument --keys: must not be empty"),
        (["add", "x"], "--role is missing: one of reader, writer, admin"),
    ],
)
def test_mistakes_with_keys(tmp_path: Path, monkeypatch, capsys, command, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    KeyFile("bandits.keys").add("known", "reader")
    Path("notes.txt").write_text("notes")
    with pytest.raises(SystemExit) as ended:
        main(["keys", *command])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_everybody_everywhere_is_refused() -> None:
    with pytest.raises(ValueError, match="hosts=None needs keys"):
        create_app("unused.sqlite", hosts=None)


# ---- other sites ----


def test_hosts(service: Service) -> None:
    for host in ("localhost:8000", "127.0.0.1", "[::1]:80", "LOCALHOST"):
        assert service.get("/healthz", headers={"Host": host}).status == 200
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert service.get("/v1/bandits", headers={"Host": host}).status == 421


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:80:evil.com",
        "127.0.0.1:evil.com",
        "[::1]evil.com",
        "[::1]:80:evil.com",
        "[::1",
        "localhost:80/evil",
        "localhost@evil.com",
        "localhost evil.com",
        "localhost:\u0661",
    ],
)
@pytest.mark.parametrize("fixture", ["service", "guarded"])
def test_hosts_that_are_none(request, keys: dict[str, str], fixture: str, host: str) -> None:
    # Without keys the name must be one of the server's; with keys it may be any.
    asked = request.getfixturevalue(fixture)
    headers = bearer(keys["admin"]) | {"Host": host.encode().decode("latin-1")}
    refused = asked.get("/v1/bandits", headers=headers)
    assert (refused.status, refused.error["code"]) == (421, "unknown_host")
    assert "must be there once, a name and perhaps a port" in refused.error["message"]


def test_pages_of_other_sites(service: Service) -> None:
    evil = {"Origin": "https://evil.example"}
    assert service.post("/v1/bandits/news/decisions", {}, headers=evil).status == 403
    own = {"Origin": "http://127.0.0.1"}
    assert service.post("/v1/bandits/news/decisions", {}, headers=own).status == 201
    assert "access-control-allow-origin" not in service.get("/v1/bandits", headers=evil).headers
    policy = service.get("/").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")


# ---- hostile bodies ----

DEEP = b"[" * 100_000 + b"]" * 100_000
HOSTILE = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"3",
    b'"text"',
    b"\xff\xfe",
    b'{"id": "\\ud800"}',
    b'{"available": [NaN]}',
    b'{"available": [[Infinity]]}',
    b'{"available": ' + DEEP[:40_000] + b"}",
    b'{"available": [' + b"9" * 5_000 + b"]}",
    b'{"available": [1e999]}',
    b'{"id": "a", "id": 3}',
    b'{"id": {"$ne": null}}',
    b'{"rewards": {"flood": NaN}}',
    b'{"rewards": {"flood": 1e400}}',
    b'{"rewards": {"flood": ' + b"9" * 400 + b"}}",
    b'{"rewards": [{"element": ' + DEEP[:40_000] + b', "reward": 1}]}',
    b'{"rewards": {"<script>alert(1)</script>": 1}}',
    b'{"rewards": {"\'; DROP TABLE events; --": 1}}',
    b'{"decisions": 7}',
    b'{"decisions": [7]}',
    b'{"rewards": [{"id": "a"}]}',
    b'{"problem": {"matroid": {"type": "python"}}}',
    b'{"name": "../../etc", "problem": {"matroid": "K4"}}',
    b'{"name": "x", "problem": {"matroid": "' + b"dual(" * 5_000 + b'"}}',
    b'{"name": "x", "problem": {"matroid": "K100000"}}',
    b'{"name": "x", "problem": {"matroid": {"type": "linear", "vectors": [[1e308, NaN]]}}}',
    b'{"name": "x", "problem": {"matroid": {"type": "graphic", "edges": "/etc/passwd"}}}',
    b'{"name": "x", "problem": {"matroid": {"type": "transversal", "neighbors": [{}, 3]}}}',
    b'{"name": "x", "problem": {"matroid": "K4"}, "policy": "OMM(index=/etc/passwd)"}',
    b'{"name": "x", "problem": {"matroid": "U(50,100)"}, "policy": "OSUB"}',
    b'{"status": "deleted"}',
    b'{"expire_after": "soon"}',
    b'{"matroid": "K4", "labels": ["a", "a", "b", "c", "d", "e"]}',
    b'{"matroid": "K4", "prior": {"x": 3}}',
]
TARGETS = [
    ("POST", "/v1/bandits"),
    ("PATCH", "/v1/bandits/news"),
    ("PUT", "/v1/bandits/news/problem"),
    ("POST", "/v1/bandits/news/decisions"),
    ("POST", "/v1/bandits/news/decisions/batch"),
    ("POST", "/v1/bandits/news/decisions/first/rewards"),
    ("POST", "/v1/bandits/news/decisions/first/expire"),
    ("POST", "/v1/bandits/news/rewards/batch"),
]


def test_hostile_bodies(service: Service) -> None:
    service.decide("first")
    service.decide("second", available=["flood", "derby"])
    for method, path in TARGETS:
        for body in HOSTILE:
            before = len(service.log())
            reply = service.request(method, path, content=body)
            if reply.status < 400:
                assert body in {b"", b'{"id": "a", "id": 3}'} or "expire" in path, (path, body)
                continue
            assert reply.status in {404, 409, 410, 422}, (path, body[:80], reply.text)
            message = reply.error["message"]
            for word in ("Traceback", "site-packages", "decide()", "=True", "None", "/src/"):
                assert word not in message, (path, body[:80], message)
            assert len(service.log()) == before, (path, body[:80])
    assert service.get("/readyz").status == 200


def test_large_bodies(service: Service) -> None:
    large = json.dumps({"available": ["x" * 200_000]})
    refused = service.post("/v1/bandits/news/decisions", content=large)
    assert (refused.status, refused.error["code"]) == (413, "too_large")
    # In pieces, without saying how much it is.
    pieces = [large[:60_000].encode(), large[60_000:].encode()]
    assert service.post("/v1/bandits/news/decisions", content=pieces).status == 413
    assert service.decide("a").status == 201


@pytest.mark.parametrize(
    "path",
    [
        "/v1/bandits/<script>",
        "/v1/bandits/' OR 1=1 --",
        "/v1/bandits/..%2F..%2Fetc%2Fpasswd",
        "/v1/bandits/news%00",
        "/v1/bandits/" + "x" * 5_000,
        "/static/../app.py",
        "/static/..%2Fapp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/v1/bandits/news/decisions/%00",
        "/v1/bandits/news/decisions/' OR ''='",
    ],
)
def test_hostile_paths(service: Service, path: str) -> None:
    reply = service.get(path)
    assert reply.status == 404
    assert "import" not in reply.text


def test_ids_of_another_bandit(service: Service) -> None:
    service.create("other")
    service.decide("mine")
    assert service.learn("mine", {"flood": 1}, "other").status == 404
    assert service.decide("mine", "other").status == 201


def test_labels_are_text_on_pages(service: Service) -> None:
    hostile: list[Any] = ["<script>alert(1)</script>", "\u202eabc", "x" * 500, "\"&'<"]
    service.create("hostile", problem={"matroid": "U(2,4)", "labels": hostile})
    service.decide("<b>id</b>", "hostile")
    page = service.get("/bandits/hostile").text
    assert "<script>alert" not in page
    assert "<b>id" not in page
