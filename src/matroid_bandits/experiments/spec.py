"""Reads a study from a TOML file or a dictionary, and refuses mistakes before anything runs.

docs/studies.md describes the format.
"""

import importlib
import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from matroid_bandits import catalog
from matroid_bandits._arguments import nearest, real_array, shown
from matroid_bandits.experiments import fingerprint
from matroid_bandits.experiments.files import (
    PARAMETERS,
    Columns,
    matroid_parameter,
    read_csv,
    read_graph,
)
from matroid_bandits.experiments.movies import USUAL, choose_movies
from matroid_bandits.experiments.sections import Document, Section
from matroid_bandits.experiments.study import (
    MEASURES,
    Instance,
    PolicySpec,
    Reference,
    Study,
    StudyError,
    slug,
)
from matroid_bandits.matroids import Matroid
from matroid_bandits.simulation import LONGEST

__all__ = ["load_study", "policy_spec", "shipped_study"]

_STUDY = ("title", "horizon", "runs", "seed", "policies", "environment", "instances", "reference")
_INSTANCE = ("name", "matroid", "environment", "horizon", "note")
_MEANS = ("uniform", "csv", "column", "rescale")


def load_study(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    movielens: str | PathLike[str] | None = None,
) -> Study:
    """A study from a TOML file, or from a dictionary of the same form.

    Everything is checked and every matroid built: what loads can be run.

    Parameters
    ----------
    source : str, path or dict
        A TOML file, whose relative paths are seen from its folder; or a dictionary, which may
        also hold matroids, policy classes and environment classes themselves.
    movielens : str or path, optional
        Folder or zip of a MovieLens release for the instances that use it. Without, it is taken
        from the user's cache, else downloaded, else replaced by an invented catalogue, with a
        warning in the instance. The word ``synthetic`` takes the invented catalogue at once.

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
        return _Reader(Path(), Document("study"), movielens).study(source, "study")
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}{_similar(path)}") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not a text in UTF-8: {error}") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{path} is not TOML: {error}") from None
    return _Reader(path.parent, Document(str(path), text), movielens).study(values, path.stem)


def shipped_study(name: str) -> Path:
    """The file of a study that comes with the package."""
    return Path(__file__).parent / "studies" / f"{name}.toml"


def policy_spec(name: str) -> PolicySpec:
    """The policy called `name`, with its default parameters."""
    reader = _Reader(Path(), Document(""), None)
    return reader.policy(Section({"type": catalog.policy_class(name).name}, Document("")))


@dataclass(frozen=True)
class _Built:
    """A matroid, and what came with it."""

    matroid: Matroid
    text: str
    columns: Columns | None = None
    means: npt.NDArray[np.float64] | None = None
    warning: str = ""
    data: str = ""


@dataclass(frozen=True)
class _Reader:
    """Reads one study; relative paths are seen from `folder`."""

    folder: Path
    document: Document
    movielens: str | PathLike[str] | None

    def study(self, values: Mapping[str, Any], name: str) -> Study:
        top = Section(values, self.document)
        top.only(_STUDY)
        seed = top.integer("seed", 0, least=0, most=LONGEST)
        horizon = top.integer("horizon", 100_000, least=1, most=LONGEST)
        runs = top.integer("runs", 20, least=1, most=LONGEST)
        title = top.text("title", name)
        policies = [
            self.policy(_table(top, "policies", i, entry, "type"))
            for i, entry in enumerate(top.list("policies", '["MAUB", "OMM"]'))
        ]
        _refuse_doubles(top, "policies", [policy.name for policy in policies], "label")
        instances = [
            self._instance(
                top, _table(top, "instances", i, entry, "matroid"), seed=seed, horizon=horizon
            )
            for i, entry in enumerate(top.list("instances", '["K20", "U(15,30)"]'))
        ]
        _refuse_doubles(top, "instances", [instance.name for instance in instances], "name")
        study = Study(
            name=slug(name),
            title=title,
            instances=tuple(instances),
            policies=tuple(policies),
            runs=runs,
            seed=seed,
            reference=self._reference(top) if "reference" in top else None,
        )
        for i, policy in enumerate(policies):
            for instance in instances:
                try:
                    policy.make(instance.matroid)
                except (ValueError, TypeError) as error:
                    raise top.error(f"on {instance.name}: {error}", "policies", i) from error
        return study

    # ---- policies ----

    def policy(self, section: Section) -> PolicySpec:
        cls = self._class(section, catalog.policy_class, catalog.POLICIES)
        parameters = section.parameters(beside=("type", "label"))
        _check_parameters(section, cls, parameters, beside=("type", "label"), given=("matroid",))
        name: str = getattr(cls, "name", "") or cls.__name__
        return PolicySpec(
            name=section.text("label", name),
            make=partial(_make, cls, parameters),
            origin={**_class_origin(cls), **parameters},
        )

    def _class(
        self, section: Section, by_name: Callable[[str], type], known: Mapping[str, type]
    ) -> type:
        """A class by its name, or as ``package.module:Class`` or ``file.py:Class``."""
        value = section.required("type", f'type = "{next(iter(known))}"')
        if isinstance(value, type):
            return value
        if not isinstance(value, str):
            raise section.error(f"must be a name, got {shown(value)}", "type")
        if ":" not in value:
            try:
                return by_name(value)
            except ValueError as error:
                raise section.error(str(error), "type") from None
        home, _, name = value.rpartition(":")
        try:
            module = self._module(section, home) if home.endswith(".py") else _imported(home)
        except StudyError:
            raise
        except Exception as error:
            # Whatever a user's module raises.
            problem = f"{type(error).__name__}: {error}"
            raise section.error(f"{home} cannot be imported: {problem}", "type") from error
        found = getattr(module, name, None)
        if not isinstance(found, type):
            classes = [n for n, member in vars(module).items() if isinstance(member, type)]
            raise section.error(f"{home} has no class {name!r}; {nearest(name, classes)}", "type")
        return found

    def _module(self, section: Section, file: str) -> ModuleType:
        path = self._file(section, "type", file)
        name = f"matroid_bandits_study_{slug(path.stem)}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise section.error(f"{path} is not a Python file", "type")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        # Worker processes get its classes by value: they have no such module.
        _by_value(module)
        return module

    # ---- instances ----

    def _instance(self, top: Section, section: Section, *, seed: int, horizon: int) -> Instance:
        section.only(_INSTANCE)
        answering = self._environment(top, section)
        built = self._matroid(section, answering, seed)
        name = section.text("name", built.text)
        beside = ("type", "means")
        cls = self._class(answering, catalog.environment_class, catalog.ENVIRONMENTS)
        parameters = answering.parameters(beside=beside)
        _check_parameters(answering, cls, parameters, beside=beside, given=("means",))
        own = section.value("environment", {})
        if built.means is not None and "means" not in own:
            # Ratings of movies go before means that the study gives for all.
            means: npt.NDArray[np.float64] | tuple[float, float] = built.means
        else:
            means = self._means(answering, built)
        instance = Instance(
            name=name,
            matroid=built.matroid,
            horizon=section.integer("horizon", horizon, least=1, most=LONGEST),
            environment=partial(cls, **parameters),
            means=means,
            origin={
                "matroid": built.text,
                "size": built.matroid.size,
                "rank": built.matroid.rank,
                "bases": fingerprint.of_matroid(built.matroid),
                "environment": {**_class_origin(cls), **parameters},
                "means": list(means) if isinstance(means, tuple) else fingerprint.of_array(means),
            },
            note=section.text("note"),
            warning=built.warning,
            data=built.data,
        )
        try:
            instance.answering(seed)
        except (ValueError, TypeError) as error:
            raise answering.error(str(error)) from error
        return instance

    def _environment(self, top: Section, section: Section) -> Section:
        """The instance's own; what it leaves out is the study's, if of the same type."""
        general = top.value("environment", {})
        shared = top.section("environment", values=general)
        if "environment" not in section:
            return top.section("environment", values={"type": "gaussian", **general})
        own = section.section("environment").parameters()
        if own.get("type", shared.value("type", "gaussian")) == shared.value("type", "gaussian"):
            own = {**general, **own}
        return section.section("environment", values={"type": "gaussian", **own})

    def _means(
        self, section: Section, built: _Built
    ) -> npt.NDArray[np.float64] | tuple[float, float]:
        if "means" not in section:
            return (0.5, 1.0)
        value = section.value("means")
        try:
            if not isinstance(value, Mapping):
                means = real_array(value, "means")
            else:
                inner = section.section("means")
                inner.only(_MEANS)
                if "uniform" in inner:
                    return _bounds(inner, "uniform")
                means = self._means_from_file(inner, built.columns)
        except StudyError:
            raise
        except ValueError as error:
            raise section.error(str(error), "means") from None
        if len(means) != built.matroid.size:
            raise section.error(
                f"{len(means)} means for the {built.matroid.size} elements of {built.text}", "means"
            )
        return means

    def _means_from_file(
        self, section: Section, columns: Columns | None
    ) -> npt.NDArray[np.float64]:
        section.required("column", 'means = { csv = "means.csv", column = "mean" }')
        if "csv" in section:
            columns = _at(section, "csv", read_csv, self._file(section, "csv"))
        if columns is None:
            raise section.error(
                "the matroid is not from a file with columns; name one: "
                'means = { csv = "means.csv", column = "mean" }',
                "column",
            )
        means: npt.NDArray[np.float64] = _at(
            section, "column", columns.numbers, section.text("column")
        )
        if "rescale" not in section:
            return means
        to_low, to_high = _bounds(section, "rescale", ascending=False)
        low, high = means.min(), means.max()
        if low == high:
            raise section.error(f"all means are {low:g}: nothing to rescale", "rescale")
        rescaled: npt.NDArray[np.float64] = to_low + (means - low) / (high - low) * (
            to_high - to_low
        )
        return rescaled

    def _matroid(self, section: Section, environment: Section, seed: int) -> _Built:
        value = section.required("matroid", 'matroid = "K20"')
        if isinstance(value, Matroid):
            return _Built(value, repr(value))
        if isinstance(value, str):
            matroid = _at(section, "matroid", catalog.matroid, value, seed)
            return _Built(matroid, value.replace(" ", ""))
        inner = section.section("matroid")
        if "graph" in inner:
            return self._graph(inner)
        if "movielens" in inner:
            return self._movies(inner)
        return self._family(inner, environment)

    def _graph(self, section: Section) -> _Built:
        section.only(("graph", "format"))
        path = self._file(section, "graph")
        edges, columns = _at(section, "graph", read_graph, path, section.text("format") or None)
        return _Built(catalog.MATROIDS["graphic"](edges), path.stem, columns)

    def _movies(self, section: Section) -> _Built:
        section.only(("movielens", "choose", "path"))
        path = self._file(section, "path") if "path" in section else self.movielens
        movies, warning = _at(
            section,
            "movielens",
            choose_movies,
            section.integer("movielens", 100, least=1),
            section.text("choose", "most-rated"),
            path,
        )
        text = f"{len(movies)} {section.text('choose', 'most-rated')} movies of {movies.name}"
        other = "" if movies.name == USUAL else movies.name
        return _Built(movies.matroid, text, means=movies.means, warning=warning, data=other)

    def _family(self, section: Section, environment: Section) -> _Built:
        """A matroid by its class and the parameters of that."""
        families = ", ".join(catalog.MATROIDS)
        family = section.required("type", f'type = "uniform" (or {families}), graph, movielens')
        if not isinstance(family, str) or family.lower() not in catalog.MATROIDS:
            hint = nearest(str(family), [*catalog.MATROIDS])
            raise section.error(f"unknown matroid {shown(family)}; {hint}", "type")
        cls = catalog.MATROIDS[family.lower()]
        parameters = section.parameters(beside=("type",))
        _check_parameters(section, cls, parameters, beside=("type",))
        columns = None
        for key in PARAMETERS.keys() & parameters.keys():
            if isinstance(parameters[key], (str, Mapping)):
                parameters[key], columns = self._parameter(section, key, environment)
        matroid = _at(section, None, partial(cls, **parameters))
        return _Built(matroid, f"{family.lower()}({matroid.size})", columns)

    def _parameter(self, section: Section, key: str, environment: Section) -> tuple[Any, Columns]:
        value = section.value(key)
        inner = section.section(key, values={"csv": value} if isinstance(value, str) else value)
        inner.only(("csv", "columns"))
        inner.required("csv", f'{key} = "{key}.csv"')
        data = _at(inner, "csv", read_csv, self._file(inner, "csv"))
        chosen = inner.list("columns", '["a", "b"]') if "columns" in inner else None
        means = environment.value("means")
        elsewhere = not isinstance(means, Mapping) or "csv" in means
        other = () if elsewhere else (str(means.get("column")),)
        read = partial(matroid_parameter, key, data, chosen, other_than=other)
        return _at(section, key, read), data

    # ---- figures to compare with ----

    def _reference(self, top: Section) -> Reference:
        section = top.section("reference")
        section.only(("source", "machine", "figures", "within"))
        data = read_csv(self._file(section, "figures"))
        names = ("instance", "policy", "horizon", *MEASURES)
        for column in data.columns:
            if column not in names:
                hint = nearest(column, names)
                raise section.error(f"{data.path}: unknown column {column!r}; {hint}", "figures")
        within = section.section("within", values=section.value("within", {}))
        within.only(MEASURES)
        numbers = {key: float(value) for key, value in within.parameters().items()}
        rows: list[dict[str, Any]] = []
        for i in range(len(data.lines)):
            row: dict[str, Any] = {key: data.column(key)[i] for key in ("instance", "policy")}
            row["horizon"] = int(data.column("horizon")[i])
            for measure in MEASURES:
                entry = data.columns.get(measure, [""] * len(data.lines))[i]
                if entry != "":
                    row[measure] = float(entry)
            rows.append(row)
        return Reference(
            source=section.text("source"),
            machine=section.text("machine"),
            within=numbers,
            rows=tuple(rows),
        )

    # ---- files ----

    def _file(self, section: Section, key: str, name: str | None = None) -> Path:
        """A file named in the study."""
        given = section.text(key) if name is None else name
        path = self.folder / Path(given).expanduser()
        if not path.exists():
            raise section.error(f"there is no file {path}{_similar(path)}", key)
        return path


# ---- small things ----


def _table(top: Section, key: str, i: int, entry: Any, short: str) -> Section:
    """An entry of a list: a table, or just the value of its main key."""
    values = entry if isinstance(entry, Mapping) else {short: entry}
    return top.section(key, i, values=values)


def _make(cls: type, parameters: Mapping[str, Any], matroid: Matroid) -> Any:
    return cls(matroid, **parameters)


def _at(section: Section, key: str | None, call: Callable[..., Any], *arguments: Any) -> Any:
    """The call's result; its complaints, with the place in the study."""
    try:
        return call(*arguments)
    except (ValueError, TypeError, OSError) as error:
        raise section.error(str(error), *([key] if key else [])) from error


def _check_parameters(
    section: Section,
    cls: type,
    parameters: Mapping[str, Any],
    *,
    beside: tuple[str, ...],
    given: tuple[str, ...] = (),
) -> None:
    """Refuse keys that the class does not take, and ask for those it needs."""
    accepted = {
        name: parameter
        for name, parameter in inspect.signature(cls).parameters.items()
        if name not in given
    }
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values()):
        section.only([*beside, *accepted])
    for name, parameter in accepted.items():
        optional = parameter.default is not inspect.Parameter.empty
        variadic = parameter.kind in {
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        }
        if not optional and not variadic and name not in parameters:
            needed = ", ".join(accepted)
            raise section.error(f"{name} is missing; {cls.__name__} takes {needed}")


def _class_origin(cls: type) -> dict[str, Any]:
    """What identifies a class; for those of the user's, their text too."""
    if cls.__module__.startswith("matroid_bandits."):
        return {"type": cls.__name__}
    return {"type": f"{cls.__module__}:{cls.__qualname__}", "source": fingerprint.of_code(cls)}


def _refuse_doubles(top: Section, key: str, names: list[str], how: str) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise top.error(f"{name!r} is there twice; give one of them another {how}", key, i)


def _bounds(section: Section, key: str, *, ascending: bool = True) -> tuple[float, float]:
    value = section.value(key)
    try:
        low, high = real_array(value, key).tolist()
    except ValueError:
        raise section.error(f"must be two numbers, such as [0.5, 1.0], got {value}", key) from None
    if not np.isfinite([low, high]).all() or (ascending and low > high):
        raise section.error(f"must be from low to high, got {value}", key)
    return low, high


def _imported(name: str) -> ModuleType:
    return importlib.import_module(name)


def _by_value(module: ModuleType) -> None:
    # Comes with loky, which starts the workers.
    import cloudpickle  # noqa: PLC0415

    cloudpickle.register_pickle_by_value(module)


def _similar(path: Path) -> str:
    """A hint for a path that is not there."""
    if not path.parent.is_dir():
        return f": there is no folder {path.parent}"
    hint = nearest(path.name, sorted(p.name for p in path.parent.iterdir())).partition("?")[0]
    return f"; {hint}?" if hint.startswith("did you mean") else ""
