"""Seeds: some by default, many with ``SEEDS=all``, the fewest with ``SEEDS=few``."""

import os
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

from matroid_bandits._core.policies.maub import thinned

# For the type checker only; for `make test-sage` only.
collect_ignore = ["typing", *([] if find_spec("sage") else ["sage"])]

settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("all", deadline=None, max_examples=1000)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=5)
settings.load_profile(os.environ.get("SEEDS", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every",
        type=int,
        default=1,
        help="run each test with the first of every so many of its parameters",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--every``, fewer parameters of each test.

    With ``SEEDS=few``, every test with its first parameters, then with its second ones, ...: a
    limit of time then leaves out repetitions, not whole files.
    """
    seen: Counter[str] = Counter()
    turns = {}
    for item in items:
        test = item.nodeid.split("[")[0]
        turns[item] = seen[test]
        seen[test] += 1
    every = config.getoption("every")
    if every > 1:
        config.hook.pytest_deselected(items=[item for item in items if turns[item] % every])
        items[:] = [item for item in items if turns[item] % every == 0]
    if os.environ.get("SEEDS") == "few":
        items.sort(key=turns.__getitem__)


@pytest.fixture
def plain_draws() -> Iterator[None]:
    """MAUB with a Thompson index draws for every element in ascending order, as the reference does.

    What it draws otherwise has the same distribution: `differential/test_thinned.py`.
    """
    thinned.set_plain(True)
    yield
    thinned.set_plain(False)
