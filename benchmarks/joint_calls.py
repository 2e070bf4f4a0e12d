"""Oracle calls of MAUB with all exchanges in a round against one, and as Algorithm 2 is written."""

from benchmarks.instances import movies_remark, paper_instances
from benchmarks.oracle_calls import HORIZON, calls
from benchmarks.tables import Table, goal
from matroid_bandits.experiments import Instance

INSTANCES = ("K20", "linear")
FITTING = 0.2  # the noise of the rewards
NOISES = (FITTING, 1.0)


def measure(*, quick: bool = False) -> Table:
    """Both, by default and as written, for a noise level that fits and for that of the paper."""
    seeds, horizon = (range(1), HORIZON // 10) if quick else (range(3), HORIZON)
    return Table(
        name="joint_calls",
        question="How many oracle calls do several exchanges in a round need?",
        method=(
            f"Oracle calls of MAUB in {horizon:,} rounds, mean over seeds 0 to {seeds[-1]}, with "
            '`exchanges="one"` and `"all"`, on matroids that can only tell whether a set is '
            f"independent (`OracleMatroid`). The noise of the rewards is {FITTING}; MAUB is told "
            'so, or assumes 1 as in the paper. Algorithm 2: the calls with `neighborhood="paper"`, '
            "on the same plays; a run whose regret differs in any bit is an error."
        ),
        columns=[
            *("instance", "noise", "one", "all", "all / one", "goal", "ratio over the seeds"),
            *("one, Algorithm 2", "all, Algorithm 2"),
        ],
        rows=[
            _row(instance, noise, seeds, horizon)
            for instance in paper_instances(*INSTANCES)
            for noise in NOISES
        ],
        remarks=[
            "Counts are exact and the same on every machine; there is nothing to repeat.",
            movies_remark(),
        ],
    )


def _row(instance: Instance, noise: float, seeds: range, horizon: int) -> list[str]:
    one = [calls(instance, seed, horizon, exchanges="one", noise=noise) for seed in seeds]
    every = [calls(instance, seed, horizon, exchanges="all", noise=noise) for seed in seeds]
    (written, lean), (all_written, all_lean) = (
        [sum(made) / len(seeds) for made in zip(*pairs, strict=True)] for pairs in (one, every)
    )
    ratios = [many / single for (_, many), (_, single) in zip(every, one, strict=True)]
    ratio = all_lean / lean
    return [
        *(instance.name, f"{noise:g}", f"{lean:,.0f}", f"{all_lean:,.0f}", f"{ratio:.2f}"),
        goal(ratio, "<=", 3) if noise == FITTING else "-",
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        *(f"{written:,.0f}", f"{all_written:,.0f}"),
    ]
