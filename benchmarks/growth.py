"""Time and memory against the size of the matroid."""

import subprocess
import sys

from benchmarks import long_run
from benchmarks.long_run import END, FAMILIES, PATIENCE, START, WATCHED, Run
from benchmarks.tables import Table, Timing, goal, seconds

SIZES = (1_000, 10_000, 100_000, 1_000_000)
AT_LEAST = 100_000  # elements a measurement, so that small matroids take several runs
MEANS = {"the paper's": False, "settled": True}


def measure(*, quick: bool = False) -> Table:
    """A round in the long run, the first rounds, and memory, for growing matroids."""
    sizes, repeats = (SIZES[:2], 2) if quick else (SIZES, 3)
    return Table(
        name="growth",
        question="Does a round cost more when the matroid is larger?",
        method=(
            "MAUB on U(10,n), on ten groups of n/10 elements, one to be taken of each, and on "
            "graphs of 50 vertices with n edges drawn uniformly among the 1,225 pairs. "
            f"Timed are rounds {START}n to {END}n: the same number of rounds per element for "
            "every n, so that about as much is known of each, and work that comes back whenever "
            "rounds have doubled falls in exactly once. With means uniform in [0.5, 1], as in the "
            "paper, the leader then still changes now and then; settled means (a best basis from "
            f"0.6 to 1, all else below 0.4) show rounds when it no longer does. {repeats} repeats, "
            "the sizes in turn; growth is the ratio of minima to that of the smallest n."
        ),
        columns=[
            *("matroid", "means", "n", "ns a round, min", "median", "growth", "goal"),
            *("new leaders in 1,000", "first rounds", "per element"),
        ],
        rows=[
            row
            for family in FAMILIES
            for means in MEANS
            for row in _rows(family, means, sizes, repeats)
        ],
        remarks=[
            f"New leaders: per 1,000 rounds, in {WATCHED:g}n after those timed (often in bursts).",
            "First rounds: from a new policy until every element has been observed, the minimum.",
            f"A measurement is one run, or as many seeds as make {AT_LEAST:,} elements.",
            f"A size is given up when a run takes more than {PATIENCE:g} s.",
            *(_memory(family, means, sizes[-1]) for family in FAMILIES for means in MEANS),
        ],
    )


def _rows(family: str, means: str, sizes: tuple[int, ...], repeats: int) -> list[list[str]]:
    matroids = {n: FAMILIES[family](n) for n in sizes}
    runs: dict[int, list[list[Run]]] = {n: [] for n in sizes}
    slow: set[int] = set()
    for _ in range(repeats):
        for n in [n for n in sizes if n not in slow]:
            seeds = range(max(1, AT_LEAST // n))
            try:
                one = [long_run.long_run(matroids[n], s, settled=MEANS[means]) for s in seeds]
            except TimeoutError:
                slow.add(n)
            else:
                runs[n].append(one)
    rows = []
    base = 0.0
    for n in sizes:
        if n in slow:
            rows.append([family, means, f"{n:,}", f"over {PATIENCE:g} s", *["-"] * 6])
            continue
        rounds = len(runs[n][0]) * (END - START) * n
        block = Timing.of([sum(r.block for r in one) / rounds for one in runs[n]])
        first = min(sum(r.first for r in one) / len(one) for one in runs[n])
        changes = 1_000 * sum(r.new_leaders for r in runs[n][0]) / len(runs[n][0])
        base = base or block.least
        growth = block.least / base
        cells = [f"{1e9 * block.least:,.0f}", f"{1e9 * block.median:,.0f}", f"{growth:.2f}"]
        cells += [goal(growth, "<=", 1.5) if n > sizes[0] else "-", f"{changes:.1f}"]
        rows.append([family, means, f"{n:,}", *cells, seconds(first), seconds(first / n)])
    return rows


def _memory(family: str, means: str, size: int) -> str:
    """The peak of a fresh process that does nothing but one such run."""
    script = [sys.executable, long_run.__file__, family, str(size), means]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    what = f"{family}, {means} means, n = {size:,}: peak memory beyond the import"
    if done.returncode:
        return f"{what} not measured ({done.stderr.splitlines()[-1]})."
    peak, end = done.stdout.split()
    megabytes = int(peak) / 1e6
    # A run that was given up has not shown that it stays below.
    verdict = goal(megabytes, "<", 400) if end == "finished" else f"given up at {PATIENCE:g} s"
    return f"{what} {megabytes:.0f} MB ({verdict})."
