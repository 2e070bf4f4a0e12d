"""Indices by name, as study files, the command line and the arguments of policies give them."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from matroid_bandits import indices
from matroid_bandits._arguments import check_known, choice
from matroid_bandits._call_text import parse_call
from matroid_bandits.indices import Index

__all__ = ["INDICES", "chosen_index", "index_class"]

#: Index classes by name.
INDICES: dict[str, type[Index]] = {
    getattr(indices, name).name: getattr(indices, name)
    for name in indices.__all__
    if name != "Index"
}
_CLASS_NAMES = {cls.__name__: name for name, cls in INDICES.items()}


def chosen_index(index: Index | str | Mapping[str, Any], noise: float | None = None) -> Index:
    """The index that a policy's arguments mean.

    Parameters
    ----------
    index : Index, str or dict
        An index; its name, alone or with parameters, as in ``"kl(c=0)"``; or a dictionary with its
        name as ``type`` and its parameters.
    noise : float, optional
        The noise level, for an index that has one and is given by name.
    """
    if isinstance(index, type) and issubclass(index, Index):
        raise TypeError(
            f"index must be an index, got the class {index.__name__}; pass {index.__name__}()"
        )
    if isinstance(index, Index):
        if noise is not None:
            raise ValueError(f"noise={noise:g} belongs into the index: {type(index).__name__}(...)")
        return index
    if isinstance(index, str):
        name, parameters = parse_call(index)
    else:
        parameters = dict(index) if isinstance(index, Mapping) else {"type": index}
        name = parameters.pop("type", None)
    cls = index_class(name)
    if noise is not None:
        parameters["noise"] = noise
    check_known(f"the index {name}", parameters, signature(cls).parameters)
    return cls(**parameters)


def index_class(name: Any) -> type[Index]:
    """The index class called `name`."""
    return INDICES[choice(name, "index", INDICES, aliases=_CLASS_NAMES)]
