"""The command ``matroid-bandits``.

It is not in the package, which takes a moment to import: Ctrl-C is answered from the first line on.
"""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; return its exit status."""
    try:
        from matroid_bandits.cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201
        return 130
