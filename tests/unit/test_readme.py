"""The README shows what the code prints; that its blocks run is tested in `tests/docs`."""

import re
from pathlib import Path

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


def _without_seconds(table: str) -> list[list[str]]:
    rows = [line.split() for line in table.splitlines()]
    return [[w for w in row if not re.fullmatch(r"\d\.\d{3}", w)] for row in rows]
