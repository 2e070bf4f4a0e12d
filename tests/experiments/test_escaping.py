"""Names of users stay text: in Markdown, in TeX and in spreadsheets."""

import csv
import re
from pathlib import Path

import pandas as pd
import pytest

from matroid_bandits.experiments import load_study, run_study, write_report
from matroid_bandits.experiments.reporting.escaping import csv_cell, markdown, tex


@pytest.mark.parametrize(
    "text, escaped",
    [
        ("MAUB (paper), noise=0.2 -5 %", "MAUB (paper), noise=0.2 -5 %"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("[x](javascript:alert)", r"\[x\](javascript:alert)"),
        ("![x](http://a/b)", r"!\[x\](http://a/b)"),
        ("*a* _b_ ~~c~~ `d` |e| \\", r"\*a\* \_b\_ \~\~c\~\~ \`d\` \|e\| \\"),
        ("two\n\n# lines", "two # lines"),
        ("# x", r"\# x"),
        ("###", r"\###"),
        ("- x", r"\- x"),
        ("+ x", r"\+ x"),
        ("---", r"\---"),
        ("> x", "&gt; x"),
        ("12. x", r"12\. x"),
        ("3) x", r"3\) x"),
        ("12.5", "12.5"),
        ("-1.5", "-1.5"),
        ("-", "-"),
        ("#1", "#1"),
        ("", ""),
    ],
)
def test_markdown(text: str, escaped: str) -> None:
    assert markdown(text) == escaped


def test_tex() -> None:
    assert tex("50 % & $5_{a} #~^\\") == (
        r"50 \% \& \$5\_\{a\} \#\textasciitilde{}\textasciicircum{}\textbackslash{}"
    )
    assert tex("a comment\n\\input{x}") == r"a comment \textbackslash{}input\{x\}"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\uff1d", "\uff20"])
def test_formulas_in_spreadsheets(start: str) -> None:
    assert csv_cell(f"{start}cmd") == f"'{start}cmd"


@pytest.mark.parametrize("value", ["MAUB", "", "a=b", " a", -1.5, -3, None, float("inf")])
def test_other_cells_stay(value: object) -> None:
    assert csv_cell(value) is value


EVIL = "=HYPERLINK(1)<img src=x onerror=alert(1)>|`_*"


def test_a_report_with_evil_names(tmp_path: Path) -> None:
    table = tmp_path / "figures.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["instance", "policy", "horizon", "seconds"], [EVIL, EVIL, 50, 3]]
        )
    study = load_study(
        {
            "title": f"T {EVIL}",
            "horizon": 50,
            "runs": 2,
            "policies": [{"type": "OMM", "label": EVIL}, {"type": "MAUB", "label": "- MAUB"}],
            "instances": [
                {"name": EVIL, "matroid": "K4", "note": f"{EVIL}\n\n# {EVIL}"},
                {"name": "@SUM(A1)", "matroid": "K5", "sense": "min"},
            ],
            "figures": [
                {"name": EVIL, "policies": [EVIL]},
                {"name": "b", "policies": ["- MAUB"]},
            ],
            "reference": {"figures": str(table), "source": EVIL, "machine": f"{EVIL}\n{EVIL}"},
        }
    )
    out = tmp_path / "out"
    run_study(study, out, jobs=1)
    written = write_report(out)
    assert all(path.parent == out for path in written.files)
    text = (out / "report.md").read_text()
    assert not re.search("<img|<script", text)
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert len(cells) == 3  # three tables, each with as many cells in every line
    assert not any(line.startswith(("- ", "# =")) for line in text.splitlines())
    page = (out / "report.html").read_text()
    assert "<img src=x" not in page
    assert page.count("<img ") == 4
    with (out / "table.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["instance"] for line in lines} == {f"'{EVIL}", "'@SUM(A1)"}
    assert {line["policy"] for line in lines} == {f"'{EVIL}", "'- MAUB"}
    # The numbers are those of the report, and are read back as numbers.
    back = pd.read_csv(out / "table.csv")
    numbers = written.table.select_dtypes("number").columns
    assert len(numbers) > 10
    pd.testing.assert_frame_equal(
        back[numbers], written.table[numbers], check_dtype=False, check_exact=False
    )
    for name in ("table.tex", "table-instances.tex"):
        source = (out / name).read_text()
        assert r"\_*" in source
        assert not re.search(r"(?<!\\)_", source)
