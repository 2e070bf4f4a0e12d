"""What a policy has learned, as plain data: saved to a file, or taken over by a copy."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import integer
from matroid_bandits.policies.contract.checked_state import (
    State,
    check_decisions,
    check_outcome,
    check_round,
    check_statistics,
)
from matroid_bandits.policies.contract.memory import check_memory
from matroid_bandits.policies.contract.own_state import reason_for_own_state, says_its_state

if TYPE_CHECKING:
    import os
    from typing import Self

__all__ = ["Saving", "restore_content", "saved_content"]


class Saving:
    """A policy's way to a file; the way back is :func:`~matroid_bandits.load`."""

    _kernel: Any

    # ---- what a policy with a state of its own gives ----

    def _get_state(self) -> Any:
        """Optional: what this policy has learned, besides counts and means.

        Dictionaries with texts as keys, lists, tuples, texts, bytes, numbers, truth values, None,
        and arrays of numbers. A policy that keeps something of its own, as `_observe` does, defines
        this method and `_set_state`; then it can be saved.
        """
        return None

    def _set_state(self, state: Any) -> None:
        """Optional: take over what `_get_state` returned."""

    def _reseed(self, seed: int) -> None:
        """Optional: draw from the beginning of another random stream, for `fork`.

        Needed where `_get_state` returns the state of a random generator.
        """

    # ---- checks of what is loaded ----

    def _check_state(self, state: State) -> None:
        """Refuse a state that the kernel could not continue from; rules with more add to it."""
        kernel, matroid = self._kernel, self._kernel.matroid
        check_statistics(state, kernel)
        check_memory(state, kernel)
        for outcome in check_round(state, kernel, matroid):
            self._check_outcome(outcome)
            outcome.finish()
        check_decisions(state, kernel)
        kernel.check_cached(state.value("cached"))

    def _check_outcome(self, outcome: State) -> None:
        """The same for a set of this round that was selected, and then another one."""
        check_outcome(outcome, self._kernel, self._kernel.matroid)

    # ---- what users call ----

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a file: its specification and all that it has learned.

        :func:`~matroid_bandits.load` continues from there as if nothing had happened, in another
        process too. A file that is there is replaced in one step, when the new one is complete and
        on the disk.

        Parameters
        ----------
        path : path
            The file; its folder must exist.

        Raises
        ------
        ValueError
            If a label or a parameter cannot be written as plain data, or if the class keeps
            something of its own and does not say what.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import matroid_bandits as mb
        >>> policy = mb.MAUB(mb.UniformMatroid(1, 3), noise=0.5)
        >>> policy.update([0, 1, 2], [0.1, 0.9, 0.5])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     policy.save(Path(folder) / "policy.snapshot")
        ...     again = mb.load(Path(folder) / "policy.snapshot")
        >>> again
        MAUB(UniformMatroid(rank=1, size=3), noise=0.5)
        >>> again.means
        array([0.1, 0.9, 0.5])
        """
        from matroid_bandits._snapshots import write_snapshot  # noqa: PLC0415  (seldom needed)

        write_snapshot(path, saved_content(self))

    def fork(self, seed: int) -> Self:
        """A copy that has learned the same and explores differently.

        Statistics and open decisions are those of this policy. Random numbers are those of a new
        policy with `seed`; a policy that draws none is copied as it is.

        Parameters
        ----------
        seed : int
            Seed of the copy.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> policy = mb.CTS(mb.UniformMatroid(1, 3))
        >>> policy.update([0, 1, 2], [1, 0, 1])
        >>> other = policy.fork(seed=5)
        >>> other.counts, other.seed
        (array([1, 1, 1]), 5)
        """
        fork: Self = _forked(self, integer(seed, "seed", minimum=0))
        return fork


def saved_content(policy: Any) -> dict[str, Any]:
    """Specification and state of a policy, at one moment."""
    return {"policy": policy.to_spec(), **_states(policy, "saved")}


def _states(policy: Any, what: str) -> dict[str, Any]:
    """The state of the kernel, and that of a policy written by a user, at one moment."""
    _refuse_unknown_state(policy, what)
    with policy._kernel.guard.hold():
        # `_get_state` may return what the policy keeps, rather than a copy.
        return {
            "state": policy._kernel.state(),
            "own": copy.deepcopy(policy._get_state()),
            "n_dropped": policy._n_dropped,
        }


def restore_content(policy: Any, content: dict[str, Any]) -> None:
    """Let a fresh policy take over a state."""
    kernel = policy._kernel
    with kernel.guard.hold():
        # Files of earlier versions do not say it.
        n_dropped = integer(content.get("n_dropped", 0), "n_dropped", minimum=0)
        state = State(content["state"], "state")
        policy._check_state(state)
        state.finish()
        kernel.restore(content["state"])
        policy._n_dropped = n_dropped
        policy._set_state(content["own"])


def _forked(policy: Any, seed: int) -> Any:
    """A copy of a policy that draws the random numbers of another seed."""
    content = _states(policy, "forked")
    cls = type(policy)
    has_seed = "seed" in cls.__signature__.parameters
    has_own = "_get_state" in cls._own_state_methods
    if has_seed and has_own and "_reseed" not in cls._own_state_methods:
        raise ValueError(
            f"{cls.__name__} cannot be forked: it has a seed, but no _reseed; define it, to draw "
            "other random numbers from then on"
        )
    fork = policy._with_arguments({"seed": seed} if has_seed else {})
    if has_seed:
        # Where the stream of the new seed begins.
        content["state"] = _restarted(content["state"], fork._kernel.state()["stream"])
    restore_content(fork, content)
    if has_seed and has_own:
        fork._reseed(seed)
    return fork


def _restarted(state: dict[str, Any], start: list[int] | None) -> dict[str, Any]:
    """The same state at the start of a random stream.

    What has been selected in this round stays; all that was selected and given up is forgotten.
    """
    if start is None:
        return state
    is_marked = state["calls_before"] is not None
    return state | {"stream": start[:1] * (1 + is_marked), "answers": []}


def _refuse_unknown_state(policy: Any, what: str) -> None:
    """Refuse a policy that keeps something of its own without saying what."""
    said = says_its_state(policy)
    if len(said) == 2:
        return
    reason = f"it defines {said[0]}" if said else reason_for_own_state(policy)
    if reason is not None:
        missing = [name for name in ("_get_state", "_set_state") if name not in said]
        raise ValueError(
            f"{type(policy).__name__} cannot be {what}: {reason}, but it does not define "
            f"{' and '.join(missing)}; define both, to say what it keeps besides counts and means"
        )
