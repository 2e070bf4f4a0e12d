"""Studies with late feedback: how they are written, compared, run and reported."""

import json
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
    run_study,
    shipped_study,
    write_report,
)
from matroid_bandits.experiments.analysis.delay_costs import delay_costs
from matroid_bandits.experiments.reading.late import delay_text

CODE = """
import numpy as np
import matroid_bandits as mb

class Nightly(mb.Delay):
    def __init__(self, rounds=24):
        self.rounds = rounds

    def draw(self, rng, n):
        return np.full(n, rng.integers(0, self.rounds))

def soon(rng):
    return int(rng.integers(0, 3))

class NoDelay:
    pass

class Plain:
    def __init__(self, matroid):
        self.matroid = matroid
    def select(self):
        return self.matroid.max_weight_basis([1.0] * self.matroid.size)
    def update(self, elements, rewards):
        pass
"""


def study_of(folder: Path, **more: Any) -> Any:
    (folder / "mine.py").write_text(CODE)
    (folder / "study.toml").touch()
    values = {"horizon": 200, "runs": 2, "policies": ["MAUB"], "instances": ["K4"], **more}
    lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
    (folder / "study.toml").write_text("\n".join(lines))
    return load_study(folder / "study.toml")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


@pytest.mark.parametrize(
    "written, delay",
    [
        (0, None),
        (100, mb.FixedDelay(100)),
        (1e3, mb.FixedDelay(1000)),
        ({"type": "fixed", "rounds": 0}, None),
        ({"type": "fixed", "rounds": 7, "lost": 0.5}, mb.FixedDelay(7, lost=0.5)),
        ({"type": "geometric", "mean": 100, "lost": 0.05}, mb.GeometricDelay(100, lost=0.05)),
    ],
)
def test_delays_in_files(tmp_path: Path, written: Any, delay: mb.Delay | None) -> None:
    everywhere = study_of(tmp_path, delay=written)
    assert everywhere.instances[0].delay == delay
    here = study_of(tmp_path, instances=[{"matroid": "K4", "delay": written}])
    assert here.identity() == everywhere.identity()
    assert ("delay" in here.instances[0].origin) == (delay is not None)
    own = study_of(tmp_path, delay=7, instances=[{"matroid": "K4", "delay": written}])
    assert own.instances[0].delay == delay


def test_several_delays_are_several_instances(tmp_path: Path) -> None:
    delays = [0, 1000, {"type": "geometric", "mean": 5, "lost": 0.1}, "mine.py:soon"]
    texts = ["0", "1,000", "geometric, mean 5, 0.1 lost", "soon"]
    study = study_of(tmp_path, delay=delays, instances=["K4", {"matroid": "K5", "delay": 7}])
    assert [i.name for i in study.instances] == [*(f"K4, delay {text}" for text in texts), "K5"]
    for instance, delay in zip(study.instances, delays, strict=False):
        alone = study_of(tmp_path, instances=[{"matroid": "K4", "delay": delay}])
        assert instance.origin == alone.instances[0].origin
    named = study_of(tmp_path, instances=[{"name": "n", "matroid": "K4", "delay": [3, 4]}])
    assert [i.name for i in named.instances] == ["n, delay 3", "n, delay 4"]
    chosen = load_study(tmp_path / "study.toml", only=["n, delay 4"])
    assert [i.delay for i in chosen.instances] == [mb.FixedDelay(4)]


@pytest.mark.parametrize(
    "instance, message",
    [
        ({"matroid": "K4", "delay": []}, r"instances\[1\]\.delay: is empty; for example \[0, 10"),
        ({"matroid": "K4", "delay": [0, -1]}, r"delay: .*at least 0.*got -1"),
        ({"matroid": "K4", "delay": [3, 3]}, r"instances\[1\]: 'K4, delay 3' is there twice"),
        (
            {"matroid": {"type": "partition", "groups": [0, 1], "capacities": 1}, "delay": [0, 1]},
            "an instance with several delays needs a name",
        ),
    ],
)
def test_mistakes_in_several_delays(tmp_path: Path, instance: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study_of(tmp_path, instances=["K5", instance])


def test_delays_of_ones_own(tmp_path: Path) -> None:
    for written in ("mine.py:Nightly", {"type": "mine.py:Nightly", "rounds": 24}):
        delay = study_of(tmp_path, delay=written).instances[0].delay
        assert (type(delay).__name__, delay.rounds) == ("Nightly", 24)
    drawn = study_of(tmp_path, delay="mine.py:soon").instances[0].delay
    assert set(drawn.draw(np.random.default_rng(0), 50)) == {0, 1, 2}


def test_delays_are_part_of_the_study(tmp_path: Path) -> None:
    written = [
        *(None, 100, {"type": "fixed", "rounds": 100, "lost": 0.1}),
        *({"type": "geometric", "mean": 100}, {"type": "geometric", "mean": 100, "lost": 0.1}),
        *("mine.py:Nightly", {"type": "mine.py:Nightly", "rounds": 25}, "mine.py:soon"),
    ]
    identities = []
    for delay in written:
        more = {} if delay is None else {"delay": delay}
        identities.append(json.dumps(study_of(tmp_path, **more).identity()))
        assert identities[-1] == json.dumps(study_of(tmp_path, **more).identity())
    assert len(set(identities)) == len(written)


@pytest.mark.parametrize(
    "delay, message",
    [
        (-1, r"delay: .*at least 0.*got -1"),
        (1.5, "got 1.5"),
        ("fixed", r"got 'fixed'"),
        ({"type": "geometrik", "mean": 1}, "unknown delay 'geometrik'; did you mean geometric"),
        ({"mean": 1}, 'type is missing; for example type = "fixed"'),
        ({"type": "geometric"}, "mean is missing; GeometricDelay takes mean, lost"),
        ({"type": "geometric", "mean": 1, "lots": 0.1}, "unknown key; did you mean lost"),
        ({"type": "geometric", "mean": 1, "lost": 2}, "lost must be a number from 0 to 1, got 2"),
        ({"type": "mine.py:NoDelay"}, "NoDelay is not a delay: derive it from Delay"),
        ("mine.py:later", "mine.py has no function or class 'later'"),
    ],
)
def test_mistakes(tmp_path: Path, delay: Any, message: str) -> None:
    for more in ({"delay": delay}, {"instances": [{"matroid": "K4", "delay": delay}]}):
        with pytest.raises(StudyError, match=message):
            study_of(tmp_path, **more)


def test_a_policy_without_decisions_is_refused(tmp_path: Path) -> None:
    assert study_of(tmp_path, policies=["mine.py:Plain"]).tasks()
    with pytest.raises(StudyError, match=r"on K4: with a delay, .*derive Plain from Policy"):
        study_of(tmp_path, policies=["mine.py:Plain"], delay=3)


def test_delays_change_the_runs_and_are_reported(tmp_path: Path) -> None:
    delays = {"now": 0, "later": 40, "lost": {"type": "geometric", "mean": 40, "lost": 0.25}}
    study = study_of(
        tmp_path,
        policies=["MAUB", "OMM"],
        instances=[{"name": name, "matroid": "K5", "delay": d} for name, d in delays.items()],
    )
    results = run_study(study, tmp_path / "results", jobs=1)
    regret = results.runs.groupby("instance")["regret"].mean()
    assert regret["now"] < regret["later"]
    result = mb.simulate(
        mb.MAUB(mb.catalog.matroid("K5")),
        mb.GaussianEnvironment(mb.random_means(10, 1), 0.2),
        200,
        seed=1,
        delay=mb.GeometricDelay(40, lost=0.25),
    )
    run = results.runs.query("instance == 'lost' and policy == 'MAUB' and seed == 1")
    assert run["regret"].item() == result.total_regret
    write_report(tmp_path / "results")
    text = (tmp_path / "results" / "report.md").read_text()
    assert re.search(r"\| instance \| matroid \| delay \|", text)
    assert re.search(r"\| now \| K5 \| 0 \|", text)
    assert re.search(r"\| later \| K5 \| 40 \|", text)
    assert re.search(r"\| lost \| K5 \| geometric, mean 40, 0\.25 lost \|", text)
    assert "delay: rounds until feedback is learned" in text
    page = (tmp_path / "results" / "report.html").read_text()
    assert '<td class="name">geometric, mean 40, 0.25 lost</td>' in page
    assert "geometric, mean 40, 0.25 lost" in (
        (tmp_path / "results" / "table-instances.tex").read_text()
    )


def test_the_report_says_what_delays_cost(tmp_path: Path) -> None:
    delays = [0, 20, {"type": "geometric", "mean": 10}, "mine.py:soon"]
    others = {"matroid": "U(2,4)", "delay": 5}  # not there without a delay
    study = study_of(tmp_path, policies=["MAUB", "OMM"], delay=delays, instances=["K5", others])
    results = run_study(study, tmp_path / "results", jobs=1)
    regret = results.runs.pivot_table(index="seed", columns=["instance", "policy"], values="regret")
    rows = delay_costs(results)
    assert [(row["instance"], row["policy"]) for row in rows] == [
        (f"K5, delay {delay}", policy)
        for delay in ("20", "geometric, mean 10", "soon")
        for policy in ("MAUB", "OMM")
    ]
    assert [row["per_round"] == "" for row in rows] == [False] * 4 + [True] * 2
    cost = regret["K5, delay 20", "MAUB"] - regret["K5, delay 0", "MAUB"]
    # Two runs: the quantile of Student's distribution with one degree of freedom is 12.706.
    half = 12.706 * cost.std() / np.sqrt(2)
    shown, around = (float(x.replace(",", "")) for x in rows[0]["cost"].split(" ± "))
    assert (shown, around) == pytest.approx((cost.mean(), half), rel=0.01)
    shown, around = (float(x) for x in rows[0]["per_round"].split(" ± "))
    assert (shown, around) == pytest.approx((cost.mean() / 20, half / 20), rel=0.01)
    write_report(tmp_path / "results")
    text = (tmp_path / "results" / "report.md").read_text()
    assert f"| K5, delay 20 | MAUB | 20 | {rows[0]['cost']} | {rows[0]['per_round']} |" in text
    assert "<h2>What the delays cost</h2>" in (tmp_path / "results" / "report.html").read_text()


def test_results_without_delays_stay_valid(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    run_study(study, tmp_path / "results", jobs=1)
    assert "delay" not in (tmp_path / "results" / "study.json").read_text()
    write_report(tmp_path / "results")
    assert "| delay |" not in (tmp_path / "results" / "report.md").read_text()
    # The same study, and one that differs.
    run_study(study_of(tmp_path, delay=0), tmp_path / "results", jobs=1)
    with pytest.raises(StudyError, match=r"instances\.K4\.delay: not there, here new"):
        run_study(study_of(tmp_path, delay=1), tmp_path / "results", jobs=1, extend=True)


def test_the_shipped_study(capsys) -> None:
    study = load_study(shipped_study("delays"))
    delays = [0 if i.delay is None else i.delay.rounds for i in study.instances]
    assert delays == [0, 10, 100, 1000] * 3
    # Apart from the delay, the four instances of a matroid are the same.
    for start in (0, 4, 8):
        origins = [dict(i.origin) for i in study.instances[start : start + 4]]
        for origin in origins:
            origin.pop("delay", None)
        assert all(origin == origins[0] for origin in origins)
    assert main(["delays", "--list"]) == 0
    assert re.search(r"K7, delay 1,000 +21 +6 +50,000 +1,000\n", capsys.readouterr().out)


def test_a_function_may_be_called_like_a_kind_of_delay() -> None:
    assert delay_text({"type": "fixed", "source": "0"}) == "fixed"
    assert delay_text({"type": "mine:geometric", "data": "0"}) == "geometric"
