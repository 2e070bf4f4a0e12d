"""The command line: ``matroid-bandits`` and its commands."""

import sys
from collections.abc import Sequence

from matroid_bandits import __version__
from matroid_bandits.cli import gaps, listing, logs, serve, simulate, slurm, studies
from matroid_bandits.cli.options import Parser
from matroid_bandits.cli.texts import open_closed, silence

__all__ = ["main"]


def _parser() -> Parser:
    parser = Parser(
        prog="matroid-bandits",
        description="Matroid semi-bandits: learn the best allowed set of things to play.",
        epilog=f"example: {simulate.EXAMPLE}",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"matroid-bandits {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (studies, slurm, simulate, gaps, listing, serve, logs):
        module.add_to(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    open_closed()
    parser = _parser()
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0].startswith("--") and given[0] not in {"--help", "--version"}:
        # Otherwise the command would be said to be missing.
        parser.reject_unknown(given[0])
    options, unknown = parser.parse_known_args(given)
    if unknown:
        options.parser.reject_unknown(unknown[0])
    try:
        status: int = options.run(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print(f"{options.parser.prog}: too large for this machine's memory", file=sys.stderr)
        return 1
    except ImportError as error:
        # An extra is not installed; the message says which.
        print(f"{options.parser.prog}: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of a pipe (`| head`) has ended: the interpreter flushes to the null device.
        silence(sys.stdout)
        return 0
    except OSError as error:
        # A full disk, a folder that was removed.
        print(f"{options.parser.prog}: {error}", file=sys.stderr)
        return 1
    return status
