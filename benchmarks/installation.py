"""Installation: what the wheel and each extra bring, and how long it takes to the first run."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.tables import ROOT, Table, Timing, seconds

PURPOSES = {
    "": "the package alone",
    "plots": "figures",
    "experiments": "studies, reports, the progress bar",
    "cluster": "studies on Dask",
    "graphs": "NetworkX graphs and graph files",
    "frames": "data frames of pandas, polars and pyarrow",
    "sparse": "SciPy sparse matrices",
    "gymnasium": "environments of Gymnasium",
    "service": "matroid-bandits serve",
    "postgres": "the service with PostgreSQL",
}
PROGRAMS = {
    "python": "pass",
    "import numpy": "import numpy",
    "import matroid_bandits": "import matroid_bandits",
    "a first run": (
        "import matroid_bandits as mb; m = mb.catalog.matroid('K10'); "
        "mb.simulate(mb.MAUB(m), mb.GaussianEnvironment([0.5] * m.size), 1000, seed=0)"
    ),
}


def measure(*, quick: bool = False) -> Table:
    """Install the wheel of ``dist/`` into empty environments, with each extra."""
    wheel = _wheel()
    repeats = 3 if quick else 10
    extras = ("", "plots") if quick else tuple(PURPOSES)
    rows = []
    with TemporaryDirectory() as folder:
        for extra in extras:
            python = _environment(Path(folder) / (extra or "alone"))
            begun = perf_counter()
            _install(python, f"{wheel}[{extra}]" if extra else str(wheel))
            taken = perf_counter() - begun
            packages, size = _content(python)
            rows.append([extra or "(none)", PURPOSES[extra], str(packages), size, seconds(taken)])
            if not extra:
                timings = _start_times(python, repeats)
    times = ", ".join(f"{name} {seconds(t.least)}" for name, t in timings.items())
    return Table(
        name="installation",
        question="How large is an installation, and how long does it take?",
        method=(
            "The wheel made by `make wheel`, installed by pip into an empty environment for each "
            "extra. Packages and size are all that is in the environment then: dependencies of "
            "dependencies and compiled bytecode too, pip itself not. The time of pip depends on "
            "the network, or on what pip has in its cache."
        ),
        columns=["extra", "for", "packages", "size", "pip install"],
        rows=rows,
        remarks=[
            f"The wheel, {_tag(wheel)}: {_megabytes(wheel.stat().st_size)}.",
            f"A new process with the package alone, minimum of {repeats}: {times}.",
            f"The first run is `{PROGRAMS['a first run']}`.",
        ],
    )


def _wheel() -> Path:
    """The wheel for the Python that runs this."""
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    wheels = sorted((ROOT / "dist").glob(f"matroid_bandits-*-{tag}-{tag}-*.whl"))
    if not wheels:
        raise SystemExit(f"no wheel for {tag} in dist/: run make wheel")
    return max(wheels, key=lambda path: path.stat().st_mtime)


def _tag(wheel: Path) -> str:
    return "-".join(wheel.stem.split("-")[2:])


def _environment(folder: Path) -> Path:
    """The Python of a new environment without pip."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def _install(python: Path, requirement: str) -> None:
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options, requirement],
        check=True,
    )


def _content(python: Path) -> tuple[int, str]:
    """How many packages an environment has, and their size."""
    folders = list(python.parents[1].glob("lib/python*/site-packages"))
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    packages = [path for folder in folders for path in folder.glob("*.dist-info")]
    return len(packages), _megabytes(sum(path.stat().st_size for path in files))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size < 1e8 else f"{size / 1e6:.0f} MB"


def _start_times(python: Path, repeats: int) -> dict[str, Timing]:
    """New processes, in turn; the first of each is not counted: it fills the cache of files."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(repeats + 1):
        for name, program in PROGRAMS.items():
            begun = perf_counter()
            subprocess.run([str(python), "-c", program], check=True)
            times[name].append(perf_counter() - begun)
    return {name: Timing.of(own[1:]) for name, own in times.items()}
