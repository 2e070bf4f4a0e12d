"""Delays of feedback in a study: read, compared and shown."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from matroid_bandits._arguments import abbreviated
from matroid_bandits.delays import KINDS, Delay, DrawnOneByOne, as_delay, delay_class
from matroid_bandits.experiments.reading.classes import class_at, is_own, own_object, parameters_for
from matroid_bandits.experiments.reading.fingerprint import fingerprint, identity_of_class
from matroid_bandits.experiments.reading.sections import Section

__all__ = ["delay_at", "delay_text", "identity_of_delay", "one_by_one"]


def one_by_one(top: Section, section: Section, name: str | None) -> list[Section]:
    """The instance, once for each delay if it has a list of them, and then with names of their own.

    Parameters
    ----------
    top, section : Section
        The study and the instance, which may leave the delays to the study.
    name : str, optional
        The name of the instance, if it is known.
    """
    home = section if "delay" in section else top
    if not isinstance(home.value("delay"), (list, tuple)):
        return [section]
    if name is None:
        raise section.error("an instance with several delays needs a name")
    instances = []
    for value in home.list("delay", "[0, 10, 100]"):
        one = section.with_values({**section.parameters(), "delay": value})
        delay = delay_at(top, one)
        text = delay_text(None if delay is None else identity_of_delay(delay))
        values = {**one.parameters(), "name": f"{name}, delay {text}"}
        instances.append(section.with_values(values))
    return instances


def delay_at(top: Section, section: Section) -> Delay | None:
    """The delay of the instance, else that of the study; None if everything comes at once."""
    home = section if "delay" in section else top
    value = home.value("delay")
    if isinstance(value, str) and is_own(value):
        value = own_object(home, "delay", value, kind="function or class", is_kind=callable)
        if isinstance(value, type):
            value = home.call("delay", value)
    elif isinstance(value, Mapping):
        inner = home.section("delay")
        cls = class_at(inner, delay_class, KINDS)
        parameters = parameters_for(cls, inner, exclude=("type",))
        value = inner.call(None, partial(cls, **parameters))
        if not isinstance(value, Delay):
            raise inner.error(f"{cls.__name__} is not a delay: derive it from Delay", "type")
    try:
        return as_delay(value)
    except ValueError:
        raise home.error(
            "must be a number of rounds (at least 0), a list of them, a table such as "
            '{ type = "geometric", mean = 100 }, or a function or class such as "mine.py:at_night"'
            f", got {abbreviated(value)}",
            "delay",
        ) from None


def identity_of_delay(delay: Delay) -> dict[str, Any]:
    """All that the delays of a run depend on, in plain values."""
    for name, cls in KINDS.items():
        if type(delay) is cls:
            return {"type": name, **vars(delay)}
    if isinstance(delay, DrawnOneByOne):
        function = delay.function
        name = getattr(function, "__qualname__", type(function).__name__)
        return {"type": name, "source": fingerprint(function)}
    return {**identity_of_class(type(delay)), "data": fingerprint(delay)}


def delay_text(identity: Mapping[str, Any] | None) -> str:
    """A delay for readers, from what `identity_of_delay` says."""
    if identity is None:
        return "0"
    texts = {"fixed": "{rounds:,}", "geometric": "geometric, mean {mean:,g}"}
    name = str(identity["type"])
    if name in texts and "source" not in identity:
        text = texts[name].format(**identity)
    else:
        # A class or a function of the user's, without its module.
        text = name.rpartition(":")[2]
    return text + (f", {identity['lost']:.3g} lost" if identity.get("lost") else "")
