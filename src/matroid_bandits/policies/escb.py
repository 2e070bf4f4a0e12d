"""ESCB [CTPL15], with the index c_M of that paper (ESCB-2): Combes, Talebi, Proutiere & Lelarge,
Combinatorial Bandits Revisited (NeurIPS 2015).

Assumes independent rewards. Departures: the paper is for rewards in [0, 1]; the noise is a
parameter here, and 1/2 gives the paper's rule. ln ln t is ln(max(1, ln t)), so that it is never
negative. The paper leaves open how the best basis is found; "exact" finds it, "exchange" and
"sweep" come close (docs/explanation/escb.md). Initial rounds as in OMM: greedy, unobserved elements
first. Values that differ by less than rounding errors are ties; the basis found first wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from matroid_bandits._arguments import abbreviated, choice, real
from matroid_bandits._core.policies.escb.rule import ESCBKernel, ExchangeKernel
from matroid_bandits._core.policies.escb.sweep import ExactKernel, SweepKernel
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.base import CompiledPolicy
from matroid_bandits.policies.contract.pending import PENDING, PendingOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.checked_state import State

__all__ = ["ESCB"]

KERNELS: dict[str, type[ESCBKernel]] = {
    "exchange": ExchangeKernel,
    "sweep": SweepKernel,
    "exact": ExactKernel,
}


class ESCB(PendingOption, CompiledPolicy[Selection]):
    """Efficient Sampling for Combinatorial Bandits: one confidence bonus for the whole basis.

    In round t it plays the basis with the largest

        ``sum of means + sqrt(2 noise^2 f(t) * sum of 1 / count)``

    where ``f(t) = ln t + 4 rank ln ln t``. Errors of independent rewards partly cancel in a sum, so
    this is less optimistic about a large basis than a bonus for each element. It is not a sum over
    elements, though, so greedy alone does not find the best basis.

    Parameters
    ----------
    matroid : Matroid or Problem
        What may be played.
    method : {"exchange", "sweep", "exact"}, default "exchange"
        How the basis is searched. "exchange" starts from the basis last played and makes the best
        single exchange until none helps. "sweep" runs greedy at several prices for uncertainty,
        mostly one, then exchanges, and has an upper bound on the best value (`bound`). "exact"
        continues by branch and bound; its time can grow exponentially with the matroid. The default
        is the fastest, and its regret is not distinguishable from that of "exact".
    noise : float, default 0.5
        The rewards' noise is about that of a Gaussian of this standard deviation or less. 0.5 holds
        for all rewards between 0 and 1.
    pending : {"ignore", "count"}, default "ignore"
        With `decide`: "count" counts plays whose feedback has not come as observations of the
        present mean, so that visitors at the same time explore different elements.

    Notes
    -----
    A round of "exchange" scans the elements, and the basis for those that may enter it: at most
    ``size * rank`` steps if nothing is exchanged, and hardly any oracle calls.
    If O is the best basis, the basis S played has ``means(S) + 2 bonus(S) >= means(O) + bonus(O)``;
    [PPV19] derive regret bounds from such guarantees. Loops are never played.

    References
    ----------
    .. [CTPL15] R. Combes, M. S. Talebi, A. Proutiere and M. Lelarge, Combinatorial Bandits
       Revisited, NeurIPS 2015.
    .. [PPV19] P. Perrault, V. Perchet and M. Valko, Exploiting Structure of Uncertainty for
       Efficient Matroid Semi-Bandits, ICML 2019.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> policy = mb.ESCB(mb.GraphicMatroid.complete(4), method="exact")
    >>> environment = mb.BernoulliEnvironment([0.9, 0.1, 0.8, 0.2, 0.7, 0.3])
    >>> result = mb.simulate(policy, environment, horizon=5000)
    >>> policy.select()
    array([0, 2, 5])
    """

    name = "ESCB"
    _kernel: ESCBKernel

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        method: Literal["exchange", "sweep", "exact"] = "exchange",
        noise: float = 0.5,
        pending: Literal["ignore", "count"] = "ignore",
    ) -> None:
        self._method = choice(method, "method", KERNELS)
        # Not nothing: the price of uncertainty is the noise, divided by a root.
        self._noise = real(noise, "noise", minimum=1e-100, maximum=1e100)
        self._pending = choice(pending, "pending", PENDING)
        super().__init__(matroid)

    def _new_kernel(self, matroid: Matroid) -> ESCBKernel:
        return KERNELS[self._method](matroid, self._noise, self._pending == "count")

    @property
    def method(self) -> str:
        """How the basis is looked for: "exchange", "sweep" or "exact"."""
        return self._method

    @property
    def noise(self) -> float:
        """The standard deviation that the bonus is made for."""
        return self._noise

    @property
    def bound(self) -> float:
        """No basis had a larger `value` when one was last selected; infinite if that is not known.

        It is known after a selection of "sweep" or "exact" that came after the initial rounds.
        """
        return self._kernel.bound

    def value(self, basis: Iterable[Any]) -> float:
        """What the rule maximizes, for one basis in this round: larger is better, also of costs.

        Infinite if an element of it has never been observed.

        Raises
        ------
        ValueError
            If `basis` is not a basis.
        """
        elements = np.sort(self._problem.elements(basis))
        reason = self.matroid._why_no_basis(elements)
        if reason:
            names = list(self._problem.names(elements))
            raise ValueError(f"{abbreviated(names)} is not a basis of {self.matroid!r}: {reason}")
        return self._kernel.value(elements)

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        state.number("bound")
        state.number("bound_before")
        matroid = self._kernel.matroid
        if self._method == "exchange":
            if state.has("last"):
                state.basis("last", matroid)
            return
        has_last = state.flag("has_last")
        for key in ("last_left", "last_right"):
            if has_last:
                state.basis(key, matroid, is_sorted=False)
            else:
                state.array(key, np.intp, [matroid.rank])
