"""The tour runs, and shows what it says it shows.

``UPDATE_TOUR=1`` writes the outputs of this run into the notebook.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[2] / "docs" / "tutorial" / "tour.ipynb"

# The only numbers that depend on the machine: times, at any place, also in the columns of tables.
_SECONDS = re.compile(r"seconds=[\d.e-]+")
_CELL = re.compile(r"(seconds</td><td[^>]*>)[^<]*(</td>)")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_tour(tmp_path, monkeypatch) -> None:
    # The kernel is this Python with this package, whatever kernels are installed.
    folder = tmp_path / "kernels" / "tour"
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "tour", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    stored = nbformat.read(TOUR, as_version=4)
    fresh = nbformat.read(TOUR, as_version=4)
    client = NotebookClient(
        fresh, timeout=300, kernel_name="tour", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    if os.environ.get("UPDATE_TOUR"):
        _write(stored, fresh)
    assert len(stored.cells) == len(fresh.cells)
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        if before.cell_type == "code":
            assert _shown(before) == _shown(after), before.source


def test_stored_outputs_are_small_and_name_no_machine() -> None:
    text = TOUR.read_text()
    assert len(text) < 300_000
    for private in ("/tmp", "/home", "/root", "/Users", str(Path.home()), "Traceback"):
        assert private not in text, private


def _write(stored: Any, fresh: Any) -> None:
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        if before.cell_type == "code":
            before.outputs = after.outputs
            before.execution_count = after.execution_count
    nbformat.write(stored, TOUR)


def _shown(cell: Any) -> list[dict[str, str]]:
    """What a cell shows, without times; of pictures only that there is one."""
    return [_texts(output) for output in cell.outputs]


def _texts(output: Any) -> dict[str, str]:
    if output.output_type == "stream":
        return {output.name: output.text}
    return {
        kind: "" if kind.startswith("image/") else _without_times(text)
        for kind, text in output.data.items()
    }


def _without_times(text: str) -> str:
    return _table_without_times(_CELL.sub(r"\1\2", _SECONDS.sub("seconds", text)))


def _table_without_times(text: str) -> str:
    """A table whose column of seconds is empty."""
    rows = re.findall(r"<tr.*?</tr>", text, re.DOTALL)
    header = re.findall(r"<th[^>]*>(.*?)</th>", rows[0]) if rows else []
    if "seconds" not in header:
        return text
    column = header.index("seconds")
    return "\n".join(
        str([c for k, c in enumerate(re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)) if k != column])
        for row in rows
    )
