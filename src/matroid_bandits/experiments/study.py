"""A study: instances, policies and seeds; each combination of the three is one task."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer, suggestion
from matroid_bandits._call_text import parse_call
from matroid_bandits._types import CountArray
from matroid_bandits.delays import Delay
from matroid_bandits.environments import Environment, random_means
from matroid_bandits.experiments.changes import ChangeSpec, checkpoints_with, rounds_of
from matroid_bandits.features import LinearFeatures
from matroid_bandits.identification import SamplingRule, identification_lower_bound
from matroid_bandits.lower_bound import regret_lower_bound
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem
from matroid_bandits.simulation import COUNTERS, LONGEST, SupportsSelectUpdate

__all__ = [
    "MEASURES",
    "MOST_RUNS",
    "FigureSpec",
    "Instance",
    "Kind",
    "ModuleText",
    "PolicySpec",
    "Reference",
    "RuleSpec",
    "Stopping",
    "Study",
    "StudyError",
    "Task",
    "counted",
]

#: What a study is about: the regret of policies, or the rounds until rules know the best basis.
Kind = Literal["regret", "identification"]

#: What a run measures besides the regret, and a published table may have.
MEASURES = ("seconds", *COUNTERS)

#: More runs than this are taken for a mistake.
MOST_RUNS = 1_000_000

# A quick study has so many runs at most, and so much shorter ones.
_QUICK_RUNS = 3
_QUICK_SHARE = 10

# The duality gap of lower bounds on the rounds: a smaller one may take seconds for a run.
_BOUND_TOLERANCE = 0.01


class StudyError(ValueError):
    """A study that cannot be run as it is written."""


class ModuleText(NamedTuple):
    """A module of the user as it is sent to workers."""

    path: str
    text: bytes
    is_package: bool


class Task(NamedTuple):
    """One run: names of its instance and its policy, and its seed."""

    instance: str
    policy: str
    seed: int

    def __str__(self) -> str:
        return f"{self.instance} {self.policy} seed {self.seed}"


@dataclass(frozen=True)
class Stopping:
    """When a run of identification ends.

    Attributes
    ----------
    delta : float
        The probability of a wrong answer that is accepted.
    threshold : {"proven", "customary"}
        What the statistic is compared with, as for :func:`~matroid_bandits.identify`.
    """

    delta: float
    threshold: Literal["proven", "customary"]


class FeatureModel(Protocol):
    """Features of the elements of an instance, and means that go with them."""

    def features(self, seed: int) -> LinearFeatures:
        """The features of run number `seed`."""

    def means(self, seed: int) -> npt.NDArray[np.float64] | None:
        """The means of run number `seed`; None if the environment of the instance has them."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A matroid and its environment.

    Attributes
    ----------
    name : str
        Name in tables, figures and results.
    matroid : Matroid
        What may be played.
    horizon : int
        Number of rounds; in a study of identification, the most rounds.
    environment : callable or ChangeSpec
        Makes the environment from the means, or says how they change.
    means : numpy.ndarray, pair of float or None
        The means, the same in all runs; or the bounds between which each run draws its own; None
        for an environment that knows its means.
    origin : dict
        All that the numbers of a run depend on, except the horizon, in plain values: instances
        with equal origins give the same results.
    note : str
        A remark for readers of the report.
    warning : str
        A warning for readers of the report.
    data : str
        Name of a data set that was taken instead of the usual one.
    policies : tuple of str, optional
        Names of those policies of the study that run here; by default all.
    sense : {"max", "min"}
        Whether the means are rewards, to be large, or costs, to be small.
    delay : Delay, optional
        How late feedback comes; by default at once.
    stopping : Stopping, optional
        When a run of identification ends; None in a study of regret.
    features : FeatureModel, optional
        Features of the elements, for policies that learn from them, and means that go with them.
    settle : int, optional
        So many rounds after a change a policy should have settled; None where means do not change.
    """

    name: str
    matroid: Matroid
    horizon: int
    environment: Callable[[npt.NDArray[np.float64]], Environment] | ChangeSpec
    means: npt.NDArray[np.float64] | tuple[float, float] | None
    origin: Mapping[str, Any] = field(repr=False)
    note: str = ""
    warning: str = ""
    data: str = ""
    policies: tuple[str, ...] | None = None
    sense: Literal["max", "min"] = "max"
    delay: Delay | None = None
    stopping: Stopping | None = None
    features: FeatureModel | None = None
    settle: int | None = None

    def __repr__(self) -> str:
        return f"Instance({self.name!r}, {type(self.matroid).__name__}, horizon={self.horizon})"

    @property
    def problem(self) -> Matroid | Problem[Any, Any]:
        """What policies are made for: the matroid, or, where means are costs, a problem."""
        return self.matroid if self.sense == "max" else Problem(self.matroid, sense=self.sense)

    def environment_for(self, seed: int) -> Environment:
        """The environment of run number `seed`."""
        linear = None if self.features is None else self.features.means(seed)
        means = self.means if linear is None else linear
        size, change = self.matroid.size, self.environment
        if isinstance(change, ChangeSpec):
            if isinstance(means, tuple):
                low, high = means
                means = random_means(size, seed, low=low, high=high, pieces=change.pieces)
            return change.environment(means, size=size, horizon=self.horizon, seed=seed)
        if isinstance(means, tuple):
            low, high = means
            means = random_means(size, seed, low=low, high=high)
        if means is None:
            raise ValueError(f"{self.name} has no means")
        return change(means)

    @property
    def changes(self) -> list[int]:
        """The rounds in which the means change abruptly."""
        if not isinstance(self.environment, ChangeSpec):
            return []
        return rounds_of(self.environment.parameters.get("changes", ()), self.horizon)

    def checkpoints(self) -> CountArray | None:
        """The rounds at which the regret is noted; None for the usual ones."""
        if self.settle is None:
            return None
        return checkpoints_with(self.changes, self.horizon, self.settle)

    def lower_bound(self, seed: int) -> float:
        """The lower bound on the regret of run number `seed`; NaN if there is none."""
        if self.features is not None:
            # It is for elements that have nothing in common.
            return float("nan")
        try:
            return float(regret_lower_bound(self.problem, self.environment_for(seed), self.horizon))
        except (NotImplementedError, ValueError):
            # The environment has no divergence, or the matroid violates the axioms; the run counts
            # all the same.
            return float("nan")

    def rounds_lower_bound(self, seed: int, model: Literal["basis", "element"]) -> float:
        """The lower bound on the rounds of run number `seed` of identification.

        Infinite if two bases are best, NaN if there is no bound.
        """
        if self.stopping is None:
            raise ValueError(f"{self.name} is not an instance of identification")
        try:
            bound = identification_lower_bound(
                self.problem,
                self.environment_for(seed),
                self.stopping.delta,
                model=model,
                tolerance=_BOUND_TOLERANCE,
            )
        except (NotImplementedError, ValueError):
            return float("nan")
        return float(bound.rounds)

    def admits(self, policy: str) -> bool:
        """Whether the policy called `policy` runs here."""
        return self.policies is None or policy in self.policies


@dataclass(frozen=True, eq=False)
class PolicySpec:
    """A policy with its parameters.

    Attributes
    ----------
    name : str
        Name in tables, figures and results.
    make : callable
        Makes a new policy for a matroid or a problem.
    origin : dict
        Class, parameters and, for a class of the user's, the fingerprint of its code.
    takes_seed : bool
        Whether `make` takes the seed of the run as well: the policy draws random numbers.
    takes_features : bool
        Whether `make` takes the features of the instance as well.
    """

    name: str
    make: Callable[..., SupportsSelectUpdate]
    origin: Mapping[str, Any] = field(repr=False)
    takes_seed: bool = False
    takes_features: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def new_policy(
        self, problem: Matroid | Problem, seed: int, features: FeatureModel | None = None
    ) -> SupportsSelectUpdate:
        """A new policy for run number `seed`, on an instance with these features."""
        more: dict[str, Any] = {"seed": seed} if self.takes_seed else {}
        if self.takes_features:
            if features is None:
                raise ValueError(
                    f"{self.name} needs features: give the instance some, such as "
                    'features = { generate = "topics", n_features = 20 }'
                )
            more["features"] = features.features(seed)
        return self.make(problem, **more)


@dataclass(frozen=True, eq=False)
class RuleSpec(PolicySpec):
    """A sampling rule with its parameters; it has the place of a policy in a study.

    Attributes
    ----------
    threshold : str, optional
        The rule's own threshold; by default that of the instance.
    """

    threshold: Literal["proven", "customary", "own"] | None = None

    # A dataclass would make another one.
    __repr__ = PolicySpec.__repr__

    def new_rule(self, problem: Matroid | Problem, seed: int) -> SamplingRule:
        """A new rule for run number `seed`."""
        made: Any = self.new_policy(problem, seed)
        if not isinstance(made, SamplingRule):
            raise TypeError(
                f"{type(made).__name__} is not a sampling rule: derive it from SamplingRule"
            )
        return made

    def threshold_for(
        self, rule: SamplingRule, stopping: Stopping
    ) -> Literal["proven", "customary", "own"] | None:
        """The threshold of a run; None for a rule that only stops by itself."""
        if self.threshold is not None:
            return self.threshold
        return None if rule.only_stops_itself else stopping.threshold


@dataclass(frozen=True)
class FigureSpec:
    """A page of a report's figures: some policies on some instances.

    Attributes
    ----------
    name : str
        Heading of the page, and part of the names of its files.
    policies : tuple of str
        Names of policies of the study, in the order of their colors.
    instances : tuple of str, optional
        Names of instances of the study; by default all on which one of the policies runs.
    """

    name: str
    policies: tuple[str, ...]
    instances: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Reference:
    """Published figures, which a report compares with its own.

    Attributes
    ----------
    source : str
        Where they were published.
    machine : str
        What their times were measured on.
    within : dict of str to float
        Measure to the factor up to which a mean counts as agreeing.
    rows : tuple of dict
        One per instance and policy: their names, ``horizon``, and those of `MEASURES` that were
        published.
    """

    source: str
    machine: str
    within: Mapping[str, float]
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Study:
    """Instances, policies and seeds.

    Made by :func:`~matroid_bandits.experiments.load_study` from a file or a dictionary.

    Attributes
    ----------
    name : str
        Short, fit for a folder's name.
    title : str
        Heading of the report.
    instances : tuple of Instance
    policies : tuple of PolicySpec
    runs : int
        Runs of every policy on every instance.
    seed : int
        Seed of the first run; run number i has ``seed + i``.
    reference : Reference, optional
        Published figures to compare with.
    figures : tuple of FigureSpec
        Pages of the report's figures; by default one page of everything.
    left_out : tuple of str
        Which instances were left out because a file of theirs is not there, and why.
    code_folders : tuple of str
        Folders of the files of code that the study names, from which they may import.
    code_texts : dict of str to ModuleText
        The modules that these files import from there, for workers that do not have them.
    kind : {"regret", "identification"}
        What it is about. In a study of identification, rules have the place of policies, and the
        horizon of an instance is the most rounds of a run.
    """

    name: str
    title: str
    instances: tuple[Instance, ...]
    policies: tuple[PolicySpec, ...]
    runs: int
    seed: int
    reference: Reference | None = None
    figures: tuple[FigureSpec, ...] = ()
    left_out: tuple[str, ...] = ()
    code_folders: tuple[str, ...] = ()
    code_texts: Mapping[str, ModuleText] = field(default_factory=dict, repr=False, compare=False)
    kind: Kind = "regret"

    def __repr__(self) -> str:
        player = "policies" if self.kind == "regret" else "rules"
        return (
            f"Study({self.name!r}, {counted(len(self.instances), 'instances')}, "
            f"{counted(len(self.policies), player)}, {counted(self.runs, 'runs')} each)"
        )

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.seed, self.seed + self.runs)

    def tasks(self) -> list[Task]:
        """All runs, by seed, so that an interrupted study has about as many of each kind."""
        return [
            Task(instance.name, policy.name, seed)
            for seed in self.seeds
            for instance in self.instances
            for policy in self.policies
            if instance.admits(policy.name)
        ]

    def instance(self, name: str) -> Instance:
        """The instance called `name`; failing that, in any case and with blanks."""
        for same in (str, normalized):
            for instance in self.instances:
                if same(instance.name) == same(name):
                    return instance
        names = [instance.name for instance in self.instances]
        raise StudyError(f"unknown instance {name!r}; {suggestion(name, names)}")

    def identity(self) -> dict[str, Any]:
        """All that the results depend on, in plain values: equal for equal studies only."""
        return {
            # Left out for the regret, as in folders from before there was anything else.
            **({} if self.kind == "regret" else {"kind": self.kind}),
            "seed": self.seed,
            "runs": self.runs,
            "policies": {policy.name: dict(policy.origin) for policy in self.policies},
            "instances": {
                instance.name: {
                    "horizon": instance.horizon,
                    **instance.origin,
                    # Left out where means stay, as in folders from before they could change.
                    **({} if instance.settle is None else {"settle": instance.settle}),
                    **({} if instance.policies is None else {"policies": list(instance.policies)}),
                }
                for instance in self.instances
            },
        }

    def part(
        self,
        *,
        only: Sequence[str] = (),
        policies: Sequence[PolicySpec] = (),
        runs: int | None = None,
        horizon: int | None = None,
        quick: bool = False,
    ) -> "Study":
        """The same study with some things chosen anew.

        Parameters
        ----------
        only : sequence of str
            Names of instances, in any order; by default all.
        policies : sequence of PolicySpec
            By default those of the study. One that is not among them runs on every instance.
        runs, horizon : int, optional
            The horizon is that of every instance.
        quick : bool, default False
            At most three runs and a tenth of the rounds, where `runs` and `horizon` do not say; a
            tenth of the rounds to settle after a change. A run of identification that is not
            settled by then ends without an answer.
        """
        chosen = [self.instance(name) for name in only]
        instances, running = self._running(chosen, policies)
        if quick:
            runs = min(_QUICK_RUNS, self.runs) if runs is None else runs
            instances = tuple(
                replace(
                    i,
                    horizon=max(1, i.horizon // _QUICK_SHARE),
                    settle=None if i.settle is None else max(1, i.settle // _QUICK_SHARE),
                )
                for i in instances
            )
        if horizon is not None:
            horizon = integer(horizon, "horizon", minimum=1, maximum=LONGEST)
            instances = tuple(replace(i, horizon=horizon) for i in instances)
        return replace(
            self,
            instances=instances,
            policies=running,
            left_out=() if only else self.left_out,
            runs=self.runs if runs is None else integer(runs, "runs", minimum=1, maximum=MOST_RUNS),
        )

    def _running(
        self, chosen: Sequence[Instance], policies: Sequence[PolicySpec]
    ) -> tuple[tuple[Instance, ...], tuple[PolicySpec, ...]]:
        """The instances and policies that run; one that was chosen but cannot run is refused."""
        wanted = [i for i in self.instances if not chosen or i in chosen]
        pairs = [
            (instance, policy)
            for instance in wanted
            for policy in policies or self.policies
            # A policy that is not in the study runs on every instance.
            if policy not in self.policies or instance.admits(policy.name)
        ]
        for names, there, others in (
            (policies, [policy for _, policy in pairs], wanted),
            (chosen, [instance for instance, _ in pairs], policies or self.policies),
        ):
            for idle in (thing for thing in names if thing not in there):
                raise StudyError(
                    f"{idle.name} has nothing to run with among "
                    f"{', '.join(other.name for other in others)}: see "
                    f"`{'policies' if self.kind == 'regret' else 'rules'}` of the instances"
                )
        instances = []
        for instance in dict.fromkeys(instance for instance, _ in pairs):
            mine = tuple(policy.name for i, policy in pairs if i is instance)
            instances.append(
                replace(instance, policies=None if instance.policies is None else mine)
            )
        running = {policy for _, policy in pairs}
        return tuple(instances), tuple(p for p in policies or self.policies if p in running)

    def warnings(self) -> list[str]:
        """What a reader of the results must not overlook."""
        warnings = [f"{i.name}: {i.warning}" for i in self.instances if i.warning]
        return [*warnings, *self.left_out]


def counted(count: int, things: str) -> str:
    """A number of things: 1 run, 2 runs, 1 policy."""
    one = f"{things[:-3]}y" if things.endswith("ies") else things[:-1]
    return f"{count:,} {one if count == 1 else things}"


def slug(text: str) -> str:
    """`text` as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "study"


def same_policy(name: str, wanted: str) -> bool:
    """Whether `wanted` means `name`: in any case, with blanks, parameters in any order."""
    if normalized(name) == normalized(wanted):
        return True
    try:
        name, parameters = parse_call(name)
        other, others = parse_call(wanted)
    except ValueError:
        # A label of any other form.
        return False
    return normalized(name) == normalized(other) and parameters == others


def normalized(name: str) -> str:
    """A name in small letters without blanks: ``u(7,10)`` for ``U(7, 10)``."""
    return name.lower().replace(" ", "")
