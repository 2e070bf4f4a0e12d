"""``matroid-bandits log``, ``replay`` and ``backup``: the logs of bandits that are served."""

import argparse
import sys
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from matroid_bandits._files import replacing
from matroid_bandits._progress import Progress
from matroid_bandits.cli.options import nonempty, whole_number
from matroid_bandits.cli.serve import add_database
from matroid_bandits.cli.texts import echo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from matroid_bandits.service import EventStore

__all__ = ["add_to"]


def add_to(commands: Any) -> None:
    """Add the commands."""
    log = commands.add_parser(
        "log",
        help="write the log of a bandit that is served",
        description="Write the log of a bandit: JSON lines, an event each, to standard output or "
        "to a file; or a table in Parquet, a row for each element that was decided for or "
        "rewarded. The server may be running.",
        epilog="example: matroid-bandits log news --format parquet --output news.parquet",
        allow_abbrev=False,
    )
    log.add_argument("bandit", metavar="BANDIT", help="its name")
    log.add_argument("--format", choices=("jsonl", "parquet"), default="jsonl")
    log.add_argument("--output", type=nonempty, metavar="FILE", help="by default standard output")
    log.add_argument(
        "--after",
        type=whole_number(0),
        default=0,
        metavar="NUMBER",
        help="only events after this number",
    )
    add_database(log)
    log.set_defaults(run=_log, parser=log)
    replay = commands.add_parser(
        "replay",
        help="rebuild bandits from their logs, and compare",
        description="Rebuild bandits from their logs alone, compare them with what the newest "
        "snapshot leads to, and say whether this version would decide the same. Exit status 1 if "
        "a snapshot is wrong.",
        epilog="example: matroid-bandits replay --database bandits.sqlite",
        allow_abbrev=False,
    )
    replay.add_argument("bandits", nargs="*", metavar="BANDIT", help="by default all")
    add_database(replay)
    replay.set_defaults(run=_replay, parser=replay)
    backup = commands.add_parser(
        "backup",
        help="copy all logs to another database, while the server runs",
        description="Copy the logs of all bandits to a file of SQLite, or to another PostgreSQL; "
        "the server may be running. A copy that is there already is continued. "
        "`matroid-bandits serve --database TARGET` serves from the copy.",
        epilog="example: matroid-bandits backup monday.sqlite --database bandits.sqlite",
        allow_abbrev=False,
    )
    backup.add_argument(
        "target", type=nonempty, metavar="TARGET", help="a file, or postgresql://..."
    )
    add_database(backup)
    backup.set_defaults(run=_backup, parser=backup)


@asynccontextmanager
async def _opened(database: str) -> "AsyncIterator[EventStore]":
    from matroid_bandits.service import store_at  # noqa: PLC0415

    store = store_at(database)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def _run(options: argparse.Namespace, work: Any) -> int:
    """Run a coroutine; its errors end the command with a line."""
    if "://" not in options.database and not Path(options.database).is_file():
        options.parser.error(
            f"there is no database {options.database}; name the one of the server: --database"
        )
    import asyncio  # noqa: PLC0415

    from matroid_bandits.service.errors import (  # noqa: PLC0415
        ServiceError,
        UnavailableError,
    )
    from matroid_bandits.service.stores import SchemaError  # noqa: PLC0415

    try:
        status: int = asyncio.run(work(options))
    except UnavailableError as error:
        options.parser.error(f"the database cannot be used: {error.reason}")
    except (ValueError, SchemaError, ServiceError) as error:
        options.parser.error(str(error))
    return status


def _log(options: argparse.Namespace) -> int:
    return _run(options, _write_log)


async def _write_log(options: argparse.Namespace) -> int:
    from matroid_bandits.service.bandit_queue import unknown_bandit  # noqa: PLC0415
    from matroid_bandits.service.export import json_lines, write_parquet  # noqa: PLC0415

    is_table = options.format == "parquet"
    if is_table and options.output is None and sys.stdout.isatty():
        raise ValueError("a table in Parquet is not for a terminal: --output FILE")
    async with _opened(options.database) as store:
        if not await store.events(options.bandit, 0, 1):
            names = ", ".join(row.name for row in await store.bandits()) or "none"
            raise ValueError(
                f"{str(unknown_bandit(options.bandit)).partition(';')[0]}; there are: {names}"
            )
        with ExitStack() as stack:
            file: BinaryIO = sys.stdout.buffer
            if options.output is not None:
                file = stack.enter_context(replacing(Path(options.output)))
            if is_table:
                await write_parquet(store, options.bandit, file, options.after)
            else:
                async for lines in json_lines(store, options.bandit, options.after):
                    file.write(lines)
            file.flush()
    if options.output is not None:
        echo(f"the log of {options.bandit} is in {options.output}")
    return 0


def _replay(options: argparse.Namespace) -> int:
    return _run(options, _replay_all)


async def _replay_all(options: argparse.Namespace) -> int:
    from matroid_bandits.service.errors import UnavailableError, in_place  # noqa: PLC0415
    from matroid_bandits.service.replay import replay  # noqa: PLC0415

    async with _opened(options.database) as store:
        rows = {row.name: row.last_number for row in await store.bandits()}
        for name in options.bandits:
            if name not in rows:
                raise ValueError(f"there is no bandit {name!r}; there are: {', '.join(rows)}")
        names = options.bandits or list(rows)
        is_wrong = False
        with Progress(sum(rows[name] for name in names), unit="event") as progress:
            for name in names:
                progress.now(name)
                try:
                    result = await replay(store, name, progress.done)
                except UnavailableError:
                    raise
                except Exception as error:  # noqa: BLE001  (the others can be compared)
                    progress.print(f"{name}: cannot be loaded by this version: {in_place(error)}")
                    is_wrong = True
                    continue
                progress.print(str(result))
                is_wrong |= result.difference is not None
    return 1 if is_wrong else 0


def _backup(options: argparse.Namespace) -> int:
    return _run(options, _copy)


async def _copy(options: argparse.Namespace) -> int:
    from matroid_bandits.service.backup import copy_store  # noqa: PLC0415

    if options.target == options.database:
        raise ValueError("the target is the database itself; name another one")
    async with (
        _opened(options.database) as source,
        _opened(options.target) as target,
    ):
        total = sum(row.last_number for row in await source.bandits())
        with Progress(total, unit="event") as progress:
            copied = await copy_store(source, target, progress.done)
    echo(f"{sum(copied.values()):,} events of {len(copied):,} bandits are in {target.description}")
    return 0
