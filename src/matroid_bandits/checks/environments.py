"""Check that the rewards of an environment can be replayed and have the stated means."""

import numpy as np

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._streams import REWARDS, stream
from matroid_bandits._types import FloatArray, IntArray
from matroid_bandits.environments import ChangingEnvironment, Environment

__all__ = ["check_environment"]

_DRAWS = 2000


def check_environment(environment: Environment, *, seed: int = 0) -> None:
    """Check that rewards depend on (seed, element, k) alone and have the stated means.

    Where means change, rewards depend on the means of the round as well, and the means of a round
    must be the same whenever and in whatever order they are read.

    Parameters
    ----------
    environment : Environment
        The instance to check; of a large one, the first 20 elements are checked.
    seed : int, default 0
        Seed of the rewards.

    Raises
    ------
    AssertionError
        With what went wrong.

    Notes
    -----
    The mean of 2,000 draws must lie within six standard errors: a correct environment fails for
    about two in a billion seeds.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> mb.check_environment(mb.BernoulliEnvironment([0.0, 0.3, 1.0]))
    """
    if not isinstance(environment, Environment):
        raise TypeError(f"check_environment needs an Environment, got {abbreviated(environment)}")
    seed = integer(seed, "seed", minimum=0)
    elements = np.arange(min(environment.size, 20))
    if isinstance(environment, ChangingEnvironment):
        _check_changing(environment, elements, seed)
        return
    together = environment.rewards(seed)
    columns = np.array([together.draw(elements) for _ in range(_DRAWS)]).reshape(_DRAWS, -1)
    for e in elements.tolist():
        rewards = columns[:, e]
        if not (np.isfinite(rewards).all()):
            raise AssertionError(f"element {e} has rewards that are not finite")
        alone = environment.rewards(seed)
        again = np.array([alone.draw([e])[0] for _ in range(50)])
        if not (np.array_equal(again, rewards[:50])):
            raise AssertionError(
                f"rewards of element {e} depend on what else is played, or differ from run to run"
            )
        rng = stream(REWARDS, seed, e)
        replayed = np.asarray(environment._sample(rng, e, _DRAWS))
        if not (np.array_equal(replayed, rewards)):
            raise AssertionError(
                f"rewards of element {e} are not those of _sample in one go on its own stream"
            )
        error = rewards.std() / np.sqrt(_DRAWS)
        if not (abs(rewards.mean() - environment.means[e]) <= 6 * error + 1e-12):
            raise AssertionError(
                f"element {e} has rewards of mean {rewards.mean():.4g}, stated is "
                f"{environment.means[e]:.4g}"
            )


def _check_changing(environment: ChangingEnvironment, elements: IntArray, seed: int) -> None:
    """The same for means that change: the noise is replayed, and the means of the rounds."""
    rounds = np.arange(1, _DRAWS + 1)
    means = environment.means_at(rounds)
    if not np.isfinite(means).all():
        raise AssertionError("some means are not finite")
    for t in (_DRAWS, 1, _DRAWS // 2):
        if not np.array_equal(environment.means_at(t), means[t - 1]):
            raise AssertionError(
                f"the means of round {t} depend on when they are read; a function of the round "
                "must always return the same"
            )
    together = environment.rewards(seed)
    columns = np.array([together.draw(elements) for _ in rounds]).reshape(_DRAWS, -1)
    some = rounds[::2]
    for e in elements.tolist():
        if not np.array_equal(columns[:, e], _replayed(environment, e, means[:, e], seed)):
            raise AssertionError(
                f"rewards of element {e} are not its noise around the means of the rounds"
            )
        # Played in every other round, it has the same noise and the means of these rounds.
        alone = environment.rewards(seed)
        again = np.array([alone.draw([e], round=int(t))[0] for t in some])
        if not np.array_equal(again, _replayed(environment, e, means[some - 1, e], seed)):
            raise AssertionError(
                f"rewards of element {e} depend on what else is played, or differ from run to run"
            )


def _replayed(
    environment: ChangingEnvironment, element: int, means: FloatArray, seed: int
) -> FloatArray:
    """The first rewards of an element, played in rounds with these means."""
    rng = stream(REWARDS, seed, element)
    if environment.std is None:
        return (rng.random(len(means)) < means).astype(np.float64)
    rewards: FloatArray = means + environment.std[element] * rng.standard_normal(len(means))
    return rewards
