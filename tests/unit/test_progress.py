"""The progress bar: on terminals, in notebooks, and nowhere else."""

import io
import sys
from types import SimpleNamespace

import pytest

from matroid_bandits import _progress
from matroid_bandits._progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _pretend(monkeypatch, *, kernel: object, stream: io.StringIO) -> None:
    """A shell of IPython with this kernel, and standard error that is kept."""
    shell = SimpleNamespace(kernel=kernel) if kernel is not None else SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "stderr", stream)


def _run() -> Progress:
    with Progress(3, unit="run") as progress:
        for _ in range(3):
            progress.now("x" * 100)
            progress.done()
    return progress


def test_nothing_where_output_is_piped(monkeypatch) -> None:
    stream = io.StringIO()
    _pretend(monkeypatch, kernel=None, stream=stream)
    assert _run()._bar is None
    assert not stream.getvalue()


def test_a_bar_on_a_terminal(monkeypatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    _run()
    assert "2/3" in stream.getvalue()


@pytest.fixture
def _no_widgets(monkeypatch) -> None:
    monkeypatch.setattr(_progress, "find_spec", lambda name: None)


@pytest.mark.usefixtures("_no_widgets")
def test_text_in_a_notebook_without_widgets(monkeypatch) -> None:
    stream = io.StringIO()
    _pretend(monkeypatch, kernel=object(), stream=stream)
    assert _progress.in_notebook()
    _run()
    assert "2/3" in stream.getvalue()


def test_a_widget_in_a_notebook(monkeypatch) -> None:
    made = []

    class Widget:
        def __init__(self, **options) -> None:
            made.append(options)
            self.steps = 0

        def set_description(self, text: str) -> None:
            assert len(text) == 40

        def update(self, steps: int) -> None:
            self.steps += steps

        def close(self) -> None:
            assert self.steps == 3

    stream = io.StringIO()
    _pretend(monkeypatch, kernel=object(), stream=stream)
    monkeypatch.setattr(_progress, "find_spec", lambda name: name == "ipywidgets")
    monkeypatch.setitem(sys.modules, "tqdm.notebook", SimpleNamespace(tqdm=Widget))
    _run()
    assert made[0]["total"] == 3
    assert not stream.getvalue()


def test_text_where_widgets_are_broken(monkeypatch) -> None:
    stream = io.StringIO()
    _pretend(monkeypatch, kernel=object(), stream=stream)
    monkeypatch.setattr(_progress, "find_spec", lambda name: True)
    monkeypatch.setitem(sys.modules, "tqdm.notebook", None)
    _run()
    assert "2/3" in stream.getvalue()


def test_quiet_in_a_notebook(monkeypatch) -> None:
    stream = io.StringIO()
    _pretend(monkeypatch, kernel=object(), stream=stream)
    with Progress(3, unit="run", quiet=True) as progress:
        progress.done()
    assert not stream.getvalue()


def test_a_script_is_no_notebook(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not _progress.in_notebook()
    # IPython on a terminal has no kernel.
    _pretend(monkeypatch, kernel=None, stream=io.StringIO())
    assert not _progress.in_notebook()
