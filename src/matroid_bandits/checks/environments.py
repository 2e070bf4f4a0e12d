"""Check that the rewards of an environment can be replayed and have the stated means."""

import numpy as np

from matroid_bandits._arguments import abbreviated, integer
from matroid_bandits._streams import REWARDS, stream
from matroid_bandits.environments import Environment

__all__ = ["check_environment"]

_DRAWS = 2000


def check_environment(environment: Environment, *, seed: int = 0) -> None:
    """Check that rewards depend on (seed, element, k) alone and have the stated means.

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
