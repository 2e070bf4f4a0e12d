"""The tables of docs/explanation/large.md: ``python -m benchmarks.large_table results/large``."""

import sys

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from matroid_bandits.experiments import read_results

# The baseline, one exchange, all; and the default number, where that is another.
UCB = [
    "OMM(noise=0.2)",
    "MAUB(exchanges=one, noise=0.2)",
    "MAUB(exchanges=all, noise=0.2)",
    "MAUB(noise=0.2)",
]
KL = ["KLOSM", "MAUB(exchanges=one, index=kl)", "MAUB(exchanges=all, index=kl)", "MAUB(index=kl)"]
THOMPSON = ["CTS", "MAUB(exchanges=one, index=beta)", "MAUB(exchanges=all, index=beta)"]


def interval(values: npt.ArrayLike) -> tuple[float, float]:
    """The mean over the runs, and half of its 95 % confidence interval."""
    runs = np.asarray(values, dtype=np.float64)
    n = len(runs)
    if n < 2:
        return float(runs.mean()), float("nan")
    return float(runs.mean()), float(stdtrit(n - 1, 0.975) * runs.std(ddof=1) / np.sqrt(n))


def main(folder: str) -> None:
    """Print a table per index."""
    runs = read_results(folder).runs
    for policies in (UCB, KL, THOMPSON):
        others, versus = policies[:2], "the better other"
        if policies is THOMPSON:
            others, versus = policies[:1], "CTS"
        ratios = ["all", "default"][: len(policies) - 2]
        heads = [f"`{p}`" for p in policies] + [f"{name} / {versus}" for name in ratios]
        print(f"\n| | runs | {' | '.join(heads)} |")
        print("|---|" + "--:|" * (1 + len(heads)))
        mine = runs[runs["policy"].isin(policies)]
        for instance, some in mine.groupby("instance", sort=False):
            # Only runs that all policies have are compared.
            regrets = some.pivot_table(index="seed", columns="policy", values="regret").dropna()
            best = min(others, key=lambda policy: regrets[policy].mean())
            # The difference run by run, as a share of the mean that it is compared with.
            cells = ["{:,.0f} ± {:,.0f}".format(*interval(regrets[p])) for p in policies]
            for policy in policies[2:]:
                above = (regrets[policy] - regrets[best]) / regrets[best].mean()
                cells.append("{:.2f} ± {:.2f}".format(*interval(1 + above)))
            print(f"| {instance} | {len(regrets)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1])
