"""Studies: many runs from one file, results as tables, a report with figures.

>>> from matroid_bandits.experiments import load_study, run_study, write_report

Needs the extra ``experiments``: ``pip install 'matroid-bandits[experiments]'``.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matroid_bandits.experiments.comparisons import Comparison, compare
    from matroid_bandits.experiments.report import Report, write_report
    from matroid_bandits.experiments.results import Results, read_results
    from matroid_bandits.experiments.runner import run_study
    from matroid_bandits.experiments.spec import load_study, shipped_study
    from matroid_bandits.experiments.study import (
        FigureSpec,
        Instance,
        PolicySpec,
        Reference,
        Study,
        StudyError,
    )
    from matroid_bandits.experiments.summary import summarize

__all__ = [
    "Comparison",
    "FigureSpec",
    "Instance",
    "PolicySpec",
    "Reference",
    "Report",
    "Results",
    "Study",
    "StudyError",
    "compare",
    "load_study",
    "read_results",
    "run_study",
    "shipped_study",
    "summarize",
    "write_report",
]

# Imported when first used: worker processes need neither figures nor data frames.
_HOMES = {
    "comparisons": ("Comparison", "compare"),
    "report": ("Report", "write_report"),
    "results": ("Results", "read_results"),
    "runner": ("run_study",),
    "spec": ("load_study", "shipped_study"),
    "study": ("FigureSpec", "Instance", "PolicySpec", "Reference", "Study", "StudyError"),
    "summary": ("summarize",),
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
