"""Servers as processes of their own, which tests start, kill and stop."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.error import URLError
from urllib.request import Request, urlopen

from . import launcher

__all__ = ["CONSTANTS", "PATIENCE", "ServerProcess", "asked", "logged_errors", "until"]

#: Seconds that anything may take before a test fails; much more than it takes.
PATIENCE = 60.0

#: For servers under load: snapshots all the time, and closed decisions are forgotten soon, so that
#: the log is asked.
CONSTANTS: dict[str, Any] = {
    "matroid_bandits.service.bandit_queue.SNAPSHOT_EVERY": 60,
    "matroid_bandits._core.policies.contract.decisions.MAX_CLOSED": 40,
}


class ServerProcess:
    """A process that runs ``matroid-bandits serve``.

    Parameters
    ----------
    database : Path or str
    folder : Path
        For what it writes to standard error.
    constants : dict
        Constants of modules that it changes: see `launcher`.
    """

    def __init__(
        self, database: Path | str, folder: Path, constants: dict[str, Any] | None = None
    ) -> None:
        self.url = ""
        self._errors = folder / "errors.log"
        self._lines: list[str] = []
        self._has_line = threading.Event()
        command = [sys.executable, launcher.__file__, json.dumps(constants or {}), "serve"]
        command += ["--database", str(database), "--port", "0"]
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line.decode())
            self._has_line.set()
        self._has_line.set()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_serving(self) -> Self:
        """Wait until it accepts requests."""
        self._has_line.wait(PATIENCE)
        found = re.search(r"serving at (\S+)", "".join(self._lines))
        assert found is not None, (self._lines, self._errors.read_text()[-3000:])
        self.url = found[1]
        return self

    def wait_until_ready(self) -> Self:
        """Wait until it has loaded all bandits."""
        self.wait_until_serving()
        until(lambda: asked(self.url, "/readyz")[0] == 200)
        return self

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()
        self._finish()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Ask it to end; its exit status, and what it has printed."""
        self._process.send_signal(how)
        self._process.wait(PATIENCE)
        return self._finish()

    def _finish(self) -> tuple[int, str]:
        status = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        return status, "".join(self._lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._finish()


def asked(url: str, path: str, body: Any = None, method: str | None = None) -> tuple[int, Any]:
    """The status and the content of one answer; status 0 if there is none."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url + path, data, method=method)
    try:
        with urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read())
    except URLError as error:
        status = getattr(error, "code", 0)
        content = None
        with suppress(AttributeError, ValueError):
            content = json.loads(error.read())  # type: ignore[attr-defined]
        with suppress(AttributeError):
            error.close()  # type: ignore[attr-defined]
        return status, content
    except (OSError, ValueError):
        return 0, None


def logged_errors(folder: Path) -> list[str]:
    """Lines of servers about their own faults."""
    lines = (folder / "errors.log").read_text().splitlines()
    return [line for line in lines if '"level": "error"' in line or "Traceback" in line]


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.01)
