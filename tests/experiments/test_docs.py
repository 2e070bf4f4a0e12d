"""The examples of docs/reference/study-file.md and docs/howto/cluster.md run."""

import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from matroid_bandits.cli import _parser
from matroid_bandits.experiments import load_study

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "reference" / "study-file.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables = re.findall(r"`(\S+)`:\n\n```csv\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(tables) == len(blocks("csv"))
    for name, content in tables:
        (tmp_path / name).write_text(content)
    mine = [block for block in blocks("python") if block.startswith("# mine.py")]
    assert len(mine) == 5
    (tmp_path / "mine.py").write_text("\n\n".join(mine))
    graph = "graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ]\n"
    graph += "edge [ source 0 target 1 latency 10 ] edge [ source 1 target 2 latency 30 ]\n"
    (tmp_path / "backbone.gml").write_text(graph + "edge [ source 0 target 2 latency 20 ] ]\n")
    return tmp_path


@pytest.mark.parametrize("text", blocks("toml"))
def test_studies_load(folder: Path, text: str) -> None:
    (folder / "study.toml").write_text(text)
    study = load_study(folder / "study.toml")
    assert study.tasks()


@pytest.mark.parametrize("path", sorted((DOCS / "studies").glob("*.toml")), ids=lambda p: p.stem)
def test_study_files_load(path: Path) -> None:
    assert load_study(path, movielens="synthetic").tasks()


def test_from_python(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks("python"):
        exec(block, namespace)
    assert "K5        MAUB" in capsys.readouterr().out
    assert Path("results/mine/report.html").exists()
    runs = pd.read_parquet("results/mine/runs.parquet")
    assert set(runs["policy"]) == {"MAUB", "OMM", "cautious"}


# ---- On a cluster ----

CLUSTER = (DOCS / "howto" / "cluster.md").read_text()


def test_the_python_of_the_cluster_page_runs(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", CLUSTER, flags=re.DOTALL)
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(block, namespace)
    assert len(namespace["results"].runs) == 8


def cluster_commands() -> list[str]:
    shell = re.findall(r"```sh\n(.*?)```", CLUSTER, flags=re.DOTALL)
    lines = [
        line.partition("#")[0].partition(">")[0].strip()
        for text in shell
        for line in text.splitlines()
    ]
    return [line for line in lines if line.startswith("matroid-bandits")]


@pytest.mark.parametrize("command", cluster_commands())
def test_the_options_of_the_cluster_page_exist(command: str) -> None:
    options, unknown = _parser().parse_known_args(shlex.split(command)[1:])
    assert unknown == []
    assert options.command in {"run", "report", "slurm"}
