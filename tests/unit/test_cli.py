"""The command line: tables, help, and one-line answers to mistakes."""

import os
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import __version__, _progress, catalog, cli
from matroid_bandits.cli import main


def run(arguments: str) -> int:
    return main(arguments.split())


def test_list_has_a_line_for_everything(capsys) -> None:
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for cls in (*catalog.MATROIDS.values(), *catalog.POLICIES.values()):
        assert any(cls.__name__ in line and catalog.summary(cls) in line for line in lines)
    for group in catalog.NAMED.values():
        for named in group:
            assert any(named.example in line and named.about in line for line in lines)
    for family in catalog.MATROIDS:
        assert any(f"{family}(30)" in line for line in lines)
    assert max(map(len, lines)) <= 160
    by_name = lines[-len(catalog.POLICIES) :]
    assert any(line.startswith("  MAUB(neighborhood=lean") for line in by_name)
    assert lines[-len(catalog.POLICIES) - 1].startswith("Policies by name")


def test_simulate_prints_a_table(capsys) -> None:
    arguments = "simulate --matroid K5 --matroid U(2,4) --policy MAUB --policy omm --runs 3"
    assert main([*arguments.split(), "--horizon", "2_000"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""  # no bar where there is no terminal
    lines = printed.out.splitlines()
    assert lines[0] == (
        "K5: 10 elements, rank 4; Gaussian (std 0.2) rewards; 2,000 rounds; seed 0..2"
    )
    assert lines[1].split() == (
        ["policy", "runs", "regret", "seconds", "oracle", "calls", "greedy", "calls", "updates"]
    )
    assert lines[2].split()[:2] == ["MAUB", "3"]
    assert lines[3].split()[:2] == ["OMM", "3"]
    assert "±" in lines[2]
    assert lines[3].split()[-2] == "2,000"
    assert lines[5].startswith("U(2,4): 4 elements, rank 2")


def test_runs_that_are_settled(capsys) -> None:
    arguments = "simulate --matroid U(1,2) --policy MAUB --policy FollowTheLeader --runs 3"
    assert run(f"{arguments} --horizon 3000 --confidence 0.1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:4] == ["policy", "runs", "settled", "regret"]
    settled = {}
    for name in ("MAUB", "FollowTheLeader"):
        count = 0
        for seed in range(3):
            environment = mb.GaussianEnvironment(mb.random_means(2, seed), 0.2)
            policy = catalog.policy(name)(catalog.matroid("U(1,2)"), seed=seed)
            mb.simulate(policy, environment, 3000, seed=seed)
            count += policy.confidence(0.1, noise=0.2).settled
        settled[name] = count
    assert {row.split()[0]: int(row.split()[2]) for row in lines[2:4]} == settled
    assert settled["MAUB"] > settled["FollowTheLeader"]
    assert lines[-1] == "settled: runs at whose end the best basis is known with confidence 90 %"
    assert run(f"{arguments} --horizon 30") == 0
    assert "settled" not in capsys.readouterr().out


def test_matroids_that_have_a_name(capsys) -> None:
    assert run("simulate --matroid fano --matroid dual(K4) --horizon 100 --runs 1") == 0
    assert run("gaps --matroid vamos") == 0
    lines = capsys.readouterr().out.splitlines()
    for start in (
        "fano: 7 elements, rank 3;",
        "dual(K4): 6 elements, rank 3;",
        "vamos: 8 elements, rank 4;",
    ):
        assert any(line.startswith(start) for line in lines)


def test_policies_with_parameters(capsys) -> None:
    arguments = ["simulate", "--matroid=K5", "--runs=2", "--horizon=200"]
    assert main([*arguments, "--policy=MAUB( neighborhood = paper )", "--policy=maub"]) == 0
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()[2:4]]
    names = [next(cell for cell in row if cell).strip() for row in rows]
    assert names == ["MAUB(neighborhood=paper)", "MAUB"]


class Dice(mb.Policy):
    """Plays at random."""

    name = "dice"
    seeds: ClassVar[list[int]] = []

    def __init__(self, matroid: mb.Matroid, seed: int = 99) -> None:
        if matroid.size > 50:
            raise ValueError(f"too many elements: {matroid.size}")
        super().__init__(matroid)
        self.seed = seed
        self._rng = np.random.default_rng(seed)

    def _select(self):
        self.seeds.append(self.seed)
        return self.greedy_basis(self._rng.random(self.matroid.size))


def test_policies_that_draw_get_the_seed_of_the_run(capsys, monkeypatch) -> None:
    monkeypatch.setitem(catalog.POLICIES, "dice", Dice)
    monkeypatch.setattr(Dice, "seeds", [])
    run("simulate --matroid K5 --policy dice --runs 2 --seed 4 --horizon 1")
    run("simulate --matroid K5 --policy dice(seed=1) --runs 2 --horizon 1")
    assert Dice.seeds == [4, 5, 1, 1]


def test_a_policy_that_refuses_a_matroid(capsys, monkeypatch) -> None:
    monkeypatch.setitem(catalog.POLICIES, "dice", Dice)
    with pytest.raises(SystemExit):
        run("simulate --matroid K5 --matroid K20 --policy dice --horizon 5")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith("argument --policy: dice on K20: too many elements: 190\n")


def test_without_a_name_two_policies_run(capsys, monkeypatch) -> None:
    monkeypatch.setitem(catalog.POLICIES, "dice", Dice)
    run("simulate --matroid K5 --runs 1 --horizon 10")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["MAUB", "OMM"]
    assert lines[4] == ""


def test_gaps(capsys) -> None:
    assert run("gaps --matroid K5 --matroid U(2,4) --seed 3 --horizon 1000") == 0
    out = capsys.readouterr().out
    matroid = mb.GraphicMatroid.complete(5)
    means = mb.random_means(10, 3)
    assert str(mb.gaps(matroid, means)) in out
    bound = mb.regret_lower_bound(matroid, mb.GaussianEnvironment(means), 1000)
    lines = out.splitlines()
    assert lines[0].startswith("K5: 10 elements, rank 4; Gaussian (std 0.2) rewards; 1,000 rounds")
    assert f"lower bound on the regret after 1,000 rounds: {bound:.4g}" in lines
    assert "U(2,4): 4 elements, rank 2" in out
    assert run("gaps --matroid U(2,4) --environment bernoulli") == 0
    bound = mb.regret_lower_bound(
        mb.UniformMatroid(2, 4), mb.BernoulliEnvironment(mb.random_means(4, 0)), 100_000
    )
    assert f"after 100,000 rounds: {bound:.4g}" in capsys.readouterr().out


def test_means_that_change(capsys) -> None:
    command = "simulate --matroid K5 --runs 1 --horizon 200 --seed 4 --policy OMM --environment"
    cases = {
        "piecewise(changes=101)": mb.PiecewiseEnvironment(
            mb.random_means(10, 4, pieces=2), [101], std=0.5
        ),
        'Piecewise(changes="51 101")': mb.PiecewiseEnvironment(
            mb.random_means(10, 4, pieces=3), [51, 101], std=0.5
        ),
        "drifting(step=0.05)": mb.DriftingEnvironment(
            mb.random_means(10, 4), step=0.05, std=0.5, seed=4
        ),
        "seasonal(amplitude=0.2, period=50)": mb.SeasonalEnvironment(
            mb.random_means(10, 4), amplitude=0.2, period=50, std=0.5
        ),
    }
    cases['piecewise(changes="5.1e1 1.01e2")'] = cases['Piecewise(changes="51 101")']
    for text, environment in cases.items():
        assert main([*command.split(), text, "--std", "0.5"]) == 0
        out = capsys.readouterr().out
        regret = mb.simulate(
            mb.OMM(mb.GraphicMatroid.complete(5)), environment, 200, seed=4
        ).total_regret
        assert out.splitlines()[2].split()[2] == f"{regret:,.0f}"
        assert f"Gaussian (std 0.5) rewards, {text.lower()}; 200 rounds" in out
        assert "dynamic regret, against the best basis of every round: mean" in out
    assert main([*command.split(), "drifting(step=0.01, kind=bernoulli)"]) == 0
    assert "Bernoulli rewards, drifting(" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text, message",
    [
        ("drifting", "drifting needs step: write drifting(step=...)"),
        ("drifting(step=2)", "drifting(step=2): step must be"),
        ("drifting(stop=2)", "did you mean step"),
        ("piecewise(changes=soon)", "a change must be an integer, got 'soon'"),
        ("function", "FunctionEnvironment takes a function: use it in Python, or in a study"),
        ("drifting(step=0.1, kind=bernoulli) --std=1", "--std is for gaussian rewards only"),
        ("drifting(step=0.1, std=1) --std=1", "std is in the brackets of --environment and in"),
    ],
)
def test_mistakes_of_means_that_change(text: str, message: str, capsys) -> None:
    environment, *more = text.split(" --")
    with pytest.raises(SystemExit):
        main(["simulate", "--matroid=K4", "--environment", environment, *(f"--{m}" for m in more)])
    assert message in capsys.readouterr().err


def test_gaps_of_means_that_change(capsys) -> None:
    with pytest.raises(SystemExit):
        run("gaps --matroid K4 --environment drifting(step=0.1)")
    assert "gaps are for means that stay as they are" in capsys.readouterr().err


def test_gaps_without_a_bound(capsys, monkeypatch) -> None:
    class Constant(mb.Environment):
        def _sample(self, rng, element, count):
            return np.full(count, self.means[element])

    monkeypatch.setitem(catalog.ENVIRONMENTS, "constant", Constant)
    assert run("gaps --matroid U(2,4) --environment constant") == 0
    assert "100,000 rounds: unknown, Constant has no divergence" in capsys.readouterr().out


def test_same_seeds_same_table(capsys) -> None:
    tables = []
    for _ in range(2):
        main(["simulate", "--matroid=partition(12)", "--horizon=500", "--runs=2", "--seed=7"])
        rows = [line.split() for line in capsys.readouterr().out.splitlines()]
        # All but the seconds, the fifth word of "MAUB 2 12 ± 3 0.001 ...".
        tables.append([row[:5] + row[6:] for row in rows])
    assert tables[0] == tables[1]


def test_bernoulli_and_one_run(capsys) -> None:
    arguments = "simulate --matroid transversal(8) --environment Bernoulli --runs 1 --horizon 100"
    assert main(arguments.split()) == 0
    out = capsys.readouterr().out
    assert "Bernoulli rewards; 100 rounds; seed 0\n" in out
    assert "±" not in out.splitlines()[2]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("", "the following arguments are required: COMMAND"),
        ("simulat", "unknown command 'simulat'; did you mean simulate? allowed are reproduce, "),
        ("Simulate", "unknown command 'Simulate'; did you mean simulate?"),
        ("rum study.toml", "unknown command 'rum'; did you mean run?"),
        ("xyz --matroid K5", "unknown command 'xyz'; allowed are reproduce, compare, delays,"),
        ("--versoin", "unknown argument --versoin; did you mean --version?"),
        ("--matroid K5", "unknown argument --matroid; allowed are --help, --version"),
        ("list everything", "unknown argument everything; allowed are --help"),
        ("simulate", "--matroid is missing; for example --matroid K20"),
        ("simulate --matroid K", "unknown matroid 'K'; did you mean K20 or K(3,4)? allowed are"),
        ("simulate --matroid K1000000000", "K1000000000 has more than 2,000,000 elements"),
        ("gaps --matroid fanno", "unknown matroid 'fanno'; did you mean fano?"),
        ("simulate --matroid U(5,3)", "rank must be at most size = 3, got 5"),
        (
            "simulate --matroid K5 --delay geometrik",
            "unknown delay 'geometrik'; did you mean geometric",
        ),
        (
            "simulate --matroid K5 --delay fixed(round=3)",
            "no parameter 'round'; did you mean rounds?",
        ),
        ("simulate --matroid K5 --delay geometric", "'geometric' is not complete: write it like"),
        ("simulate --matroid K5 --delay -3", "--delay: rounds must be at least 0, got -3"),
        ("simulate --matroid K5 --delay 1.5", "--delay: rounds must be an integer, got 1.5"),
        ("simulate --matroid K5 --confidence 1", "must be a number between 0 and 1, such as 0.05"),
        ("simulate --matroid K5 --confidence 5%", "such as 0.05, got '5%'"),
        (
            "simulate --matroid K5 --std 0 --confidence 0.1",
            "MAUB on K5: confidence=0.1 is for rewards that vary",
        ),
        ("simulate --matroid K5 --policy MUAB", "did you mean MAUB? allowed are CTS, CUCB"),
        ("simulate --matroid K5 --policy UCB1", "unknown policy 'UCB1'; did you mean CUCB?"),
        ("simulate --matroid K5 --environment gauss", "did you mean gaussian?"),
        ("simulate --matroid K5 --horizon 0", "must be a whole number from 1 to"),
        (
            "simulate --matroid K5 --horizon 1.5e0",
            "must be a whole number from 1 to 9007199254740992, got '1.5e0'",
        ),
        ("simulate --matroid K5 --horizon 1e400", "9007199254740992, got '1e400'"),
        ("simulate --matroid K5 --horizon 5.5", "9007199254740992, got '5.5'"),
        ("simulate --matroid K5 --runs x", "--runs: must be a whole number from 1"),
        ("simulate --matroid K5 --seed -1", "--seed: must be a whole number from 0"),
        ("simulate --matroid K5 --std -1", "--std: must be a number from 0 to 1e+100, got '-1'"),
        ("simulate --matroid K5 --std nan", "--std: must be a number from 0 to 1e+100, got 'nan'"),
        ("simulate --matroid K5 --horizn 5", "unknown argument --horizn; did you mean --horizon?"),
        ("simulate --matroid K5 extra", "unknown argument extra"),
        ("simulate K5", "unknown argument K5"),
        ("simulate --matroid K5 --horizon 99999999999999999999", "from 1 to 9007199254740992"),
        ("simulate --matroid K5 --horizon 1,5", "got '1,5'"),
        ("simulate --matroid K5 --horizon \uff15\uff10", "--horizon: must be a whole"),
        ("simulate --matroid K5 --std \uff15", "--std: must be a number from 0"),
        ("simulate --matroid K5 --confidence 0.\uff15", "must be a number between 0 and 1"),
        ("simulate --matroid K\uff15", "--matroid: a matroid must be given by a name in plain"),
        ("simulate --matroid K5 --delay \uff15", "unknown delay '\uff15'"),
        ("simulate --matroid K5 --policy MAUB(noise=\uff15)", "noise must be a number"),
        ("simulate --matroid K5 --environment bernoulli --std 1", "--std is for gaussian rewards"),
        ("simulate --matroid K5 --policy MAUB(nose=1)", "MAUB has no parameter 'nose'"),
        ("simulate --matroid K5 --policy MAUB(", "'MAUB(' cannot be read: write it like"),
        ("gaps", "--matroid is missing; for example --matroid K20"),
        ("gaps --matroid K5 --environment bernoulli --std 1", "--std is for gaussian rewards only"),
        ("gaps --matroid K5 --sed 1", "unknown argument --sed; did you mean --seed?"),
    ],
)
def test_mistakes_get_one_line(capsys, arguments: str, message: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments.split())
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["1e3", "1E3", "1_000", "1000", "0.1e4"])
def test_whole_numbers_may_have_an_exponent(text: str, capsys) -> None:
    assert run(f"simulate --matroid K4 --policy OMM --runs 1 --horizon {text}") == 0
    assert "; 1,000 rounds; seed 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        *("", "simulate", "gaps", "list", "run", "report"),
        *("reproduce", "compare", "delays", "change", "large"),
    ],
)
def test_help_names_no_file_that_is_not_installed(command: str, capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        run(f"{command} --help")
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "docs/" not in text
    assert ".md" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_help_of_run_has_a_study_and_a_warning(capsys, tmp_path) -> None:
    with pytest.raises(SystemExit):
        run("run --help")
    text = capsys.readouterr().out
    assert "imported and run: run only study files that you trust." in text
    lines = text[text.index("  horizon =") : text.index("The page")].splitlines()
    study = tmp_path / "study.toml"
    study.write_text("\n".join(line.removeprefix("  ") for line in lines))
    (tmp_path / "links.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    assert main(["run", str(study), "--list"]) == 0
    assert "2 instances, OMM, MAUB, MAUB(noise=0.2), 10 runs each" in capsys.readouterr().out


def test_version_and_module() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "matroid_bandits", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"matroid-bandits {__version__}\n"


@pytest.mark.parametrize("name", ["K0", "K1", "k7", "U(0,0)", "u( 2 , 4 )", "linear(9)"])
def test_names(name: str) -> None:
    assert catalog.matroid(name).size >= 0


def test_random_instances_by_name_depend_on_the_seed_alone() -> None:
    one, same, other = (catalog.matroid("graphic(20)", seed=seed) for seed in (1, 1, 2))
    assert one.edges == same.edges != other.edges


def test_ctrl_c_shows_what_was_finished(capsys, monkeypatch) -> None:
    runs = iter(range(100))

    def simulate_three(*arguments, **options):
        if next(runs) == 3:
            raise KeyboardInterrupt
        return mb.simulate(*arguments, **options)

    monkeypatch.setattr(cli.simulate, "simulate", simulate_three)
    assert main(["simulate", "--matroid=K5", "--matroid=K6", "--horizon=100"]) == 130
    printed = capsys.readouterr()
    rows = [line.split()[:2] for line in printed.out.splitlines()[2:4]]
    assert rows == [["MAUB", "2"], ["OMM", "1"]]
    assert "K6" not in printed.out
    assert printed.err == "interrupted: shown are the runs that were finished\n"


def test_a_bar_on_a_terminal_and_a_hint_without_tqdm(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    arguments = ["simulate", "--matroid=K5", "--horizon=100", "--runs=1"]
    main(arguments)
    assert "K5 OMM seed 0" in capsys.readouterr().err
    main([*arguments, "--quiet"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_progress, "HAS_TQDM", False)
    main(arguments)
    assert capsys.readouterr().err == (
        "(pip install 'matroid-bandits[experiments]' for a progress bar)\n"
    )


def test_what_is_named_twice_runs_once(capsys) -> None:
    arguments = "--matroid=K5 --matroid=K5 --policy=MAUB --policy=maub --runs=2 --horizon=100"
    main(["simulate", *arguments.split()])
    out = capsys.readouterr().out
    assert out.count("MAUB") == 1
    assert out.splitlines()[2].split()[:2] == ["MAUB", "2"]


def test_ctrl_c_before_anything_is_finished(capsys, monkeypatch) -> None:
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.simulate, "simulate", interrupt)
    assert main(["simulate", "--matroid=K5"]) == 130
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(catalog, "matroid", interrupt)
    assert main(["simulate", "--matroid=K5"]) == 130


def test_too_large_for_memory(capsys, monkeypatch) -> None:
    def too_large(*arguments, **options):
        return np.empty(10**16)

    monkeypatch.setattr(catalog, "matroid", too_large)
    assert main(["simulate", "--matroid=U(1,2)"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_plain_terminals_and_closed_pipes() -> None:
    command = [sys.executable, "-m", "matroid_bandits", "simulate", "--matroid=K5", "--runs=2"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    plain = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert b"+/-" in plain.stdout
    cut = subprocess.run(
        f"'{sys.executable}' -m matroid_bandits list | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (cut.stdout, cut.stderr) == ("Matroids\n", "")
