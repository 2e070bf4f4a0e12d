"""The figures of the documentation are those that docs/figures/make_figures.py draws."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("matplotlib")
    path = DOCS / "figures" / "make_figures.py"
    spec = importlib.util.spec_from_file_location("make_figures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_figures_are_drawn_and_kept(script, tmp_path: Path) -> None:
    written = script.main(tmp_path)
    assert {path.stem for path in written} == set(script.FIGURES)
    for path in written:
        assert ET.parse(path).getroot().tag.endswith("svg")
        assert path.stat().st_size < 100_000, path.name
    kept = [p for p in DOCS.glob("images/*.svg") if script.CREATOR in p.read_text("utf-8")]
    assert {path.name for path in kept} == {path.name for path in written}


def test_every_figure_is_shown_somewhere(script) -> None:
    pages = [*DOCS.glob("**/*.md"), *DOCS.parent.glob("*.md")]
    text = "".join(page.read_text("utf-8") for page in pages)
    assert [name for name in script.FIGURES if f"images/{name}.svg" not in text] == []


def test_the_run_that_the_pages_tell(script) -> None:
    """docs/explanation/maub.md describes these rounds."""
    told = script.maub_rounds()
    assert [not r.leader for r in told] == [True, True, False, False, False, False]
    assert [set(r.played) == set(r.leader) for r in told[2:]] == [True, True, False, True]
    assert set(told[5].leader) == {"Oslo-Cork", "Cork-Rome", "Rome-Wien"}
