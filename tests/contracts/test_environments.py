"""Every environment class keeps the contract."""

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..seeds import seeds

every_environment = pytest.mark.parametrize("cls", catalog.ENVIRONMENTS.values(), ids=str)


@every_environment
def test_contract(cls: type[mb.Environment]) -> None:
    for seed in seeds(3):
        mb.check_environment(cls.random(np.random.default_rng(seed), 12), seed=seed)
    mb.check_environment(cls.random(np.random.default_rng(0), 0))


@every_environment
def test_means_are_read_only(cls: type[mb.Environment]) -> None:
    environment = cls.random(np.random.default_rng(0), 5)
    changes = isinstance(environment, mb.ChangingEnvironment)
    means = environment.means_at(7) if changes else environment.means
    with pytest.raises(ValueError, match="read-only"):
        means[0] = 1.0


def test_an_environment_written_in_python() -> None:
    class Uniform(mb.Environment):
        def _sample(self, rng: np.random.Generator, element: int, count: int) -> object:
            return rng.uniform(0, 2 * self.means[element], count)

    mb.check_environment(Uniform([0.5, 1.0, 2.0]))
    result = mb.simulate(mb.MAUB(mb.UniformMatroid(1, 3)), Uniform([0.5, 1.0, 2.0]), 3000)
    assert result.total_regret < 3000
