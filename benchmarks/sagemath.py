"""The package against the same algorithms in plain Python over SageMath's matroids."""

import json
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

import matroid_bandits as mb
from benchmarks.instances import movies_remark, paper_instances
from benchmarks.tables import ROOT, Table, Timing, goal, seconds
from matroid_bandits.experiments import Instance

HORIZON = 100_000
CHECKED = 2_000  # rounds in which every basis is compared
SEED = 0
GOALS = {"K20": 100.0}
GOAL = 50.0

PYTHON = ROOT / ".venv-sage" / "bin" / "python"
PEER = ROOT / "benchmarks" / "sage_peer.py"

# Forms of the peer: its fastest, and one oracle call per test.
FASTEST, AS_PUBLISHED = "", "/each/"


def measure(*, quick: bool = False) -> Table:
    """Both policies on the paper's ten instances, or how to get SageMath."""
    horizon, repeats = (HORIZON // 10, 1) if quick else (HORIZON, 3)
    cases = [Case(i, policy) for i in paper_instances() for policy in ("MAUB", "OMM")]
    missing = not PYTHON.exists()
    return Table(
        name="sagemath",
        question="How much faster than the same algorithms over SageMath?",
        method=(
            f"Runs of {horizon:,} rounds on the paper's instances (transversal too, where the "
            f"paper has ten times as many), seed {SEED}, by the package and by a program in plain "
            "Python over SageMath's matroids, benchmarks/sage_peer.py, made as fast as we could: "
            "cocircuits in place of many questions, NumPy where it helps, private methods that "
            "skip checks. It computes what the algorithms as published compute, when "
            "they do, and remembers no answers between rounds. Both draw the same rewards and "
            "must play the same: regret, counts and counters of every run are compared exactly, "
            f"and so are all bases of the first {CHECKED:,} rounds. Timed are the rounds with "
            "their draws, neither imports nor setting up, in turn; repeats: "
            f"{repeats} for SageMath, {3 * repeats} for the package."
        ),
        columns=[
            *("instance", "policy", "SageMath min", "median", "ours min", "median"),
            *("ratio", "goal", "question by question", "its ratio"),
        ],
        rows=[] if missing else [_row(case, horizon, repeats) for case in cases],
        remarks=[
            "Not measured: there is no SageMath here; `make sage` gets it."
            if missing
            else "The ratio is that of the minima, with SageMath in its fastest form.",
            "Question by question: the same program asking for one set at a time, as published.",
            movies_remark(),
        ],
    )


@dataclass(frozen=True)
class Case:
    """An instance and a policy, for both programs."""

    instance: Instance
    policy: str

    def ours(self, **options: Any) -> mb.Policy:
        """A fresh policy."""
        cls = mb.MAUB if self.policy == "MAUB" else mb.OMM
        return cls(self.instance.matroid, **options)

    def as_counted(self) -> mb.Policy:
        """The one whose counters are those of the paper."""
        return self.ours(neighborhood="paper") if self.policy == "MAUB" else self.ours()

    def peer(self, horizon: int, form: str, *, plays: bool = False) -> dict[str, Any]:
        """The output of the other program for a run."""
        environment = self.instance.environment_for(SEED)
        job = {
            "matroid": _described(self.instance.matroid),
            "means": environment.means.tolist(),
            "std": float(np.unique(getattr(environment, "std")).item()),  # noqa: B009
            "seed": SEED,
            "horizon": horizon,
            "policy": self.policy,
            "form": form,
            "plays": plays,
        }
        process = subprocess.run(
            [str(PYTHON), str(PEER)], input=json.dumps(job), stdout=-1, text=True, check=True
        )
        result: dict[str, Any] = json.loads(process.stdout)
        return result

    def differ(self, what: str) -> RuntimeError:
        """The two programs do not play the same."""
        return RuntimeError(f"{self.policy} on {self.instance.name}: {what} differ from SageMath's")


def _row(case: Case, horizon: int, repeats: int) -> list[str]:
    environment = case.instance.environment_for(SEED)
    counted = case.as_counted()
    expected = mb.simulate(counted, environment, horizon, seed=SEED)
    forms = [FASTEST]
    if AS_PUBLISHED not in _compare_bases(case, FASTEST):
        _compare_bases(case, AS_PUBLISHED)
        forms.append(AS_PUBLISHED)
    times: dict[str, list[float]] = {"ours": [], **{form: [] for form in forms}}
    for _ in range(repeats):
        for form in forms:
            said = case.peer(horizon, form)
            times[form].append(said["seconds"])
            if said["regret"] != expected.total_regret:
                raise case.differ("regrets")
            if said["counts"] != counted.counts.tolist():
                raise case.differ("counts")
            if any(said[name] != value for name, value in expected.counters.items()):
                raise case.differ("counters")
        for _ in range(3):
            policy = case.ours()
            result = mb.simulate(policy, environment, horizon, seed=SEED)
            times["ours"].append(result.seconds)
            if result.regret.tobytes() != expected.regret.tobytes():
                raise case.differ("regrets of the default")
    ours, fastest, published = (Timing.of(times[k]) for k in ("ours", FASTEST, forms[-1]))
    ratio = fastest.least / ours.least
    return [
        case.instance.name,
        case.policy,
        *(seconds(t) for t in (fastest.least, fastest.median, ours.least, ours.median)),
        f"{ratio:.0f}",
        goal(ratio, ">=", GOALS.get(case.instance.name, GOAL)),
        seconds(published.least),
        f"{published.least / ours.least:.0f}",
    ]


def _compare_bases(case: Case, form: str) -> str:
    """Round by round, by a hash; returns the form in full."""
    policy, rewards = case.ours(), case.instance.environment_for(SEED).rewards(SEED)
    plays = sha256()
    for _ in range(CHECKED):
        basis = policy.select()
        plays.update(basis.astype("<i8").tobytes())
        policy.update(basis, rewards.draw(basis))
    said = case.peer(CHECKED, form, plays=True)
    if said["plays"] != plays.hexdigest():
        raise case.differ("bases")
    return str(said["form"])


def _described(matroid: mb.Matroid) -> dict[str, Any]:
    """For the other program."""
    match matroid:
        case mb.UniformMatroid():
            return {"type": "uniform", "rank": matroid.rank, "size": matroid.size}
        case mb.GraphicMatroid():
            return {"type": "graphic", "edges": matroid.edges}
        case mb.TransversalMatroid():
            return {"type": "transversal", "neighbors": matroid.neighbors}
        case mb.LinearMatroid():
            return {"type": "linear", "vectors": _vectors(matroid).tolist()}
        case _:
            raise NotImplementedError(f"nothing known about {matroid!r} here")


def _vectors(matroid: mb.LinearMatroid) -> npt.NDArray[np.int64]:
    """The genres: 0 and 1, whatever they are reduced by, in the columns our matroid has kept."""
    ends = matroid._starts[0]
    vectors = np.zeros((matroid.size, matroid._width), dtype=np.int64)
    elements = np.repeat(np.arange(matroid.size), np.diff(ends))
    vectors[elements, matroid._columns[: ends[-1]]] = matroid._values[: ends[-1]]
    return vectors
