"""The examples of docs/studies.md run."""

import re
from pathlib import Path

import pandas as pd
import pytest

from matroid_bandits.experiments import load_study

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "studies.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tables = re.findall(r"`(\S+)`:\n\n```csv\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(tables) == len(blocks("csv"))
    for name, content in tables:
        (tmp_path / name).write_text(content)
    mine = [block for block in blocks("python") if block.startswith("# mine.py")]
    assert len(mine) == 4
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
    assert not Path("results/mine/parts").exists()
