"""A news page that never stands still
===================================

Fill a news page: six slots by type, articles that come and go, clicks that come late or never.

Two world stories, one of each other type: a partition matroid. Clicks are reported 10 to 500 pages
later, one in twenty never. Needs pip install 'matroid-bandits[plots]'.
"""

import argparse
from collections import defaultdict, deque
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import matroid_bandits as mb

SLOTS = {"world": 2, "sport": 1, "culture": 1, "opinion": 1, "video": 1}
N, DAYS, PATIENCE = 300, 10, 600  # articles; after 600 pages, no more clicks are expected


def play(problem, appeal, available, expected):
    """Which articles are on every page, with `expected`, what is known of articles before."""
    rng = np.random.default_rng(2)
    policy = mb.MAUB(problem, index="beta")
    policy.observe(dict.fromkeys(problem.labels, expected))
    clicks, waiting, shown = defaultdict(list), deque(), np.zeros_like(available)
    for t in range(len(available)):
        waiting.append(page := policy.decide(available[t], allow_smaller=True, id=f"page {t}"))
        shown[t, problem.elements(page.elements)] = True
        for article in np.flatnonzero(shown[t] & (rng.random(N) < 0.95 * appeal)):
            clicks[t + rng.integers(10, 501)].append((page.id, problem.labels[article]))
        for page_id, name in clicks.pop(t, ()):
            policy.learn(page_id, {name: 1.0})
        if len(waiting) > PATIENCE:
            policy.expire(waiting.popleft(), reward=0.0)  # the others were not clicked
        if t == len(available) // 2:  # the process ends, and another one starts
            with TemporaryDirectory() as folder:
                policy.save(path := f"{folder}/page.mb")
                policy = mb.load(path)
    return shown


def main(picture, horizon):
    rng, horizon = np.random.default_rng(1), 500 * -(-horizon // 500)
    types = [list(SLOTS)[5 * k // N] for k in range(N)]
    names = [f"{kind} {k}" for k, kind in enumerate(types)]
    problem = mb.Problem(mb.PartitionMatroid(types, SLOTS), labels=names)
    appeal = rng.beta(1.5, 12, N)  # the chance of a click, unknown to the policy
    begin = np.sort(rng.uniform(-0.3, 0.9, (5, N // 5))).ravel() * DAYS
    end = begin + rng.uniform(0.15, 0.6, N) * DAYS
    by_day = rng.random(N) < 0.2  # licensed from 8 to 20 hours
    day = np.linspace(0, DAYS, horizon, endpoint=False)[:, np.newaxis]
    available = (begin <= day) & (day < end) & (~by_day | (abs(day % 1 - 7 / 12) < 1 / 4))
    pages = {
        "best possible": [problem.matroid.max_weight_basis(a * (appeal + 1)) for a in available],
        "MAUB, expects 1 click in 10": play(problem, appeal, available, (0.1, 10)),
        "MAUB, expects nothing": play(problem, appeal, available, (0.0, 0)),
        "random": [problem.matroid.max_weight_basis(a * rng.random(N)) for a in available],
    }
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 7), sharex=True, layout="constrained")
    for (name, shown), color in zip(pages.items(), ("black", "C0", "C2", "C1"), strict=True):
        value = [(a * appeal)[page].sum() for a, page in zip(available, shown, strict=True)]
        print(f"{name}: {np.mean(value):.3f} clicks on a page")
        mean, edges = np.reshape(value, (100, -1)).mean(axis=1), np.linspace(0, DAYS, 101)
        top.stairs(mean, edges, baseline=None, ec=color, label=name)
    top.axvline(DAYS / 2, color="gray", ls=":", label="restart")
    top.set(ylabel="expected clicks on a page", ylim=(0, None), xlim=(0, DAYS))
    top.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    shades = (available + 4 * pages["MAUB, expects 1 click in 10"]).reshape(500, -1, N).max(axis=1)
    bottom.imshow(shades.T, "Blues", aspect="auto", interpolation="nearest", extent=(0, DAYS, N, 0))
    bottom.set_yticks(np.arange(30, N, 60), SLOTS)
    bottom.set(xlabel="day", title="articles: available (light), shown by the first MAUB (dark)")
    figure.savefig(picture, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[2])
    parser.add_argument("picture", nargs="?", default="news_page.png", help="where to draw")
    parser.add_argument("--horizon", type=int, default=20_000, help="pages, in whole 500")
    main(**vars(parser.parse_args()))
