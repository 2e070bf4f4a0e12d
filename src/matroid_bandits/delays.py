"""How late feedback comes in a simulation, and how much of it never comes.

A delay of d rounds: what was played in round t is learned before the decision of round t + 1 + d. A
delay of 0 is the usual loop. Feedback that is lost has a delay too: when it is over, nobody waits
for it any longer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import (
    abbreviated,
    check_known,
    choice,
    integer,
    not_whole,
    number_from,
    real,
)
from matroid_bandits._call_text import parse_call
from matroid_bandits._streams import DELAYS, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from matroid_bandits._types import CountArray, FloatArray

__all__ = ["Delay", "FixedDelay", "GeometricDelay"]

# Longer than any run. Delays that are longer are cut to this.
_LONGEST = 2**53

# Delays drawn at a time, where one by one would give the same.
_BLOCK = 4096


class Delay(ABC):
    """Delays of feedback, each drawn on its own.

    To write your own, implement `draw`. A function of a random generator that returns one delay
    will do too: ``simulate(..., delay=lambda rng: rng.integers(10, 500))``.
    """

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> CountArray:
        """The delays of the n elements of one decision, lowest element first.

        Parameters
        ----------
        rng : numpy.random.Generator
            The stream of delays of the run.
        n : int
            Number of elements.

        Returns
        -------
        numpy.ndarray of int64
            Numbers of rounds. A negative number ``-1 - d`` means that the feedback is lost, and
            that the element counts as pending for d rounds; -1 is lost at once.
        """


@dataclass(frozen=True)
class FixedDelay(Delay):
    """The same delay for everything.

    Parameters
    ----------
    rounds : int
        The delay, at least 0.
    lost : float, default 0.0
        The share of feedback that never comes, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> mb.FixedDelay(10).draw(np.random.default_rng(0), 3)
    array([10, 10, 10])
    """

    rounds: int
    lost: float = 0.0

    def __init__(self, rounds: int, *, lost: float = 0.0) -> None:
        checked = integer(rounds, "rounds", minimum=0, maximum=_LONGEST)
        object.__setattr__(self, "rounds", checked)
        object.__setattr__(self, "lost", real(lost, "lost", minimum=0, maximum=1))

    def draw(self, rng: np.random.Generator, n: int) -> CountArray:
        n = integer(n, "n", minimum=0)
        delays = np.full(n, self.rounds, dtype=np.int64)
        if self.lost:
            delays = np.where(rng.random(n) < self.lost, -1 - delays, delays)
        return delays


@dataclass(frozen=True)
class GeometricDelay(Delay):
    """Geometric delays 0, 1, 2, ...: whatever is late comes with the same chance in every round.

    Parameters
    ----------
    mean : float
        The mean delay, at least 0.
    lost : float, default 0.0
        The share of feedback that never comes, from 0 to 1.

    Notes
    -----
    One random number u from [0, 1) gives both: it is lost if u < `lost`. The place v of u in
    [0, `lost`) or in [`lost`, 1), from 0 to 1, gives the delay ``floor(ln(1 - v) / ln(1 - p))``
    with ``p = 1 / (1 + mean)``.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> delays = mb.GeometricDelay(mean=100, lost=0.05).draw(np.random.default_rng(0), 100_000)
    >>> round(float(np.mean(delays < 0)), 2), round(float(np.mean(delays[delays >= 0])))
    (0.05, 100)
    """

    mean: float
    lost: float = 0.0

    def __init__(self, mean: float, *, lost: float = 0.0) -> None:
        object.__setattr__(self, "mean", real(mean, "mean", minimum=0, maximum=_LONGEST))
        object.__setattr__(self, "lost", real(lost, "lost", minimum=0, maximum=1))

    def draw(self, rng: np.random.Generator, n: int) -> CountArray:
        uniform: FloatArray = rng.random(integer(n, "n", minimum=0))
        is_lost = uniform < self.lost
        place = uniform
        if self.lost:
            low = np.where(is_lost, 0.0, self.lost)
            width = np.where(is_lost, self.lost, 1 - self.lost)
            # Rounding must not reach 1.
            place = np.minimum((uniform - low) / width, np.nextafter(1.0, 0.0))
        if self.mean == 0:
            delays = np.zeros(len(uniform), dtype=np.int64)
        else:
            # ln(1 - p) of p = 1 / (1 + mean), exact for large means too.
            delays = np.floor(np.log1p(-place) / -np.log1p(1 / self.mean)).astype(np.int64)
        return np.where(is_lost, -1 - delays, delays)


#: Delays by name, in studies and on the command line.
KINDS: dict[str, type[Delay]] = {"fixed": FixedDelay, "geometric": GeometricDelay}


def delay_class(name: str) -> type[Delay]:
    """The class of a name."""
    return KINDS[choice(name, "delay", KINDS)]


def delay_from_text(text: str) -> Delay:
    """A delay such as ``100`` or ``geometric(mean=100, lost=0.05)``."""
    try:
        number = number_from(text.strip(), float)
    except ValueError:
        name, parameters = parse_call(text)
    else:
        return FixedDelay(number)  # type: ignore[arg-type]
    cls = delay_class(name)
    check_known(cls.__name__, parameters, signature(cls).parameters)
    try:
        return cls(**parameters)
    except TypeError:
        raise ValueError(
            f"{abbreviated(text)} is not complete: write it like geometric(mean=100, lost=0.05)"
        ) from None


@dataclass(frozen=True)
class DrawnOneByOne(Delay):
    """Delays from a function of a random generator."""

    function: Callable[[np.random.Generator], int]

    def draw(self, rng: np.random.Generator, n: int) -> CountArray:
        drawn = [integer(self.function(rng), "a delay") for _ in range(n)]
        return _rounds(drawn)


def _rounds(delays: list[Any]) -> CountArray:
    # Whole numbers of Python may be larger than those of NumPy, and the sum of a round and a delay
    # must not overflow.
    return np.array([int(min(max(d, -_LONGEST), _LONGEST)) for d in delays], dtype=np.int64)


class DelayStream:
    """The delays of one run, in the order in which they are drawn."""

    def __init__(self, delay: Delay, seed: int) -> None:
        self._delay = delay
        self._rng = stream(DELAYS, seed)
        # Not of a subclass, which may draw in any way.
        self._in_blocks = type(delay) in {FixedDelay, GeometricDelay}
        self._block = np.empty(0, dtype=np.int64)
        self._next = 0

    def take(self, n: int) -> CountArray:
        """The delays of the n elements of the next decision."""
        if not self._in_blocks:
            return self._checked(self._delay.draw(self._rng, n), n)
        if self._next + n > len(self._block):
            left = self._block[self._next :]
            drawn = self._delay.draw(self._rng, max(_BLOCK, n))
            self._block = np.concatenate([left, drawn])
            self._next = 0
        start = self._next
        self._next += n
        return self._block[start : self._next]

    def _checked(self, drawn: Any, n: int) -> CountArray:
        delays = np.asarray(drawn)
        if delays.shape != (n,) or not_whole(delays).size:
            raise ValueError(
                f"{type(self._delay).__name__}.draw must return {n} integers, got "
                f"{abbreviated(drawn)}"
            )
        if delays.dtype.kind == "i":
            # The usual case, at once: a simulation draws delays in every round.
            return np.clip(delays.astype(np.int64), -_LONGEST, _LONGEST)
        return _rounds(delays.tolist())


def as_delay(value: Any) -> Delay | None:
    """What a user passed as `delay`; None if everything comes at once."""
    if value is None:
        return None
    if isinstance(value, Delay):
        # All others are drawn, and take the longer way.
        return None if value in (FixedDelay(0), GeometricDelay(0)) else value
    if isinstance(value, type):
        raise ValueError(f"delay is the class {value.__name__}: pass an instance of it")
    if callable(value):
        return DrawnOneByOne(value)
    try:
        rounds = integer(value, "delay", minimum=0, maximum=_LONGEST)
    except ValueError:
        raise ValueError(
            "delay must be a number of rounds (at least 0), a Delay such as "
            f"GeometricDelay(mean=100), or a function of a generator, got {abbreviated(value)}"
        ) from None
    return FixedDelay(rounds) if rounds else None
