"""``matroid-bandits``, with some constants changed; it ends when its standard input closes.

The first argument is an object of JSON: by module and name, the values. So snapshots are saved
often, waiting is short, and no process is left when tests are killed.
"""

import json
import os
import sys
import threading
from importlib import import_module

from matroid_bandits.cli import main

__all__ = ["change"]


def change(values: dict[str, object]) -> None:
    """Set constants of modules, such as ``{"package.module.NAME": 3}``."""
    for place, value in values.items():
        module, _, name = place.rpartition(".")
        if not hasattr(import_module(module), name):
            raise AttributeError(f"{module} has no {name}")
        setattr(import_module(module), name, value)


def _end_with_input() -> None:
    # Not by sys.stdin, whose lock this thread would hold when the process ends.
    while os.read(0, 1024):
        pass
    os._exit(99)


if __name__ == "__main__":
    change(json.loads(sys.argv[1]))
    threading.Thread(target=_end_with_input, daemon=True).start()
    sys.exit(main(sys.argv[2:]))
