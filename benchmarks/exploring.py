"""The same as `growth` while the policy explores: nearly every round tries another element."""

from benchmarks.growth import COLUMNS, MATROIDS, SIZES, peak_memory, rows
from benchmarks.long_run import BLOCKS, FAMILIES, LONGEST_BLOCK, WARM_UP
from benchmarks.tables import Table

WHAT_GROWS = (
    "What grows is the price of memory: a round touches an element that is in no cache, at a "
    "random place among n; and, for graphs, of new leaders, each with 1,225 classes to place."
)


def measure(*, quick: bool = False) -> Table:
    """Rounds after few observations of each element, and memory."""
    sizes = SIZES[:2] if quick else SIZES
    return Table(
        name="exploring",
        question="And while the policy still explores?",
        method=(
            f"{MATROIDS} Means uniform in [0.5, 1], noise 0.2, as in the paper: nearly every round "
            f"tries another element, and leaders still change. After {WARM_UP}n rounds, {BLOCKS} "
            f"blocks of n rounds, {LONGEST_BLOCK:,} at most, are timed one after the other; growth "
            "is the ratio of minima to that of the smallest n."
        ),
        columns=COLUMNS,
        rows=[row for family in FAMILIES for row in rows(family, sizes, settled=False)],
        remarks=[
            WHAT_GROWS,
            "The goal is that of the long run (growth.md), shown for comparison.",
            *(peak_memory(family, sizes[-1], settled=False) for family in FAMILIES),
        ],
    )
