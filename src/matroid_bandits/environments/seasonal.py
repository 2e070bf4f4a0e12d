"""Means that come and go with the seasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from matroid_bandits._arguments import freeze, real, real_array
from matroid_bandits._core.streams.means import MeansKernel, SeasonalMeans
from matroid_bandits.environments.base import LARGEST, finite_means
from matroid_bandits.environments.changing import ChangingEnvironment, Kind, one_per_element

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SeasonalEnvironment"]


class SeasonalEnvironment(ChangingEnvironment):
    """Means that swing around a center, with one period for all elements.

    In round t, counted from 1, the mean of an element is
    ``mean + amplitude * sin(2 * pi * ((t - 1) / period + phase))``.

    Parameters
    ----------
    means : array_like of float
        The centers.
    amplitude : float or array_like of float
        How far the means swing, one for all or one per element.
    period : float
        Rounds from one season to the same season again; more than 1.
    phase : float or array_like of float, optional
        Where an element is in round 1, as a share of the period, one for all or one per element. By
        default the elements are spread evenly over the period, in their order.
    std : float or array_like of float, optional
        Standard deviation of Gaussian rewards, one for all or one per element; by default 0.2.
    kind : {"gaussian", "bernoulli"}
        How the rewards vary.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> environment = mb.SeasonalEnvironment([0.5, 0.6], amplitude=0.2, period=400, phase=[0, 0.5])
    >>> environment.means_at([1, 101, 201]).round(3)
    array([[0.5, 0.6],
           [0.7, 0.4],
           [0.5, 0.6]])
    """

    def __init__(
        self,
        means: npt.ArrayLike,
        *,
        amplitude: npt.ArrayLike,
        period: float,
        phase: npt.ArrayLike | None = None,
        std: npt.ArrayLike | None = None,
        kind: Kind = "gaussian",
    ) -> None:
        centers = freeze(np.array(real_array(means, "means")))
        super().__init__(len(centers), std=std, kind=kind)
        self._centers = finite_means(centers)
        self._amplitudes = one_per_element(amplitude, "amplitude", self.size)
        self._phases = (
            freeze(np.arange(self.size) / max(1, self.size))
            if phase is None
            else one_per_element(phase, "phase", self.size)
        )
        for values, what in ((self._amplitudes, "amplitude"), (self._phases, "phase")):
            if not np.all(np.abs(values) <= LARGEST):
                raise ValueError(f"{what} must be finite and at most {LARGEST:g} in size")
        self._period = real(period, "period", minimum=1.0, maximum=LARGEST)
        if self._period == 1:
            raise ValueError("period must be more than 1: with 1, means never change")
        for extreme in (-np.abs(self._amplitudes), np.abs(self._amplitudes)):
            self._fit(centers + extreme, " at its farthest")

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance: centers uniform in [0.5, 1], amplitudes up to 0.3."""
        return cls(rng.uniform(0.5, 1, size), amplitude=rng.uniform(0, 0.3, size), period=365)

    def _means_at(self, round: int) -> npt.ArrayLike:  # noqa: A002
        return self._means_kernel().at(round)

    def _means_kernel(self) -> MeansKernel:
        return SeasonalMeans(self._centers, self._amplitudes, self._phases, self._period)
