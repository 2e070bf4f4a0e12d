"""Tests that find out whether a mean has changed, so that a policy begins again.

[ZWVL20]: Zhou, Wang, Varshney & Lim, A Near-Optimal Change-Detection Based Algorithm for
Piecewise-Stationary Combinatorial Semi-Bandits (AAAI 2020).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from inspect import signature
from typing import Any, Literal

from matroid_bandits._arguments import abbreviated, check_known, choice, integer
from matroid_bandits._call_text import parse_call
from matroid_bandits.stopping import checked_probability

__all__ = ["GLR"]

SCOPES = ("all", "element")


@dataclass(frozen=True)
class GLR:
    """Restart when a generalized likelihood ratio test finds that a mean has changed.

    After every observation, the rewards of the element before a split are compared with those after
    it, for splits that are close to each other in the recent past and further apart before.

    Parameters
    ----------
    delta : float, default 0.01
        About the probability that a change is found where there is none.
    scope : {"all", "element"}, default "all"
        What is forgotten: everything, or the element whose mean has changed.
    period : int, optional
        Every so many rounds one element is played whatever is known, all in turn, so that changes
        of elements that are not played otherwise are found too. If it is not given, these are the
        rounds 9, 36, 81, ..., 9 k^2 since the last restart of all elements.

    References
    ----------
    .. [ZWVL20] H. Zhou, L. Wang, L. Varshney and E.-P. Lim, A Near-Optimal Change-Detection Based
       Algorithm for Piecewise-Stationary Combinatorial Semi-Bandits, AAAI 2020.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.MAUB(mb.UniformMatroid(2, 5), noise=0.2, restart=mb.GLR(scope="element"))
    >>> policy.restart
    GLR(delta=0.01, scope='element', period=None)
    """

    delta: float = 0.01
    scope: Literal["all", "element"] = "all"
    period: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checked_probability(self.delta))
        choice(self.scope, "scope", SCOPES)
        if self.period is not None:
            period = integer(self.period, "period", minimum=1, maximum=2**53)
            object.__setattr__(self, "period", period)

    def to_spec(self) -> dict[str, Any]:
        """The test as plain data, as policies take it for ``restart``.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.GLR(delta=0.05).to_spec()
        {'type': 'glr', 'delta': 0.05, 'scope': 'all', 'period': None}
        """
        return {"type": "glr", **asdict(self)}


def chosen_restart(restart: GLR | str | Mapping[str, Any] | None) -> GLR | None:
    """The test that a policy's argument `restart` means; None for no restarts."""
    if restart is None or isinstance(restart, GLR):
        return restart
    if isinstance(restart, str):
        name, parameters = parse_call(restart)
    elif isinstance(restart, Mapping):
        parameters = dict(restart)
        name = parameters.pop("type", None)
    else:
        raise ValueError(
            f'restart must be "glr" or mb.GLR(...), or None for no restarts, got '
            f"{abbreviated(restart)}"
        )
    choice(name, "restart", ("glr",), aliases={"GLR": "glr"})
    check_known("the test glr", parameters, signature(GLR).parameters)
    return GLR(**parameters)
