"""A server with an empty database, for the pages that call one and for tests of the service."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The address in the pages.
ADDRESS = "http://127.0.0.1:8000"


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of a server with an empty database."""
    command = [sys.executable, "-m", "matroid_bandits", "serve", "--port", "0"]
    command += ["--database", str(folder / "bandits.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())[0]
        finally:
            process.terminate()
            process.wait(30)
