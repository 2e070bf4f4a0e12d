"""What policies with an index share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from matroid_bandits._arguments import choice, integer
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.policies.base import CompiledPolicy
from matroid_bandits.policies.contract.memory import MemoryOption
from matroid_bandits.policies.contract.pending import PENDING, PendingOption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._types import IntArray
    from matroid_bandits.indices import Index
    from matroid_bandits.restarts import GLR

__all__ = ["IndexPolicy"]


class IndexPolicy(MemoryOption, PendingOption, CompiledPolicy[Selection]):
    """A policy with an index; a subclass says what it does with it."""

    # Whether an element is compared with its partner.
    _has_partners: ClassVar[bool] = False

    def __init__(
        self,
        matroid: MatroidLike[Selection],
        *,
        index: Index,
        seed: int = 0,
        pending: Literal["ignore", "count"] = "ignore",
        window: int | None = None,
        discount: float | None = None,
        restart: GLR | str | Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(matroid)
        if index._needs_partners and not self._has_partners:
            name = type(index).__name__
            raise ValueError(
                f"{name} compares an element with its partner, and {type(self).__name__} has no "
                f"partners; use MAUB(..., index={name}()), or another index, such as KLUCB()"
            )
        self._index = index
        self._seed = integer(seed, "seed", minimum=0)
        self._pending = choice(pending, "pending", PENDING)
        if self._pending == "count" and not index.uses_counts:
            raise ValueError(
                f'pending="count" is for an index that uses counts; {type(index).__name__} does not'
            )
        self._set_memory(window, discount, restart, index, self._pending)

    @property
    def index(self) -> Index:
        """How optimistic the policy is about an element."""
        return self._index

    @property
    def noise(self) -> float | None:
        """The noise level of the index, None if it has no such parameter."""
        noise: float | None = getattr(self._index, "noise", None)
        return noise

    @property
    def seed(self) -> int:
        """Seed of an index that draws at random."""
        return self._seed

    def _why(self, kernel: PolicyKernel, selected: IntArray) -> str:
        memory = kernel.memory
        if kernel.is_forced:
            return "An element is observed whatever is known, so that a change of it is noticed."
        if kernel.is_initial and memory is not None and memory.is_past_initial:
            return "Elements whose observations are too old come first."
        return super()._why(kernel, selected)

    def _assumed_noise(self) -> float | None:
        # An index that was passed says what its noise is.
        is_default = self._is_default("noise") and self._arguments.get("index", "ucb") == "ucb"
        return self.noise if is_default else None
