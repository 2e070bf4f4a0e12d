"""CombLinUCB and CombLinTS, from the definition: the whole Bayesian regression anew every round.

[WKA15] is Wen, Kveton and Ashkan, *Efficient Learning in Large-Scale Combinatorial Semi-Bandits*
(ICML 2015). With a prior N(0, lambda^2 I) of theta and rewards N(phi' theta, sigma^2), the
posterior after observations (phi_i, w_i) is N(theta, Sigma) with

    Sigma = inverse of (I / lambda^2 + sum of phi_i phi_i' / sigma^2)
    theta = Sigma (sum of phi_i w_i) / sigma^2.

Draws are theta + inverse(R) z, where R is the Cholesky root of the precision, R'R = inverse(Sigma),
and z are standard normal numbers of the policy's stream, one for each feature.
"""

from collections.abc import Sequence

import numpy as np

from .matroids import Independence
from .streams import policy_generator


class ReferenceLinear:
    """Both policies; `seed` is None for UCB."""

    def __init__(
        self,
        is_independent: Independence,
        n_features: int,
        noise: float,
        prior: float,
        c: float = 1.0,
        seed: int | None = None,
    ) -> None:
        self._is_independent = is_independent
        self._n_features, self._noise, self._prior, self._c = n_features, noise, prior, c
        self._rng = None if seed is None else policy_generator(seed)
        self.seen: list[tuple[np.ndarray, float]] = []

    def posterior(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Theta, Sigma and the root R of the precision."""
        precision = np.eye(self._n_features) / self._prior**2
        total = np.zeros(self._n_features)
        for phi, reward in self.seen:
            precision += np.outer(phi, phi) / self._noise**2
            total += phi * reward / self._noise**2
        sigma = np.linalg.inv(precision)
        return sigma @ total, sigma, np.linalg.cholesky(precision).T

    def weights(self, features: np.ndarray) -> list[float]:
        """What elements with these features are compared by."""
        theta, sigma, root = self.posterior()
        if self._rng is not None:
            z = np.array([self._rng.standard_normal() for _ in range(self._n_features)])
            theta = theta + np.linalg.inv(root) @ z
            return [float(phi @ theta) for phi in features]
        return [float(phi @ theta + self._c * np.sqrt(phi @ sigma @ phi)) for phi in features]

    def select(self, features: np.ndarray, available: Sequence[int]) -> tuple[int, ...]:
        """The greedy basis of the available elements."""
        weights = self.weights(features)
        chosen: set[int] = set()
        for e in sorted(available, key=lambda e: (-weights[e], e)):
            if self._is_independent(frozenset(chosen | {e})):
                chosen.add(e)
        return tuple(sorted(chosen))

    def observe(self, phi: np.ndarray, reward: float) -> None:
        """One reward of an element with these features."""
        self.seen.append((np.array(phi, dtype=float), float(reward)))
