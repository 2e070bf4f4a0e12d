"""Policies from files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits.errors import SnapshotError
from matroid_bandits.policies.contract.saving import restore_content
from matroid_bandits.specs.policies import policy_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies import Policy

__all__ = ["load", "policy_from_content"]


def load(
    path: str | os.PathLike[str],
    matroid: Matroid | None = None,
    *,
    classes: Iterable[type] = (),
) -> Policy[Any]:
    """The policy that :meth:`Policy.save` has written to a file, to continue as if never stopped.

    Parameters
    ----------
    path : path
        The file.
    matroid : Matroid, optional
        The matroid, if it is written in Python: it must be the same, which cannot be checked beyond
        size and rank.
    classes : iterable of type
        Classes of your own that the policy is made of: policies and indices. No code is ever loaded
        from a file.

    Raises
    ------
    SnapshotError
        If the file is not a snapshot, damaged, or newer than this library; if something in it does
        not fit; or if a matroid or a class is needed and not given.
    OSError
        If the file cannot be read.
    """
    from matroid_bandits._snapshots import read_snapshot  # noqa: PLC0415  (seldom needed)

    content = read_snapshot(path)
    try:
        return policy_from_content(content, matroid, classes)
    except SnapshotError:
        raise
    except Exception as error:
        # A class of the user's may raise anything.
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        hint = "" if matroid is None else "; is it the matroid that the policy was saved with?"
        raise SnapshotError(f"{os.fsdecode(path)}: {reason}{hint}") from error


def policy_from_content(
    content: Any, matroid: Matroid | None, classes: Iterable[type]
) -> Policy[Any]:
    """The policy with the specification and the state in `content`, both of which are checked."""
    needed = {"policy", "state", "own"}
    if not isinstance(content, dict) or not needed <= content.keys() <= needed | {"n_dropped"}:
        raise ValueError("the snapshot is not one of a policy")
    # Before anything is made that would be too large.
    counts = content["state"].get("counts") if isinstance(content["state"], dict) else None
    size = len(counts) if isinstance(counts, np.ndarray) and counts.ndim == 1 else 0
    policy = policy_at("policy", content["policy"], matroid, classes, size)
    restore_content(policy, content)
    return policy
