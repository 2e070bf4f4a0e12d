"""MAUB with several exchanges a round: the option, its default, messages, and what may fail."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.indices import Index


@pytest.mark.parametrize(
    ("options", "small", "large"),
    [
        ({}, "one", "one"),
        ({"index": "ucb"}, "one", "one"),
        ({"index": mb.UCB()}, "one", "one"),
        ({"noise": 0.2}, "one", 4),
        ({"noise": 1.0}, "one", 4),
        ({"index": mb.UCB(0.2)}, "one", 4),
        ({"index": "kl"}, "one", 4),
        ({"index": "normal"}, "one", 4),
        ({"index": "beta"}, "all", "all"),
        ({"index": mb.GaussianThompson(0.2)}, "all", "all"),
        ({"index": "beta", "exchanges": "one"}, "one", "one"),
        ({"exchanges": "all"}, "all", "all"),
        ({"exchanges": 7}, 7, 7),
        ({"exchanges": np.int64(7)}, 7, 7),
    ],
)
def test_how_many_there_are(options: dict[str, Any], small: Any, large: Any) -> None:
    for matroid, expected in (
        (mb.UniformMatroid(44, 90), small),
        (mb.UniformMatroid(120, 240), large),
    ):
        policy = mb.MAUB(matroid, **options)
        assert policy.exchanges == expected
        assert mb.clone(policy).exchanges == expected
        assert mb.policy_from_spec(policy.to_spec()).exchanges == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("two", "exchanges must be 'one', 'all' or a number, got 'two'"),
        ("ALL", "exchanges must be 'one', 'all' or a number, got 'ALL'"),
        (0, "exchanges must be at least 1, got 0"),
        (-1, "exchanges must be at least 1, got -1"),
        (1.5, "exchanges must be an integer, got 1.5"),
        (True, "exchanges must be an integer, got True"),
    ],
)
def test_anything_else_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mb.MAUB(mb.UniformMatroid(1, 3), exchanges=value)


def test_any_number_is_allowed() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2, 5), exchanges=2**70)
    for _ in range(20):
        policy.update(policy.select(), [0.5, 0.5])


def test_explanations_name_what_came() -> None:
    labels = [f"e{i}" for i in range(30)]
    policy = mb.MAUB(mb.Problem(mb.UniformMatroid(10, 30), labels), noise=0.5, exchanges="all")
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(60):
        chosen = policy.select()
        texts.append(policy.explain().why)
        policy.update(chosen, rng.normal(0.5, 0.5, len(chosen)))
    several = [text for text in texts if "to learn about them" in text]
    assert any(", " in text and "in place of" in text for text in several)
    assert any(" more in place of" in text for text in several)


class _Free(mb.Matroid):
    def __init__(self) -> None:
        super().__init__(1)

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return True


def test_a_composition_with_a_part_in_python_is_saved(tmp_path: Path) -> None:
    matroid = mb.UniformMatroid(1, 3) + _Free()
    policy = mb.MAUB(matroid, exchanges="all")
    for _ in range(10):
        chosen = policy.select()
        policy.update(chosen, np.linspace(0, 1, matroid.size)[chosen])
    policy.save(tmp_path / "policy.snapshot")
    again = mb.load(tmp_path / "policy.snapshot", matroid)
    assert again.select().tolist() == policy.select().tolist()


class _Failing:
    """A membership oracle that fails at one call."""

    left: int | None = None

    def __call__(self, elements: frozenset[int]) -> bool:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.left = None
                raise KeyError("oracle")
        return len(elements) <= 3


@pytest.mark.parametrize("seed", range(3))
def test_a_round_that_failed_is_played_again(seed: int) -> None:
    """Also if the failure comes after the leader was reordered: it leads this round."""

    def plays(failed_round: int, failed_call: int) -> list[list[int]]:
        ask = _Failing()
        policy = mb.MAUB(mb.OracleMatroid(8, ask), index="kl", exchanges=2)
        means = np.random.default_rng(5).random(8)
        rng = np.random.default_rng(seed)
        found = []
        for t in range(30):
            if t == failed_round:
                ask.left = failed_call
                with suppress(KeyError):
                    policy.select()
                ask.left = None
            chosen = policy.select()
            found.append(chosen.tolist())
            policy.update(chosen, np.clip(rng.normal(means[chosen], 0.3), 0, 1))
        return found

    expected = plays(-1, 0)
    for t in range(3, 30):
        for call in range(5):
            assert plays(t, call) == expected


class _Fragile(Index):
    """An index that fails once."""

    name = "fragile"
    fails = False

    def values(self, means: Any, counts: Any, time: int) -> Any:
        if _Fragile.fails:
            _Fragile.fails = False
            raise RuntimeError("index")
        return means + np.sqrt(np.log(time + 1) / counts)


@pytest.mark.parametrize("exchanges", ["one", "all"])
def test_an_index_that_failed_is_asked_again(exchanges: Any) -> None:
    plain, other = (
        mb.MAUB(mb.GraphicMatroid.complete(5), index=_Fragile(), exchanges=exchanges)
        for _ in range(2)
    )
    rng = np.random.default_rng(1)
    for _ in range(150):
        expected = plain.select()
        _Fragile.fails = True
        with suppress(RuntimeError):
            other.select()
        _Fragile.fails = False
        assert other.select().tolist() == expected.tolist()
        rewards = rng.normal(0.5, 0.3, len(expected))
        plain.update(expected, rewards)
        other.update(expected, rewards)
    assert plain.neighborhood_updates == other.neighborhood_updates


def test_former_leaders_of_a_large_rank_take_little_memory() -> None:
    policy = mb.MAUB(mb.UniformMatroid(2000, 4000), noise=0.1, exchanges="one")
    rng = np.random.default_rng(0)
    for _ in range(1100):
        chosen = policy.select()
        policy.update(chosen, rng.normal(0.5, 0.1, 2000))
    assert 100 < len(policy._kernel.state()["former_times"]) <= 1000
