"""A process that serves bandits until it is told to end."""

from __future__ import annotations

import gc
import ipaddress
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from matroid_bandits.service.app import LOOPBACK, create_app
from matroid_bandits.service.log_lines import set_up_logs
from matroid_bandits.service.protocol import BoundedProtocol
from matroid_bandits.service.settings import LIMITS, Limits
from matroid_bandits.service.stores import store_at

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["Server", "check_store", "is_loopback"]

# Requests that are under way get so many seconds when the process ends.
_PATIENCE = 10


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Server:
    """The service on an address.

    Parameters
    ----------
    database : path or str
    host : str
    port : int
        0: any that is free.
    keys : path, optional
        A file of keys; needed for any address but those of this machine.
    limits : Limits
    log_level : str
    """

    def __init__(
        self,
        database: str | os.PathLike[str],
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        keys: str | os.PathLike[str] | None = None,
        limits: Limits = LIMITS,
        log_level: str = "warning",
    ) -> None:
        if keys is None and not is_loopback(host):
            raise ValueError(
                f"{host} can be reached by others, and there are no keys: anybody could change "
                "everything. Make keys (matroid-bandits keys add NAME --role admin), and pass "
                "--keys FILE"
            )
        # With keys, it does not matter by which name it is called.
        hosts = None if keys is not None else {*LOOPBACK, host.strip("[]").lower()}
        self._app = create_app(database, keys=keys, hosts=hosts, limits=limits)
        self._log_level = log_level
        self._socket = _bound(host, port)
        name = f"[{host.strip('[]')}]" if ":" in host else host
        self.url = f"http://{name}:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            self._app,
            http=BoundedProtocol,
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
        self._server = _Announcing(config)

    def run(self, when_started: Callable[[], None] | None = None) -> None:
        """Serve until a signal comes; then finish what was begun.

        Parameters
        ----------
        when_started : callable, optional
            Called once requests are accepted.
        """
        set_up_logs(self._log_level)
        # The interpreter would look through all these objects again and again, while requests wait.
        self._app.openapi()
        gc.collect()
        gc.freeze()
        self._server.when_started = when_started
        # When it has ended, the server sends the signal once more: it must not end the process.
        signal.signal(signal.SIGTERM, _end)
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def close(self) -> None:
        """Give up the address, if it never runs."""
        self._socket.close()


class _Announcing(uvicorn.Server):
    """A server that says when it has started."""

    when_started: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started and self.when_started is not None:
            self.when_started()


def _end(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


async def check_store(database: str | os.PathLike[str]) -> str:
    """Connect to a database and bring its schema up to date; return what it is."""
    store = store_at(database)
    await store.open()
    try:
        return store.description
    finally:
        await store.close()


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens on an address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
    except OSError as error:
        listening.close()
        raise OSError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another "
            "--host or --port"
        ) from error
    return listening
