"""Time and memory against the size of the matroid, in the long run."""

import subprocess
import sys
from statistics import mean

from benchmarks import long_run
from benchmarks.long_run import BLOCKS, FAMILIES, LONGEST_BLOCK, SETTLED_AFTER
from benchmarks.tables import Table, Timing, goal, seconds

SIZES = (1_000, 10_000, 100_000, 1_000_000)
MATROIDS = (
    "MAUB on U(10,n), on ten groups of n/10 elements, one to be taken of each, and on graphs of 50 "
    "vertices with n edges drawn uniformly among the 1,225 pairs."
)
COLUMNS = [
    *("matroid", "n", "ns a round, min", "median", "growth", "goal"),
    *("new leaders in 1,000", "initial rounds", "per element"),
]


def measure(*, quick: bool = False) -> Table:
    """Rounds after the last change of leader, the initial rounds, and memory."""
    sizes = SIZES[:2] if quick else SIZES
    return Table(
        name="growth",
        question="Does a round cost more when the matroid is larger?",
        method=(
            f"{MATROIDS} One basis is so far ahead that nothing else is tried any more, which is "
            f"what rounds come to in the long run. After {SETTLED_AFTER:,} rounds, {BLOCKS} blocks "
            f"of {LONGEST_BLOCK:,} are timed one after the other; growth is the ratio of minima to "
            "that of the smallest n."
        ),
        columns=COLUMNS,
        rows=[row for family in FAMILIES for row in rows(family, sizes, settled=True)],
        remarks=[
            "Initial rounds: from a new policy until every element has been observed.",
            "Rounds that still explore: exploring.md. Other indices: index_growth.md.",
            *(peak_memory(family, sizes[-1], settled=True) for family in FAMILIES),
        ],
    )


def rows(family: str, sizes: tuple[int, ...], *, settled: bool) -> list[list[str]]:
    """One family of matroids, from the smallest to the largest."""
    found = []
    base = 0.0
    for n in sizes:
        matroid = FAMILIES[family](n)
        # Small matroids take several runs.
        runs = [
            long_run.long_run(matroid, seed, settled=settled) for seed in range(max(1, 5_000 // n))
        ]
        block = Timing.of([mean(times) for times in zip(*(r.blocks for r in runs), strict=True)])
        first = mean(r.first for r in runs)
        base = base or block.least
        growth = block.least / base
        found.append(
            [
                *(family, f"{n:,}"),
                *(f"{1e9 * block.least:,.0f}", f"{1e9 * block.median:,.0f}", f"{growth:.2f}"),
                goal(growth, "<=", 1.5) if n > sizes[0] else "-",
                f"{1000 * mean(r.new_leaders for r in runs):.1f}",
                *(seconds(first), seconds(first / n)),
            ]
        )
    return found


def peak_memory(family: str, size: int, *, settled: bool) -> str:
    """The memory of a new process with one such run."""
    means = "settled" if settled else "exploring"
    script = [sys.executable, long_run.__file__, family, str(size), means]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    megabytes = int(done.stdout) / 1e6
    what = f"{family}, n = {size:,}: peak memory beyond the import"
    return f"{what} {megabytes:.0f} MB ({goal(megabytes, '<', 400)})."
