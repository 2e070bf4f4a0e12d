"""The reference of the Python API: a page for every public name, written before every build.

Public is what a package lists in `__all__`. A page of a class describes its own members and those
that it has from classes which are not public; members of a public base class are listed, with links
to the page of that class.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

from repository import write

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = Path(__file__).parents[1] / "reference" / "api"
PACKAGE = "matroid_bandits"
# Packages in the order in which people meet them, with titles.
GROUPS = {
    "problem": "Problems",
    "matroids": "Matroids",
    "policies": "Policies",
    "indices": "Indices",
    "features": "Features",
    "restarts": "Restarts",
    "environments": "Environments",
    "delays": "Delays",
    "simulation": "Simulation",
    "lower_bound": "Lower bounds on the regret",
    "identification": "Identification of the best basis",
    "evaluation": "Evaluation from logs",
    "adapters": "Other libraries",
    "specs": "From plain data and files",
    "catalog": "By name",
    "checks": "Checks",
    "datasets": "Data sets",
    "experiments": "Studies",
    "service": "The service",
    "client": "The client of the service",
    "errors": "Errors",
}
KINDS = {
    "class": "Classes",
    "function": "Functions",
    "exception": "Exceptions",
    "data": "Constants",
}


class Name(NamedTuple):
    """A public name."""

    module: str
    full: str
    value: Any

    @property
    def short(self) -> str:
        return self.full.rpartition(".")[2]

    @property
    def kind(self) -> str:
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, BaseException) else "class"
        return "function" if callable(self.value) else "data"

    @property
    def page(self) -> str:
        """The name of the file; one that holds where `Gaps` and `gaps` would be the same file."""
        return self.full + ("-function" if self.full.endswith(".gaps") else "")


@cache
def names() -> list[Name]:
    """All public names, each once, by the shortest name under which it can be imported."""
    top = import_module(PACKAGE)
    found: dict[str, Name] = {}
    for group in GROUPS:
        module = import_module(f"{PACKAGE}.{group}")
        for name in module.__all__:
            value = getattr(module, name)
            at_top = name in top.__all__ or name == "Client"
            full = f"{PACKAGE}.{name}" if at_top else f"{PACKAGE}.{group}.{name}"
            found.setdefault(full, Name(group, full, value))
    missing = {f"{PACKAGE}.{name}" for name in top.__all__} - set(found)
    missing -= {f"{PACKAGE}.{name}" for name in ("__version__", "catalog", "identification")}
    if missing:
        raise ValueError(f"no package in docs/_ext/api_pages.py has the public names {missing}")
    return list(found.values())


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def class_page(name: Name, public: dict[type, str]) -> str:
    """Own members in full, members of public base classes as a list."""
    own: list[str] = []
    inherited: dict[type, list[str]] = {}
    for member in sorted(dir(name.value)):
        definer = next((c for c in name.value.__mro__ if member in vars(c)), None)
        if member.startswith("_") or definer is None or not _is_ours(definer):
            continue
        if not _is_described(vars(definer)[member]):
            continue
        where = owner(name.value, member, public)
        if where is name.value:
            own.append(member)
        else:
            inherited.setdefault(where, []).append(member)
    text = f".. auto{name.kind}:: {name.full}\n   :show-inheritance:\n"
    if own:
        text += f"   :members: {', '.join(own)}\n"
    for base, members in inherited.items():
        links = ", ".join(f":obj:`~{public[base]}.{member}`" for member in members)
        text += f"\n.. rubric:: From {public[base].rpartition('.')[2]}\n\n{links}\n"
    return text


def owner(cls: type, member: str, public: dict[type, str]) -> type:
    """The public class on whose page a member is described.

    An override without words of its own is described where it comes from.
    """
    value = vars(cls).get(member)
    if getattr(getattr(value, "__func__", value), "__doc__", None):
        return cls
    base = next((c for c in cls.__mro__[1:] if c in public and hasattr(c, member)), None)
    return cls if base is None else owner(base, member, public)


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == PACKAGE


def _is_described(value: Any) -> bool:
    kinds = (classmethod, staticmethod, property, cached_property)
    return inspect.isfunction(value) or isinstance(value, kinds)


def write_pages() -> None:
    """Write all pages, and remove those of names that are gone."""
    everything = names()
    public = {name.value: name.full for name in everything if inspect.isclass(name.value)}
    written = {"index"}
    index = title("Python API")
    index += "Every public name of the package. Most are in ``matroid_bandits`` itself,\n"
    index += "``import matroid_bandits as mb``; the others are in the package that is named.\n\n"
    for name in everything:
        text = title(name.short)
        if name.kind in {"class", "exception"}:
            text += class_page(name, public)
        elif name.kind == "function":
            text += f".. autofunction:: {name.full}\n"
        else:
            text += f".. autodata:: {name.full}\n   :no-value:\n"
        text += f"\n----\n\n:doc:`All of {GROUPS[name.module].lower()} <{name.module}>`\n"
        write(FOLDER / f"{name.page}.rst", text)
        written.add(name.page)
    for group, heading in GROUPS.items():
        inside = [name for name in everything if name.module == group]
        module = import_module(f"{PACKAGE}.{group}")
        text = title(heading)
        text += f"``{PACKAGE}.{group}``: {_first_sentence(module.__doc__)}\n\n"
        for kind, plural in KINDS.items():
            members = [name for name in inside if name.kind == kind]
            if members:
                text += f".. rubric:: {plural}\n\n" if len(members) < len(inside) else ""
                text += f".. currentmodule:: {PACKAGE}\n\n.. autosummary::\n   :nosignatures:\n\n"
                lines = [f"   {name.full.removeprefix(PACKAGE + '.')}\n" for name in members]
                text += "".join([*lines, "\n"])
        text += ".. toctree::\n   :hidden:\n\n"
        text += "".join(f"   {name.page}\n" for name in inside)
        write(FOLDER / f"{group}.rst", text)
        written.add(group)
        index += f":doc:`{heading} <{group}>`\n"
        index += f"   {', '.join(f':obj:`~{name.full}`' for name in inside)}\n\n"
    index += ".. toctree::\n   :hidden:\n\n" + "".join(f"   {group}\n" for group in GROUPS)
    write(FOLDER / "index.rst", index)
    for page in FOLDER.glob("*.rst"):
        if page.stem not in written:
            page.unlink()


def _first_sentence(text: str | None) -> str:
    first = (text or "").strip().split("\n\n")[0].replace("\n", " ")
    return re.sub(r"\s+", " ", first)


def public_bases(_app: Sphinx, _name: str, value: type, _options: Any, bases: list[Any]) -> None:
    """Show the nearest public base class, not the classes between."""
    public = {name.value for name in names() if inspect.isclass(name.value)}
    ours = next((base for base in value.__mro__[1:] if base in public), None)
    others = [b for b in value.__bases__ if not _is_ours(b) and b not in {ABC, Generic, Protocol}]
    bases[:] = ([ours] if ours else []) + others or [object]


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for pages."""
    app.connect("autodoc-process-bases", public_bases)
    app.connect("config-inited", lambda _app, _config: write_pages())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
