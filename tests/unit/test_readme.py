"""The examples of the README and of the pages in docs run."""

import doctest
import re
from pathlib import Path

import pytest

from matroid_bandits.cli import main

README = Path(__file__).parents[2] / "README.md"


def test_examples_run(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 1
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    tree = [("Rome", "Oslo"), ("Rome", "Paris"), ("Cork", "Oslo"), ("Wien", "Rome")]
    assert capsys.readouterr().out == f"{tree}\n"


def test_in_production(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    page = (README.parent / "docs" / "howto" / "production.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 9
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    assert "has the feedback 1 already, and now 0" in capsys.readouterr().out
    assert namespace["policy"].counts.sum() > 3000


PAGES = sorted(path for path in README.parent.glob("docs/*/*.md") if ">>> " in path.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_right(page: Path) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=flags)
    assert tried > 0
    assert not failed


def test_the_table_is_what_the_command_prints(capsys) -> None:
    (shown,) = re.findall(r"```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
    command, _, table = shown.partition("\n")
    main(command.removeprefix("$ matroid-bandits ").split())
    assert _without_seconds(table) == _without_seconds(capsys.readouterr().out)


def test_the_two_commands_are_in_the_makefile() -> None:
    (commands,) = re.findall(r"```sh\n(.*?)```", README.read_text(), flags=re.DOTALL)
    targets = [line.split()[1] for line in commands.splitlines()]
    assert targets == ["reproduce", "test"]
    makefile = (README.parent / "Makefile").read_text()
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)


def test_links_lead_somewhere() -> None:
    for path in (*README.parent.glob("*.md"), *README.parent.glob("docs/**/*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def _without_seconds(table: str) -> list[list[str]]:
    rows = [line.split() for line in table.splitlines()]
    return [[w for w in row if not re.fullmatch(r"\d\.\d{3}", w)] for row in rows]
