"""What users write must type-check; this file is checked by mypy and never run."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

import matroid_bandits as mb
from matroid_bandits import experiments
from matroid_bandits.datasets import MovieCatalog, synthetic_catalog


class Mine(mb.Matroid):
    def __init__(self) -> None:
        super().__init__(size=3)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len(elements) <= 2


class Best(mb.Policy):
    def _select(self) -> npt.NDArray[np.intp]:
        return self.greedy_basis(np.nan_to_num(self.mean_rewards, nan=1.0))


class Noise(mb.Environment):
    def _sample(self, rng: np.random.Generator, element: int, count: int) -> npt.ArrayLike:
        return rng.random(count)


class Hopeful(mb.Index):
    def values(
        self, means: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], time: int
    ) -> npt.NDArray[np.float64]:
        return means + 1 / counts


class Plain:
    def select(self) -> list[int]:
        return [0, 1]

    def update(self, elements: Iterable[int], rewards: Iterable[float]) -> None:
        return None


policy: mb.Policy = mb.MAUB(mb.PartitionMatroid(["a", "b"], {"a": 1, "b": 2}))
basis: npt.NDArray[np.intp] = policy.select()
policy.update([0, 1], [0.5, 1])
leader: npt.NDArray[np.intp] | None = mb.MAUB(mb.GraphicMatroid([("a", "b")])).leader
result: mb.Simulation = mb.simulate(Best(Mine()), Noise([0.5] * 3), 10, checkpoints=[5])
total: float = result.total_regret
mb.simulate(Plain(), mb.BernoulliEnvironment(np.zeros(3)), 10, matroid=Mine())
mb.check_matroid(mb.OracleMatroid(3, lambda s: len(s) < 2))
mb.check_policy(mb.OMM)
mb.LinearMatroid(np.eye(3), field=2)
mb.TransversalMatroid([[1, 2], ["x"], ()])

index: mb.Index = mb.MAUB(Mine(), index=Hopeful(), seed=1).index
bounds: npt.NDArray[np.float64] = mb.KLUCB(c=0).values([0.1, 0.2], [3, 4], time=10)
lowest, highest = mb.OMM(Mine(), index={"type": "kl", "c": 0}).reward_range
others: list[mb.Policy] = [
    mb.MAUB(Mine(), noise=0.2),
    mb.MAUB(Mine(), window=100),
    mb.OMM(Mine(), discount=0.99),
    mb.CTS(Mine(), restart=mb.GLR(scope="element")),
    mb.CUCB(Mine()),
    mb.KLOSM(Mine(), c=0),
    mb.CTS(Mine(), prior="gaussian", noise=0.2, seed=1),
    mb.ESCB(Mine(), method="exact", noise=0.2),
    mb.FasterCUCB(Mine(), eps=0.1),
    mb.OSUB(mb.UniformMatroid(1, 3), graph=[(0, 1), (1, 2)]),
    mb.RandomBasis(Mine(), seed=1),
    mb.FollowTheLeader(Mine()),
    mb.EpsilonGreedy(Mine(), epsilon=0.2),
]

drift: mb.Drift = policy.drift(noise=0.2)
changed: list[Any] = [change.element for change in drift]

hard: mb.Gaps = mb.gaps(Mine(), [0.5, 0.6, 0.7])
smallest: float = float(hard.gaps.min())
bound = mb.regret_lower_bound(Mine(), mb.BernoulliEnvironment([0.5, 0.6, 0.7]), [10, 100])
named: mb.Policy = mb.catalog.policy("MAUB(neighborhood=paper)")(Mine(), seed=1)

study: experiments.Study = experiments.load_study({"policies": [Best], "instances": ["K5"]})
results: experiments.Results = experiments.run_study(study, "folder", jobs=2)
regret: float = float(results.runs["regret"].mean())
report: experiments.Report = experiments.write_report("folder")
panel: Axes = results.plot("K5", measure="oracle_calls")
panel = results.plot(ax=panel)
panels: list[Axes] = results.plot()
panel = result.plot(ax=result.plot(label="MAUB"), measure="oracle_calls", label="OMM")
frames: list[pd.DataFrame] = [
    result.to_frame(),
    results.to_frame(),
    results.to_frame("curves"),
    policy.explain().to_frame(),
    policy.drift(noise=0.2).to_frame(),
    policy.statistics.to_frame(),
    mb.gaps(Mine(), [0.5, 0.6, 0.7]).to_frame(),
    mb.identify(mb.identification.CLUCB(Mine()), Noise([0.5] * 3), noise=0.5).to_frame(),
]
result.plot(panel)  # type: ignore[arg-type, call-arg]
results.to_frame("sessions")  # type: ignore[arg-type]
movies: MovieCatalog = synthetic_catalog().most_rated(10)

problem: mb.Problem[str] = mb.Problem(mb.GraphicMatroid([("a", "b")]), labels=["ab"], sense="min")
learner = mb.MAUB(problem, noise=0.5)
names: list[str] = learner.select(available=["ab"], allow_smaller=True)
learner.update({"ab": 1.5})
learner.update(["ab"], [1.5])
why: str = learner.explain().selected[0].element
best: list[str] = (problem + problem.restrict(["ab"])).best_basis({"ab": 1.0})
made: mb.Matroid = (Mine().dual() + mb.UniformMatroid(1, 2)).truncate(2).contract([0]) | Mine()
n: int = made.n_bases()
all_bases: npt.NDArray[np.intp] = made.bases()
mb.LaminarMatroid({"all": [0, 1], "first": [0]}, {"all": 1, "first": 1}, size=2)
ends = mb.CographicMatroid([("a", "b")]).edges
mb.GammoidMatroid([("a", "b")], targets=["b"])
mb.catalog.matroid("fano")
mb.gaps(problem, {"ab": 1.0})

# What is selected is a list of labels, or an array of numbers; each of these lines must fail.
labeled = mb.Problem(mb.UniformMatroid(1, 2), labels=[1.5, 2.5])
chosen: list[float] = mb.OMM(labeled).select()
led: list[float] | None = mb.MAUB(labeled).leader
named_best: list[float] = labeled.best_basis([0.1, 0.2])
first: float = labeled.name(0)
texts: list[str] = mb.OMM(labeled).select()  # type: ignore[assignment]
array: npt.NDArray[np.intp] = mb.OMM(labeled).select()  # type: ignore[assignment]
numbers: list[int] = mb.OMM(Mine()).select()  # type: ignore[assignment]
not_led: list[str] = mb.MAUB(Mine()).leader  # type: ignore[assignment]
mb.OMM(labeled).decide(context=[1.0])  # type: ignore[arg-type]
wrong_basis: list[str] = labeled.best_basis([0.1, 0.2])  # type: ignore[assignment]
wrong_name: str = labeled.name(0)  # type: ignore[assignment]
unlabeled: list[str] = mb.Problem(Mine()).best_basis([0.1, 0.2, 0.3])  # type: ignore[assignment]
wrong_array: list[str] = Best(Mine()).select()  # type: ignore[assignment]
other_kind: mb.Policy[list[str]] = mb.OMM(labeled)  # type: ignore[arg-type]
mb.MAUB(3)  # type: ignore[arg-type]
mb.MAUB(Mine(), window="10")  # type: ignore[arg-type]
mb.GLR(scope="some")  # type: ignore[arg-type]
mb.MAUB(Mine(), "paper")  # type: ignore[call-arg]
mb.MAUB(Mine(), neighborhood="papr")  # type: ignore[arg-type]
mb.Problem(Mine(), ["a", "b", "c"], "min")  # type: ignore[call-overload]
mb.OMM(Mine()).update(elements=[0], reward=[0.5])  # type: ignore[call-arg]

# Decisions, and what survives.
chances: npt.NDArray[np.float64] | None = mb.CTS(labeled).decide(propensities=100).propensities
mb.CTS(labeled).decide(propensities="many")  # type: ignore[arg-type]
evaluated: mb.Evaluation = mb.evaluate_log({"decision": [1]}, [1.5], estimator="snips", clip=10)
mb.evaluate_log({"decision": [1]}, mb.CTS(labeled), available={1: [1.5]}, learn=False)
mb.evaluate_log({"decision": [1]}, {1.5: 0.5}, estimator="dr")  # type: ignore[arg-type]
value: float = evaluated.value
slate: list[Any] = mb.FitPredict(mb.MAUB(labeled)).fit([1.5], np.array([0.5])).predict()
steps = mb.adapters.to_gymnasium(labeled, Noise([0.5, 0.5]), 10, seed=1)
mask: npt.NDArray[np.int8] = steps.to_action([1.5])
mb.to_gymnasium(labeled, Noise([0.5, 0.5]), 10, 1)  # type: ignore[call-arg]
made_once: mb.Decision[list[float]] = mb.OMM(labeled, pending="count").decide(available=[1.5])
played: list[float] = made_once.elements
offered: list[float] | None = made_once.available
mb.OMM(labeled).learn(made_once, {1.5: 0.3}, final=True)
mb.OMM(labeled).expire([made_once, "request 7", 3], reward=0.0)
waiting: dict[str | int, mb.Decision[list[float]]] = dict(mb.OMM(labeled).open_decisions)
pending: npt.NDArray[np.int64] = mb.OMM(labeled).n_pending
moved: mb.OMM[list[float]] = mb.OMM(labeled).moved_to(labeled, prior={2.5: (0.5, 3)})
mb.OMM(labeled).observe(moved.statistics - moved.statistics)
forked: mb.OMM[list[float]] = moved.fork(3)
forked.save("folder/policy")
loaded: mb.Policy[Any] = mb.load("folder/policy", classes=[Best])
mb.simulate(forked, mb.BernoulliEnvironment([0.1, 0.2]), 100, delay=mb.GeometricDelay(10))
wrong_elements: list[str] = made_once.elements  # type: ignore[assignment]
mb.OMM(labeled, pending="yes")  # type: ignore[arg-type]
mb.OMM(labeled).learn(made_once, {1.5: 0.3}, True)  # type: ignore[call-arg]

# Results that people annotate with, and copies.
explained: mb.Explanation = mb.OMM(labeled).explain()
again: mb.OMM[list[float]] = mb.clone(mb.OMM(labeled))
arguments: dict[str, object] = again.get_params()
seen_noise: float | None = mb.MAUB(Mine()).noise

features: mb.LinearFeatures = mb.LinearFeatures(
    np.eye(3), noise=0.2, prior=2.0, names=["a", "b", "c"]
)
linear: mb.CombLinUCB[npt.NDArray[np.intp]] = mb.CombLinUCB(Mine(), features=features, c=0.5)
by_features: npt.NDArray[np.intp] = linear.select(features=np.eye(3))
linear.learn(linear.decide(features={0: [1.0, 0.0, 0.0]}), [0.5, 0.5])
theta: npt.NDArray[np.float64] = linear.theta
mb.CombLinTS(Mine(), features=features, seed=1).moved_to(
    mb.Problem(Mine(), labels=["a", "b", "c"]), features={"a": [1.0, 0.0, 0.0]}
)
phi: npt.NDArray[np.float64] = mb.random_features(3, 2, seed=0, kind="sphere")
linear_environment = mb.GaussianEnvironment(mb.linear_means(phi, [0.1, 0.2], off=0.1))
mb.CombLinUCB(Mine())  # type: ignore[call-arg]
mb.CombLinUCB(Mine(), features=np.eye(3))  # type: ignore[arg-type]
mb.random_features(3, 2, seed=0, kind="words")  # type: ignore[arg-type]
# Means that change.


class Rising(mb.ChangingEnvironment):
    def _means_at(self, round: int) -> list[float]:  # noqa: A002
        return [1 - 1 / round, 0.5]


rising = Rising(2, kind="bernoulli")
rows: npt.NDArray[np.float64] = rising.means_at([1, 2, 3])
paid: npt.NDArray[np.float64] = rising.rewards(seed=1).draw([0], round=7)
mb.PiecewiseEnvironment(mb.random_means(3, 0, pieces=2), [5001], std=0.1)
mb.DriftingEnvironment([0.5, 0.6], step=0.01, low=0.2, high=0.8, seed=3)
mb.SeasonalEnvironment([0.5, 0.6], amplitude=[0.1, 0.2], period=365)
mb.FunctionEnvironment(lambda t, elements: elements * t, 3)
mb.DriftingEnvironment([0.5, 0.6])  # type: ignore[call-arg]
mb.PiecewiseEnvironment([[0.5]], [], kind="poisson")  # type: ignore[arg-type]
