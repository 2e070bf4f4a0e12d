"""Delays: what they draw, and what is refused."""

from math import floor, log1p, nan
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits.delays import DelayStream, as_delay

from ..reference.streams import delay_generator
from ..seeds import seeds


def test_fixed_delays() -> None:
    rng = np.random.default_rng(0)
    assert mb.FixedDelay(7).draw(rng, 4).tolist() == [7] * 4
    assert mb.FixedDelay(7, lost=1).draw(rng, 2).tolist() == [-8, -8]
    assert mb.FixedDelay(0, lost=1).draw(rng, 2).tolist() == [-1, -1]
    # Nothing is drawn where nothing is lost.
    before = rng.bit_generator.state
    mb.FixedDelay(7).draw(rng, 4)
    assert rng.bit_generator.state == before


def _geometric(u: float, mean: float, lost: float) -> int:
    """One delay from its definition."""
    is_lost = u < lost
    v = (u / lost if is_lost else (u - lost) / (1 - lost)) if lost else u
    delay = floor(log1p(-v) / log1p(-1 / (1 + mean))) if mean else 0
    return -1 - delay if is_lost else delay


@pytest.mark.parametrize("mean", [0, 0.5, 10, 1234.5])
@pytest.mark.parametrize("lost", [0, 0.05, 1])
def test_geometric_delays_against_the_definition(mean: float, lost: float) -> None:
    for seed in seeds(3):
        uniform = np.random.default_rng(seed).random(2000)
        drawn = mb.GeometricDelay(mean, lost=lost).draw(np.random.default_rng(seed), 2000)
        assert drawn.dtype == np.int64
        expected = [_geometric(u, mean, lost) for u in uniform.tolist()]
        # Where the quotient of logarithms is a whole number but for rounding, either may be.
        assert np.max(np.abs(drawn - expected)) <= 1
        assert np.mean(drawn != expected) <= 0.001


def test_geometric_delays_have_their_distribution() -> None:
    n, mean, lost = 200_000, 20.0, 0.1
    drawn = mb.GeometricDelay(mean, lost=lost).draw(np.random.default_rng(1), n)
    is_lost = drawn < 0
    # Five standard deviations of each.
    assert abs(is_lost.mean() - lost) < 5 * np.sqrt(lost * (1 - lost) / n)
    spread = np.sqrt(mean * (mean + 1))
    for delays in (drawn[~is_lost], -1 - drawn[is_lost]):
        assert delays.min() == 0
        assert abs(delays.mean() - mean) < 5 * spread / np.sqrt(len(delays))
        p = 1 / (1 + mean)
        assert abs(np.mean(delays == 0) - p) < 5 * np.sqrt(p / len(delays))


def test_geometric_delays_end() -> None:
    class Last:
        """A generator at its largest number."""

        def random(self, n: int) -> np.ndarray:
            return np.full(n, 1 - 2.0**-53)

    longest = mb.GeometricDelay(2**53).draw(Last(), 1)
    assert 0 < longest[0] < 2**60
    assert mb.GeometricDelay(10, lost=0.3).draw(Last(), 1)[0] < 1000


@pytest.mark.parametrize(
    "delay", [mb.FixedDelay(2, lost=0.3), mb.GeometricDelay(5), mb.GeometricDelay(5, lost=0.3)]
)
def test_delays_do_not_depend_on_how_many_are_drawn_at_once(delay: mb.Delay) -> None:
    sizes = [1, 7, 3, 6000, 2, 5000, 1]
    stream = DelayStream(delay, 3)
    drawn = np.concatenate([stream.take(n) for n in sizes])
    assert drawn.tolist() == delay.draw(delay_generator(3), sum(sizes)).tolist()


def test_own_delays_are_drawn_once_a_round() -> None:
    asked = []

    class Mine(mb.FixedDelay):
        def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
            asked.append(n)
            return rng.integers(0, 9, n)

    stream = DelayStream(Mine(0), 3)
    drawn = [stream.take(n).tolist() for n in (2, 3)]
    assert asked == [2, 3]
    rng = delay_generator(3)
    assert drawn == [rng.integers(0, 9, 2).tolist(), rng.integers(0, 9, 3).tolist()]


def test_functions_draw_one_by_one() -> None:
    delay = as_delay(lambda rng: rng.integers(10, 500))
    assert delay is not None
    rng = delay_generator(0)
    drawn = DelayStream(delay, 0).take(5)
    assert drawn.tolist() == [int(rng.integers(10, 500)) for _ in range(5)]
    far = as_delay(lambda _: 10**30)
    assert far is not None
    assert DelayStream(far, 0).take(1)[0] >= 2**53


@pytest.mark.parametrize(
    "delay", [None, 0, np.int64(0), mb.FixedDelay(0), mb.GeometricDelay(0), mb.GeometricDelay(0.0)]
)
def test_no_delay(delay: object) -> None:
    assert as_delay(delay) is None


def test_delays_that_are_none_only_at_first_sight() -> None:
    class Mine(mb.FixedDelay):
        pass

    assert as_delay(7) == mb.FixedDelay(7)
    assert as_delay(mb.FixedDelay(0, lost=0.1)) == mb.FixedDelay(0, lost=0.1)
    assert isinstance(as_delay(Mine(0)), Mine)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (-1, "delay must be a number of rounds .* got -1"),
        (1.5, "got 1.5"),
        (True, "got True"),
        ("geometric", "got 'geometric'"),
        (mb.FixedDelay, "delay is the class FixedDelay: pass an instance"),
    ],
)
def test_what_is_no_delay(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_delay(wrong)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mb.FixedDelay(-1), "rounds must be at least 0, got -1"),
        (lambda: mb.FixedDelay(1.5), "rounds must be an integer, got 1.5"),
        (lambda: mb.FixedDelay(1, lost=1.1), "lost must be a number from 0 to 1, got 1.1"),
        (lambda: mb.GeometricDelay(nan), "mean must be a number from 0 to .*, got nan"),
        (lambda: mb.GeometricDelay(3, lost=-0.1), "lost must be a number from 0 to 1"),
    ],
)
def test_unfit_parameters(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("drawn", [[1, 2, 3], [0.5, 1.0], np.zeros((2, 1), dtype=int), None])
def test_unfit_delays_of_ones_own(drawn) -> None:
    class Mine(mb.Delay):
        def draw(self, rng, n):
            return drawn

    with pytest.raises(ValueError, match=r"Mine\.draw must return 2 integers, got"):
        DelayStream(Mine(), 0).take(2)


def test_a_function_must_return_integers() -> None:
    delay = as_delay(lambda rng: rng.random())
    assert delay is not None
    with pytest.raises(ValueError, match="a delay must be an integer, got"):
        DelayStream(delay, 0).take(1)


@pytest.mark.parametrize(
    "drawn", [[2.0, 3.0], np.array([2, 3], dtype=object), np.array([2, 3], dtype=np.float32)]
)
def test_whole_delays_of_ones_own(drawn) -> None:
    class Mine(mb.Delay):
        def draw(self, rng, n):
            return drawn

    assert DelayStream(Mine(), 0).take(2).tolist() == [2, 3]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_delays_longer_than_any_run_do_not_overflow(dtype: Any) -> None:
    class Never(mb.Delay):
        def draw(self, rng: np.random.Generator, n: int) -> Any:
            return np.full(n, np.iinfo(np.int64).max, dtype=dtype)

    policy = mb.OMM(mb.UniformMatroid(2, 4))
    mb.simulate(policy, mb.BernoulliEnvironment([0.1, 0.2, 0.3, 0.4]), 50, delay=Never())
    assert policy.counts.sum() == 0
