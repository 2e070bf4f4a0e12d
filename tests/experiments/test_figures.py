"""Pages of figures: which policies are drawn together, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Results,
    StudyError,
    load_study,
    read_results,
    run_study,
    shipped_study,
    write_report,
)
from matroid_bandits.experiments.reporting.pages import pages
from matroid_bandits.experiments.reporting.plots import oracle_calls_figure, regret_figure

STUDY = {
    "horizon": 300,
    "runs": 2,
    "policies": ["OMM", "MAUB", "MAUB(noise=0.5)", "CUCB"],
    "instances": ["K4", "K5"],
    "figures": [
        {"name": "Structures & all", "policies": ["maub", "OMM"]},
        {"name": "indices", "policies": ["MAUB", "MAUB( noise = 0.5 )"], "instances": ["k5"]},
    ],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    return run_study(load_study(STUDY), tmp_path_factory.mktemp("pages"), jobs=1)


def drawn(results: Results) -> dict[str, tuple[list[str], list[str]]]:
    """Policies and instances of every page, as drawn."""
    found = {}
    for page in pages(results):
        for draw in (regret_figure, oracle_calls_figure):
            figure = draw(page.results)
            names = [text.get_text() for text in figure.legends[0].get_texts()]
            titles = [axes.get_title().removeprefix("(a) ") for axes in figure.axes if axes.lines]
            expected = (list(page.results.study["identity"]["policies"]), len(titles))
            assert ([n for n in names if n != "lower bound"], len(titles)) == expected
        found[page.name] = (names, [title.removeprefix("(b) ") for title in titles])
    return found


def test_a_page_per_figure_and_one_for_the_others(results: Results) -> None:
    assert drawn(results) == {
        "Structures & all": (["MAUB", "OMM"], ["K4", "K5"]),
        "indices": (["MAUB", "MAUB(noise=0.5)"], ["K5"]),
        "other policies": (["CUCB"], ["K4", "K5"]),
    }


def test_a_policy_of_several_pages_has_its_color_by_place(results: Results) -> None:
    colors = {
        regret_figure(page.results).legends[0].get_lines()[0].get_color()
        for page in pages(results)[:2]
    }
    assert len(colors) == 1  # MAUB, named first on both


@pytest.mark.parametrize(
    "policies, names",
    [
        # Pages with nothing that another has not are left out; a single page needs no name.
        (["MAUB"], [""]),
        (["OMM"], [""]),
        (["MAUB", "MAUB(noise=0.5)"], ["Structures & all", "indices"]),  # K4 is on the first only
        (["CUCB"], [""]),
        (["OMM", "CUCB"], ["Structures & all", "other policies"]),
    ],
)
def test_pages_of_a_part(results: Results, policies: list[str], names: list[str]) -> None:
    part = replace(
        results,
        runs=results.runs[results.runs["policy"].isin(policies)],
        curves=results.curves[results.curves["policy"].isin(policies)],
    )
    assert [page.name for page in pages(part)] == names
    there = {p for page in pages(part) for p in page.results.study["identity"]["policies"]}
    assert there == set(policies)


def test_without_figures_there_is_one_page(results: Results) -> None:
    for study in (
        results.study | {"figures": []},
        {key: value for key, value in results.study.items() if key != "figures"},  # older folders
    ):
        (page,) = pages(replace(results, study=study))
        assert page.name == ""
        assert len(page.results.runs) == len(results.runs)


def test_the_report_has_every_page(results: Results) -> None:
    written = {path.name for path in write_report(results.folder).files}
    stems = [
        f"figure-{what}-{page}"
        for what in ("regret", "oracle-calls")
        for page in ("structures-all", "indices", "other-policies")
    ]
    assert {f"{stem}.{kind}" for stem in stems for kind in ("png", "svg", "pdf")} <= written
    assert "figure-regret.png" not in written
    markdown = (results.folder / "report.md").read_text()
    html = (results.folder / "report.html").read_text()
    for stem in stems:
        assert f"]({stem}.png)" in markdown
    assert html.count("<img src=") == 6
    assert "<h3>Structures &amp; all</h3>" in html


def test_figures_are_no_part_of_the_identity(tmp_path: Path) -> None:
    """Other pages of the same results: nothing runs anew."""
    small = STUDY | {"horizon": 20, "runs": 1}
    run_study(load_study(small), tmp_path, jobs=1)
    other = small | {"figures": [{"name": "all", "policies": ["OMM", "MAUB"]}]}
    again = run_study(load_study(other), tmp_path, jobs=1)
    assert [page.name for page in pages(again)] == ["all", "other policies"]
    assert [page.name for page in pages(read_results(tmp_path))] == ["all", "other policies"]


@pytest.mark.parametrize(
    "figures, message",
    [
        ([], "figures: is empty; for example"),
        ("indices", "figures: must be a list, such as"),
        (["indices"], "figures[0]: must be a table of keys and values, got 'indices'"),
        ([{"policies": ["OMM"]}], "figures[0]: name is missing; for example name ="),
        ([{"name": "a"}], "figures[0]: policies is missing; for example policies ="),
        ([{"name": " ", "policies": ["OMM"]}], "figures[0].name: must be a text, got ' '"),
        ([{"name": "a", "policies": []}], "figures[0].policies: is empty; for example"),
        (
            [{"name": "a", "policies": ["OMM", "MUAB"]}],
            "policies[1]: 'MUAB' is not among the policies of the study; did you mean MAUB?",
        ),
        ([{"name": "a", "policies": [3]}], "policies[0]: must be the name of a policy, got 3"),
        (
            [{"name": "a", "policies": ["OMM"], "instances": ["K6"]}],
            "instances[0]: 'K6' is not among the instances of the study; allowed are K4, K5",
        ),
        (
            [{"name": "a", "policies": ["OMM"], "instances": [["K4"]]}],
            "instances[0]: must be the name of an instance, got ['K4']",
        ),
        (
            [{"name": "a", "policies": ["OMM"], "instance": ["K4"]}],
            "figures[0].instance: unknown key; did you mean instances?",
        ),
        (
            [{"name": "a b", "policies": ["OMM"]}, {"name": "A-b", "policies": ["MAUB"]}],
            "figures[1].name: 'A-b' is there twice; give one of them another name",
        ),
    ],
)
def test_mistakes(figures: object, message: str) -> None:
    with pytest.raises(StudyError) as error:
        load_study(STUDY | {"figures": figures})
    assert message in str(error.value)


def test_mistakes_have_their_line(tmp_path: Path) -> None:
    text = 'policies = ["OMM"]\ninstances = ["K4"]\n\n[[figures]]\nname = "a"\npolicies = ["OM"]\n'
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(StudyError, match=r"study\.toml, line 6, figures\[0\]\.policies\[0\]: 'OM'"):
        load_study(tmp_path / "study.toml")


def test_compare_has_a_page_per_family() -> None:
    """No page has more lines than can be told apart, each has MAUB, and none is left over."""
    study = load_study(shipped_study("compare"), movielens="synthetic")
    assert len(study.figures) > 3
    for figure in study.figures:
        assert figure.policies[0] == "MAUB"
        assert len(figure.policies) <= 8
    on_pages = {name for figure in study.figures for name in figure.policies}
    assert on_pages == {policy.name for policy in study.policies}
    pairs = {
        (instance.name, policy)
        for figure in study.figures
        for instance in study.instances
        for policy in figure.policies
        if figure.instances is None or instance.name in figure.instances
    }
    assert {(task.instance, task.policy) for task in study.tasks()} <= pairs


def test_axes_begin_where_the_curves_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--runs=2", "--horizon=2000", "--jobs=1", "--only=K7 Gaussian", "--out=out"]
    policies = ["--policy=MAUB(noise=0.2)", "--policy=RandomBasis", "--policy=MAUB"]
    assert main(["compare", *options, *policies, "--quiet", "--movielens=synthetic"]) == 0
    for page in pages(read_results("out")):
        axes = regret_figure(page.results).axes[0]
        if axes.get_xscale() == "linear":
            assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0
            continue
        left, bottom = axes.get_xlim()[0], axes.get_ylim()[0]
        curves = [line for line in axes.lines if line.get_gid() != "lower bound"]
        seen = [
            line.get_xdata()[(line.get_ydata() >= bottom) & (line.get_xdata() > 0)].min()
            for line in curves
        ]
        # At most one checkpoint of empty space, and nothing is cut off.
        assert left <= min(seen) <= 1.3 * left + 1
        assert left > 1
