"""Files beside the code: citation, changelog fragments, workflows, hooks, package metadata."""

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from matroid_bandits._version import __version__

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FRAGMENTS = ROOT / "changelog.d"
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]

# The source archive has the tests, but not the files of the code host.
needs_checkout = pytest.mark.skipif(not WORKFLOWS, reason="only a checkout has .github")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def steps(workflow: Path) -> list[dict]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@needs_checkout
def test_the_citation_has_the_version_the_license_and_the_paper() -> None:
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["authors"] == PROJECT["project"]["authors"]
    [paper] = citation["references"]
    entry = re.search(r"@misc\{DG25,.*?\n\}", read("docs/references.bib"), re.DOTALL)
    assert entry is not None
    assert f"{{{paper['title']}}}" in entry[0]
    assert f"{{{paper['year']}}}" in entry[0]
    assert f"{{{paper['notes']}}}" in entry[0]
    assert all(author["family-names"] in entry[0] for author in paper["authors"])


def test_the_changelog_has_this_version_and_a_place_for_the_next_one() -> None:
    changelog = read("CHANGELOG.md")
    assert changelog.count("<!-- towncrier release notes start -->\n") == 1
    version = re.escape(__version__.removesuffix(".dev0"))
    assert ".dev" in __version__ or re.search(rf"(?m)^## {version} \(", changelog)


@needs_checkout
def test_fragments_are_named_as_towncrier_expects() -> None:
    kinds = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
    valid = re.compile(rf"[a-z0-9-]+\.({'|'.join(kinds)})\.md")
    others = {"README.md", "template.md.jinja"}
    for path in FRAGMENTS.iterdir():
        if path.name not in others:
            assert valid.fullmatch(path.name), path.name
            assert path.read_text(encoding="utf-8").strip(), path.name
    assert all(f"| `{kind}` |" in (FRAGMENTS / "README.md").read_text() for kind in kinds)
    [hook] = [hook for hook in hooks() if hook["id"] == "changelog-fragments"]
    assert "|".join(kinds) in hook["exclude"]


@needs_checkout
def test_public_ci_runs_what_must_pass_before_a_change_lands() -> None:
    # Not a copy of its commands: the script itself.
    [job] = yaml.safe_load(read(".github/workflows/ci.yml"))["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    mode = (ROOT / ".ci" / "run").stat().st_mode
    assert mode & 0o100, ".ci/run cannot be executed"


@needs_checkout
def test_commands_of_workflows_and_ci_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"(?m)^([\w/-]+):", read("Makefile")))
    scripts = [read(".ci/run")]
    scripts += [step["run"] for path in WORKFLOWS for step in steps(path) if "run" in step]
    called = {
        name
        for script in scripts
        for line in re.findall(r"(?m)^\s*make ([^#\n>&|;]+)", script)
        for name in re.findall(r"(?:^|\s)([a-z][\w/-]*)(?=\s|$)", line)
    }
    assert called <= targets, called - targets


@needs_checkout
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_only_read_and_pin_actions_by_major_version(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow["jobs"].values())
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]), step["uses"]
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def hooks() -> list[dict]:
    [repository] = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local"
    return repository["hooks"]


@needs_checkout
def test_hooks_run_tools_of_the_dev_environment() -> None:
    packages = {"lint-imports": "import-linter"}
    wanted = PROJECT["project"]["optional-dependencies"]["dev"]
    installed = {re.split(r"[=<>\[; ]", requirement)[0] for requirement in wanted}
    system = [hook for hook in hooks() if hook["language"] == "system"]
    assert {hook["id"] for hook in system} >= {"ruff-check", "ruff-format", "mypy", "cython-lint"}
    for hook in system:
        [tool] = re.findall(r"\.venv/bin/([\w-]+)", hook["entry"])
        assert packages.get(tool, tool) in installed, tool
    # The others download nothing, either.
    assert {hook["language"] for hook in hooks()} <= {"system", "pygrep", "fail"}


def test_metadata_name_no_addresses() -> None:
    # The project has no public address yet: none is made up.
    assert "urls" not in PROJECT["project"]
    assert all(set(author) == {"name"} for author in PROJECT["project"]["authors"])
    supported = [
        entry.rsplit(" ", 1)[1]
        for entry in PROJECT["project"]["classifiers"]
        if re.search(r"Python :: 3\.\d+$", entry)
    ]
    assert set(supported) <= set(PYTHONS)
    assert PROJECT["project"]["requires-python"] == f">={supported[0]}"


@needs_checkout
def test_the_source_archive_has_the_files_that_people_look_for() -> None:
    included = re.findall(r"(?m)^include (.*)$", read("MANIFEST.in"))
    patterns = " ".join(included).split()
    for name in ("CITATION.cff", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md", "LICENSE"):
        assert (ROOT / name).is_file()
        assert any(fnmatch(name, pattern) for pattern in patterns), name


@needs_checkout
def test_fragments_can_be_put_together() -> None:
    towncrier = ROOT / ".venv" / "bin" / "towncrier"
    if not towncrier.exists():
        pytest.skip("towncrier is not in .venv")
    shown = subprocess.run(
        [towncrier, "build", "--draft"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith(f"## {__version__} (")
