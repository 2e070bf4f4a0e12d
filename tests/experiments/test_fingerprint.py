"""Fingerprints: one change of data or code is another study, the same data is the same one."""

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.experiments import StudyError, load_study, read_results, run_study
from matroid_bandits.experiments.reading.fingerprint import fingerprint, plain

from ..seeds import seeds

Maker = Callable[[np.random.Generator], tuple[mb.Matroid, mb.Matroid]]


# ---- matroids: two that differ by one change ----


def other_than(rng: np.random.Generator, number: int, high: int) -> int:
    return int((number + rng.integers(1, high)) % high)


def uniform(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    rank = int(rng.integers(1, 10))
    return mb.UniformMatroid(rank, 10), mb.UniformMatroid(rank - 1, 10)


def groups(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    # Four elements of every group, one of which may leave.
    before = [e % 5 for e in range(20)]
    after = before.copy()
    element = int(rng.integers(20))
    after[element] = other_than(rng, before[element], 5)
    return mb.PartitionMatroid(before, 1), mb.PartitionMatroid(after, 1)


def capacities(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before = rng.integers(1, 3, 5).tolist()
    after = before.copy()
    after[rng.integers(5)] += 1
    of_element = [e % 5 for e in range(20)]
    return mb.PartitionMatroid(of_element, before), mb.PartitionMatroid(of_element, after)


def edges(cls: Any, rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before = rng.permutation([(i, j) for i in range(8) for j in range(i)])[:20].tolist()
    after = [list(edge) for edge in before]
    place = int(rng.integers(20))
    tail, head = before[place]
    after[place][1] = next(v for v in rng.permutation(8).tolist() if v not in {tail, head})
    return cls(map(tuple, before)), cls(map(tuple, after))


def vectors(rng: np.random.Generator, *, field: int | None, scale: float = 1) -> Any:
    before = rng.integers(-3, 4, (20, 4)) * scale
    after = before.copy()
    place = int(rng.integers(20))
    while np.linalg.matrix_rank(np.array([before[place], after[place]]) / scale) < 2:
        before[place], after[place] = (rng.integers(0, 2, (2, 4)) * scale).tolist()
    return mb.LinearMatroid(before, field=field), mb.LinearMatroid(after, field=field)


def neighbors(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before = [rng.choice(6, 2, replace=False).tolist() for _ in range(12)]
    after = [own.copy() for own in before]
    place = int(rng.integers(12))
    after[place] = [next(v for v in rng.permutation(6).tolist() if v not in before[place])]
    return mb.TransversalMatroid(before), mb.TransversalMatroid(after)


def arcs(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    senders, middle = range(10), ["u", "v", "w", "x"]
    before = [(e, middle[rng.integers(4)]) for e in senders]
    after = before.copy()
    place = int(rng.integers(10))
    after[place] = (place, next(m for m in middle if m != before[place][1]))
    return tuple(
        mb.GammoidMatroid([*own, *zip(middle, "abcd", strict=True)], list("abcd"), senders)
        for own in (before, after)
    )


def laminar(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before = [list(range(8)), list(range(8, 16)), [0, 1, 2, 3]]
    after = [before[0], before[1], [0, 1, 2, int(rng.integers(4, 8))]]
    return mb.LaminarMatroid(before, [4, 3, 2], 16), mb.LaminarMatroid(after, [4, 3, 2], 16)


def laminar_capacities(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    sets, before = [list(range(8)), list(range(8, 16)), [0, 1, 2, 3]], [5, 4, 2]
    after = before.copy()
    after[rng.integers(3)] -= 1
    return mb.LaminarMatroid(sets, before, 16), mb.LaminarMatroid(sets, after, 16)


def hyperplanes(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before, after = (sorted(rng.choice(30, 3, replace=False).tolist()) for _ in range(2))
    while before == after:
        after = sorted(rng.choice(30, 3, replace=False).tolist())
    return mb.PavingMatroid(3, 30, [before]), mb.PavingMatroid(3, 30, [after])


def oracle(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    def in_colors(colors: list[int]) -> mb.Matroid:
        return mb.OracleMatroid(len(colors), lambda s: len({colors[e] for e in s}) == len(s))

    before = rng.integers(0, 4, 9).tolist()
    after = before.copy()
    after[rng.integers(9)] += 4
    return in_colors(before), in_colors(after)


class OnePerColor(mb.Matroid):
    """A matroid of the user's."""

    def __init__(self, colors: list[int]) -> None:
        super().__init__(len(colors))
        self.colors = colors

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return len({self.colors[e] for e in elements}) == len(elements)


def own(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    before = rng.integers(0, 4, 9).tolist()
    after = before.copy()
    after[rng.integers(9)] += 4
    return OnePerColor(before), OnePerColor(after)


def minor(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    order = rng.permutation(30).tolist()
    whole = mb.PavingMatroid(3, 30, [[0, 1, 2]])
    elements, contracted = order[:8], order[8:9]
    if rng.random() < 0.5:
        return (
            mb.MinorMatroid(whole, elements, contracted),
            mb.MinorMatroid(whole, [*elements[1:], order[10]], contracted),
        )
    return (
        mb.MinorMatroid(whole, elements, contracted),
        mb.MinorMatroid(whole, elements, [order[10]]),
    )


def truncated(rng: np.random.Generator) -> tuple[mb.Matroid, mb.Matroid]:
    rank = int(rng.integers(1, 5))
    whole = catalog.complete_graph(7)
    return mb.TruncatedMatroid(whole, rank), mb.TruncatedMatroid(whole, rank + 1)


PARTS: dict[str, Maker] = {
    "uniform": uniform,
    "partition": groups,
    "partition, capacities": capacities,
    "graphic": partial(edges, mb.GraphicMatroid),
    "cographic": partial(edges, mb.CographicMatroid),
    "linear": partial(vectors, field=None),
    "linear over GF(2)": partial(vectors, field=2),
    "linear over GF(7)": partial(vectors, field=7),
    "linear, floats": partial(vectors, field=None, scale=0.37),
    "transversal": neighbors,
    "gammoid": arcs,
    "laminar": laminar,
    "laminar, capacities": laminar_capacities,
    "paving": hyperplanes,
    "oracle": oracle,
    "own": own,
    "minor": minor,
    "truncated": truncated,
}
COMPOSITIONS: dict[str, Callable[[mb.Matroid], mb.Matroid]] = {
    "directsum": lambda part: part + mb.PavingMatroid(3, 9, [[0, 1, 2]]),
    "dual": lambda part: part.dual(),
    "union": lambda part: part | mb.UniformMatroid(1, part.size),
    "minor of dual": lambda part: mb.MinorMatroid(part.dual(), range(part.size), []),
}


@pytest.mark.parametrize("kind", PARTS)
def test_one_change_of_a_matroid_is_another_matroid(kind: str) -> None:
    for seed in seeds(60):
        before, after = PARTS[kind](np.random.default_rng([seed, 21]))
        assert fingerprint(before) != fingerprint(after)
        (same, _) = PARTS[kind](np.random.default_rng([seed, 21]))
        # Whatever has been worked out already.
        assert same.rank == len(same.max_weight_basis(range(same.size)))
        assert fingerprint(before) == fingerprint(same)


@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("kind", PARTS)
def test_one_change_of_a_part_is_another_composition(kind: str, composition: str) -> None:
    compose = COMPOSITIONS[composition]
    for seed in seeds(10):
        before, after = map(compose, PARTS[kind](np.random.default_rng([seed, 22])))
        same, _ = map(compose, PARTS[kind](np.random.default_rng([seed, 22])))
        assert fingerprint(before) != fingerprint(after)
        assert fingerprint(before) == fingerprint(same)


def test_every_class_of_matroids_is_tried() -> None:
    tried = {name.partition(",")[0].partition(" ")[0] for name in (*PARTS, *COMPOSITIONS)}
    assert set(catalog.MATROIDS) <= tried


@pytest.mark.parametrize("family", catalog.MATROIDS)
def test_random_matroids_of_one_seed_are_the_same(family: str) -> None:
    one, same, other = (catalog.matroid(f"{family}(30)", seed=seed) for seed in (3, 3, 4))
    assert fingerprint(one) == fingerprint(same) != fingerprint(other)


def test_another_matroid_is_another_study(tmp_path: Path) -> None:
    def study(hyperplane: list[int]) -> Any:
        matroid = mb.PavingMatroid(3, 30, [hyperplane])
        instances = [{"name": "paving", "matroid": matroid}]
        return load_study({"horizon": 20, "runs": 1, "policies": ["OMM"], "instances": instances})

    run_study(study([0, 1, 2]), tmp_path, jobs=1)
    assert len(run_study(study([0, 1, 2]), tmp_path, jobs=1).sessions) == 1
    with pytest.raises(StudyError, match=r"belongs to another study:\n  instances.paving.content"):
        run_study(study([5, 6, 7]), tmp_path, jobs=1)


def test_folders_from_before_fingerprints_can_be_read(tmp_path: Path) -> None:
    study = load_study({"horizon": 9, "runs": 1, "policies": ["OMM"], "instances": ["K4"]})
    results = run_study(study, tmp_path, jobs=1)
    path = tmp_path / "study.json"
    path.write_text(path.read_text().replace('"content":', '"bases":'))
    assert read_results(tmp_path).runs.equals(results.runs)
    with pytest.raises(StudyError, match=r"from an earlier version.* choose another folder"):
        run_study(study, tmp_path, jobs=1)


# ---- code ----

INDEX = """\
import matroid_bandits as mb
{imports}
class Hopeful(mb.Index):
    def __init__(self, boldness=1.0):
        self.boldness = boldness
    def values(self, means, counts, time):
        return means + {width}
"""


def module_at(path: Path) -> ModuleType:
    """A module as a script would import it."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(path.read_text(), str(path), "exec"), vars(module))
    sys.modules[path.stem] = module
    return module


@pytest.fixture
def clean_modules() -> Any:
    before = dict(sys.modules)
    yield
    for name in [name for name in sys.modules if name not in before]:
        del sys.modules[name]


@pytest.mark.usefixtures("clean_modules")
def test_an_edited_index_is_another_study(tmp_path: Path) -> None:
    def study(width: str, boldness: float = 1.0) -> Any:
        path = tmp_path / "my_index.py"
        path.write_text(INDEX.format(imports="", width=width))
        index = module_at(path).Hopeful(boldness)
        policies = [{"type": "OMM", "index": index, "label": "hopeful"}]
        return load_study(
            {"horizon": 20, "runs": 1, "policies": policies, "instances": ["K4"]},
        )

    out = tmp_path / "out"
    run_study(study("1 / counts"), out, jobs=1)
    assert len(run_study(study("1 / counts"), out, jobs=1).sessions) == 1
    message = r"belongs to another study:\n  policies.hopeful.parameters.index: there \"Hopeful "
    for other in (study("2 / counts"), study("1 / counts", boldness=2.0)):
        with pytest.raises(StudyError, match=message):
            run_study(other, out, jobs=1)


@pytest.mark.parametrize("level", ["helper", "helper of the helper", "later"])
def test_an_edited_module_beside_is_another_study(tmp_path: Path, level: str) -> None:
    files = {
        "policy.py": (
            "import matroid_bandits as mb\nfrom near_helper import scale\n"
            "class Scaled(mb.OMM):\n"
            "    def _select(self):\n"
            "        import late_helper\n"
            "        return self.greedy_basis(self.mean_rewards * scale())\n"
        ),
        "near_helper.py": "import far_helper\ndef scale():\n    return far_helper.SCALE\n",
        "far_helper.py": "SCALE = 2.0\n",
        "late_helper.py": "X = 1\n",
        "study.toml": 'policies = ["policy.py:Scaled"]\ninstances = ["K4"]\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    before = load_study(tmp_path / "study.toml").identity()
    assert load_study(tmp_path / "study.toml").identity() == before
    changed = {
        "helper": ("near_helper.py", "far_helper.SCALE", "far_helper.SCALE + 1"),
        "helper of the helper": ("far_helper.py", "2.0", "3.0"),
        "later": ("late_helper.py", "1", "2"),
    }[level]
    (tmp_path / changed[0]).write_text(files[changed[0]].replace(*changed[1:]))
    study = load_study(tmp_path / "study.toml")
    assert study.identity() != before
    if level != "later":
        # What runs is the new text, too.
        (policy,) = study.policies
        helper = vars(sys.modules[policy.make.args[0].__module__])["scale"]
        assert helper() == 3.0


def test_installed_modules_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy\nimport matroid_bandits as mb\nclass A(mb.OMM): pass\n"
    )
    (tmp_path / "study.toml").write_text('policies = ["mine.py:A"]\ninstances = ["K4"]\n')
    before = load_study(tmp_path / "study.toml").identity()
    (tmp_path / "numpy.py").write_text("raise RuntimeError\n")
    (tmp_path / "unused.py").write_text("X = 1\n")
    assert load_study(tmp_path / "study.toml").identity() == before


def made(boldness: float, *, tied: list[int] | None = None) -> type:
    """A class that depends on more than its text."""

    class Made(mb.OMM):
        def _select(self) -> Any:
            return self.greedy_basis(self.mean_rewards + boldness + len(tied or ()))

    return Made


def test_classes_and_functions_made_by_functions() -> None:
    def policies_of(cls: type) -> Any:
        return load_study({"policies": [cls], "instances": ["K4"]}).identity()["policies"]

    assert policies_of(made(1.0)) == policies_of(made(1.0)) != policies_of(made(2.0))
    assert policies_of(made(1.0)) != policies_of(made(1.0, tied=[3]))

    def adder(number: int, extra: int = 0) -> Callable[[int], int]:
        return lambda x, more=extra: x + number + more

    assert fingerprint(adder(1)) == fingerprint(adder(1)) != fingerprint(adder(2))
    assert fingerprint(adder(1)) != fingerprint(adder(1, extra=5))
    assert fingerprint(partial(adder, 1)) == fingerprint(partial(adder, 1))
    assert fingerprint(partial(adder, 1)) != fingerprint(partial(adder, 2))
    smaller, larger = lambda x: x < 1, lambda x: x > 1
    assert fingerprint(smaller) != fingerprint(larger)


def test_code_without_a_file() -> None:
    """As in a notebook: functions, classes and constants that a class refers to count."""
    text = (
        "import matroid_bandits as mb\nSCALE = 2.0\n"
        "def scale(x):\n    return x * SCALE\n"
        "class Scaled(mb.OMM):\n"
        "    def _select(self):\n        return self.greedy_basis(scale(self.mean_rewards))\n"
    )

    def scaled(change: tuple[str, str] = ("", "")) -> str:
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(text.replace(*change), space)
        return fingerprint(space["Scaled"])

    assert scaled() == scaled() == scaled(("import", "# a remark\nimport"))
    assert len({scaled(), scaled(("2.0", "3.0")), scaled(("x * SCALE", "x + SCALE"))}) == 3


@pytest.mark.usefixtures("clean_modules")
def test_constants_set_by_another_module(tmp_path: Path) -> None:
    path = tmp_path / "tuned.py"
    path.write_text(
        "import matroid_bandits as mb\nSCALE = 2.0\ncalls = 0\n"
        "def count():\n    global calls\n    calls += 1\n"
        "class Tuned(mb.OMM): pass\n"
    )
    module = module_at(path)
    before = fingerprint(module.Tuned)
    module.count()
    assert fingerprint(module.Tuned) == before
    module.SCALE = 3.0
    assert fingerprint(module.Tuned) != before


@pytest.mark.usefixtures("clean_modules")
def test_a_module_that_is_imported_later(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "eager.py").write_text(
        "import matroid_bandits as mb\nclass Eager(mb.OMM):\n"
        "    def _select(self):\n        import lazily_imported\n        return super()._select()\n"
    )
    (tmp_path / "lazily_imported.py").write_text("SCALE = 2.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    cls = importlib.import_module("eager").Eager
    before = fingerprint(cls)
    importlib.import_module("lazily_imported")
    assert fingerprint(cls) == before
    (tmp_path / "lazily_imported.py").write_text("SCALE = 3.0\n")
    assert fingerprint(cls) != before


@pytest.mark.usefixtures("clean_modules")
def test_functions_with_a_cache(tmp_path: Path) -> None:
    text = (
        "from functools import cache\n@cache\ndef few(elements):\n    return len(elements) <= 2\n"
    )

    def matroid(text: str) -> mb.Matroid:
        path = tmp_path / "cached_function.py"
        path.write_text(text)
        return mb.OracleMatroid(5, module_at(path).few)

    before = fingerprint(matroid(text))
    assert before == fingerprint(matroid(text)) != fingerprint(matroid(text.replace("2", "3")))
    # Without a file, as in a notebook.
    spaces: list[dict[str, Any]] = []
    for other in (text, text, text.replace("2", "3")):
        spaces.append({"__name__": "__main__"})
        exec(other, spaces[-1])
    one, same, different = (fingerprint(space["few"]) for space in spaces)
    assert one == same != different
    hidden = np.frompyfunc(lambda x: x + 1, 1, 1)
    assert fingerprint(hidden).startswith("cannot be compared")


@pytest.mark.parametrize(
    "old, new", [("rng.random(count)", "rng.random(count) + 1"), ("HALF = 0.5", "HALF = 0.6")]
)
def test_an_edited_environment_is_another_study(tmp_path: Path, old: str, new: str) -> None:
    text = (
        "import matroid_bandits as mb\nHALF = 0.5\nclass Uniform(mb.Environment):\n"
        "    def _sample(self, rng, element, count):\n"
        "        return self.means[element] - HALF + rng.random(count)\n"
    )
    (tmp_path / "study.toml").write_text(
        'policies = ["OMM"]\ninstances = ["K4"]\nenvironment = { type = "mine.py:Uniform" }\n'
    )
    (tmp_path / "mine.py").write_text(text)
    before = load_study(tmp_path / "study.toml").identity()
    assert load_study(tmp_path / "study.toml").identity() == before
    (tmp_path / "mine.py").write_text(text.replace(old, new))
    assert load_study(tmp_path / "study.toml").identity() != before


# ---- data of all kinds ----


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


class Forgetful:
    """What pickling leaves out does not count."""

    def __init__(self, data: Any) -> None:
        self.data, self.cache = data, {}

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data}


def circle(length: int) -> list[Any]:
    members: list[Any] = [[] for _ in range(length)]
    for one, other in zip(members, [*members[1:], members[0]], strict=True):
        one.append(other)
    return members[0]


@pytest.mark.parametrize(
    "values",
    [
        [0, 0.0, -0.0, False, "0", b"0", None, 0j, np.float64(0), np.float32(0), np.int64(0)],
        [[], (), {}, set(), np.empty(0), np.empty((0, 1)), np.empty(0, dtype=np.int8), [[]], ""],
        [[1, 2], [2, 1], (1, 2), {1, 2}, {1: 2}, {2: 1}, [1, [2]], np.array([1, 2])],
        [["ab", "c"], ["a", "bc"], ["abc"], ["a", "b", "c"]],
        [np.array([[1, 2], [3, 4]]), np.array([[1, 3], [2, 4]]), np.array([1, 2, 3, 4])],
        [np.array(["a", 1], dtype=object), np.array(["a", 2], dtype=object)],
        [Slotted(1, 2), Slotted(2, 1), Slotted(1, Slotted(1, 2))],
        [Fraction(1, 3), Fraction(1, 4), 10**5000, 10**5000 + 1, range(3), range(4)],
        [circle(2), circle(3), circle(4)],
        [np.random.default_rng(1), np.random.default_rng(2)],
        [int, float, mb.OMM, mb.MAUB, np.sin, np.cos, len, max, threading, os],
        ["x".join, "y".join, [].append, mb.UniformMatroid(1, 2).is_independent],
    ],
)
def test_different_data_have_different_fingerprints(values: list[Any]) -> None:
    assert len({fingerprint(value) for value in values}) == len(values)
    assert [fingerprint(value) for value in values] == [fingerprint(value) for value in values]


def test_attributes_left_out_of_pickling_do_not_count() -> None:
    one, other = Forgetful(1), Forgetful(1)
    one.cache["x"] = 1
    assert fingerprint(one) == fingerprint(other) != fingerprint(Forgetful(2))


def test_shared_and_equal_parts_have_the_same_fingerprint() -> None:
    part = [1, 2]
    assert fingerprint([part, part]) == fingerprint([[1, 2], [1, 2]])


def test_objects_that_cannot_be_compared_equal_no_other(tmp_path: Path) -> None:
    lock = threading.Lock()
    text = fingerprint([1, lock])
    assert text.startswith("cannot be compared, because lock cannot be pickled: ")
    assert text != fingerprint([1, lock])
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "because it is nested too deeply" in fingerprint(deep)
    # A study with such a thing runs, but its folder is of no use to another one.
    matroid = OnePerColor([0, 0, 1])
    matroid.lock = lock
    content = {"horizon": 9, "runs": 1, "policies": ["OMM"], "instances": [matroid]}
    study = load_study(content)
    run_study(study, tmp_path, jobs=1)
    run_study(study, tmp_path, jobs=1)
    with pytest.raises(StudyError, match='content: there "cannot be compared, because lock'):
        run_study(load_study(content), tmp_path, jobs=1)


def test_plain_values_stay_as_they_are() -> None:
    value = {"a": [1, 2.5, None, True, "x"], "b": (np.float64(0.5), np.arange(3))}
    assert plain(value) == {"a": [1, 2.5, None, True, "x"], "b": [0.5, [0, 1, 2]]}
    assert plain(mb.UCB(noise=0.5)).startswith("UCB(noise=0.5, constant=2.0) ")
    assert plain(Slotted(1, 2)).startswith("Slotted ")
    assert plain(np.arange(1000)) != plain(np.arange(1, 1001))


ELSEWHERE = """
import numpy as np
import matroid_bandits as mb
from matroid_bandits import catalog
from matroid_bandits.experiments import load_study
from matroid_bandits.experiments.reading.fingerprint import fingerprint

COLORS = {"red", "green", "blue", "gray"}

class OnePerColor(mb.Matroid):
    def __init__(self, colors):
        super().__init__(len(colors))
        self.colors = colors
        self.known = set(colors)

    def _is_independent(self, elements):
        return all(self.colors[e] in COLORS and e not in {"x", "y", "z"} for e in elements)

for name in catalog.MATROIDS:
    print(name, fingerprint(catalog.matroid(f"{name}(20)", seed=1)))
own = OnePerColor(["red", "blue", "gray"])
print(fingerprint(own), fingerprint(own.dual() + own), fingerprint(frozenset(COLORS)))
print(load_study({"policies": ["MAUB"], "instances": [own, "K5"]}).identity())
"""


def test_other_processes_have_the_same_fingerprints(tmp_path: Path) -> None:
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE)
    outputs = {
        subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
