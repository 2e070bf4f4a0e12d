"""What tests read from the state of a kernel."""

from typing import Any

import numpy as np

import matroid_bandits as mb


def assert_same(before: Any, after: Any, where: str = "state") -> None:
    """Compare nested structures of arrays and plain data."""
    if isinstance(before, dict):
        assert before.keys() == after.keys(), where
        for key in before:
            assert_same(before[key], after[key], f"{where}.{key}")
    elif isinstance(before, (list, tuple)):
        assert len(before) == len(after), where
        for k, (one, other) in enumerate(zip(before, after, strict=True)):
            assert_same(one, other, f"{where}[{k}]")
    elif isinstance(before, (np.ndarray, float)):
        assert np.array_equal(before, after, equal_nan=np.asarray(before).dtype.kind == "f"), where
    else:
        assert before == after, where


def local_times(policy: mb.MAUB) -> dict[tuple[int, ...], int]:
    """The local time of every basis that leads or has led."""
    state = policy._kernel.state()
    ends = np.cumsum(state["former_ranks"])
    leaders = np.split(state["former_leaders"], ends)[: len(ends)]
    times = {
        tuple(basis.tolist()): time
        for basis, time in zip(leaders, state["former_times"].tolist(), strict=True)
    }
    if state["has_leader"] and not state["begins_again"]:
        times[tuple(sorted(state["leader"].tolist()))] = state["local_time"]
    return times
