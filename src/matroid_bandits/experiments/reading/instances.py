"""Instances of a study: a matroid, and an environment with its means."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from matroid_bandits import catalog
from matroid_bandits._arguments import real_array
from matroid_bandits._types import FloatArray
from matroid_bandits.environments import ChangingEnvironment, Environment
from matroid_bandits.experiments.changes import ChangeSpec
from matroid_bandits.experiments.reading.changing import (
    change_at,
    check_change,
    rows_of_means,
    settle_at,
)
from matroid_bandits.experiments.reading.classes import class_at, parameters_for
from matroid_bandits.experiments.reading.features import GeneratedFeatures, features_at
from matroid_bandits.experiments.reading.files import Columns, read_csv
from matroid_bandits.experiments.reading.fingerprint import fingerprint, identity_of_class, plain
from matroid_bandits.experiments.reading.kinds import REGRET, KindOfStudy, stopping_at
from matroid_bandits.experiments.reading.late import delay_at, identity_of_delay
from matroid_bandits.experiments.reading.movies import Movies
from matroid_bandits.experiments.reading.sections import Section
from matroid_bandits.experiments.reading.sources import Source, source_at
from matroid_bandits.experiments.study import Instance, same_policy
from matroid_bandits.simulation import LONGEST

__all__ = ["instance_at"]

Sense = Literal["max", "min"]

# Of an instance of any study.
_KEYS = ("name", "matroid", "sense", "environment", "features", "note")
_SENSES: tuple[Sense, ...] = ("max", "min")
_USUAL_MEANS = (0.5, 1.0)


def instance_at(
    top: Section,
    section: Section,
    *,
    seed: int,
    runs: int,
    horizon: int,
    movies: Movies,
    policies: Sequence[str],
    graphs: Path | None = None,
    kind: KindOfStudy = REGRET,
) -> Instance:
    """The instance that `section` describes.

    Parameters
    ----------
    top : Section
        The study, with the environment, sense and delay of all instances.
    section : Section
        The instance.
    seed, runs, horizon : int
        Those of the study; the horizon of a study of identification is the most rounds.
    movies : Movies
        Those of the study.
    policies : sequence of str
        Names of those of the study.
    graphs : Path, optional
        A folder with graph files that are not beside the study.
    kind : KindOfStudy
        That of the study.
    """
    kind.check_instance_keys(section, _KEYS)
    environment = _environment(top, section)
    column = _own_column(environment)
    source = source_at(section, seed=seed, means_column=column, movies=movies, graphs=graphs)
    cls = class_at(environment, catalog.environment_class, catalog.ENVIRONMENTS)
    change = _change(environment, cls, kind)
    if change is not None:
        parameters = dict(change.parameters)
    else:
        parameters = parameters_for(cls, environment, exclude=("type", "means"), given=("means",))
    means: FloatArray | tuple[float, float] | None
    if change is not None and not change.takes_means:
        means = None
    elif source.means is not None and "means" not in section.value("environment", {}):
        # Ratings of movies take precedence over means that the study gives for all instances.
        means = source.means
    else:
        means = _means(environment, source, None if change is None else change.pieces)
    features = features_at(section, source.matroid.size, movies, seed)
    linear = None if features is None else features.means(seed)
    if linear is not None:
        if change is not None:
            raise environment.error("means that come with features do not change", "type")
        if "means" in section.value("environment", {}):
            raise section.error("the means come with the features; leave them out", "environment")
        # Of the first run.
        means = (float(linear.min(initial=0)), float(linear.max(initial=0)))
    sense = _sense(top, section, source)
    delay = delay_at(top, section)
    stopping = None if kind is REGRET else stopping_at(top, section)
    size, rank, content = section.call("matroid", _described, source)
    instance = Instance(
        name=section.name("name", source.text),
        matroid=source.matroid,
        horizon=section.integer(kind.rounds, horizon, minimum=1, maximum=LONGEST),
        environment=partial(cls, **parameters) if change is None else change,
        means=means,
        origin={
            "matroid": source.text,
            "size": size,
            "rank": rank,
            "content": content,
            "environment": {**identity_of_class(cls), "parameters": plain(parameters)},
            **_identity_of_means(means),
            # Left out for rewards that come at once, as in folders from before there were others.
            **({} if sense == "max" else {"sense": sense}),
            **({} if delay is None else {"delay": identity_of_delay(delay)}),
            **({} if stopping is None else asdict(stopping)),
            **({} if features is None else {"features": features.origin()}),
        },
        note=section.text("note"),
        warning=source.warning,
        data=source.data,
        policies=_policies(section, policies, kind),
        sense=sense,
        delay=delay,
        stopping=stopping,
        features=features,
        settle=settle_at(top, section, is_changing=change is not None),
    )
    if change is not None:
        check_change(environment, change, means, size=size, horizon=instance.horizon)
    elif means is not None:
        make = partial(cls, **parameters)
        _check_means(environment, make, means, size)
        if isinstance(features, GeneratedFeatures):
            _check_runs(environment, instance, range(seed, seed + runs))
    return instance


def _check_means(
    environment: Section,
    make: Callable[..., Environment],
    means: FloatArray | tuple[float, float],
    size: int,
) -> None:
    """Refuse means that the environment is not for."""
    # Those of every run lie between these.
    for extreme in means if isinstance(means, tuple) else (means,):
        environment.call(None, make, np.broadcast_to(extreme, size))


def _check_runs(environment: Section, instance: Instance, seeds: range) -> None:
    """Refuse means that come with features, and do not fit the environment in every run."""
    for seed in seeds:
        made = environment.call(None, instance.environment_for, seed)
        if made.reward_range is None:
            # Any means will do.
            return


def _change(environment: Section, cls: type, kind: KindOfStudy) -> ChangeSpec | None:
    """How the means change; None if they do not."""
    if not issubclass(cls, ChangingEnvironment):
        return None
    if kind is not REGRET:
        raise environment.error(
            f"identification is for means that stay as they are, and those of {cls.__name__} "
            "change",
            "type",
        )
    return change_at(environment, cls)


def _identity_of_means(means: FloatArray | tuple[float, float] | None) -> dict[str, Any]:
    if means is None:
        return {}
    return {"means": list(means) if isinstance(means, tuple) else fingerprint(means)}


def _sense(top: Section, section: Section, source: Source) -> Sense:
    """The sense of the instance, else that of the study; a problem has its own."""
    general = top.choice("sense", _SENSES, "max")
    sense = section.choice("sense", _SENSES, general)
    if source.sense is None or source.sense == sense:
        return sense
    if "sense" in section:
        raise section.error(
            f"the problem has the sense {source.sense!r}, got {sense!r}; leave it out", "sense"
        )
    if "sense" in top:
        raise section.error(
            f"the problem has the sense {source.sense!r}, the study {sense!r}; give the instance "
            f"sense = {source.sense!r} if that is meant",
            "matroid",
        )
    return source.sense


def _policies(section: Section, names: Sequence[str], kind: KindOfStudy) -> tuple[str, ...] | None:
    """Which policies of the study run on an instance, in its order; None for all."""
    chosen = section.chosen(kind.players, names, what=kind.player, same=same_policy)
    return None if chosen is None else tuple(name for name in names if name in chosen)


def _described(source: Source) -> tuple[int, int, str]:
    """Size, rank and fingerprint of the matroid."""
    return source.matroid.size, source.matroid.rank, fingerprint(source.matroid)


def _environment(top: Section, section: Section) -> Section:
    """The instance's own environment, completed from the study's if it is of the same type."""
    general = top.section("environment", values=top.value("environment", {})).parameters()
    usual = general.get("type", "gaussian")
    if "environment" not in section:
        return top.section("environment", values={"type": usual, **general})
    own = section.section("environment").parameters()
    if own.get("type", usual) == usual:
        own = {**general, **own}
    return section.section("environment", values={"type": usual, **own})


def _own_column(environment: Section) -> str | None:
    """The column of the matroid's own file that the means are in."""
    means = environment.value("means")
    if not isinstance(means, Mapping) or "csv" in means:
        return None
    return str(means.get("column"))


def _means(
    section: Section, source: Source, pieces: int | None
) -> FloatArray | tuple[float, float]:
    """The means of an environment; in rows if it has pieces."""
    if "means" not in section:
        return _USUAL_MEANS
    value = section.value("means")
    if pieces is not None and not (isinstance(value, Mapping) and "uniform" in value):
        rows = rows_of_means(section, pieces)
        if rows.shape[1] != source.matroid.size:
            raise section.error(
                f"{rows.shape[1]} means in a row for the {source.matroid.size} elements of "
                f"{source.text}",
                "means",
            )
        return rows
    if not isinstance(value, Mapping):
        means: FloatArray = section.call("means", real_array, value, "means")
    else:
        inner = section.section("means")
        inner.check_keys(("uniform", "csv", "column", "rescale"))
        if "uniform" in inner:
            inner.check_keys(("uniform",))
            return inner.bounds("uniform")
        means = _means_from_file(inner, source.columns)
    if len(means) != source.matroid.size:
        raise section.error(
            f"{len(means)} means for the {source.matroid.size} elements of {source.text}", "means"
        )
    return means


def _means_from_file(section: Section, columns: Columns | None) -> FloatArray:
    section.required("column", 'means = { csv = "means.csv", column = "mean" }')
    if "csv" in section:
        columns = section.call("csv", read_csv, section.file("csv"))
    if columns is None:
        raise section.error(
            "the matroid is not from a file with columns; name one: "
            'means = { csv = "means.csv", column = "mean" }',
            "column",
        )
    means: FloatArray = section.call("column", columns.numbers, section.text("column"))
    if "rescale" not in section or not len(means):
        return means
    for_least, for_most = section.bounds("rescale", ascending=False)
    least, most = means.min(), means.max()
    if least == most:
        raise section.error(f"all means are {least:g}: nothing to rescale", "rescale")
    share: FloatArray = (means - least) / (most - least)
    return for_least + share * (for_most - for_least)
