"""``python -m benchmarks [question ...]``: measure, print a table each, store it for the docs."""

import argparse
import sys
from importlib import import_module
from importlib.util import find_spec

from benchmarks.tables import ROOT, as_text, store

QUESTIONS = {
    "draws": "the engine against drawing its normals, against argsort, against import numpy",
    "omm": "MAUB against OMM on the paper's instances",
    "indices": "what each index costs, and kl-UCB against a loop in Python",
    "escb": "ESCB's three methods against one another and against OMM",
    "growth": "time and memory against the size of the matroid, in the long run",
    "exploring": "the same while the policy still explores",
    "index_growth": "rounds in the long run with each index, against the size of the matroid",
    "faster_cucb": "FasterCUCB and OMM against the size of the matroid",
    "large_ranks": "MAUB and FasterCUCB against OMM where the rank is in the thousands",
    "joint": "a round with several exchanges against one, and against OMM",
    "decisions": "decisions with available elements against plain ones",
    "changing_means": "runs with means that change against runs with fixed means",
    "propensities": "decisions with propensities against plain ones",
    "live": "decisions and late feedback against the simple loop, logs, files",
    "service": "the service: decisions, feedback, recovery, workers",
    "scale_out": "studies of 100,000 tiny runs: processes, Dask, tables",
    "identification": "rounds until the best basis is settled, error rates, time",
    "change": "rounds of policies that forget, against the stationary one and the size",
    "features": "rounds with features against the products and the sort they need",
    "compositions": "MAUB on matroids made of matroids, compiled and as a Python oracle",
    "oracle_calls": "oracle calls by default against Algorithm 2 as written",
    "joint_calls": "oracle calls with several exchanges in a round against one",
    "installation": "the wheel and each extra: packages, size, time to the first run",
    "sagemath": "the package against SageMath's matroids",
}


def main() -> None:
    """Run the benchmarks given on the command line, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("questions", nargs="*", metavar="question")
    parser.add_argument("--quick", action="store_true", help="a first look, nothing is stored")
    parser.add_argument("--list", action="store_true", help="the questions")
    options = parser.parse_args()
    for unknown in set(options.questions).difference(QUESTIONS):
        parser.error(f"unknown question {unknown!r}; there are {', '.join(QUESTIONS)}")
    if options.list:
        for name, text in QUESTIONS.items():
            print(f"{name:<16}{text}")
        return
    for name in options.questions or QUESTIONS:
        if name == "sagemath" and not _has_sage():
            _say("sagemath: left out; it needs SageMath, which `make sage` gets")
            continue
        if name == "installation" and not options.questions and not (ROOT / "dist").is_dir():
            _say("installation: left out; it needs a wheel, which `make wheel` builds")
            continue
        _say(f"{name}: measuring {QUESTIONS[name]} ...")
        table = import_module(f"benchmarks.{name}").measure(quick=options.quick)
        print(as_text(table), end="\n\n", flush=True)
        if not options.quick:
            _say(f"{name}: stored in {store(table).relative_to(ROOT)}")


def _has_sage() -> bool:
    return find_spec("benchmarks.sagemath") is not None and (ROOT / ".venv-sage").is_dir()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
