"""Oracle calls by default against Algorithm 2 as written, on the same plays."""

from typing import Literal

import matroid_bandits as mb
from benchmarks.instances import movies_remark, paper_instances
from benchmarks.tables import Table, goal
from matroid_bandits.experiments import Instance

HORIZON = 100_000

# The paper's instances with many oracle calls, and the goal for the factor, 0 for none.
GOALS = {"K20": 100, "K15": 50, "linear": 15, "U(15,30)": 15, "U(7,15)": 0, "K7": 0}


def measure(*, quick: bool = False) -> Table:
    """Algorithm 2 as written against the default, on the same plays."""
    seeds, horizon = (range(1), HORIZON // 10) if quick else (range(5), HORIZON)
    _check_that_a_wrapped_matroid_counts_the_same()
    rows = []
    for instance in paper_instances(*GOALS):
        pairs = [calls(instance, seed, horizon) for seed in seeds]
        written, lean = (sum(made) / len(seeds) for made in zip(*pairs, strict=True))
        limit = GOALS[instance.name]
        verdict = goal(written / lean, ">=", limit) if limit else "-"
        cells = [f"{written:,.0f}", f"{lean:,.0f}", f"{written / lean:.1f}", verdict]
        least, most = (f(w / a for w, a in pairs) for f in (min, max))
        rows.append([instance.name, *cells, f"{least:.1f} to {most:.1f}"])
    return Table(
        name="oracle_calls",
        question="How many oracle calls does the default save?",
        method=(
            f"Oracle calls of MAUB in {horizon:,} rounds, mean over seeds 0 to {seeds[-1]}: with "
            'neighborhoods recomputed as in Algorithm 2 of the paper (`neighborhood="paper"`), '
            "and by default, where answers are remembered and carried over. The default is given "
            "a matroid that can only tell whether a set is independent (`OracleMatroid`), and "
            "must play the same: a run whose regret differs in any bit is an error."
        ),
        columns=["instance", "Algorithm 2", "default", "ratio", "goal", "ratio over the seeds"],
        rows=rows,
        remarks=[
            "Built-in matroids know their circuits, and by default need no calls for partners.",
            "Counts are exact and the same on every machine; there is nothing to repeat.",
            movies_remark(),
        ],
    )


def calls(
    instance: Instance,
    seed: int,
    horizon: int,
    *,
    exchanges: Literal["one", "all"] = "one",
    noise: float = 1.0,
) -> tuple[int, int]:
    """Oracle calls of one run: as Algorithm 2 is written, and by default."""
    environment = instance.environment_for(seed)
    # Counted by the compiled kernel: millions of calls of a Python oracle would take minutes.
    paper = mb.MAUB(instance.matroid, neighborhood="paper", exchanges=exchanges, noise=noise)
    lean = mb.MAUB(_membership_only(instance.matroid), exchanges=exchanges, noise=noise)
    regrets = [mb.simulate(p, environment, horizon, seed=seed).regret for p in (paper, lean)]
    if regrets[0].tobytes() != regrets[1].tobytes():
        raise RuntimeError(f"{instance.name}, seed {seed}: the two do not play the same")
    return paper.oracle_calls, lean.oracle_calls


def _check_that_a_wrapped_matroid_counts_the_same() -> None:
    (k5,) = paper_instances("K5")
    wrapped = _membership_only(k5.matroid)
    policies = [mb.MAUB(m, neighborhood="paper") for m in (k5.matroid, wrapped)]
    for policy in policies:
        mb.simulate(policy, k5.environment_for(0), 2_000)
    counted = {policy.oracle_calls for policy in policies}
    if len(counted) > 1:
        raise RuntimeError(f"a matroid and its wrapper are counted differently: {counted}")


def _membership_only(matroid: mb.Matroid) -> mb.OracleMatroid:
    return mb.OracleMatroid(matroid.size, matroid.is_independent)
