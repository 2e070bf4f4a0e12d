"""How the checks of policies compare two states."""

import numpy as np
import pytest

from matroid_bandits.checks.state import assert_same, check_statistics


class Observed:
    """Two elements; only the first was observed."""

    def __init__(self, count: int, mean: float) -> None:
        self.counts = np.array([count, 0])
        self.means = np.array([mean, np.nan])


@pytest.mark.parametrize(
    "one, other",
    [
        (3, 3),
        (None, None),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        (np.array([1, 2]), np.array([1.0, 2.0])),
        (np.array([0.0]), np.array([-0.0])),
        (np.array([np.nan]), np.array([-np.nan])),
        ([1, 2], np.array([1, 2])),
    ],
)
def test_equal_states(one: object, other: object) -> None:
    assert_same({"means": one}, {"means": other}, "%s differs")


@pytest.mark.parametrize(
    "one, other",
    [
        (3, 4),
        (None, 0),
        (np.array([1.0, 2.0]), None),
        (np.array([1.0, np.nan]), np.array([1.0, 0.0])),
        (np.array([1.0]), np.array([np.nextafter(1.0, 2.0)])),
        (np.array([1, 2]), np.array([1, 2, 3])),
        (np.array([[1, 2]]), np.array([1, 2])),
        # The same bytes, other numbers.
        (np.array([1]), np.array([1]).view(float)),
    ],
)
def test_different_states(one: object, other: object) -> None:
    with pytest.raises(AssertionError, match="means differs"):
        assert_same({"means": one}, {"means": other}, "%s differs")


def test_statistics() -> None:
    check_statistics(Observed(2, 0.25), [[0.5, 0.0], []], "here")
    with pytest.raises(AssertionError, match="element 0 was observed 2 times, counts has 3, here"):
        check_statistics(Observed(3, 0.25), [[0.5, 0.0], []], "here")
    for wrong in (0.25 + 1e-8, np.nan, np.inf):
        with pytest.raises(AssertionError, match=r"the mean of element 0 is 0\.25, means has"):
            check_statistics(Observed(2, wrong), [[0.5, 0.0], []], "here")
