"""Packages that are imported when they are first used."""

import subprocess
import sys

import pytest

import matroid_bandits as mb

CODE = """
import sys
import matroid_bandits as mb
for name in ("pandas", "polars", "narwhals", "matplotlib", "scipy", "pyarrow", "loky", "pooch"):
    assert name not in sys.modules, name
for name in ("asyncio", "fastapi", "http.client", "pydantic", "sqlite3"):
    assert name not in sys.modules, name
for name in ("datasets", "experiments", "service"):
    assert f"matroid_bandits.{name}" not in sys.modules
    assert name in dir(mb)
assert "load_study" in dir(mb.experiments)
assert "pandas" not in sys.modules
assert mb.experiments.load_study({"policies": ["OMM"], "instances": ["K4"]}).tasks()
assert len(mb.datasets.synthetic_catalog()) > 0
assert "synthetic_catalog" in dir(mb.datasets)
assert mb.Client("http://127.0.0.1:8000")
assert "fastapi" not in sys.modules
assert mb.service.create_app
"""


def test_no_separate_import_is_needed() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)


@pytest.mark.parametrize("package", [mb, mb.experiments, mb.datasets, mb.service])
def test_all_names_are_listed(package) -> None:
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert hasattr(package, name)


@pytest.mark.parametrize("package, name", [(mb, "simulat"), (mb.experiments, "load_studdy")])
def test_missing_names(package, name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'") as raised:
        getattr(package, name)
    # From these Python suggests a name.
    assert raised.value.name == name
    assert raised.value.obj is package
