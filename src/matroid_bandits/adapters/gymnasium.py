"""Environments of Gymnasium: an action is a basis."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from matroid_bandits._arguments import integer
from matroid_bandits.environments import Environment
from matroid_bandits.matroids import Matroid
from matroid_bandits.problem import Problem, not_a_matroid

if TYPE_CHECKING:
    from matroid_bandits.adapters._gymnasium_spaces import BanditEnv

__all__ = ["to_gymnasium"]


def to_gymnasium(
    problem: Matroid | Problem[Any, Any],
    environment: Environment,
    horizon: int,
    *,
    seed: int = 0,
) -> BanditEnv:
    """A Gymnasium environment in which every step plays a basis.

    - **Action**: a mask with a truth value for each element, ``MultiBinary``. Its space has the
      bases alone: ``action_space.sample()`` is a random one. A mask of another set is refused.
      ``env.unwrapped.to_action(basis)`` makes the mask of a basis, and
      ``env.unwrapped.best_action(weights)`` that of the basis of largest weight.
    - **Observation**: what a bandit has seen of each element: ``counts``, ``means`` (0 before the
      first), ``played`` in the last step, and the ``rewards`` there (0 where it was not played).
    - **Reward**: the sum of the rewards of the basis; minus the costs, with ``sense="min"``.
    - **End**: ``truncated`` at the horizon, never ``terminated``.
    - **Info**: ``rewards``, a dictionary by label (costs as they are); ``regret`` of the step
      against the best basis of the round; ``round``; ``seed`` of the episode.

    Parameters
    ----------
    problem : Problem or Matroid
        What may be played.
    environment : Environment
        The rewards, or costs.
    horizon : int
        The number of steps of an episode.
    seed : int, default 0
        Seed of the first episode, unless ``reset(seed=...)`` says another one.
        ``simulate(policy, environment, horizon, seed=seed)`` meets the same rewards. Each later
        ``reset()`` without a seed draws one.

    Returns
    -------
    gymnasium.Env

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> ads = mb.Problem(mb.UniformMatroid(2, 3), labels=["car", "tea", "book"])
    >>> env = mb.to_gymnasium(ads, mb.BernoulliEnvironment([0.75, 0.5, 0.25]), horizon=100)
    >>> observation, info = env.reset(seed=0)
    >>> action = env.unwrapped.to_action(["car", "book"])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, info["rewards"], info["regret"]
    (1.0, {'car': 1.0, 'book': 0.0}, 0.25)
    """
    if not isinstance(problem, (Matroid, Problem)):
        raise not_a_matroid("to_gymnasium", problem)
    if not isinstance(environment, Environment):
        raise TypeError(f"environment must be an Environment, got {environment!r}")
    made = Problem.of(problem)
    if environment.size != made.size:
        raise ValueError(
            f"the environment has {environment.size} elements, the matroid {made.size}"
        )
    if not made.size:
        raise ValueError("the problem has no elements: there is nothing to play")
    steps = integer(horizon, "horizon", minimum=1)
    first = integer(seed, "seed", minimum=0)
    try:
        import_module("gymnasium")
    except ImportError as error:
        raise ImportError(
            f"to_gymnasium needs Gymnasium ({error}): pip install 'matroid-bandits[gymnasium]'"
        ) from error
    spaces = import_module("matroid_bandits.adapters._gymnasium_spaces")
    env: BanditEnv = spaces.BanditEnv(made, environment, steps, first)
    return env
