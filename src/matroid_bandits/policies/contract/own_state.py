"""Whether a policy written by a user keeps more than counts and means, and says what."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

__all__ = ["LEARNING", "learning_methods", "reason_for_own_state", "says_its_state"]

#: Methods that a subclass overrides to learn something of its own.
LEARNING = ("_observe", "update", "learn", "expire")

_PACKAGE = __name__.partition(".")[0]

# Attributes of every policy, which are saved, or made anew.
_OURS = frozenset(
    {
        "_problem",
        "_kernel",
        "_translation",
        "_arguments",
        "_rule_thread",
        "_pairs",
        "_n_dropped",
    }
)


def learning_methods(policy: Any) -> list[str]:
    """Those of `LEARNING` that the class of a policy, or the object itself, overrides."""
    return [name for name in LEARNING if name in policy._own_learning or name in vars(policy)]


def says_its_state(policy: Any) -> list[str]:
    """Those of `_get_state` and `_set_state` that the class of a policy defines."""
    return [name for name in ("_get_state", "_set_state") if name in policy._own_state_methods]


def reason_for_own_state(policy: Any) -> str | None:
    """Why a policy seems to keep something of its own, or None if it does not."""
    methods = learning_methods(policy)
    if methods:
        return f"it defines {methods[0]}"
    if type(policy).__module__.partition(".")[0] == _PACKAGE:
        return None
    fresh = None
    with suppress(Exception):
        fresh = policy.clone()
    for name, value in vars(policy).items() if fresh is not None else ():
        if name not in _OURS and _is_changed(value, vars(fresh).get(name)):
            return f"its attribute {name!r} is not that of a fresh one"
    return None


def _is_changed(value: Any, fresh: Any) -> bool:
    """Whether an attribute is another one than that of a fresh policy, as far as can be told."""
    try:
        return pickle.dumps(value) != pickle.dumps(fresh)
    except Exception:  # noqa: BLE001  (whatever pickle, or a class of the user, raises)
        # Open files, locks and the like: nothing that is learned.
        return False
