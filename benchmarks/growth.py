"""Time and memory against the size of the matroid."""

import subprocess
import sys
from statistics import mean

from benchmarks import long_run
from benchmarks.long_run import BLOCKS, FAMILIES, LONGEST_BLOCK, WARM_UP
from benchmarks.tables import Table, Timing, goal, seconds

SIZES = (1_000, 10_000, 100_000, 1_000_000)
AT_LEAST = 20_000  # elements a measurement, so that small matroids take several runs
MEANS = {"settled": True, "exploring": False}

MEMORY_REMARK = (
    "The goal is for the long run. Exploring, what grows is the price of memory: a round touches "
    "an element that is in no cache, at a random place among n; and new leaders are more frequent."
)


def measure(*, quick: bool = False) -> Table:
    """A round in the long run, the first rounds, and memory, for growing matroids."""
    sizes = SIZES[:2] if quick else SIZES
    return Table(
        name="growth",
        question="Does a round cost more when the matroid is larger?",
        method=(
            "MAUB on U(10,n), on ten groups of n/10 elements, one to be taken of each, and on "
            "graphs of 50 vertices with n edges drawn uniformly among the 1,225 pairs. After "
            f"{WARM_UP}n rounds, {BLOCKS} blocks of n rounds, {LONGEST_BLOCK:,} at most, are timed "
            "one after the other; growth is the ratio of minima to that of the smallest n. "
            "*Settled*: one basis is so far ahead that nothing else is tried any more, which is "
            "what rounds come to in the long run. *Exploring*: means uniform in [0.5, 1] as in the "
            "paper; nearly every round then tries another element, and leaders still change."
        ),
        columns=[
            *("matroid", "means", "n", "ns a round, min", "median", "growth", "goal"),
            *("new leaders in 1,000", "first rounds", "per element"),
        ],
        rows=[row for family in FAMILIES for means in MEANS for row in _rows(family, means, sizes)],
        remarks=[
            MEMORY_REMARK,
            "First rounds: from a new policy until every element has been observed.",
            f"Several seeds, at least {AT_LEAST:,} elements together, for the smaller n.",
            *(_memory(family, means, sizes[-1]) for family in FAMILIES for means in MEANS),
        ],
    )


def _rows(family: str, means: str, sizes: tuple[int, ...]) -> list[list[str]]:
    rows = []
    base = 0.0
    for n in sizes:
        matroid = FAMILIES[family](n)
        seeds = range(min(20, max(1, AT_LEAST // n)))
        runs = [long_run.long_run(matroid, seed, settled=MEANS[means]) for seed in seeds]
        block = Timing.of([mean(times) for times in zip(*(r.blocks for r in runs), strict=True)])
        first = mean(r.first for r in runs)
        base = base or block.least
        growth = block.least / base
        wanted = n > sizes[0] and MEANS[means]
        rows.append(
            [
                *(family, means, f"{n:,}"),
                *(f"{1e9 * block.least:,.0f}", f"{1e9 * block.median:,.0f}", f"{growth:.2f}"),
                goal(growth, "<=", 1.5) if wanted else "-",
                f"{1000 * mean(r.new_leaders for r in runs):.1f}",
                *(seconds(first), seconds(first / n)),
            ]
        )
    return rows


def _memory(family: str, means: str, size: int) -> str:
    """The peak of a fresh process that does nothing but one such run."""
    script = [sys.executable, long_run.__file__, family, str(size), means]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    megabytes = int(done.stdout) / 1e6
    what = f"{family}, {means}, n = {size:,}: peak memory beyond the import"
    return f"{what} {megabytes:.0f} MB ({goal(megabytes, '<', 400)})."
