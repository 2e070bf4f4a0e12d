"""Every matroid class keeps the contract, on small instances tried exhaustively."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import matroid_bandits as mb
from matroid_bandits import catalog

from ..seeds import seeds
from ..strategies import instances
from .specified import assert_specified

families = pytest.mark.parametrize("family", catalog.MATROIDS)


@families
@given(data=st.data())
def test_axioms_and_methods(family: str, data: st.DataObject) -> None:
    mb.check_matroid(data.draw(instances(family)).matroid)


@families
def test_random_instances(family: str) -> None:
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        mb.check_matroid(catalog.MATROIDS[family].random(rng, int(rng.integers(0, 8))))
    # Too large for all sets: restrictions and random bases.
    mb.check_matroid(catalog.MATROIDS[family].random(np.random.default_rng(1), 30))


@families
def test_arrays_given_out_are_the_callers(family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(3), 8)
    before = matroid.loops.tolist(), matroid.max_weight_basis(np.arange(8)).tolist()
    matroid.loops[:] = 0
    matroid.max_weight_basis(np.arange(8))[:] = 0
    assert (matroid.loops.tolist(), matroid.max_weight_basis(np.arange(8)).tolist()) == before


@families
def test_attributes_are_read_only(family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(3), 8)
    for name in ("size", "rank", "loops"):
        with pytest.raises(AttributeError):
            setattr(matroid, name, 1)


@families
def test_pickle(family: str) -> None:
    matroid = catalog.MATROIDS[family].random(np.random.default_rng(5), 8)
    copy = pickle.loads(pickle.dumps(matroid))
    assert repr(copy) == repr(matroid)
    mb.check_matroid(copy)


@families
@given(data=st.data())
def test_specifications_make_equal_matroids(family: str, data: st.DataObject) -> None:
    assert_specified(data.draw(instances(family)).matroid)


@families
def test_specifications_of_random_instances(family: str) -> None:
    for seed in seeds(10):
        rng = np.random.default_rng(seed)
        assert_specified(catalog.MATROIDS[family].random(rng, int(rng.integers(0, 20))))


@families
def test_repr_names_the_class(family: str) -> None:
    cls = catalog.MATROIDS[family]
    assert repr(cls.random(np.random.default_rng(0), 5)).startswith(cls.__name__ + "(")
