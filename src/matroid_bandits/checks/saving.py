"""Check that a policy that was saved goes on as if it had never stopped."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from matroid_bandits.checks.state import assert_same, draw_rewards, state_of
from matroid_bandits.matroids import Matroid
from matroid_bandits.specs import load


def check_saving(
    factory: Callable[[Any], Any], matroid: Matroid, rounds: int, rng: "np.random.Generator"
) -> str | None:
    """With feedback under way: save, load, and go on alike.

    Returns
    -------
    str or None
        Why the policy refuses to be saved, if it does.
    """
    policy = factory(matroid)
    waiting: list[Any] = []
    for t in range(rounds):
        waiting.append(policy.decide())
        if len(waiting) > 3:
            decision = waiting.pop(0)
            policy.learn(decision, draw_rewards(policy, len(decision.elements), t, rng))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "policy"
        try:
            policy.save(path)
        except ValueError as error:
            return str(error)
        twin = _loaded(path, policy, matroid)
    for t in range(rounds):
        where = f"on {matroid!r}, {t + 1} rounds after it was loaded"
        assert_same(
            state_of(policy), state_of(twin), f"a policy that was saved has other %s {where}"
        )
        if list(policy.open_decisions.values()) != list(twin.open_decisions.values()):
            raise AssertionError(f"a policy that was saved has other open decisions {where}")
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
    return None


def _loaded(path: Path, policy: Any, matroid: Matroid) -> Any:
    classes = {type(policy), type(getattr(policy, "index", None))} - {type(None)}
    # A matroid written in Python is handed in; for others that is refused.
    is_python = policy.to_spec()["problem"]["matroid"].get("type") == "python"
    return load(path, matroid if is_python else None, classes=classes)
