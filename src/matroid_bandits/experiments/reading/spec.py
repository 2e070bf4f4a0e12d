"""Reads a study from a TOML file or a dictionary, and refuses mistakes before anything runs.

docs/reference/study-file.md describes the format.
"""

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from matroid_bandits import catalog
from matroid_bandits._arguments import integer, suggestion
from matroid_bandits._call_text import call_text
from matroid_bandits.experiments.reading.classes import (
    class_at,
    is_own,
    own_class,
    parameters_for,
    with_call_parameters,
)
from matroid_bandits.experiments.reading.figures import figures_at
from matroid_bandits.experiments.reading.fingerprint import identity_of_class, plain
from matroid_bandits.experiments.reading.instances import instance_at
from matroid_bandits.experiments.reading.kinds import IDENTIFICATION, KINDS
from matroid_bandits.experiments.reading.late import one_by_one
from matroid_bandits.experiments.reading.movies import Movies
from matroid_bandits.experiments.reading.rules import rule_at, rule_spec, try_rule
from matroid_bandits.experiments.reading.sections import Document, Section, similar
from matroid_bandits.experiments.reading.sources import MissingFileError
from matroid_bandits.experiments.references import reference_at
from matroid_bandits.experiments.study import (
    MOST_RUNS,
    Instance,
    Kind,
    PolicySpec,
    Reference,
    RuleSpec,
    Study,
    StudyError,
    normalized,
    slug,
)
from matroid_bandits.indices import Index
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem
from matroid_bandits.simulation import LONGEST, refuse_unfit, refuse_without_decisions
from matroid_bandits.specs.policies import features_at

__all__ = ["load_study", "policy_spec", "shipped_study", "try_policy"]

# Of a study of any kind.
_KEYS = ("kind", "title", "runs", "seed", "sense", "environment", "instances", "figures")

# Keys of a policy that are not its parameters.
_NOT_PARAMETERS = ("type", "label")
# Parameters of a policy that come from the run and the instance, if the study does not say.
_FROM_INSTANCE = ("seed", "features")


def load_study(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    only: Sequence[str] = (),
    seed: int | None = None,
    movielens: str | PathLike[str] | None = None,
    graphs: str | PathLike[str] | None = None,
) -> Study:
    """A study from a TOML file, or from a dictionary of the same form.

    Everything is checked and every matroid is built, so a study that loads can be run. A file
    that names code of the user's, such as ``file.py:Class``, executes it.

    Parameters
    ----------
    source : str, path or dict
        A TOML file, in which paths are relative to its folder; or a dictionary, which may also
        hold matroids, problems, policy classes and environment classes themselves.
    only : sequence of str
        Names of the instances to read; the others are not read, and download nothing. By default
        all.
    seed : int, optional
        The seed of the first run and of random matroids; by default that in the study.
    movielens : str or path, optional
        Folder or zip of a MovieLens release for the instances that use it. By default the release
        is taken from the user's cache or downloaded; if neither is possible, an invented
        catalog takes its place, and the instance has a warning. ``synthetic`` means the invented
        catalog.
    graphs : str or path, optional
        Folder of graph files that are not beside the study. An instance whose graph is optional
        is left out if its file is in neither, and the study has a warning.

    Raises
    ------
    StudyError
        A mistake, with its place.

    Examples
    --------
    >>> from matroid_bandits.experiments import load_study
    >>> study = load_study({
    ...     "horizon": 1000, "runs": 3, "policies": ["MAUB", "OMM"], "instances": ["K5", "U(2,4)"],
    ... })
    >>> len(study.tasks())
    12
    """
    if isinstance(source, Mapping):
        top, name = Section(source, Document("study")), "study"
        return _study(
            top, name, only=only, seed=seed, movies=Movies(movielens), graphs=_folder(graphs)
        )
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}{similar(path)}") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not a text in UTF-8: {error}") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not TOML: {error}") from None
    top = Section(values, Document(str(path), text, path.parent))
    return _study(
        top, path.stem, only=only, seed=seed, movies=Movies(movielens), graphs=_folder(graphs)
    )


def shipped_study(name: str) -> Path:
    """The file of a study that comes with the package."""
    return Path(__file__).parents[1] / "studies" / f"{name}.toml"


def policy_spec(text: str, kind: Kind = "regret") -> PolicySpec:
    """The policy of the package called `text`, such as ``MAUB(neighborhood=paper)``.

    For a study of identification, the rule of this name.
    """
    if kind == "identification":
        return rule_spec(text)
    named = catalog.policy(text)
    return _spec(named.cls, dict(named.parameters), named.name)


def try_policy(policy: PolicySpec, instance: Instance, seed: int) -> None:
    """Make the policy once for an instance.

    Raises
    ------
    ValueError
        If it cannot play there. A class of the user's may raise any other exception.
    """
    if isinstance(policy, RuleSpec):
        try_rule(policy, instance, seed)
        return
    made = policy.new_policy(instance.problem, seed, instance.features)
    _check_is_policy(made)
    _check_sense(made, instance)
    refuse_unfit(made, instance.environment_for(seed))
    if instance.delay is not None:
        refuse_without_decisions(made)


def _folder(path: str | PathLike[str] | None) -> Path | None:
    if path is None:
        return None
    if not Path(path).expanduser().is_dir():
        raise StudyError(f"graphs: there is no folder {path}")
    return Path(path).expanduser()


def _study(
    top: Section,
    name: str,
    *,
    only: Sequence[str],
    seed: int | None,
    movies: Movies,
    graphs: Path | None,
) -> Study:
    kind = KINDS[top.choice("kind", tuple(KINDS), "regret")]
    kind.check_keys(top, _KEYS)
    own_seed = top.integer("seed", 0, minimum=0, maximum=LONGEST)
    seed = own_seed if seed is None else integer(seed, "seed", minimum=0, maximum=LONGEST)
    horizon = top.integer(kind.rounds, kind.usual_rounds, minimum=1, maximum=LONGEST)
    runs = top.integer("runs", 20, minimum=1, maximum=MOST_RUNS)
    title = top.name("title", name)
    tables = _tables(top, kind.players, "type", kind.example)
    read_policy = rule_at if kind is IDENTIFICATION else _policy
    policies = [read_policy(table) for table in tables]
    labels = [policy.name for policy in policies]
    _check_distinct(tables, labels, "label")
    sections = [
        one
        for section in _tables(top, "instances", "matroid", '["K20", "U(15,30)"]')
        for one in one_by_one(top, section, _name_of(section))
    ]
    names = [_name_of(section) for section in sections]
    _check_instances(only, names)
    wanted = {normalized(chosen) for chosen in only}
    sections = [
        section
        for section, given in zip(sections, names, strict=True)
        if not only or given is None or normalized(given) in wanted
    ]
    instances: list[Instance] = []
    read: list[Section] = []
    left_out: list[str] = []
    make = partial(
        instance_at,
        top,
        seed=seed,
        runs=runs,
        horizon=horizon,
        movies=movies,
        policies=labels,
        graphs=graphs,
        kind=kind,
    )
    for section in sections:
        try:
            instances.append(make(section))
            read.append(section)
        except MissingFileError as missing:
            left_out.append(f"{_name_of(section) or 'an instance'} is left out: {missing}")
    if left_out and (only or not instances):
        # It was asked for, or there is nothing else.
        raise StudyError(left_out[0])
    _check_distinct(read, [instance.name for instance in instances], "name")
    for i, policy in enumerate(policies):
        mine = [instance for instance in instances if instance.admits(policy.name)]
        if not mine and not only and not left_out:
            raise top.error(f"{policy.name} runs on no instance", kind.players, i)
        for instance in mine:
            try:
                try_policy(policy, instance, seed)
            except Exception as error:
                # A class of the user's may raise anything.
                problem = str(error) if isinstance(error, ValueError) else repr(error)
                raise top.error(f"on {instance.name}: {problem}", kind.players, i) from error
    known = {
        "instance": list(
            dict.fromkeys([*(n for n in names if n), *(instance.name for instance in instances)])
        ),
        "policy": labels,
    }
    reference: Reference | None = None
    if "reference" in top:
        reference = reference_at(top.section("reference"), known)
    return Study(
        name=slug(name),
        title=title,
        instances=tuple(instances),
        policies=tuple(policies),
        runs=runs,
        seed=seed,
        reference=reference,
        figures=figures_at(top, known, kind),
        left_out=tuple(left_out),
        code_folders=tuple(top.code.folders),
        code_texts=top.code.texts(),
        kind=kind.name,
    )


def _tables(top: Section, key: str, short: str, example: str) -> list[Section]:
    """The entries of a list: tables, or just the value of their main key."""
    return [
        top.section(key, i, values=entry if isinstance(entry, Mapping) else {short: entry})
        for i, entry in enumerate(top.list(key, example))
    ]


def _name_of(section: Section) -> str | None:
    """The name of an instance, if it does not depend on its matroid."""
    for value in (section.value("name"), section.value("matroid")):
        if isinstance(value, str):
            return value
    return None


def _check_instances(only: Sequence[str], names: Sequence[str | None]) -> None:
    known = [name for name in names if name is not None]
    for chosen in only:
        if len(known) == len(names) and normalized(chosen) not in map(normalized, known):
            raise StudyError(f"unknown instance {chosen!r}; {suggestion(chosen, known)}")


def _check_distinct(sections: Sequence[Section], names: Sequence[str], how: str) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise sections[i].error(f"{name!r} is there twice; give one of them another {how}")


# ---- policies ----


def _policy(section: Section) -> PolicySpec:
    """A class with its parameters, given in brackets after its name or as keys of their own."""
    section, written = with_call_parameters(section, _NOT_PARAMETERS)
    cls = class_at(section, catalog.policy_class, catalog.POLICIES)
    parameters = parameters_for(
        cls, section, exclude=_NOT_PARAMETERS, given=("matroid", "problem"), optional=_FROM_INSTANCE
    )
    if isinstance(parameters.get("features"), Mapping):
        parameters["features"] = section.call(
            "features", features_at, "features", parameters["features"]
        )
    if "index" in parameters:
        parameters["index"] = _index(section, parameters["index"])
    name: str = getattr(cls, "name", "") or cls.__name__
    ordered = {key: written[key] for key in inspect.signature(cls).parameters if key in written}
    return _spec(cls, parameters, section.name("label", call_text(name, ordered)))


def _index(section: Section, value: Any) -> Any:
    """The index of a policy: one of the user's is made here, by its class and parameters."""
    table = value if isinstance(value, Mapping) else {"type": value}
    if not isinstance(table.get("type"), str) or not is_own(table["type"]):
        # The policy itself reads names, and refuses everything else.
        return value
    inner, _ = with_call_parameters(section.section("index", values=table), ("type",))
    cls = own_class(inner)
    if not issubclass(cls, Index):
        raise inner.error(f"{cls.__name__} is not an index: derive it from Index", "type")
    return inner.call(None, partial(cls, **parameters_for(cls, inner, exclude=("type",))))


def _spec(cls: type, parameters: dict[str, Any], name: str) -> PolicySpec:
    return PolicySpec(
        name=name,
        make=partial(_make, cls, parameters),
        origin={**identity_of_class(cls), "parameters": plain(parameters)},
        takes_seed="seed" not in parameters and catalog.takes_seed(cls),
        takes_features="features" not in parameters and catalog.takes_features(cls),
    )


def _make(cls: type, parameters: Mapping[str, Any], problem: Matroid | Problem, **more: Any) -> Any:
    return cls(problem, **parameters, **more)


def _check_is_policy(made: object) -> None:
    for method in ("select", "update"):
        if not callable(getattr(made, method, None)):
            raise ValueError(
                f"a policy has select and update; {type(made).__name__} has no {method}"
            )


def _check_sense(made: object, instance: Instance) -> None:
    """Refuse a policy that maximizes where means are costs.

    Its regret would be measured against the basis of largest cost.
    """
    own = getattr(made, "problem", None) or getattr(made, "matroid", None)
    if not isinstance(own, (Matroid, Problem)):
        return
    if instance.sense == "min" and Problem.of(own).sense == "max":
        raise ValueError(
            f"means are costs, but {type(made).__name__} has kept the matroid of the problem that "
            "it was given, and so looks for rewards; let it keep the problem"
        )
