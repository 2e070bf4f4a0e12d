"""What a round costs where means change, against the stationary policy, and against the size."""

from collections.abc import Callable
from time import perf_counter

import numpy as np

import matroid_bandits as mb
from benchmarks.growth import FAMILIES as MATROIDS_BY_NAME
from benchmarks.long_run import compiled, player
from benchmarks.tables import Table, Timing

SIZES = (1_000, 100_000)
BLOCKS = 5
# Rounds that are timed, after as many without; longer than the window.
ROUNDS = 20_000
WINDOW = 10_000
DISCOUNT = 0.9999

MEMORIES: dict[str, dict[str, object]] = {
    "none": {},
    f"window={WINDOW}": {"window": WINDOW},
    f"discount={DISCOUNT}": {"discount": DISCOUNT},
    'restart="glr"': {"restart": "glr"},
}
INDICES: dict[str, dict[str, object]] = {
    "ucb": {"noise": 0.05},
    "kl": {"index": "kl"},
    "ucbv": {"index": "ucbv"},
    "beta": {"index": "beta"},
}
