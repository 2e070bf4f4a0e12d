"""Studies with costs: the same plays as for the negative rewards."""

import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

import matroid_bandits as mb
from matroid_bandits.cli import main
from matroid_bandits.experiments import (
    Results,
    StudyError,
    load_study,
    read_results,
    run_study,
    write_report,
)
from matroid_bandits.experiments.reporting import plots

LINKS = "source,target,ms\nOslo,Rome,30\nRome,Cork,20\nCork,Oslo,10\nOslo,Bonn,15\nBonn,Rome,26\n"
MS = [30.0, 20.0, 10.0, 15.0, 26.0]
COUNTERS = ["oracle_calls", "greedy_calls", "neighborhood_updates"]


class Negative(mb.GaussianEnvironment):
    """Rewards that are the negative costs of a Gaussian environment."""

    def _sample(self, rng: np.random.Generator, element: int, count: int) -> Any:
        return -(-self.means[element] + self.std[element] * rng.standard_normal(count))


class Eager(mb.Policy):
    """Greedy on the mean rewards."""

    def _select(self) -> Any:
        return self.greedy_basis(np.where(self.counts == 0, np.inf, self.mean_rewards))


class Plain:
    """Not a Policy: plays at random, and stores what it was made for."""

    made_for: ClassVar[list[Any]] = []

    def __init__(self, matroid: mb.Matroid | mb.Problem, seed: int) -> None:
        Plain.made_for.append(matroid)
        self._rng = np.random.default_rng(seed)
        self._matroid = mb.Problem.of(matroid).matroid

    def select(self) -> Any:
        return self._matroid.max_weight_basis(self._rng.random(self._matroid.size))

    def update(self, elements: Any, rewards: Any) -> None:
        pass


POLICIES = ["MAUB(noise=5.0)", "OMM", "CTS(prior=gaussian, noise=5.0)", "RandomBasis", Eager, Plain]


def study_of(kind: str, folder: Path) -> Any:
    """Costs from a file, or the same numbers as negative rewards."""
    (folder / "links.csv").write_text(LINKS)
    matroid = {"type": "graphic", "edges": str(folder / "links.csv")}
    costs = {
        "costs": {"sense": "min", "environment": {"std": 5.0, "means": {"column": "ms"}}},
        "rewards": {
            "environment": {"type": Negative, "std": 5.0, "means": [-ms for ms in MS]},
        },
    }
    instances = [
        {"name": "links", "matroid": matroid, **costs[kind]},
        {"name": "few", "matroid": "U(2,5)", **costs[kind]},
    ]
    instances[1]["environment"] = instances[1]["environment"] | {
        "means": MS if kind == "costs" else [-ms for ms in MS]
    }
    return load_study({"horizon": 300, "runs": 3, "policies": POLICIES, "instances": instances})


@pytest.fixture(scope="module")
def costs(tmp_path_factory) -> Results:
    folder = tmp_path_factory.mktemp("costs")
    study = study_of("costs", folder)
    return run_study(study, folder / "out", jobs=2)


def test_costs_give_the_same_plays_as_negative_rewards(costs, tmp_path) -> None:
    rewards = run_study(study_of("rewards", tmp_path), tmp_path / "out", jobs=1)
    assert len(costs.runs) == 36
    for mine, theirs in ((costs.runs, rewards.runs), (costs.curves, rewards.curves)):
        key = [c for c in mine if c in {"instance", "policy", "seed", "round", *COUNTERS}]
        pd.testing.assert_frame_equal(mine[key], theirs[key])
        assert np.allclose(mine["regret"], theirs["regret"], rtol=1e-12)
    # Each learns: what costs least is found.
    regrets = costs.runs.groupby("policy")["regret"].mean()
    assert regrets["MAUB(noise=5.0)"] < regrets["RandomBasis"] / 3


def test_the_lower_bound_is_that_of_costs(costs: Results) -> None:
    environment = mb.GaussianEnvironment(MS, 5.0)
    problem = mb.Problem(mb.UniformMatroid(2, 5), sense="min")
    bound = mb.regret_lower_bound(problem, environment, 300)
    mine = costs.runs.query("instance == 'few'")["lower_bound"]
    assert (mine == bound).all()
    other = mb.regret_lower_bound(mb.UniformMatroid(2, 5), environment, 300)
    assert other != pytest.approx(bound)


def test_policies_get_a_problem_only_where_means_are_costs() -> None:
    Plain.made_for.clear()
    study = load_study(
        {"policies": [Plain], "instances": [{"matroid": "K4", "sense": "min"}, "K5"]}
    )
    problem, matroid = Plain.made_for
    assert isinstance(problem, mb.Problem)
    assert (problem.sense, problem.labels) == ("min", None)
    assert problem.matroid is study.instances[0].matroid
    assert matroid is study.instances[1].matroid


def test_the_sense_of_a_study_is_that_of_its_instances() -> None:
    study = load_study(
        {
            "sense": "min",
            "policies": ["OMM"],
            "instances": ["K4", {"matroid": "K5", "sense": "max"}],
        }
    )
    assert [i.sense for i in study.instances] == ["min", "max"]
    origins = study.identity()["instances"]
    assert origins["K4"]["sense"] == "min"
    # As in folders from before there were costs.
    assert "sense" not in origins["K5"]


def test_a_problem_in_a_dictionary() -> None:
    matroid = mb.UniformMatroid(1, 3)
    problem = mb.Problem(matroid, labels=["a", "b", "c"], sense="min")
    by_hand = {"matroid": matroid, "sense": "min"}
    for instance in (problem, {"matroid": problem}, {"matroid": problem, "sense": "min"}, by_hand):
        study = load_study({"policies": ["OMM"], "instances": [instance]})
        assert study.instances[0].matroid is matroid
        assert study.instances[0].sense == "min"
        # Names of elements do not count.
        expected = load_study({"policies": ["OMM"], "instances": [by_hand]})
        assert study.identity() == expected.identity()
    (instance,) = load_study({"policies": ["OMM"], "instances": [mb.Problem(matroid)]}).instances
    assert instance.sense == "max"
    own = {"matroid": mb.Problem(matroid), "sense": "max"}
    study = load_study({"sense": "min", "policies": ["OMM"], "instances": [own, "K4"]})
    assert [i.sense for i in study.instances] == ["max", "min"]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"sense": "mni"}, "study, sense: unknown sense 'mni'; did you mean min? allowed are max"),
        ({"sense": True}, "study, sense: unknown sense True; allowed are max, min"),
        ({"senze": "min"}, "study, senze: unknown key; did you mean sense?"),
        (
            {"instances": [{"matroid": "K4", "sense": "Max"}]},
            "study, instances[0].sense: unknown sense 'Max'; did you mean max? allowed are max",
        ),
        (
            {"instances": [{"matroid": mb.Problem(mb.UniformMatroid(1, 2)), "sense": "min"}]},
            "instances[0].sense: the problem has the sense 'max', got 'min'; leave it out",
        ),
        (
            {"sense": "min", "instances": [mb.Problem(mb.UniformMatroid(1, 2))]},
            "instances[0].matroid: the problem has the sense 'max', the study 'min'; give the",
        ),
    ],
)
def test_mistakes(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=re.escape(message)):
        load_study({"policies": ["OMM"], "instances": ["K4"]} | changes)


def test_a_mistake_in_a_file_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text('policies = ["OMM"]\n[[instances]]\nmatroid = "K4"\nsense = "minimum"\n')
    with pytest.raises(StudyError, match=r"line 4, instances\[0\].sense: unknown sense 'minimum'"):
        load_study(path)


@pytest.mark.parametrize("attribute", ["matroid", "problem"])
def test_a_policy_that_takes_costs_for_rewards_is_refused(attribute: str) -> None:
    class Deaf(Plain):
        def __init__(self, matroid: mb.Matroid | mb.Problem, seed: int) -> None:
            super().__init__(matroid, seed)
            setattr(self, attribute, self._matroid)

    load_study({"policies": [Deaf], "instances": ["K4"]})
    with pytest.raises(StudyError, match="on K4: means are costs, but Deaf has kept the matroid"):
        load_study({"sense": "min", "policies": [Deaf], "instances": ["K4"]})


def test_a_policy_that_keeps_its_problem_runs(tmp_path: Path) -> None:
    class Keeps(Plain):
        def __init__(self, problem: mb.Problem, seed: int) -> None:
            super().__init__(problem, seed)
            self.problem = problem

    instances = [{"matroid": "U(1,3)", "environment": {"means": [1, 2, 4]}}]
    study = load_study(
        {"horizon": 60, "runs": 1, "sense": "min", "policies": [Keeps], "instances": instances}
    )
    regret = run_study(study, tmp_path, jobs=1).runs["regret"][0]
    # Costs above 1: a third of the plays costs 1 more, a third 3 more, 80 in all on average.
    assert 50 < regret < 110


# ---- the report ----


def test_a_report_on_costs(costs: Results, tmp_path: Path) -> None:
    written = write_report(costs.folder)
    sentence = "Means are costs, and regret is the cost above that of the best basis."
    assert written.findings[0] == sentence
    for name in ("report.md", "report.html", "table.tex"):
        assert sentence in (costs.folder / name).read_text()
    assert "| few | U(2,5) | costs | 5 | 2 | 10 | 300 |" in (costs.folder / "report.md").read_text()
    assert "few & U(2,5) & costs & 5" in (costs.folder / "table-instances.tex").read_text()
    figure = plots.regret_figure(costs)
    assert figure.axes[0].get_ylabel() == "cost above the best"


def test_a_report_on_costs_and_rewards(tmp_path: Path) -> None:
    study = load_study(
        {
            "horizon": 50,
            "runs": 2,
            "policies": ["OMM"],
            "instances": [{"matroid": "K4", "sense": "min"}, "K5"],
        }
    )
    results = run_study(study, tmp_path, jobs=1)
    written = write_report(tmp_path)
    assert written.findings[0].startswith("On K4 means are costs, and regret is the cost above")
    markdown = (tmp_path / "report.md").read_text()
    assert "| K4 | K4 | costs | 6 |" in markdown
    assert "| K5 | K5 | rewards | 10 |" in markdown
    assert plots.regret_figure(results).axes[0].get_ylabel() == "cumulative regret"


def test_a_report_without_costs_does_not_mention_them(tmp_path: Path) -> None:
    study = load_study({"horizon": 50, "runs": 2, "policies": ["OMM"], "instances": ["K4"]})
    results = run_study(study, tmp_path, jobs=1)
    write_report(tmp_path)
    for name in ("report.md", "report.html", "table.tex", "table-instances.tex"):
        assert not re.search(r"\bcosts?\b|sense", (tmp_path / name).read_text())
    assert plots.regret_figure(results).axes[0].get_ylabel() == "cumulative regret"


def test_costs_and_rewards_are_different_studies(costs: Results, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(costs.folder, folder)
    assert read_results(folder).study["identity"]["instances"]["few"]["sense"] == "min"
    study = study_of("costs", tmp_path)
    assert run_study(study, folder, jobs=1).runs.equals(costs.runs)  # nothing was missing
    other = load_study(
        {"horizon": 300, "runs": 3, "policies": POLICIES, "instances": ["links", "few"]}
        | {"instances": [{"name": "few", "matroid": "U(2,5)"}]}
    )
    with pytest.raises(StudyError, match=r"instances\.few\.sense: there, but not here"):
        run_study(other, folder, jobs=1)


def test_the_list_of_a_study_shows_costs(tmp_path: Path, capsys) -> None:
    text = 'policies = ["OMM"]\ninstances = [{ matroid = "K4", sense = "min" }, "K5"]\n'
    (tmp_path / "study.toml").write_text(text)
    assert main(["run", str(tmp_path / "study.toml"), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["instance", "elements", "rank", "rounds", "means"]
    assert [line.split()[-1] for line in lines[2:]] == ["costs", "rewards"]
