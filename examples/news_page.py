"""Fill a news page: six slots by type, articles that come and go, clicks that come late or never.

Two world stories, one of each other type: a partition matroid. Clicks are reported 10 to 500 pages
later, one in twenty never. Needs pip install 'matroid-bandits[plots]'.
"""

import argparse
from collections import defaultdict, deque
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import matroid_bandits as mb

SLOTS = {"world": 2, "sport": 1, "culture": 1, "opinion": 1, "video": 1}
N, DAYS = 300, 10
PATIENCE = 600  # pages after which no more clicks are expected


def main(picture, horizon):
    rng = np.random.default_rng(1)
    types = [list(SLOTS)[5 * k // N] for k in range(N)]
    names = [f"{kind} {k}" for k, kind in enumerate(types)]
    appeal = rng.beta(1.5, 12, N)  # the chance of a click, unknown to the policy
    begin = np.sort(rng.uniform(-0.3, 0.9, (5, N // 5))).ravel() * horizon
    end = begin + rng.uniform(0.15, 0.6, N) * horizon
    by_day = rng.random(N) < 0.2  # licensed from 8 to 20 hours
    problem = mb.Problem(mb.PartitionMatroid(types, SLOTS), labels=names)
    policy = mb.MAUB(problem, index="beta")
    policy.observe(dict.fromkeys(names, (0.1, 10)))  # what is known of articles: 1 click in 10
    clicks, waiting = defaultdict(list), deque()
    curves = {name: np.zeros(horizon) for name in ("best possible", "MAUB", "random")}
    plan = np.full((N, horizon), np.nan)
    for t in range(horizon):
        hour = DAYS * 24 * t / horizon % 24
        available = (begin <= t) & (t < end) & (~by_day | ((hour >= 8) & (hour < 20)))
        page = policy.decide(available, allow_smaller=True)
        waiting.append(page)
        shown = problem.elements(page.elements)
        for article in shown[rng.random(len(shown)) < appeal[shown]]:
            if rng.random() > 0.05:
                clicks[t + rng.integers(10, 501)].append((page.id, names[article]))
        for page_id, name in clicks.pop(t, ()):
            policy.learn(page_id, {name: 1.0})
        if len(waiting) > PATIENCE:
            policy.expire(waiting.popleft(), reward=0.0)  # the others were not clicked
        if t == horizon // 2:  # the process ends, and another one starts
            with TemporaryDirectory() as folder:
                policy.save(Path(folder, "page.mb"))
                policy = mb.load(Path(folder, "page.mb"))
        # For the picture; the policy knows nothing of this.
        best, dice = (np.where(available, value, -1) for value in (appeal, rng.random(N)))
        best, dice = map(problem.matroid.max_weight_basis, (best, dice))
        for curve, basis in zip(curves.values(), (best, shown, dice), strict=True):
            curve[t] = appeal[basis[available[basis]]].sum()
        plan[available, t], plan[shown, t] = 0.15, 1

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 7), sharex=True, layout="constrained")
    for (name, curve), color in zip(curves.items(), ("black", "C0", "C1"), strict=True):
        print(f"{name}: {curve.mean():.3f} clicks on a page")
        steps = curve.reshape(100, -1).mean(axis=1), np.linspace(0, horizon, 101)
        top.stairs(*steps, baseline=None, ec=color, label=name)
    top.axvline(horizon // 2, color="gray", ls=":", label="restart")
    top.set(ylabel="expected clicks on a page", ylim=(0, None))
    top.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    look = {"cmap": "Blues", "vmin": 0, "interpolation": "nearest", "aspect": "auto"}
    bottom.imshow(plan[:, :: horizon // 500], extent=(0, horizon, N, 0), **look)
    bottom.set_yticks(np.arange(30, N, 60), SLOTS)
    bottom.set(xlabel="page", ylabel="articles: there (light), shown (dark)")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", nargs="?", default="news_page.png", help="where to draw")
    parser.add_argument("--horizon", type=int, default=20_000, help="pages, in hundreds")
    main(**vars(parser.parse_args()))
