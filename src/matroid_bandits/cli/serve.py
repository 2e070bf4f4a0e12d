"""``matroid-bandits serve``, ``demo`` and ``keys``."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matroid_bandits._tables import aligned
from matroid_bandits.cli.options import nonempty, whole_number
from matroid_bandits.cli.texts import echo

__all__ = ["DATABASE", "add_database", "add_to"]

# matroid_bandits.service is imported in the functions below: it needs the extra of this name, which
# the other commands do not, and takes a while.

DATABASE = "bandits.sqlite"
KEYS = "bandits.keys"
_ROLES = ("reader", "writer", "admin")
_LEVELS = ("debug", "info", "warning", "error")


def add_to(commands: Any) -> None:
    """Add the commands."""
    serve = commands.add_parser(
        "serve",
        help="serve bandits over HTTP",
        description="Serve bandits over HTTP: decisions, feedback, a dashboard at /. All that "
        "happens is kept in the database; a restart goes on where the last one ended. Ctrl-C ends "
        "it.",
        epilog="example: matroid-bandits serve --database bandits.sqlite --port 8000",
        allow_abbrev=False,
    )
    add_database(serve)
    _add_address(serve)
    serve.add_argument(
        "--keys",
        type=nonempty,
        metavar="FILE",
        help="API keys, made by `matroid-bandits keys add`; without it, everybody who reaches the "
        "server may do everything, and it must not be reachable from other machines",
    )
    serve.add_argument(
        "--log-level",
        choices=_LEVELS,
        default="warning",
        help="what is logged, as lines of JSON on standard error; info has a line for each "
        "request (default: warning)",
    )
    serve.set_defaults(run=_serve, parser=serve)
    demo = commands.add_parser(
        "demo",
        help="serve two example bandits, with visitors, to look at the dashboard",
        description="Serve two example bandits, a news page and a backbone network, in a temporary "
        "database, with visitors who click, and links that have latencies. With --url, send the "
        "visitors to a server that is running.",
        epilog="example: matroid-bandits demo --port 8000",
        allow_abbrev=False,
    )
    _add_address(demo)
    demo.add_argument("--url", help="a server that is running, such as http://127.0.0.1:8000")
    demo.add_argument("--key", help="an admin key, if that server needs one")
    demo.add_argument(
        "--rounds",
        type=whole_number(1, 10**6),
        default=20_000,
        help="how many decisions are made for each bandit, about 40 a second (default: 20000)",
    )
    demo.set_defaults(run=_demo, parser=demo)
    _add_keys(commands)


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the option for the database."""
    parser.add_argument(
        "--database",
        type=nonempty,
        default=DATABASE,
        metavar="FILE_OR_URL",
        help="a file of SQLite, which is made if it is not there, or "
        f"postgresql://user:password@host/name (default: {DATABASE})",
    )


def _add_address(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535),
        default=8000,
        help="the port; 0: any that is free (default: 8000)",
    )


def _serve(options: argparse.Namespace) -> int:
    import asyncio  # noqa: PLC0415

    from matroid_bandits.service.errors import (  # noqa: PLC0415
        ServiceError,
        UnavailableError,
    )
    from matroid_bandits.service.server import Server, check_store  # noqa: PLC0415
    from matroid_bandits.service.stores import SchemaError  # noqa: PLC0415

    try:
        server = Server(
            options.database,
            host=options.host,
            port=options.port,
            keys=options.keys,
            log_level=options.log_level,
        )
        try:
            store = asyncio.run(check_store(options.database))
        except BaseException:
            server.close()
            raise
    except UnavailableError as error:
        options.parser.error(f"the database cannot be used: {error.reason}")
    except (ValueError, SchemaError, ServiceError) as error:
        options.parser.error(str(error))
    keys = "no keys needed" if options.keys is None else f"keys from {options.keys}"
    server.run(
        lambda: echo(
            f"serving at {server.url} ({store}; {keys}). Dashboard: {server.url}/  Ctrl-C ends it."
        )
    )
    echo("stopped")
    return 0


def _demo(options: argparse.Namespace) -> int:
    from matroid_bandits.service.demo import Visitors  # noqa: PLC0415
    from matroid_bandits.service.server import Server  # noqa: PLC0415

    if options.url is not None:
        visitors = Visitors(options.url, options.key, options.rounds)
        echo(f"sending visitors to {options.url}. Ctrl-C ends it.")
        visitors.run()
        return 0
    with TemporaryDirectory() as folder:
        try:
            server = Server(Path(folder) / "demo.sqlite", host=options.host, port=options.port)
        except ValueError as error:
            options.parser.error(str(error))
        visitors = Visitors(server.url, None, options.rounds)

        def started() -> None:
            echo(f"look at {server.url}/  Ctrl-C ends it; nothing is kept.")
            visitors.start()

        server.run(started)
        visitors.stop()
    echo("stopped")
    return 0


# ---- keys ----


def _add_keys(commands: Any) -> None:
    keys = commands.add_parser(
        "keys",
        help="make, list and remove API keys",
        description="Make, list and remove the API keys of a server. Hashes of them are kept in a "
        "file, which `matroid-bandits serve --keys FILE` reads; changes take effect at once.",
        epilog="example: matroid-bandits keys add website --role writer",
        allow_abbrev=False,
    )
    actions = keys.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = actions.add_parser(
        "add",
        help="make a key and show it, once",
        description="Make a key and show it. It is shown only now.",
        allow_abbrev=False,
    )
    add.add_argument("name", metavar="NAME", help="whose key it is")
    add.add_argument(
        "--role",
        choices=_ROLES,
        help="reader: looks at everything; writer: also decides and reports rewards; admin: also "
        "makes and changes bandits",
    )
    listing = actions.add_parser("list", help="list the keys", allow_abbrev=False)
    remove = actions.add_parser("remove", help="remove a key", allow_abbrev=False)
    remove.add_argument("name", metavar="NAME", help="whose key it is")
    for parser, run in ((add, _add_key), (listing, _list_keys), (remove, _remove_key)):
        parser.add_argument(
            "--keys",
            type=nonempty,
            default=KEYS,
            metavar="FILE",
            help=f"the file (default: {KEYS})",
        )
        parser.set_defaults(run=run, parser=parser)


def _add_key(options: argparse.Namespace) -> int:
    from matroid_bandits.service.keys import KeyFile  # noqa: PLC0415

    if options.role is None:
        options.parser.error(f"--role is missing: one of {', '.join(_ROLES)}")
    try:
        key = KeyFile(options.keys).add(options.name, options.role)
    except ValueError as error:
        options.parser.error(str(error))
    echo(f"the key of {options.name} ({options.role}), shown only now:\n{key}")
    echo(f"its hash is in {options.keys}; start the server with --keys {options.keys}", error=True)
    return 0


def _list_keys(options: argparse.Namespace) -> int:
    from matroid_bandits.service.keys import KeyFile  # noqa: PLC0415

    try:
        keys = KeyFile(options.keys).read()
    except ValueError as error:
        options.parser.error(str(error))
    rows = [("name", "role", "made"), *((key.name, key.role, key.created) for key in keys)]
    echo("\n".join(aligned(rows, left=(0, 1, 2))))
    return 0


def _remove_key(options: argparse.Namespace) -> int:
    from matroid_bandits.service.keys import KeyFile  # noqa: PLC0415

    try:
        KeyFile(options.keys).remove(options.name)
    except ValueError as error:
        options.parser.error(str(error))
    echo(f"removed the key of {options.name}")
    return 0
