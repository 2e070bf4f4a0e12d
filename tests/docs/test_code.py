"""Every block of code of every page runs: Python, doctests, studies, and commands as far as they
can be parsed.

The Python blocks of a page run one after another in one namespace, in an empty folder. Blocks that
are files, by a first line such as ``# mine.py`` or the name of a file before them, are there as
files. A text block right after a Python block is what it prints. A page that calls the service gets
a server of its own.
"""

import doctest
import io
import re
import shlex
import sys
import tomllib
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

import pytest

from matroid_bandits.cli import _parser
from matroid_bandits.experiments import load_study

from .outcomes import OUTCOMES
from .pages import PYTHON, ROOT, SHELL, Block, blocks, name, pages
from .serving import ADDRESS, server

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS
WITH_PYTHON = [page for page in pages() if any(b.language in PYTHON for b in blocks(page))]
# Files that a page says the reader has.
SUPPOSED = {
    "docs/reference/study-file.md": {
        "backbone.gml": "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ]\n"
        "edge [ source 0 target 1 latency 10 ] edge [ source 1 target 2 latency 30 ]\n"
        "edge [ source 0 target 2 latency 20 ] ]\n",
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def write_files(page: Path, folder: Path) -> None:
    """The files that a page has or supposes."""
    for file, text in SUPPOSED.get(name(page), {}).items():
        (folder / file).write_text(text)
    for block in blocks(page):
        if block.file is not None and block.exemption is None:
            with (folder / block.file).open("a") as file:
                file.write(block.text + "\n\n")


@pytest.mark.parametrize("page", WITH_PYTHON, ids=name)
def test_python_runs(page: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = [b for b in blocks(page) if b.language in PYTHON and b.exemption is None]
    write_files(page, folder)
    if any(ADDRESS in block.text for block in run):
        with server(folder) as url:
            namespace = run_all(run, url)
            check(page, namespace, capsys.readouterr().out, url)
    else:
        namespace = run_all(run, ADDRESS)
        check(page, namespace, capsys.readouterr().out, ADDRESS)


def check(page: Path, namespace: dict[str, object], printed: str, url: str) -> None:
    """What the code of the page should have led to, if `outcomes.py` says so."""
    if name(page) in OUTCOMES:
        OUTCOMES[name(page)](namespace, printed, url)


def outputs(page: Path) -> dict[int, str]:
    """What the page says that a Python block prints, by the line of that block."""
    return {
        block.line: after.text
        for block, after in pairwise(blocks(page))
        if block.language in PYTHON and after.language == "text"
        if not after.before.rpartition("```")[2].strip()  # nothing stands between them
    }


def run_all(run: list[Block], url: str) -> dict[str, object]:
    """The names that the blocks leave, run one after another in one namespace."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    shown = outputs(run[0].page)
    for block in run:
        text = block.text.replace(ADDRESS, url)
        if re.search(r"^\s*>>> ", text, flags=re.MULTILINE):
            run_doctest(text, block, namespace)
        else:
            # The traceback of a failure names the page and the line.
            code = compile("\n" * block.line + text, str(block.page), "exec")
            with redirect_stdout(io.StringIO()) as out:
                exec(code, namespace)
            printed = out.getvalue()
            sys.stdout.write(printed)
            if block.line in shown:
                same = doctest.OutputChecker().check_output(shown[block.line], printed, FLAGS)
                assert same, f"{block.place} prints\n{printed}"
    return namespace


def run_doctest(text: str, block: Block, namespace: dict[str, object]) -> None:
    """The prompts of a block, which must print what is shown."""
    test = doctest.DocTestParser().get_doctest(
        text, namespace, block.place, str(block.page), block.line
    )
    test.globs = namespace  # a DocTest copies it, and the next block needs the names
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)


WITH_COMMANDS = [page for page in pages() if any(b.language in SHELL for b in blocks(page))]


def commands(page: Path) -> list[str]:
    """The calls of matroid-bandits, without comments, redirections and pipes."""
    found = []
    for block in blocks(page):
        if block.language not in SHELL or block.exemption is not None:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            command = line.strip().removeprefix("$ ")
            if command.startswith("matroid-bandits "):
                found.append(command)
    return found


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_commands_can_be_parsed(page: Path) -> None:
    parser = _parser()
    for command in commands(page):
        words = shlex.split(command, comments=True)[1:]
        end = next((k for k, w in enumerate(words) if re.match(r"[|>&;]", w)), len(words))
        if {"--help", "--version"} & set(words[:end]):
            continue  # they end the program
        try:
            _, unknown = parser.parse_known_args(words[:end])
        except SystemExit:
            pytest.fail(f"{name(page)}: {command}")
        assert unknown == [], f"{name(page)}: {command}"


TARGETS = re.compile(r"^make ([a-z-]+)", flags=re.MULTILINE)


def test_targets_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page in WITH_COMMANDS:
        for block in blocks(page):
            if block.language in SHELL and block.exemption is None:
                for target in TARGETS.findall(block.text):
                    assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), block.place


WITH_TOML = [page for page in pages() if any(b.language == "toml" for b in blocks(page))]


@pytest.mark.parametrize("page", WITH_TOML, ids=name)
def test_studies_load(page: Path, folder: Path) -> None:
    write_files(page, folder)
    for block in blocks(page):
        if block.language == "toml" and block.exemption is None:
            table = tomllib.loads(block.text)
            if "instances" in table or "study" in table:
                (folder / "a-study.toml").write_text(block.text)
                assert load_study(folder / "a-study.toml", movielens="synthetic").tasks()


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/studies/*.toml")), ids=name)
def test_study_files_load(path: Path) -> None:
    assert load_study(path, movielens="synthetic").tasks()


def test_every_prompt_is_in_a_block_that_runs() -> None:
    for page in pages():
        shown = re.findall(r"^\s*>>> ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        python = "".join(block.text for block in blocks(page) if block.language in PYTHON)
        run = re.findall(r"^\s*>>> ", python, flags=re.MULTILINE)
        assert len(shown) == len(run), name(page)


def test_exemptions_have_a_block() -> None:
    for page in pages():
        said = page.read_text(encoding="utf-8").count("<!-- not run")
        assert said == sum(b.exemption is not None for b in blocks(page)), name(page)
