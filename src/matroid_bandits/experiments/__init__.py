"""Studies: many runs from one file, results as tables, a report with figures.

>>> from matroid_bandits.experiments import load_study, run_study, write_report

Needs the extra ``experiments``: ``pip install 'matroid-bandits[experiments]'``.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matroid_bandits.experiments.analysis.comparisons import Comparison, compare
    from matroid_bandits.experiments.analysis.separation import OpenPair, open_pairs
    from matroid_bandits.experiments.analysis.summary import summarize
    from matroid_bandits.experiments.reading.spec import load_study, shipped_study
    from matroid_bandits.experiments.reporting.report import Report, write_report
    from matroid_bandits.experiments.running.plan import PairPlan, Plan, plan_study
    from matroid_bandits.experiments.running.runner import RunsFailedError, run_shard, run_study
    from matroid_bandits.experiments.storing.results import Results, gather, read_results
    from matroid_bandits.experiments.study import (
        FigureSpec,
        Instance,
        PolicySpec,
        Reference,
        Study,
        StudyError,
    )

__all__ = [
    "Comparison",
    "FigureSpec",
    "Instance",
    "OpenPair",
    "PairPlan",
    "Plan",
    "PolicySpec",
    "Reference",
    "Report",
    "Results",
    "RunsFailedError",
    "Study",
    "StudyError",
    "compare",
    "gather",
    "load_study",
    "open_pairs",
    "plan_study",
    "read_results",
    "run_shard",
    "run_study",
    "shipped_study",
    "summarize",
    "write_report",
]

# Imported when first used: worker processes need neither figures nor data frames.
_HOMES = {
    "analysis.comparisons": ("Comparison", "compare"),
    "running.plan": ("PairPlan", "Plan", "plan_study"),
    "reporting.report": ("Report", "write_report"),
    "storing.results": ("Results", "gather", "read_results"),
    "running.runner": ("RunsFailedError", "run_shard", "run_study"),
    "analysis.separation": ("OpenPair", "open_pairs"),
    "reading.spec": ("load_study", "shipped_study"),
    "study": ("FigureSpec", "Instance", "PolicySpec", "Reference", "Study", "StudyError"),
    "analysis.summary": ("summarize",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            try:
                return getattr(import_module(f"{__name__}.{home}"), name)
            except ModuleNotFoundError as error:
                raise ImportError(
                    f"studies need {error.name}: pip install 'matroid-bandits[experiments]'"
                ) from error
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
