"""Every policy class keeps the contract."""

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog

from ..seeds import seeds
from .playing import assert_copies_continue_alike, assert_every_playable_element_is_tried

every_policy = pytest.mark.parametrize("cls", catalog.POLICIES.values(), ids=str)
# Those that draw at random, for which numbers decide who gets which draw.
RANDOM = {"CTS", "EpsilonGreedy", "RandomBasis"}
# Those that learn of whole bases: unseen ones tie, however well their elements are known.
# tests/unit/test_osub.py has the same test with every basis seen.
BY_BASIS = {"OSUB"}
every_matroid = pytest.mark.parametrize("family", catalog.MATROIDS)


@every_policy
def test_contract(cls: type[mb.Policy]) -> None:
    for seed in seeds(3):
        mb.check_policy(cls, seed=seed)


@every_policy
@every_matroid
def test_every_playable_element_is_tried(cls: type[mb.Policy], family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(2), 9)
    assert_every_playable_element_is_tried(cls(matroid))


@every_policy
@every_matroid
def test_copies_go_on_alike(cls: type[mb.Policy], family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(4), 8)
    assert_copies_continue_alike(cls(matroid), rounds=300)


# Rounded weights tie all the time, and ties depend on the numbering; with an eps so small that
# there are none, tests/unit/test_faster_cucb.py has the same test.
ALWAYS_TIES = {mb.FasterCUCB}


@every_policy
def test_relabelled_elements_relabel_the_choices(cls: type[mb.Policy]) -> None:
    if cls in ALWAYS_TIES:
        pytest.skip("its weights are rounded, so that ties are the rule")
    # Without ties nothing depends on the numbering, once every element was seen.
    if cls.name in RANDOM:
        pytest.skip("draws at random")
    if cls.name in BY_BASIS:
        pytest.skip("learns of bases, not of elements")
    rng = np.random.default_rng(0)
    edges = mb.GraphicMatroid.complete(5).edges
    new_name = rng.permutation(len(edges))  # element e becomes new_name[e]
    renamed = [edges[e] for e in np.argsort(new_name)]
    policy = cls(mb.GraphicMatroid(edges))
    other = cls(mb.GraphicMatroid(renamed))
    first = rng.random(len(edges))
    policy.update(np.arange(len(edges)), first)
    other.update(new_name, first)
    for _ in range(300):
        basis = policy.select()
        assert other.select().tolist() == np.sort(new_name[basis]).tolist()
        drawn = rng.random(len(basis))
        policy.update(basis, drawn)
        other.update(new_name[basis], drawn)
