"""The README's examples run."""

import re
from pathlib import Path

from matroid_bandits.cli import main

README = Path(__file__).parents[2] / "README.md"


def test_examples_run(capsys) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    tree = [("Paris", "Oslo"), ("Cork", "Paris"), ("Cork", "Rome"), ("Wien", "Cork")]
    assert capsys.readouterr().out == f"{tree}\n"


def test_the_table_is_what_the_demo_prints(capsys) -> None:
    arguments = "--matroid K20 --policy MAUB --policy OMM --horizon 100000 --runs 5"
    main(["simulate", *arguments.split()])
    (shown,) = re.findall(r"```text\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert f"\tsimulate {arguments}\n" in _demo().replace("$(BIN)/matroid-bandits ", "")
    assert _without_seconds(shown) == _without_seconds(capsys.readouterr().out)


def _demo() -> str:
    return (README.parent / "Makefile").read_text()


def _without_seconds(table: str) -> list[list[str]]:
    rows = [line.split() for line in table.splitlines()]
    return [[w for w in row if not re.fullmatch(r"\d\.\d{3}", w)] for row in rows]
