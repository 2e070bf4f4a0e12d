"""The table of instances in a report, with the number of bases if it is quick to count."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.experiments import (
    load_study,
    read_results,
    run_study,
    shipped_study,
    summarize,
    write_report,
)
from matroid_bandits.experiments.analysis.formatting import count
from matroid_bandits.experiments.reading.counting import quick_n_bases


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All instances of the paper, two rounds each."""
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    out = tmp_path_factory.mktemp("paper")
    run_study(study.part(runs=1, horizon=2, policies=study.policies[:1]), out, jobs=1)
    write_report(out)
    return out


PAPER = {
    "U(7,10)": ("120", 120),
    "U(7,15)": ("6,435", 6435),
    "U(15,20)": ("15,504", 15504),
    "U(15,30)": ("155,117,520", 155_117_520),
    "K5": ("125", 5**3),
    "K7": ("16,807", 7**5),
    "K15": ("1.95e15", 15**13),
    "K20": ("2.62e23", 20**18),
    "linear": (r"\*", None),
    "transversal": ("7", 7),
}


def test_the_papers_instances_are_counted(folder: Path) -> None:
    rows = re.findall(
        r"^\| (.*?) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \| 2 \| (.*?) \|$",
        (folder / "report.md").read_text(),
        flags=re.MULTILINE,
    )
    assert {name: bases for name, _, _, _, bases, _ in rows} == {
        name: text for name, (text, _) in PAPER.items()
    }
    shape = {name: (int(n), int(d)) for name, _, n, d, _, _ in rows}
    assert (shape["U(7,10)"], shape["K20"], shape["linear"]) == ((10, 7), (190, 19), (100, 16))
    notes = {name: note for name, *_, note in rows}
    assert notes["transversal"].startswith("seven elements, six vertices, 17 edges")
    assert notes["K5"] == ""


def test_large_numbers_are_powers_of_ten_in_html_and_tex(folder: Path) -> None:
    page = (folder / "report.html").read_text()
    assert "<td>2.62 \N{MULTIPLICATION SIGN} 10<sup>23</sup></td>" in page
    assert "<td>155,117,520</td>" in page
    assert "<td>*</td>" in page
    assert "* Not counted: there is no formula" in page
    tex = (folder / "table-instances.tex").read_text()
    lines = [line for line in tex.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 11
    assert {line.count("&") for line in lines} == {5}
    assert r"{}K15 & K15 & 105 & 14 & $1.95 \times 10^{15}$ & 2 \\" in lines
    assert r"{}linear & 100 invented movies & 100 & 16 & $^*$ & 2 \\" in lines
    assert "% $^*$ Not counted" in tex


def test_table_csv_has_exact_numbers_of_bases(folder: Path) -> None:
    with (folder / "table.csv").open() as file:
        found = {row["instance"]: row["n_bases"] for row in csv.DictReader(file)}
    assert found == {n: "" if exact is None else str(exact) for n, (_, exact) in PAPER.items()}


def test_the_number_of_bases_is_not_part_of_the_identity(folder: Path) -> None:
    content = json.loads((folder / "study.json").read_text())
    assert "n_bases" not in json.dumps(content["identity"])
    counts = {entry["name"]: entry["n_bases"] for entry in content["instances"]}
    assert counts == {name: exact for name, (_, exact) in PAPER.items()}


def test_folders_from_before_bases_were_counted(tmp_path: Path) -> None:
    study = load_study({"horizon": 20, "runs": 1, "policies": ["OMM"], "instances": ["K4", "K5"]})
    run_study(study, tmp_path, jobs=1)
    content = json.loads((tmp_path / "study.json").read_text())
    for entry in content["instances"]:
        del entry["n_bases"]
    (tmp_path / "study.json").write_text(json.dumps(content))
    write_report(tmp_path)
    markdown = (tmp_path / "report.md").read_text()
    assert "| instance | matroid | n | D | rounds | note |" in markdown
    assert "| K4 | K4 | 6 | 3 | 20 |  |" in markdown
    for name in ("report.md", "report.html", "table-instances.tex"):
        assert not re.search(r"Not counted|\|(<i>)?B|: bases", (tmp_path / name).read_text())
    with (tmp_path / "table.csv").open() as file:
        assert [row["n_bases"] for row in csv.DictReader(file)] == ["", ""]
    # They are counted when the study goes on.
    run_study(study, tmp_path, jobs=1)
    assert summarize(read_results(tmp_path))["n_bases"].tolist() == [16, 125]


def test_notes_are_escaped_and_on_one_line(tmp_path: Path) -> None:
    instances = [{"name": "a|b_c", "matroid": "K4", "note": "first\nthen | <b>"}]
    study = load_study({"horizon": 9, "runs": 1, "policies": ["OMM"], "instances": instances})
    run_study(study, tmp_path, jobs=1)
    write_report(tmp_path)
    row = r"| a\|b\_c | K4 | 6 | 3 | 16 | 9 | first then \| &lt;b&gt; |"
    assert row in (tmp_path / "report.md").read_text()
    assert "first then | &lt;b&gt;" in (tmp_path / "report.html").read_text()
    assert r"{}a|b\_c & K4 & 6" in (tmp_path / "table-instances.tex").read_text()


# ---- what is counted ----


def vectors(size: int, length: int) -> list[list[int]]:
    return np.random.default_rng(0).integers(-3, 4, (size, length)).tolist()


def test_bases_without_a_formula_are_listed_if_few() -> None:
    short = mb.LinearMatroid(vectors(12, 4))
    assert quick_n_bases(short) == len(short.bases())
    assert quick_n_bases(mb.LinearMatroid(vectors(30, 6))) is None  # 593,775 sets of six


def test_matroids_in_python_get_fewer_oracle_calls() -> None:
    called = []

    def at_most_three(elements: frozenset[int]) -> bool:
        called.append(elements)
        return len(elements) <= 3

    assert quick_n_bases(mb.OracleMatroid(9, at_most_three)) == 84
    large = mb.OracleMatroid(30, at_most_three)
    # Once for its rank: an independence test may take its time.
    assert large.rank == 3
    called.clear()
    assert quick_n_bases(large) is None
    assert quick_n_bases(large.truncate(2)) == 435
    assert quick_n_bases(mb.UniformMatroid(1, 2) + large) is None
    assert quick_n_bases(mb.DualMatroid(large)) is None


def test_compositions_of_matroids_with_a_formula() -> None:
    trees = mb.GraphicMatroid.complete(20)
    assert quick_n_bases(trees + mb.UniformMatroid(15, 30)) == 20**18 * 155_117_520
    assert quick_n_bases(mb.DualMatroid(trees)) == 20**18
    assert quick_n_bases(trees + mb.LinearMatroid(vectors(30, 6))) is None


def test_bases_of_large_matroids_are_not_counted() -> None:
    assert quick_n_bases(mb.UniformMatroid(500, 1000)) is not None
    assert quick_n_bases(mb.UniformMatroid(1, 1001)) is None


def test_bases_of_non_matroids_are_not_counted() -> None:
    broken = mb.OracleMatroid(4, lambda elements: elements <= {0, 1} or elements <= {2})
    assert quick_n_bases(broken) is None


def test_counts_as_text() -> None:
    counts = (None, 0, 7, 155_117_520, 999_999_999, 10**9, 15**13, 9_996 * 10**20, 10**400)
    assert [count(n) for n in counts] == [
        *("", "0", "7", "155,117,520", "999,999,999", "1.00e9", "1.95e15", "1.00e24", "1.00e400"),
    ]
