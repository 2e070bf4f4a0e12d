"""Check that a policy that was saved goes on as if it had never stopped."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from matroid_bandits.checks.state import assert_same, draw_rewards, state_of
from matroid_bandits.errors import SnapshotError
from matroid_bandits.matroids import Matroid
from matroid_bandits.specs import load


def check_saving(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> None:
    """With feedback under way: save, load, and go on alike."""
    policy = factory(matroid)
    waiting: list[Any] = []
    for t in range(rounds):
        waiting.append(policy.decide())
        if len(waiting) > 3:
            decision = waiting.pop(0)
            policy.learn(decision, draw_rewards(policy, len(decision.elements), t, rng))
    try:
        twin = _loaded(policy, matroid)
    except SnapshotError:
        raise
    except ValueError:
        # It says that it cannot be saved, and why.
        return
    for t in range(rounds):
        where = f"on {matroid!r}, {t + 1} rounds after it was loaded"
        assert_same(
            state_of(policy), state_of(twin), f"a policy that was saved has other %s {where}"
        )
        decisions = policy.decide(), twin.decide()
        if not np.array_equal(decisions[0].elements, decisions[1].elements):
            raise AssertionError(
                f"decide() returned {decisions[0].elements}, after saving and loading "
                f"{decisions[1].elements}, {where}; what the class keeps of its own must be in "
                "_get_state and _set_state"
            )
        waiting.append(decisions[0])
        decision = waiting.pop(0)
        rewards = draw_rewards(policy, len(decision.elements), t, rng)
        for one in (policy, twin):
            one.learn(decision.id, rewards)


def _loaded(policy: Any, matroid: Matroid) -> Any:
    classes = {type(policy), type(getattr(policy, "index", None))} - {type(None)}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy"
        policy.save(path)
        # A matroid written in Python is handed in; for others that is refused.
        is_python = policy.to_spec()["problem"]["matroid"].get("type") == "python"
        return load(path, matroid if is_python else None, classes=classes)
