"""``reproduce``, ``run`` and ``report`` as people type them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.cli import main
from matroid_bandits.datasets import DownloadError
from matroid_bandits.experiments import read_results, summarize
from matroid_bandits.experiments.reporting import report

STUDY = """\
title = "Two graphs"
horizon = 500
runs = 3
policies = ["MAUB", "OMM"]
instances = ["K4", "K5"]
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)


@pytest.fixture(autouse=True)
def light_figures(request, monkeypatch) -> None:
    """Figures in one format only, to save time, but for one test."""
    if request.node.originalname != "test_run_ends_with_the_paths":
        monkeypatch.setattr(report, "FORMATS", ("svg",))


def status(arguments: str) -> int | str | None:
    return status_of(arguments.split())


def status_of(arguments: list[str]) -> int | str | None:
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code


def test_run_ends_with_the_paths(capsys) -> None:
    assert main(["run", "study.toml", "--jobs=1"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    assert lines[0] == "Two graphs: 2 instances, MAUB, OMM, 3 runs each, into results/study"
    assert lines[1].split() == [
        "instance",
        "policy",
        "runs",
        "regret",
        "/",
        "bound",
        "seconds",
        "oracle",
        "calls",
    ]
    assert lines[2].split()[:3] == ["K4", "MAUB", "3"]
    names = ("report.html", "report.md", "table-instances.tex", "table.csv", "table.tex")
    assert lines[-5:] == [f"results/study/{name}" for name in names]
    assert all(Path(line).exists() for line in lines[-10:])
    # Again: nothing to do, the same answer.
    assert main(["run", "study.toml"]) == 0
    assert capsys.readouterr().out == printed.out


def test_quiet_prints_paths_only(capsys) -> None:
    assert main(["run", "study.toml", "--jobs=1", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert len(printed.out.splitlines()) == 7
    assert main(["report", "results/study", "--quiet"]) == 0
    assert capsys.readouterr().out == printed.out


def test_report(capsys) -> None:
    main(["run", "study.toml", "--jobs=1"])
    first = capsys.readouterr().out.splitlines()[1:]
    Path("results/study/report.html").unlink()
    assert main(["report", "results/study"]) == 0
    assert capsys.readouterr().out.splitlines() == first
    assert Path("results/study/report.html").exists()


def test_list_shows_and_runs_nothing(capsys) -> None:
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    assert "10 instances, OMM, MAUB, MAUB (paper), 20 runs each" in out
    assert re.search(r"linear +100 +16 +100,000", out)
    assert re.search(r"transversal +7 +6 +1,000,000", out)
    assert not Path("results").exists()


def test_compare(capsys) -> None:
    """The other study that ships, with the same options."""
    assert main(["compare", "--list"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Policies compared: 10 instances, ")
    assert len(out.splitlines()[0]) < 80
    assert re.search(r"partition Bernoulli +50 +20 +100,000", out)
    options = ["--runs=2", "--horizon=200", "--jobs=1", "--movielens=synthetic", "--out=out"]
    options += ["--only=linear gaussian", "--only=K7bernoulli", "--policy=MAUB", "--policy=OMM"]
    assert main(["compare", *options, "--quiet"]) == 0
    found = read_results("out")
    assert set(found.runs["instance"]) == {"linear Gaussian", "K7 Bernoulli"}
    assert (found.runs["lower_bound"] > 0).all()


def test_policies_with_parameters_by_an_option(capsys) -> None:
    common = ["run", "study.toml", "--jobs=1", "--quiet", "--only=K4"]
    assert main([*common, "--policy=maub( neighborhood = paper)", "--policy=OMM"]) == 0
    (folder,) = Path("results").iterdir()
    assert set(read_results(folder).runs["policy"]) == {"MAUB(neighborhood=paper)", "OMM"}
    Path("study.toml").write_text(STUDY.replace('"MAUB"', '"MAUB(neighborhood=paper)"'))
    # The study's own, however it is written.
    assert main([*common, "--policy=MAUB(neighborhood='paper')", "--out=out"]) == 0
    assert set(read_results("out").runs["policy"]) == {"MAUB(neighborhood=paper)"}


def test_policies_of_an_instance_in_a_list(capsys) -> None:
    text = STUDY.replace('"K5"]', '{ matroid = "K5", policies = ["OMM"] }]')
    Path("study.toml").write_text(text)
    assert main(["run", "study.toml", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["instance", "elements", "rank", "rounds", "policies"]
    assert lines[2].split()[-1] == "all"
    assert lines[3].split()[-1] == "OMM"
    assert main(["run", "study.toml", "--only=K5", "--policy=MAUB"]) == 2
    assert "MAUB has nothing to run with among K5" in capsys.readouterr().err


def test_a_policy_that_refuses_an_instance(capsys, monkeypatch) -> None:
    class Small(mb.OMM):
        name = "small"

        def __init__(self, matroid: mb.Matroid) -> None:
            if matroid.size > 6:
                raise ValueError(f"at most 6 elements, got {matroid.size}")
            super().__init__(matroid)

    monkeypatch.setitem(catalog.POLICIES, "small", Small)
    assert status("run study.toml --policy small") == 2
    assert "--policy: small on K5: at most 6 elements, got 10\n" in capsys.readouterr().err
    assert status("run study.toml --policy small --only K4 --jobs 1 --quiet") == 0


def test_each_choice_has_a_folder_of_its_own() -> None:
    common = ["reproduce", "--quiet", "--jobs=1", "--horizon=200", "--movielens=synthetic"]
    main([*common, "--only=K5", "--only=u(7, 10)", "--runs=1"])
    main([*common, "--only=linear", "--policy=maub", "--runs=2", "--seed=3"])
    assert sorted(path.name for path in Path("results").iterdir()) == [
        "reproduce-K5-u-7-10-runs-1-horizon-200",
        "reproduce-linear-maub-runs-2-horizon-200-seed-3-synthetic",
    ]
    runs = read_results("results/reproduce-linear-maub-runs-2-horizon-200-seed-3-synthetic").runs
    assert set(runs["policy"]) == {"MAUB"}
    assert runs["seed"].tolist() == [3, 4]
    assert set(runs["horizon"]) == {200}


def test_quick(capsys) -> None:
    assert main(["reproduce", "--quick", "--only=K5", "--jobs=1", "--quiet"]) == 0
    runs = read_results("results/reproduce-quick-K5").runs
    assert len(runs) == 9
    assert set(runs["horizon"]) == {10_000}


def test_without_a_network_the_notice_is_loud(capsys, monkeypatch) -> None:
    def no_network() -> Path:
        raise DownloadError("https://a.b/c.zip", "a.b cannot be reached", "")

    monkeypatch.setattr("matroid_bandits.experiments.reading.movies.fetch_movielens", no_network)
    assert main(["reproduce", "--only=linear", "--runs=2", "--horizon=200", "--jobs=1"]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("NOT MovieLens but invented movies") == 2  # before and after
    assert "!!!!!" in printed.err
    assert "a.b cannot be reached" in printed.err
    assert "--movielens PATH" in printed.err
    (folder,) = Path("results").iterdir()
    assert folder.name.endswith("-synthetic")
    for name in ("report.html", "report.md"):
        assert "NOT MovieLens but invented movies" in (folder / name).read_text()


def test_invented_movies_are_not_compared_with_the_paper() -> None:
    options = ["--only=linear", "--only=K5", "--runs=2", "--movielens=synthetic"]
    options.append("--policy=MAUB (paper)")
    assert main(["reproduce", *options, "--out=out", "--jobs=1"]) == 0
    table = summarize(read_results("out")).set_index("instance")
    assert table.loc["K5", "published_oracle_calls"] == 797.35
    assert table.loc["linear", "published_oracle_calls"] == 227631.05
    assert table.filter(like="ratio_").loc["linear"].isna().all()
    assert table.filter(like="ratio_").loc["K5"].notna().all()
    assert "1 of 1 means lie within" in Path("out/report.md").read_text()


DATA = Path(__file__).parents[3] / "shared" / "data" / "movielens"


@pytest.mark.skipif(not DATA.is_dir(), reason="MovieLens is not here")
@pytest.mark.parametrize("name, rank", [("ml-latest-small", 16), ("ml-1m", 17), ("ml-100k", 17)])
def test_movielens_from_a_path(capsys, name: str, rank: int) -> None:
    path = str((DATA / name).resolve())
    options = ["--only=linear", "--runs=1", "--horizon=100", "--jobs=1", f"--movielens={path}"]
    assert main(["reproduce", *options, "--out=out"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    linear = read_results("out").study["identity"]["instances"]["linear"]
    assert (linear["size"], linear["rank"]) == (100, rank)
    assert linear["matroid"] == f"100 most-rated movies of {name}"


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("run", "the following arguments are required: STUDY"),
        ("run stdy.toml", "there is no file stdy.toml; did you mean study.toml?"),
        ("run study.toml --only K6", "unknown instance 'K6'; allowed are K4, K5"),
        ("run study.toml --policy MUAB", "--policy: unknown policy 'MUAB'; did you mean MAUB?"),
        ("run study.toml --policy MAUB(nose=1)", "--policy: MAUB has no parameter 'nose'"),
        ("run study.toml --policy MAUB(x", "--policy: 'MAUB(x' cannot be read: write it like"),
        ("compare --only K21", "unknown instance 'K21'"),
        ("run study.toml --runs 0", "--runs: must be a whole number from 1"),
        ("run study.toml --horizon -5", "--horizon: must be a whole number from 1"),
        ("run study.toml --jobs none", "--jobs: must be a whole number from 1 to 4096"),
        ("run study.toml --onyl K5", "unknown argument --onyl; did you mean --only?"),
        ("run study.toml --out study.toml", "results cannot be written to study.toml"),
        ("run study.toml --out .", "holds other things (study.toml, ...) and no study"),
        ("reproduce --only K21", "unknown instance 'K21'; did you mean K20?"),
        ("reproduce --only linear --movielens gone", "gone"),
        ("report nowhere", "nowhere holds no study (there is no study.json)"),
        ("report", "the following arguments are required: FOLDER"),
        ("report study.toml", "study.toml is a file; the folder of the results is needed"),
        ("run study.toml --runs 1000001", "--runs: must be a whole number from 1 to 1000000"),
        ("run study.toml --list --shard 1/3", "--list is about the whole study as it is written"),
        ("run study.toml --plan --until-separated", "leave --until-separated out"),
    ],
)
def test_mistakes_get_one_answer(arguments: str, message: str, capsys) -> None:
    assert status(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not Path("results").exists()


def test_another_study_in_the_folder(capsys) -> None:
    main(["run", "study.toml", "--jobs=1", "--quiet"])
    Path("study.toml").write_text(STUDY.replace("500", "600"))
    assert main(["run", "study.toml"]) == 2
    error = capsys.readouterr().err.splitlines()
    assert error == [
        "matroid-bandits run: results/study belongs to another study:",
        "  instances.K4.horizon: there 500, here 600",
        "  instances.K5.horizon: there 500, here 600",
        "choose another folder (--out)",
    ]


def test_a_study_that_has_grown(capsys) -> None:
    main(["run", "study.toml", "--jobs=1", "--quiet"])
    Path("study.toml").write_text(STUDY.replace('"K4"', '"K4", "K6"'))
    assert main(["run", "study.toml", "--extend", "--jobs=1"]) == 0
    assert len(read_results("results/study").runs) == 18
    # More runs by an option go into the same folder too.
    assert main(["run", "study.toml", "--extend", "--runs=4", "--jobs=1", "--quiet"]) == 0
    assert len(read_results("results/study").runs) == 24


def test_seed_as_an_option_and_in_the_file(capsys) -> None:
    Path("study.toml").write_text('policies = ["OMM"]\ninstances = ["partition(30)"]\nseed = 5\n')
    main(["run", "study.toml", "--list"])
    in_the_file = capsys.readouterr().out
    Path("study.toml").write_text('policies = ["OMM"]\ninstances = ["partition(30)"]\n')
    main(["run", "study.toml", "--list", "--seed=5"])
    assert capsys.readouterr().out == in_the_file
    main(["run", "study.toml", "--list"])
    assert capsys.readouterr().out != in_the_file


def test_a_list_downloads_nothing(capsys) -> None:
    assert main(["reproduce", "--list"]) == 0
    Path("study.toml").write_text(
        'policies = ["OMM"]\n[[instances]]\nmatroid = {movielens = 500}\n'
    )
    assert main(["run", "study.toml", "--list"]) == 2
    assert "only 100 invented ones; for real ones give their path" in capsys.readouterr().err


def test_a_reader_that_goes_away_does_not_stop_the_work() -> None:
    command = f"{sys.executable} -m matroid_bandits run study.toml --jobs=1 | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert Path("results/study/report.html").exists()


def test_a_full_disk(capsys, monkeypatch) -> None:
    def full(self, lines: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matroid_bandits.experiments.storing.parts.PartWriter.write", full)
    assert main(["run", "study.toml", "--jobs=1"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("matroid-bandits run: [Errno 28] No space left on device")
    assert error.count("\n") == 1


def test_very_long_choices_have_short_folders(capsys) -> None:
    names = [f"instance number {i}" for i in range(30)]
    entries = ", ".join(f'{{ name = "{name}", matroid = "U(1,2)" }}' for name in names)
    Path("study.toml").write_text(
        f'horizon = 5\nruns = 1\npolicies = ["OMM"]\ninstances = [{entries}]\n'
    )
    assert main(["run", "study.toml", "--jobs=1", *(f"--only={name}" for name in names[:20])]) == 0
    (folder,) = Path("results").iterdir()
    assert len(folder.name) < 60
    assert len(read_results(folder).runs) == 20


def test_without_the_extra(tmp_path) -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from matroid_bandits.cli import main\n"
        "sys.exit(main(['run', 'study.toml']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "matroid-bandits run: studies need pandas: pip install 'matroid-bandits[experiments]'\n"
    )


@pytest.mark.parametrize(
    "arguments", ["reproduce --list", "slurm reproduce --only K5 --shards 4 --time 5"]
)
def test_what_needs_no_extra(arguments: str) -> None:
    extras = "loky cloudpickle pandas pyarrow scipy matplotlib jinja2 tqdm pooch distributed"
    code = (
        "import sys\n"
        f"sys.modules |= dict.fromkeys({extras.split()!r})\n"
        "from matroid_bandits.cli import main\n"
        f"sys.exit(main({arguments.split()!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    ["run study.toml --jobs=1", "slurm study.toml --shards 4 --time 5", "list", "--version"],
)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_is_closed(arguments: str, closed: str) -> None:
    command = f"{sys.executable} -m matroid_bandits {arguments} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("results/study/report.md").exists() == arguments.startswith("run")


@pytest.mark.parametrize("option", ["--out", "--movielens", "--graphs", "--dask"])
def test_options_that_are_empty(option: str, capsys) -> None:
    assert status_of(["run", "study.toml", "--jobs=1", option, ""]) == 2
    assert f"argument {option}: must not be empty" in capsys.readouterr().err
    assert not Path("results").exists()


def test_a_study_of_an_editor_that_marks_its_texts(capsys) -> None:
    Path("study.toml").write_text(STUDY, encoding="utf-8-sig")
    assert main(["run", "study.toml", "--list"]) == 0
    assert capsys.readouterr().out.startswith("Two graphs: 2 instances")


def test_ctrl_c_before_the_package_is_imported() -> None:
    code = """
import sys
from importlib.metadata import entry_points

class Interrupted:
    def find_spec(self, name, *arguments):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
(command,) = entry_points(group="console_scripts", name="matroid-bandits")
sys.exit(command.load()())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_a_terminal_without_the_signs(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "matroid_bandits", "run", "study.toml", "--jobs=1"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert "+/-" in done.stdout
    assert "\N{PLUS-MINUS SIGN}" in Path("results/study/report.md").read_text(encoding="utf-8")
