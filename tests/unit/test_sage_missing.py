"""What the adapters say to those who have no SageMath, or something else in their hands."""

import sys

import pytest

import matroid_bandits as mb


def test_to_sage_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules is a module that is known to be missing.
    monkeypatch.setitem(sys.modules, "sage", None)
    with pytest.raises(ImportError, match="pip install passagemath-modules passagemath-graphs"):
        mb.to_sage(mb.UniformMatroid(1, 2))


@pytest.mark.parametrize("value", [3, "U(2,4)", mb.UniformMatroid(2, 4)])
def test_from_sage_wants_a_matroid_of_sage(value: object) -> None:
    with pytest.raises(TypeError, match="needs a matroid of SageMath, got"):
        mb.from_sage(value)


def test_to_sage_wants_a_matroid_of_ours() -> None:
    with pytest.raises(TypeError, match="needs a Matroid or a Problem, got 3"):
        mb.to_sage(3)  # type: ignore[arg-type]
