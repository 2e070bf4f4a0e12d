"""Problems from plain data."""

from typing import Any

from matroid_bandits._arguments import abbreviated
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem
from matroid_bandits.specs.matroids import matroid_at
from matroid_bandits.specs.table import Table, at

__all__ = ["problem_at", "problem_from_spec"]

_KEYS = ("matroid", "labels", "sense")
_EXAMPLE = "{'matroid': 'K5', 'sense': 'max'}"


def problem_from_spec(spec: Any, matroid: Matroid | None = None) -> Problem[Any, Any]:
    """The problem that plain data describe.

    Parameters
    ----------
    spec : dict
        What ``problem.to_spec()`` returns: ``matroid``, as :func:`matroid_from_spec` takes it;
        ``labels``, if there are any, where a list means a tuple; ``sense``, by default "max".
    matroid : Matroid, optional
        The matroid itself, if it is written in Python.

    Raises
    ------
    ValueError
        If anything is wrong with the specification. The message names the place.

    Examples
    --------
    >>> import json
    >>> import matroid_bandits as mb
    >>> links = [("Oslo", "Rome"), ("Rome", "Cork"), ("Cork", "Oslo")]
    >>> network = mb.Problem(mb.GraphicMatroid(links), labels=links, sense="min")
    >>> text = json.dumps(network.to_spec())
    >>> mb.problem_from_spec(json.loads(text)) == network
    True
    """
    return problem_at("problem", spec, matroid)


def problem_at(place: str, spec: Any, matroid: Matroid | None = None) -> Problem[Any, Any]:
    """The problem that `spec`, found at a place, describes."""
    table = Table(spec, place, _EXAMPLE)
    table.check_keys(_KEYS)
    found = matroid_at(table.at("matroid"), table.required("matroid", _EXAMPLE), matroid)
    labels = table.values.get("labels")
    if labels is not None and not isinstance(labels, (list, tuple)):
        raise at(table.at("labels"), f"must be a list of labels, got {abbreviated(labels)}")
    sense = table.values.get("sense", "max")
    names = None if labels is None else table.tuples("labels")
    return table.call(lambda: Problem(found, names, sense=sense))
