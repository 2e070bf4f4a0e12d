"""The index contract: the optimistic value of an element, by which a policy chooses."""

from __future__ import annotations

from inspect import signature
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from matroid_bandits._core.indices.base import IndexKernel, PythonIndexKernel
from matroid_bandits._overrides import outdated
from matroid_bandits._plain_data import class_text, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits._types import FloatArray

__all__ = ["Index"]


class Index:
    """An optimistic value for every element; the policy decides what to do with the values.

    To write your own, define `values`; the policy keeps means and counts.

    Attributes
    ----------
    name : str
        Its name in studies and on the command line.
    low, high : float
        The range of the rewards; others are refused.
    min_count : int
        Observations that an element needs before it has a value.
    uses_counts : bool
        Whether a larger count makes a value less optimistic.

    Examples
    --------
    >>> import numpy as np
    >>> import matroid_bandits as mb
    >>> class Hopeful(mb.Index):
    ...     '''One over the count, whatever the time.'''
    ...     def values(self, means, counts, time):
    ...         return means + 1 / counts
    >>> policy = mb.OMM(mb.UniformMatroid(2, 3), index=Hopeful())
    >>> policy.update([0, 1, 2], [0.1, 0.5, 0.3])
    >>> policy.select()
    array([1, 2])
    """

    name: ClassVar[str] = ""
    low: ClassVar[float] = -inf
    high: ClassVar[float] = inf
    min_count: ClassVar[int] = 1
    uses_counts: ClassVar[bool] = True
    # Whether it compares an element with its partner, which only MAUB has.
    _needs_partners: ClassVar[bool] = False
    # Checks of `check_policy` that do not apply to policies with this index, with the reason.
    _check_exemptions: ClassVar[Mapping[str, str | None]] = {}
    # Which of "window", "discount" and "restart" of a policy it is not for, and why.
    _refused_memory: ClassVar[Mapping[str, str]] = {}
    # `_compiled`, if a subclass has changed `values` since.
    _outdated: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._outdated = outdated(cls, ["_compiled"], ["values"])

    def values(
        self, means: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], time: int
    ) -> FloatArray:
        """The value of each of some elements.

        Parameters
        ----------
        means : numpy.ndarray
            Their mean rewards so far.
        counts : numpy.ndarray
            How often each was observed, at least `min_count` times.
        time : int
            At least 1: the number of this round; in MAUB, the rounds of its leader.

        Raises
        ------
        NotImplementedError
            If means and counts are not enough: the index is random, or needs variances.
        """
        raise NotImplementedError(
            f"the values of {type(self).__name__} depend on more than means and counts"
        )

    def __repr__(self) -> str:
        # Shows all parameters: policies with different indices have different names in studies.
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"

    def to_spec(self) -> dict[str, Any]:
        """The index as plain data, as JSON has it: ``type`` and the parameters.

        The notation is that of study files. :func:`~matroid_bandits.index_from_spec` makes an equal
        index of it. The type of an index of your own is ``module:Class``; its parameters must be
        attributes of the same names.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.KLUCB(c=0).to_spec()
        {'type': 'kl', 'c': 0.0}
        """
        from matroid_bandits.indices.by_name import INDICES

        cls = type(self)
        is_ours = INDICES.get(cls.name) is cls
        spec = {"type": cls.name if is_ours else class_text(cls)}
        for name in signature(cls).parameters:
            try:
                value = getattr(self, name)
            except AttributeError:
                raise ValueError(
                    f"{cls.__name__} does not keep its parameter {name}; store it as self.{name}"
                ) from None
            spec[name] = plain(value, f"{name} of {cls.__name__}")
        return spec

    def _compiled(self, seed: int) -> IndexKernel | None:
        """The kernel of a built-in index; `seed` is for random ones."""
        del seed
        return None

    def _new_kernel(self, seed: int) -> IndexKernel:
        """The kernel for one policy."""
        fits = "_compiled" not in self._outdated and "values" not in self.__dict__
        kernel = self._compiled(seed) if fits else None
        return PythonIndexKernel(self) if kernel is None else kernel
