"""What the code of some pages leads to, beyond that it runs: by page, a check of what it left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from matroid_bandits.client import Client


def production(names: dict[str, Any], printed: str, _url: str) -> None:
    assert "has the feedback 1 already, and now 0" in printed
    assert names["policy"].counts.sum() > 3000


def study_file(_names: dict[str, Any], printed: str, _url: str) -> None:
    assert "K5        MAUB" in printed
    assert Path("results/mine/report.html").exists()
    runs = pd.read_parquet("results/mine/runs.parquet")
    assert set(runs["policy"]) == {"MAUB", "OMM", "cautious"}


def cluster(names: dict[str, Any], _printed: str, _url: str) -> None:
    assert len(names["results"].runs) == 8


def service(names: dict[str, Any], printed: str, url: str) -> None:
    assert printed == "('flood', 'record')\n"
    assert Client(url).bandit("news")["decided"] == 101
    assert names["app"].state.worker.limits.elements == 20_000


OUTCOMES = {
    "docs/howto/cluster.md": cluster,
    "docs/howto/production.md": production,
    "docs/howto/service.md": service,
    "docs/reference/study-file.md": study_file,
}
