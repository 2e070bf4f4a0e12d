"""The requests in docs/reference/http.md work as they are written.

That the Python of all pages runs is tested in `tests/docs`.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from matroid_bandits.client import Client

from ..docs.pages import DOCS, blocks
from ..docs.serving import ADDRESS, server

PAGE = DOCS / "reference" / "http.md"


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a server with an empty database."""
    with server(tmp_path) as found:
        yield found


def texts(language: str) -> list[str]:
    """The blocks of the page in a language."""
    return [block.text for block in blocks(PAGE) if block.language == language]


def calls(text: str) -> Iterator[tuple[str, str, str | None, str | None]]:
    """Method, path and body of every call of curl, and the answer that is shown."""
    for line in re.split(r"^curl -s ", text, flags=re.MULTILINE)[1:]:
        method = re.search(r"-X (\w+)", line)
        path = re.search(rf"{re.escape(ADDRESS)}(\S+)", line)
        body = re.search(r"--json '(.*?)'", line, flags=re.DOTALL)
        shown = re.search(r"^# (\{.*\})$", line, flags=re.MULTILINE)
        yield (
            method[1] if method else "POST" if body else "GET",
            path[1],
            body[1] if body else None,
            shown[1] if shown else None,
        )


def test_curl(url: str) -> None:
    client, answers = Client(url), []
    for block in texts("sh"):
        for method, path, body, shown in calls(block):
            content = None if body is None else json.loads(body)
            if path.endswith("/log"):
                answers.append(list(client.log("news")))
            else:
                answers.append(client._call(method, path, content).table)
            answer = _plain(answers[-1])
            # That of a batch has errors inside.
            assert '"error"' not in json.dumps(answer)
            assert shown is None or answer == json.loads(shown)
    assert len(answers) == 15
    assert client.bandit("news")["status"] == "paused"
    assert client.bandit("news")["elements"][2]["count"] == 5


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_itself(url: str) -> None:
    version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
    if tuple(map(int, version.stdout.split()[1].split(".")[:2])) < (7, 82):
        pytest.skip("curl is older than --json")
    script = "\n".join(texts("sh"))
    done = subprocess.run(
        ["bash", "-ec", script.replace(ADDRESS, url)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert '"error"' not in done.stdout
    shown = re.findall(r"^# (\{.*\})$", script, flags=re.MULTILINE)
    # In their order.
    assert re.search(".*".join(map(re.escape, shown)), done.stdout, flags=re.DOTALL)
    assert Client(url).bandit("news")["decided"] == 5


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_javascript(url: str, tmp_path: Path) -> None:
    client = Client(url)
    client.create("news", {"matroid": "U(2,3)", "labels": ["a", "b", "c"]}, "MAUB(index=kl)")
    (code,) = texts("js")
    file = tmp_path / "page.mjs"
    # Before version 19, Node has it in a module.
    start = 'import { webcrypto } from "node:crypto"; globalThis.crypto ??= webcrypto;\n'
    file.write_text(start + code.replace(ADDRESS, url))
    done = subprocess.run(
        ["node", str(file)], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[ 'a', 'b' ]\n"
    assert client.bandit("news")["elements"][0]["mean"] == 1.0


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
