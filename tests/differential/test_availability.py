"""Rounds in which not all elements are available, against the slow reference, every round."""

import numpy as np
import pytest

import matroid_bandits as mb

from ..recipes import random_recipe
from ..reference import indices as slow
from ..reference import policies as reference
from ..seeds import seeds
from .test_indices import PAIRS

ALL = {
    **PAIRS,
    "MAUB paper": (
        lambda matroid, _: mb.MAUB(matroid, neighborhood="paper"),
        lambda size, ask, _: reference.ReferenceMAUB(size, ask, slow.UCB()),
    ),
    "MAUB paper all": (
        lambda matroid, _: mb.MAUB(matroid, neighborhood="paper", exchanges="all"),
        lambda size, ask, _: reference.ReferenceMAUB(size, ask, slow.UCB(), "all"),
    ),
}


@pytest.mark.usefixtures("plain_draws")
@pytest.mark.parametrize("name", ALL)
def test_plays_with_availability_that_changes(name: str) -> None:
    make, make_reference = ALL[name]
    for seed in seeds(4):
        rng = np.random.default_rng(seed)
        recipe = random_recipe(rng, int(rng.integers(3, 8)), int(rng.integers(0, 3)))
        policy = make(recipe.build(), seed)
        twin = make_reference(recipe.size, recipe.is_independent, seed)
        available = np.arange(recipe.size)
        for t in range(60):
            # A set lasts for some rounds, as a broken link does.
            if rng.random() < 0.3:
                available = np.flatnonzero(rng.random(recipe.size) < rng.choice([0.5, 0.8, 1.0]))
            if len(available) < recipe.size:
                played = policy.select(available=available, allow_smaller=True)
                expected = twin.select_among(available.tolist())
            else:
                played, expected = policy.select(), twin.select()
            assert tuple(played.tolist()) == expected, (recipe, t, available.tolist())
            # Few values, so that there are ties.
            rewards = rng.integers(0, 5, len(played)) / 4
            policy.update(played, rewards)
            twin.update(played.tolist(), rewards.tolist())
            if "MAUB" not in name or "paper" in name:
                assert policy.oracle_calls == twin.oracle_calls
            assert policy.greedy_calls == twin.greedy_calls or name.startswith("MAUB")
