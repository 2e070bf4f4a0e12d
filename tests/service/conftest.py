"""Databases for tests, which end with the tests."""

from collections.abc import Iterator

import pytest

from matroid_bandits._core.policies.contract import decisions

from .postgres import PostgreSQL, running_postgresql

pytest.register_assert_rewrite("tests.service.ledger", "tests.service.load")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A real PostgreSQL, one for each process of tests; skipped where there is none."""
    with running_postgresql() as server:
        yield server


@pytest.fixture
def postgresql_database(postgresql: PostgreSQL) -> Iterator[str]:
    """The name of a fresh database."""
    with postgresql.database() as name:
        yield name


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is rebuilt here forgets closed decisions as soon as servers with `CONSTANTS` do."""
    from .processes import CONSTANTS  # noqa: PLC0415  (asserts are rewritten before)

    monkeypatch.setattr(decisions, "MAX_CLOSED", CONSTANTS[f"{decisions.__name__}.MAX_CLOSED"])
