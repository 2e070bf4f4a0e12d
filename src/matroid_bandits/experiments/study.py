"""What a study is: instances, policies and seeds, each combination of the three one task."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import integer, nearest
from matroid_bandits.environments import Environment, random_means
from matroid_bandits.matroids import Matroid
from matroid_bandits.simulation import COUNTERS, LONGEST, SupportsSelectUpdate

__all__ = [
    "MEASURES",
    "MOST_RUNS",
    "Instance",
    "PolicySpec",
    "Reference",
    "Study",
    "StudyError",
    "Task",
]

#: What a run measures and a published table may give, beside the regret.
MEASURES = ("seconds", *COUNTERS)

#: More runs than this are a slip of the finger.
MOST_RUNS = 1_000_000

# A quick study has so many runs at most, and so much shorter ones.
_QUICK_RUNS = 3
_QUICK_SHARE = 10


class StudyError(ValueError):
    """A study that cannot be run as it is written."""


class Task(NamedTuple):
    """One run: names of its instance and its policy, and its seed."""

    instance: str
    policy: str
    seed: int

    def __str__(self) -> str:
        return f"{self.instance} {self.policy} seed {self.seed}"


@dataclass(frozen=True, eq=False)
class Instance:
    """A matroid and who answers.

    Attributes
    ----------
    name : str
        Name in tables, figures and results.
    matroid : Matroid
        What may be played.
    horizon : int
        Number of rounds.
    environment : callable
        Makes the environment from the means.
    means : numpy.ndarray, or pair of float
        The means, the same in all runs; or the bounds between which each run draws its own.
    origin : dict
        Whatever the numbers of a run depend on, beside the horizon, in plain values: two instances
        of one origin give the same results.
    note : str
        What a reader of the report should know.
    warning : str
        What a reader must not overlook.
    data : str
        Name of a data set that was taken instead of the usual one.
    """

    name: str
    matroid: Matroid
    horizon: int
    environment: Callable[[npt.NDArray[np.float64]], Environment]
    means: npt.NDArray[np.float64] | tuple[float, float]
    origin: Mapping[str, Any] = field(repr=False)
    note: str = ""
    warning: str = ""
    data: str = ""

    def answering(self, seed: int) -> Environment:
        """The environment of run number `seed`."""
        if isinstance(self.means, tuple):
            low, high = self.means
            return self.environment(random_means(self.matroid.size, seed, low=low, high=high))
        return self.environment(self.means)


@dataclass(frozen=True, eq=False)
class PolicySpec:
    """A policy with its parameters.

    Attributes
    ----------
    name : str
        Name in tables, figures and results.
    make : callable
        Makes a fresh policy for a matroid.
    origin : dict
        Class, parameters and, for a file of the user's own, its checksum, in plain values.
    """

    name: str
    make: Callable[[Matroid], SupportsSelectUpdate]
    origin: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Reference:
    """Published figures that a report shows beside its own.

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
    """

    name: str
    title: str
    instances: tuple[Instance, ...]
    policies: tuple[PolicySpec, ...]
    runs: int
    seed: int
    reference: Reference | None = None

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.seed, self.seed + self.runs)

    def tasks(self) -> list[Task]:
        """All runs, seed by seed: what an interrupted study has is then as even as can be."""
        return [
            Task(instance.name, policy.name, seed)
            for seed in self.seeds
            for instance in self.instances
            for policy in self.policies
        ]

    def instance(self, name: str) -> Instance:
        """The instance called `name`, as it is written or in any case and with blanks."""
        for same in (str, loosely):
            for instance in self.instances:
                if same(instance.name) == same(name):
                    return instance
        names = [instance.name for instance in self.instances]
        raise StudyError(f"unknown instance {name!r}; {nearest(name, names)}")

    def identity(self) -> dict[str, Any]:
        """All that the results depend on, in plain values: equal for equal studies only."""
        return {
            "seed": self.seed,
            "runs": self.runs,
            "policies": {policy.name: dict(policy.origin) for policy in self.policies},
            "instances": {
                instance.name: {"horizon": instance.horizon, **instance.origin}
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
            By default those of the study.
        runs, horizon : int, optional
            The horizon is that of every instance.
        quick : bool, default False
            At most three runs and a tenth of the rounds, where `runs` and `horizon` do not say.
        """
        chosen = [self.instance(name) for name in only] or self.instances
        instances = tuple(i for i in self.instances if i in chosen)
        if quick:
            runs = min(_QUICK_RUNS, self.runs) if runs is None else runs
            instances = tuple(
                replace(i, horizon=max(1, i.horizon // _QUICK_SHARE)) for i in instances
            )
        if horizon is not None:
            horizon = integer(horizon, "horizon", least=1, most=LONGEST)
            instances = tuple(replace(i, horizon=horizon) for i in instances)
        return replace(
            self,
            instances=instances,
            policies=tuple(policies) or self.policies,
            runs=self.runs if runs is None else integer(runs, "runs", least=1, most=MOST_RUNS),
        )

    def warnings(self) -> list[str]:
        """What a reader of the results must not overlook."""
        return [f"{i.name}: {i.warning}" for i in self.instances if i.warning]


def slug(text: str) -> str:
    """`text` as part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "study"


def loosely(name: str) -> str:
    """A name in any case, with or without blanks: ``u(7, 10)`` for ``U(7,10)``."""
    return name.lower().replace(" ", "")
