"""FasterCUCB [TOA24]: Tzeng, Ohsaka & Ariu, Matroid Semi-Bandits in Sublinear Time (ICML 2024).

Assumes rewards whose means are not negative. Departures:

- The paper keeps a basis for every cell of lambda in which the order of the rounded weights is
  fixed. lambda only grows, so one basis is enough: that of the present cell. Cells behind are
  dropped, and the next one is entered by exchanges (docs/explanation/faster-cucb.md).
- How features are rounded: means to powers of 1 + eps, 1/sqrt(count) to powers of 1 + eps/2, both
  down, and means that hardly matter beside the confidence width to 0. In sum a factor of 1 + eps.
- lambda is that of CUCB, sqrt(1.5 ln t) with t the number of the present round, initial rounds
  included.
- Initial rounds: the greedy basis that takes unobserved elements first, as for OMM and MAUB.
- Negative means are rounded down too, not refused; the guarantee is then relative to the sum of
  abs(mean) + width.

Ties: rounded weights often tie. Of symmetric elements with equal features, the one comes first that
has had its feature longest; different features of equal weight keep the order they had before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from matroid_bandits._arguments import choice, integer, real
from matroid_bandits._core.policies.faster_cucb.rule import FasterCUCBKernel
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.base import CompiledPolicy
from matroid_bandits.policies.contract.checked_lines import check_lines
from matroid_bandits.policies.contract.pending import PENDING, PendingOption

if TYPE_CHECKING:
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.checked_state import State

__all__ = ["FasterCUCB"]

# For smaller values, powers of 1 + eps/2 are too close to be distinguished.
LEAST_EPS = 1e-9


class FasterCUCB(PendingOption, CompiledPolicy[Selection]):
    """CUCB with rounded weights; the best basis is updated by exchanges, not searched again.

    In round t the weight of an element is ``mean + sqrt(1.5 ln t / count)``. CUCB plays a basis of
    largest weight; this plays one whose weight is at least ``1 / (1 + eps)`` of the largest. It
    keeps that basis and updates it by single exchanges when a rounded mean, a rounded count or the
    order of the rounded weights changes. On uniform and partition matroids a round does not grow
    with the ground set.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    eps : float, optional
        How much of the weight may be lost, from 1e-9 to 1. Default: ``1 / ln(horizon)``. Gaps
        smaller than this share of a weight are not resolved; a smaller `eps` costs little time.
    horizon : int, default 100_000
        Number of rounds to be played, roughly, at least 3. Used only for the default of `eps`.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, so that visitors at the same time explore different elements.

    Notes
    -----
    After the initial rounds greedy runs once. From then on a round costs O(rank) and, for every
    element whose rounded feature changes, a walk over the features that it passes, mostly some
    dozens at most. With graphs a path or a subtree of the forest is searched. With vectors and
    matchings there may be a circuit test per symmetry class on the way, and an exchange costs the
    preparation for a new basis. `oracle_calls` counts
    greedy's tests and, for matroids written in Python, the calls for exchanges that were not
    cached. Loops are never played.

    References
    ----------
    .. [TOA24] R.-C. Tzeng, N. Ohsaka and K. Ariu, Matroid Semi-Bandits in Sublinear Time, ICML
       2024, PMLR 235.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.FasterCUCB(mb.UniformMatroid(2, 5), eps=0.1)
    >>> environment = mb.BernoulliEnvironment([0.1, 0.9, 0.2, 0.8, 0.3])
    >>> result = mb.simulate(policy, environment, horizon=2000)
    >>> policy.greedy_calls  # three initial rounds, and the first basis
    4
    """

    name = "FasterCUCB"
    _check_exemptions: ClassVar = {
        "relabeling": "rounded weights tie, and ties depend on the order of the elements"
    }
    _kernel: FasterCUCBKernel

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        eps: float | None = None,
        horizon: int = 100_000,
        pending: Literal["ignore", "count"] = "ignore",
    ) -> None:
        self._horizon = integer(horizon, "horizon", minimum=3)
        self._eps = (
            1 / math.log(self._horizon)
            if eps is None
            else real(eps, "eps", minimum=LEAST_EPS, maximum=1)
        )
        self._pending = choice(pending, "pending", PENDING)
        super().__init__(matroid)

    def _new_kernel(self, matroid: Matroid) -> FasterCUCBKernel:
        return FasterCUCBKernel(matroid, self._eps, self._pending == "count")

    @property
    def eps(self) -> float:
        """How much of the weight may be lost."""
        return self._eps

    @property
    def horizon(self) -> int:
        """The number of rounds that the default of `eps` was chosen for."""
        return self._horizon

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        matroid = self._kernel.matroid
        if state.flag("has_basis"):
            members = state.basis("members", matroid, is_sorted=False)
        else:
            state.array("members", np.intp, [matroid.rank])
            members = np.empty(0, dtype=np.intp)
        n_chains = len(self._kernel.state()["chain_lengths"])
        on_lines = check_lines(state, matroid, members, n_chains)
        changed = state.array("changed", np.int32, [None], 0, matroid.size - 1)
        if len(np.unique(changed)) < len(changed) or not np.isin(changed, on_lines).all():
            raise state.refuse("changed", "elements on lines, each once")
