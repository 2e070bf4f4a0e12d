"""How many seeds a seeded test runs over."""

import os


def seeds(count: int) -> range:
    """`count` seeds, ten times as many with ``SEEDS=all``."""
    return range(count * (10 if os.environ.get("SEEDS") == "all" else 1))
