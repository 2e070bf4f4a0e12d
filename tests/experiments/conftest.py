"""No test downloads anything."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_download(monkeypatch) -> None:
    def refuse() -> Path:
        raise AssertionError("a test must not download anything")

    monkeypatch.setattr("matroid_bandits.experiments.reading.movies.fetch_movielens", refuse)
