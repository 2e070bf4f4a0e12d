"""Studies with thousands of elements: generated matroids, optional graph files, and `large`."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    StudyError,
    load_study,
    read_results,
    run_study,
    shipped_study,
    write_report,
)

SPRINT = "rocketfuel-1239.latencies.intra"
LINKS = "a b 1\nb a 1\nb c 5\nc b 5\nc a 3\na c 3\nc d 2\n"


def generated(seed: int = 0, **table: Any) -> Any:
    values = {"policies": ["OMM"], "instances": [{"matroid": table}], "seed": seed}
    return load_study(values).instances[0]


# ---- generated matroids ----


def test_a_random_graph() -> None:
    instance = generated(generate="graph", vertices=30, edges=100)
    graph = instance.matroid
    assert isinstance(graph, mb.GraphicMatroid)
    assert instance.name == "graph(30,100)"
    assert (graph.size, graph.rank) == (100, 29)
    ends = [frozenset(edge) for edge in graph.edges]
    assert len(set(ends)) == 100
    assert all(len(pair) == 2 for pair in ends)
    assert graph == generated(generate="graph", vertices=30, edges=1e2).matroid
    assert graph != generated(seed=1, generate="graph", vertices=30, edges=100).matroid


@pytest.mark.parametrize("edges", [4, 10])
def test_the_smallest_and_the_largest_random_graph(edges: int) -> None:
    graph = generated(generate="graph", vertices=5, edges=edges).matroid
    assert (graph.size, graph.rank) == (edges, 4)


def test_equal_groups() -> None:
    instance = generated(generate="partition", groups=3, of=4, capacity=2)
    assert instance.matroid == mb.PartitionMatroid([0] * 4 + [1] * 4 + [2] * 4, 2)
    assert instance.name == "partition(3,4,2)"


def test_nested_groups() -> None:
    matroid = generated(generate="laminar", sizes=[2, 4, 8], capacities=[1, 2, 3]).matroid
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]
    sets = [*pairs, [0, 1, 2, 3], [4, 5, 6, 7], range(8)]
    assert matroid == mb.LaminarMatroid(sets, [1, 1, 1, 1, 2, 2, 3], 8)


def test_a_random_transversal_matroid() -> None:
    matroid = generated(generate="transversal", elements=40, slots=10, each=3).matroid
    assert isinstance(matroid, mb.TransversalMatroid)
    assert (matroid.size, matroid.rank) == (40, 10)
    assert {len(set(slots)) for slots in matroid.neighbors} == {3}
    other = generated(seed=1, generate="transversal", elements=40, slots=10, each=3).matroid
    assert matroid != other


def test_generated_matroids_in_others() -> None:
    table = {"truncate": {"generate": "partition", "groups": 3, "of": 4, "capacity": 2}, "rank": 5}
    assert generated(**table).matroid.rank == 5


@pytest.mark.parametrize(
    "table, message",
    [
        ({"generate": "grpah"}, "unknown generate 'grpah'; did you mean graph?"),
        ({"generate": "graph", "vertices": 5}, "edges is missing; for example { generate ="),
        ({"generate": "graph", "vertices": 5, "edges": 3}, "edges must be at least 4, got 3"),
        ({"generate": "graph", "vertices": 5, "edges": 11}, "edges must be at most 10, got 11"),
        ({"generate": "graph", "vertices": 5, "edge": 6}, "edge: unknown key; did you mean edges"),
        ({"generate": "graph", "vertices": "5", "edges": 6}, "vertices must be an integer"),
        (
            {"generate": "partition", "groups": 2000, "of": 2000, "capacity": 1},
            "of must be at most 1000, got 2000",
        ),
        (
            {"generate": "laminar", "sizes": [2, 5], "capacities": [1, 2]},
            "each must divide the next, got 2 and 5",
        ),
        ({"generate": "laminar", "sizes": [2, 4], "capacities": [1]}, "as many capacities as"),
        ({"generate": "laminar", "sizes": [], "capacities": []}, "as many capacities as"),
        (
            {"generate": "transversal", "elements": 5, "slots": 2, "each": 3},
            "each must be at most 2, got 3",
        ),
    ],
)
def test_mistakes_in_generated_matroids(table: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=re.escape(message)):
        generated(**table)


# ---- graph files that may be missing ----


def with_graph(folder: Path, **more: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    backbone = {
        "name": "backbone",
        "matroid": {"graph": SPRINT, "format": "edgelist", "optional": True},
        "environment": {"means": {"column": "weight", "rescale": [1.0, 0.5]}},
    }
    return {"horizon": 50, "runs": 1, "policies": ["OMM"], "instances": ["K4", backbone], **more}


def test_an_optional_graph_that_is_there(tmp_path: Path) -> None:
    values = with_graph(tmp_path)
    (tmp_path / SPRINT).write_text(LINKS)
    study = load_study(values, graphs=tmp_path)
    assert [i.name for i in study.instances] == ["K4", "backbone"]
    assert study.warnings() == []
    assert (study.instances[1].matroid.size, study.instances[1].matroid.rank) == (4, 3)
    assert study.instances[1].environment_for(0).means.tolist() == [1.0, 0.75, 0.5, 0.875]


def test_an_optional_graph_that_is_not_there(tmp_path: Path) -> None:
    values = with_graph(tmp_path)
    study = load_study(values, graphs=tmp_path)
    assert [i.name for i in study.instances] == ["K4"]
    (warning,) = study.warnings()
    assert warning.startswith(f"backbone is left out: there is no file {SPRINT}")
    assert warning.endswith("--graphs FOLDER")
    run_study(study, tmp_path / "results", jobs=1, quiet=True)
    report = write_report(tmp_path / "results")
    assert report.warnings == [warning]
    assert "is left out" in (tmp_path / "results" / "report.md").read_text()
    # Whoever chooses another instance need not be told.
    assert load_study(values, only=["K4"]).warnings() == []
    assert study.part(only=["K4"]).warnings() == []


def test_a_missing_graph_is_refused_if_it_is_needed(tmp_path: Path) -> None:
    values = with_graph(tmp_path)
    with pytest.raises(StudyError, match="backbone is left out: there is no file"):
        load_study(values, only=["backbone"])
    with pytest.raises(StudyError, match="backbone is left out: there is no file"):
        load_study({**values, "instances": values["instances"][1:]})
    values["instances"][1]["matroid"]["optional"] = False
    with pytest.raises(StudyError, match="there is no file"):
        load_study(values)
    values["instances"][1]["matroid"]["optional"] = "yes"
    with pytest.raises(StudyError, match="optional: must be true or false, got 'yes'"):
        load_study(values)
    with pytest.raises(StudyError, match="graphs: there is no folder"):
        load_study(values, graphs=tmp_path / "nowhere")


def test_a_policy_that_runs_only_where_a_file_is_missing(tmp_path: Path) -> None:
    values = with_graph(tmp_path, policies=["OMM", "MAUB"])
    values["instances"][0] = {"matroid": "K4", "policies": ["OMM"]}
    study = load_study(values)
    assert {task.policy for task in study.tasks()} == {"OMM"}
    run_study(study, tmp_path / "results", jobs=1, quiet=True)
    assert write_report(tmp_path / "results").warnings == study.warnings()


# ---- how many exchanges ----


def test_numbers_of_exchanges_in_a_study(tmp_path: Path) -> None:
    texts = ["MAUB(exchanges=one)", "MAUB(exchanges=2)", "maub( exchanges = 'all', noise=0.2 )"]
    many = {"type": "MAUB", "label": "many", "exchanges": "all"}
    study = load_study({"policies": [*texts, many], "instances": ["K5"]})
    assert [p.name for p in study.policies] == [*texts[:2], UCB[2], "many"]
    made = [p.new_policy(study.instances[0].problem, 0) for p in study.policies]
    assert [policy.exchanges for policy in made] == ["one", 2, "all", "all"]
    assert [mb.policy_from_spec(p.to_spec()).exchanges for p in made] == ["one", 2, "all", "all"]
    identities = [
        load_study({"policies": [{**many, "exchanges": k}], "instances": ["K5"]}).identity()
        for k in ("one", 2, 3, "all")
    ]
    assert all(one != other for one in identities for other in identities if one is not other)


@pytest.mark.parametrize("value", ["al", 0, 1.5, True, [1, 2]])
def test_mistakes_in_the_number_of_exchanges(value: Any) -> None:
    policy = {"type": "MAUB", "exchanges": value}
    with pytest.raises(StudyError, match=r"policies\[0\].*exchanges must be"):
        load_study({"policies": [policy], "instances": ["K5"]})


def test_exchanges_on_the_command_line(tmp_path: Path, capsys) -> None:
    options = ["--matroid=K5", "--runs=1", "--horizon=100", "--quiet"]
    assert main(["simulate", *options, "--policy=MAUB(exchanges=all)"]) == 0
    assert "MAUB(exchanges=all)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["simulate", *options, "--policy=MAUB(exchanges=al)"])
    assert "exchanges must be 'one', 'all' or a number, got 'al'" in capsys.readouterr().err


# ---- the study that ships ----

UCB = [
    "OMM(noise=0.2)",
    "MAUB(exchanges=one, noise=0.2)",
    "MAUB(exchanges=all, noise=0.2)",
    "MAUB(noise=0.2)",
]
KL = ["KLOSM", "MAUB(exchanges=one, index=kl)", "MAUB(exchanges=all, index=kl)", "MAUB(index=kl)"]
THOMPSON = ["CTS", "MAUB(exchanges=one, index=beta)", "MAUB(exchanges=all, index=beta)"]


def test_the_instances_of_large(tmp_path: Path) -> None:
    (tmp_path / SPRINT).write_text(LINKS)
    study = load_study(shipped_study("large"), graphs=tmp_path)
    assert study.warnings() == []
    shape = {i.name: (i.matroid.size, i.matroid.rank, i.horizon) for i in study.instances}
    assert shape == {
        f"{name} {rewards}": numbers
        for rewards in ("Gaussian", "Bernoulli")
        for name, numbers in {
            "graph 1,200": (1200, 299, 10_000),
            "graph 5,000": (5000, 1249, 10_000),
            # Not Sprint's, which is not shipped.
            "backbone": (4, 3, 10_000),
            "partition": (5000, 300, 10_000),
            "laminar": (5000, 150, 10_000),
            "transversal": (5000, 300, 2500),
            "U(500,2000)": (2000, 500, 10_000),
        }.items()
    }
    assert study.runs == 5
    for instance in study.instances:
        is_gaussian = "Gaussian" in instance.name
        assert instance.policies == tuple(UCB if is_gaussian else KL + THOMPSON)
        environment = instance.environment_for(3)
        kind = mb.GaussianEnvironment if is_gaussian else mb.BernoulliEnvironment
        assert isinstance(environment, kind)
        if "backbone" not in instance.name:
            assert np.array_equal(environment.means, mb.random_means(instance.matroid.size, 3))
        if isinstance(environment, mb.GaussianEnvironment):
            assert set(environment.std) == {0.2}
    assert [page.policies for page in study.figures] == [tuple(p) for p in (UCB, KL, THOMPSON)]


def test_large_on_the_command_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["large", "--list"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Thousands of elements: 12 instances, 11 policies, 5 runs each")
    assert re.search(r"graph 5,000 Gaussian +5,000 +1,249 +10,000", out)
    assert out.count("is left out: there is no file rocketfuel") == 2
    (tmp_path / SPRINT).write_text(LINKS)
    options = ["--quick", "--runs=2", "--horizon=40", "--jobs=1", "--graphs=.", "--out=out"]
    options += ["--only=laminar gaussian", "--only=backbone Bernoulli", "--quiet"]
    assert main(["large", *options]) == 0
    runs = read_results("out").runs
    assert runs.groupby("instance")["policy"].nunique().to_dict() == {
        "laminar Gaussian": 4,
        "backbone Bernoulli": 7,
    }
    assert (runs["regret"] >= 0).all()
    assert len(runs) == 22
