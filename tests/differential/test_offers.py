"""Rounds in which not everything is on offer, against the slow reference, every round."""

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
}


@pytest.mark.parametrize("name", ALL)
def test_plays_with_offers_that_change(name: str) -> None:
    make, make_reference = ALL[name]
    for seed in seeds(4):
        rng = np.random.default_rng(seed)
        recipe = random_recipe(rng, int(rng.integers(3, 8)), int(rng.integers(0, 3)))
        policy = make(recipe.build(), seed)
        twin = make_reference(recipe.size, recipe.is_independent, seed)
        offer = np.arange(recipe.size)
        for t in range(60):
            # An offer lasts a while, as a broken link does.
            if rng.random() < 0.3:
                offer = np.flatnonzero(rng.random(recipe.size) < rng.choice([0.5, 0.8, 1.0]))
            if len(offer) < recipe.size:
                played = policy.select(available=offer, allow_smaller=True)
                expected = twin.select_among(offer.tolist())
            else:
                played, expected = policy.select(), twin.select()
            assert tuple(played.tolist()) == expected, (recipe, t, offer.tolist())
            # Few values, so that there are ties.
            rewards = rng.integers(0, 5, len(played)) / 4
            policy.update(played, rewards)
            twin.update(played.tolist(), rewards.tolist())
            if "MAUB" not in name or name == "MAUB paper":
                assert policy.oracle_calls == twin.oracle_calls
            assert policy.greedy_calls == twin.greedy_calls or name.startswith("MAUB")
