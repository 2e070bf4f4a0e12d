"""What a policy has observed and counted."""

from matroid_bandits._core.policies.base import PolicyKernel
from matroid_bandits._types import CountArray, FloatArray
from matroid_bandits.policies.contract.translation import Translation

__all__ = ["Counters"]


class Counters:
    """Statistics of the elements and counters of the algorithm, all read-only."""

    _kernel: PolicyKernel
    _translation: Translation

    @property
    def rounds(self) -> int:
        """Number of rounds: decisions made, and rounds ended by `update`."""
        return self._kernel.rounds

    @property
    def counts(self) -> CountArray:
        """How often each element was observed (a copy)."""
        return self._kernel.counts_copy()

    @property
    def means(self) -> FloatArray:
        """Mean of each element so far, in the order of the labels and in the user's units: rewards
        or costs; NaN where it was never observed (a copy).
        """
        return self._in_user_units(self._kernel.means_copy())

    @property
    def mean_rewards(self) -> FloatArray:
        """The same for use in `_select`: larger is better, also where the user has costs."""
        return self._kernel.means_copy()

    @property
    def effective_counts(self) -> FloatArray:
        """How many observations of each element count now (a copy).

        With ``discount=``, the sum of their weights; otherwise `counts`.
        """
        return self._kernel.effective_counts()

    @property
    def oracle_calls(self) -> int:
        """Calls of the membership oracle.

        One per element that greedy tests and one per exchange that is tested: by OMM and by
        ``MAUB(matroid, neighborhood="paper")`` as [DG25] counts them, by ``MAUB(matroid)`` those
        that were really made.
        """
        return self._kernel.oracle_calls

    @property
    def greedy_calls(self) -> int:
        """Runs of greedy, those of the initial rounds included."""
        return self._kernel.greedy_calls

    @property
    def neighborhood_updates(self) -> int:
        """How often partners were computed again while the leader stayed."""
        return self._kernel.neighborhood_updates

    def _in_user_units(self, rewards: FloatArray) -> FloatArray:
        return self._translation.in_user_units(rewards)
