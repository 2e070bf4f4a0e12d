"""Study files: their content, and an error with its place for every mistake."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import matroid_bandits as mb
from matroid_bandits import catalog, identification
from matroid_bandits.datasets import DownloadError
from matroid_bandits.experiments import (
    Study,
    StudyError,
    load_study,
    read_results,
    run_study,
    shipped_study,
)
from matroid_bandits.experiments.reading.spec import policy_spec

GOOD = """\
title = "A study"
horizon = 300
runs = 2
seed = 5
policies = ["MAUB", { type = "OMM", label = "omm again" }]

[environment]
std = 0.1

[[instances]]
matroid = "K5"

[[instances]]
name = "few"
matroid = { type = "uniform", rank = 2, size = 4 }
horizon = 200
environment = { type = "bernoulli", means = { uniform = [0.1, 0.9] } }
"""

FILES = {
    "links.csv": "source,target,ms\nOslo,Rome,30\nRome,Cork,20\nCork,Oslo,10\n",
    "other-names.csv": "from,to\na,b\nb,c\n",
    "no-header.csv": "Oslo,Rome\nRome,Cork\n",
    "rows.csv": "action,drama,rating\n1,0,3.5\n1,1,4.5\n0,1,4\n",
    "halves.csv": "x,y\n0.5,0\n0,1\n",
    "numbers-only.csv": "1,0\n0,1\n",
    "staff.csv": "element,neighbor\nAda,cook\nBob,cook\nBob,serve\nCy,\n",
    "staff-means.csv": "mean\n0.5\n0.7\n0.9\n",
    "ads.csv": "group\nshoes\nshoes\nhats\n",
    "ragged.csv": "source,target\na,b\na\n",
    "empty.csv": "",
    "header-only.csv": "source,target\n",
    "word.csv": "x,y\n1,zero\n",
    "ring.edgelist": "a b 2\nb c 3\nc a 4\n",
    "plain.edgelist": "a b\nb c\n",
    "ring.gml": 'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ]\n'
    "edge [ source 0 target 1 km 7.5 ] ]\n",
    "broken.graphml": "<graphml><graph></graphml>",
    "mine.py": (
        "import matroid_bandits as mb\n"
        "class Mine(mb.Policy):\n"
        "    def __init__(self, matroid, *, boldness=1.0):\n"
        "        super().__init__(matroid)\n"
        "        if boldness < 0:\n"
        "            raise ValueError(f'boldness must not be negative, got {boldness}')\n"
        "    def _select(self):\n"
        "        return self.greedy_basis(self.counts * -1.0)\n"
    ),
    "broken.py": "1 / 0\n",
    "odd.py": (
        "class Nothing:\n    def __init__(self, matroid):\n        pass\n"
        "class Lost:\n    def __init__(self, matroid):\n        raise KeyError('lost')\n"
    ),
    "bom.csv": '\ufeffsource,target\r\nOslo,Rome\r\n"Cork, Ireland",Rome\r\n,\r\n',
    "hole.csv": "source,target\na,b\nc,\nb,c\n",
    "empty-group.csv": 'group,x\n0,1\n"",2\n1,3\n',
    "numbered.csv": "group\n0\n0\n1\n",
    "both-ways.graphml": (
        "<graphml><key id='q' for='edge' attr.name='q' attr.type='double'/>"
        "<graph edgedefault='directed'><node id='a'/><node id='b'/><node id='c'/>"
        "<edge source='a' target='b'><data key='q'>1</data></edge>"
        "<edge source='b' target='a'><data key='q'>1</data></edge>"
        "<edge source='b' target='c'><data key='q'>2</data></edge>"
        "<edge source='c' target='b'><data key='q'>3</data></edge></graph></graphml>"
    ),
    "twice.edgelist": "a b 2\nb a 2\na b 5\n",
    "dictionaries.edgelist": "a b {'q': 2.5}\nb c {'q': 3}\n",
    "huge-field.csv": "source,target\na," + "b" * 200_000 + "\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def load(folder: Path, text: str) -> Study:
    path = folder / "study.toml"
    path.write_text(text)
    return load_study(path)


def with_matroid(matroid: str, more: str = "") -> str:
    return f'policies = ["MAUB"]\n[[instances]]\nname = "it"\nmatroid = {matroid}\n{more}'


# ---- what a study may say ----


def test_a_study(folder: Path) -> None:
    study = load(folder, GOOD)
    assert (study.name, study.title, study.runs) == ("study", "A study", 2)
    assert list(study.seeds) == [5, 6]
    assert [policy.name for policy in study.policies] == ["MAUB", "omm again"]
    k5, few = study.instances
    assert (k5.name, k5.horizon, few.name, few.horizon) == ("K5", 300, "few", 200)
    environment = k5.environment_for(6)
    assert isinstance(environment, mb.GaussianEnvironment)
    assert environment.std[0] == 0.1
    assert np.array_equal(environment.means, mb.random_means(10, 6))
    other = few.environment_for(6)
    assert isinstance(other, mb.BernoulliEnvironment)
    assert np.array_equal(other.means, mb.random_means(4, 6, low=0.1, high=0.9))
    assert len(study.tasks()) == len(set(study.tasks())) == 8
    assert isinstance(study.policies[1].make(k5.matroid), mb.OMM)


def test_defaults(folder: Path) -> None:
    study = load(folder, 'policies = ["MAUB"]\ninstances = ["K5", "U(7, 10)"]\n')
    assert (study.title, study.runs, study.seed) == ("study", 20, 0)
    assert [i.name for i in study.instances] == ["K5", "U(7,10)"]
    assert study.instances[0].horizon == 100_000
    assert isinstance(study.instances[0].environment_for(0), mb.GaussianEnvironment)


def test_a_dictionary_may_hold_objects_and_classes() -> None:
    matroid = mb.UniformMatroid(2, 3)
    study = load_study(
        {
            "policies": [mb.MAUB, {"type": mb.OMM, "label": "other"}],
            "instances": [
                matroid,
                {
                    "name": "fixed",
                    "matroid": matroid,
                    "environment": {"type": mb.BernoulliEnvironment, "means": [0.1, 0.2, 0.3]},
                },
            ],
        }
    )
    assert study.instances[0].matroid is matroid
    assert [p.name for p in study.policies] == ["MAUB", "other"]
    assert study.instances[1].environment_for(7).means.tolist() == [0.1, 0.2, 0.3]


def test_environment_parameters_default_to_those_of_the_study(folder: Path) -> None:
    text = GOOD.replace(
        'matroid = "K5"', 'matroid = "K5"\nenvironment = { means = { uniform = [0, 0] } }'
    )
    environment = load(folder, text).instances[0].environment_for(0)
    assert isinstance(environment, mb.GaussianEnvironment)
    assert environment.std[0] == 0.1  # the study's
    assert environment.means.tolist() == [0.0] * 10  # its own


@pytest.mark.parametrize(
    "matroid, size, rank, means",
    [
        ('{ type = "graphic", edges = "links.csv" }', 3, 2, ("ms", [30, 20, 10])),
        (
            '{ type = "graphic", edges = { csv = "other-names.csv", columns = ["from", "to"] } }',
            2,
            2,
            None,
        ),
        ('{ type = "graphic", edges = [["a", "b"], ["b", "a"]] }', 2, 1, None),
        ('{ type = "linear", vectors = "rows.csv" }', 3, 2, ("rating", [3.5, 4.5, 4])),
        ('{ type = "linear", vectors = { csv = "rows.csv", columns = ["drama"] } }', 3, 1, None),
        ('{ type = "linear", vectors = "halves.csv" }', 2, 2, None),
        ('{ type = "linear", vectors = [[1, 1], [1, -1]], field = 2 }', 2, 1, None),
        ('{ type = "transversal", neighbors = "staff.csv" }', 3, 2, None),
        ('{ type = "partition", groups = "ads.csv", capacities = 1 }', 3, 2, None),
        ('{ type = "partition", groups = [0, 0, 1], capacities = [1, 1] }', 3, 2, None),
        ('{ graph = "ring.edgelist" }', 3, 2, ("weight", [2, 4, 3])),
        ('{ graph = "plain.edgelist" }', 2, 2, None),
        ('{ graph = "ring.gml" }', 1, 1, ("km", [7.5])),
        ('"partition(12)"', 12, None, None),
        ('{ type = "graphic", edges = "bom.csv" }', 2, 2, None),
        ('{ type = "partition", groups = "numbered.csv", capacities = [1, 2] }', 3, 2, None),
        # One edge for both directions, two where they differ.
        ('{ graph = "both-ways.graphml" }', 3, 2, ("q", [1, 2, 3])),
        ('{ graph = "twice.edgelist" }', 2, 1, ("weight", [2, 5])),
        ('{ graph = "dictionaries.edgelist" }', 2, 2, ("q", [2.5, 3])),
    ],
)
def test_matroids(folder: Path, matroid: str, size: int, rank: int | None, means) -> None:
    more = f'environment = {{ means = {{ column = "{means[0]}" }} }}' if means else ""
    (instance,) = load(folder, with_matroid(matroid, more)).instances
    assert instance.matroid.size == size
    assert rank is None or instance.matroid.rank == rank
    if means:
        assert instance.environment_for(3).means.tolist() == means[1]


def test_whole_numbers_from_a_file_are_exact(folder: Path) -> None:
    (instance,) = load(folder, with_matroid('{ type = "linear", vectors = "rows.csv" }')).instances
    # With the column of ratings, which nothing says is something else, and halves: floats.
    assert "tolerance" in repr(instance.matroid)
    text = '{ type = "linear", vectors = { csv = "rows.csv", columns = ["action", "drama"] } }'
    (instance,) = load(folder, with_matroid(text)).instances
    assert "over the rationals" in repr(instance.matroid)


def test_means_can_be_rescaled_and_reversed(folder: Path) -> None:
    more = 'environment = { means = { column = "ms", rescale = [1.0, 0.5] } }'
    text = with_matroid('{ type = "graphic", edges = "links.csv" }', more)
    (instance,) = load(folder, text).instances
    assert instance.environment_for(0).means.tolist() == [0.5, 0.75, 1.0]


def test_movies_with_other_means(folder: Path) -> None:
    """Ratings take precedence over the study's means, not over those of the instance."""
    text = 'policies = ["OMM"]\n[environment]\nmeans = { uniform = [0, 1] }\n'
    text += '[[instances]]\nname = "rated"\nmatroid = { movielens = 20 }\n'
    text += '[[instances]]\nname = "own"\nmatroid = { movielens = 20 }\n'
    text += "environment = { means = { uniform = [0, 0.5] } }\n"
    (folder / "study.toml").write_text(text)
    rated, own = load_study(folder / "study.toml", movielens="synthetic").instances
    assert rated.environment_for(0).means.min() > 2
    assert own.environment_for(0).means.max() < 0.5


def test_movies_are_downloaded_once(monkeypatch) -> None:
    requested = []

    def no_network() -> Path:
        requested.append("network")
        raise DownloadError("https://a.b/c.zip", "a.b cannot be reached", "")

    monkeypatch.setattr("matroid_bandits.experiments.reading.movies.fetch_movielens", no_network)
    instances = [{"name": str(n), "matroid": {"movielens": n}} for n in (20, 30, 40)]
    study = load_study({"policies": ["OMM"], "instances": instances})
    assert [i.matroid.size for i in study.instances] == [20, 30, 40]
    assert requested == ["network"]


def test_means_from_another_file(folder: Path) -> None:
    more = 'environment = { means = { csv = "staff-means.csv", column = "mean" } }'
    text = with_matroid('{ type = "transversal", neighbors = "staff.csv" }', more)
    (instance,) = load(folder, text).instances
    assert instance.environment_for(0).means.tolist() == [0.5, 0.7, 0.9]


# For every class in the catalog, a table that makes one.
EVERY_CLASS = {
    "uniform": "rank = 2, size = 4",
    "partition": 'groups = ["a", "a", "b"], capacities = { a = 1, b = 1 }',
    "graphic": "edges = [[0, 1], [1, 2], [2, 0]]",
    "cographic": 'edges = "links.csv"',
    "linear": "vectors = [[1, 0], [0, 1], [1, 1]], field = 3",
    "transversal": 'neighbors = [["x"], ["x", "y"], ["y"]]',
    "gammoid": 'arcs = [["a", "s"], ["b", "s"], ["b", "t"]], targets = ["s", "t"]',
    "laminar": "sets = [[0, 1, 2], [0, 1]], capacities = [2, 1], size = 4",
    "paving": "rank = 3, size = 6, hyperplanes = [[0, 1, 2], [2, 3, 4]]",
    "oracle": 'size = 5, is_independent = "own.py:at_most_two"',
    "dual": 'matroid = "K4"',
    "truncated": 'matroid = { type = "graphic", edges = "links.csv" }, rank = 1',
    "minor": 'matroid = "K5", elements = [0, 1, 2, 3], contracted = [9]',
    "directsum": 'matroids = ["K4", { type = "uniform", rank = 1, size = 2 }]',
    "union": 'matroids = ["K4", "K4"]',
}
OWN = """\
import matroid_bandits as mb

def at_most_two(elements):
    return len(elements) <= 2

class OnePerColor(mb.Matroid):
    def __init__(self, colors=("red", "red", "blue"), *, limit=1):
        if limit < 0:
            raise KeyError("limit")
        super().__init__(len(colors))
        self.colors, self.limit = colors, limit

    def _is_independent(self, elements):
        chosen = [self.colors[e] for e in elements]
        return all(chosen.count(color) <= self.limit for color in chosen)

class FirstOf(mb.Matroid):
    def __init__(self, matroid, matroids, edges=None):
        super().__init__(matroid.size)
        self.parts, self.edges = [matroid, *matroids], edges

    def _is_independent(self, elements):
        return self.parts[0].is_independent(elements)

class Hopeful(mb.Index):
    def __init__(self, boldness=1.0):
        self.boldness = boldness

    def values(self, means, counts, time):
        return means + self.boldness / counts

class Broken(mb.Matroid):
    def __init__(self):
        super().__init__(3)

    def _is_independent(self, elements):
        return {}[elements]

class Other:
    def __init__(self, matroid=None):
        pass

class Huge(mb.OracleMatroid):
    def __init__(self):
        raise MemoryError
"""


def matroid_in(folder: Path, table: str) -> mb.Matroid:
    (folder / "own.py").write_text(OWN)
    return load(folder, with_matroid(table)).instances[0].matroid


@pytest.mark.parametrize("kind", catalog.MATROIDS)
def test_every_class_of_matroids_can_be_written(folder: Path, kind: str) -> None:
    matroid = matroid_in(folder, f'{{ type = "{kind}", {EVERY_CLASS[kind]} }}')
    assert type(matroid) is catalog.MATROIDS[kind]
    assert matroid.rank > 0


@pytest.mark.parametrize(
    "table, expected",
    [
        ('{ dual = "K5" }', catalog.complete_graph(5).dual()),
        ('{ sum = ["K4", "U(2,4)"] }', catalog.complete_graph(4) + mb.UniformMatroid(2, 4)),
        ('{ union = ["K4", "U(1,6)"] }', catalog.complete_graph(4) | mb.UniformMatroid(1, 6)),
        ('{ truncate = "K5", rank = 2 }', catalog.complete_graph(5).truncate(2)),
        (
            '{ restrict = "K5", elements = [0, 3, 7] }',
            catalog.complete_graph(5).restrict([0, 3, 7]),
        ),
        ('{ delete = "K5", elements = [0, 3] }', catalog.complete_graph(5).delete([0, 3])),
        ('{ contract = "fano", elements = [1] }', catalog.fano().contract([1])),
        (
            '{ dual = { truncate = { sum = ["K4", { dual = "vamos" }] }, rank = 4 } }',
            (catalog.complete_graph(4) + catalog.vamos().dual()).truncate(4).dual(),
        ),
    ],
)
def test_compositions(folder: Path, table: str, expected: mb.Matroid) -> None:
    matroid = matroid_in(folder, table)
    assert matroid == expected
    assert matroid.bases().tolist() == expected.bases().tolist()


def test_names_of_compositions(folder: Path) -> None:
    text = (
        'policies = ["OMM"]\ninstances = [{ matroid = { dual = "K5" } }, '
        '{ matroid = { sum = ["K4", "U(2, 4)"] } }, { matroid = { truncate = "K5", rank = 2 } }, '
        '{ matroid = { union = ["K4", "K4"] } }, { matroid = { delete = "K4", elements = [5] } }]'
    )
    names = [instance.name for instance in load(folder, text).instances]
    assert names == ["dual(K5)", "K4+U(2,4)", "truncate(K5,2)", "K4|K4", "delete(K4,5)"]


def test_columns_follow_their_elements(folder: Path) -> None:
    graph = '{ type = "graphic", edges = "links.csv" }'
    more = 'environment = { means = { column = "ms" } }'
    for table, means in (
        (f"{{ dual = {graph} }}", [30, 20, 10]),
        (f"{{ truncate = {graph}, rank = 1 }}", [30, 20, 10]),
        (f"{{ restrict = {graph}, elements = [2, 0] }}", [30, 10]),
        (f"{{ delete = {graph}, elements = [0] }}", [20, 10]),
        (f"{{ contract = {graph}, elements = [1] }}", [30, 10]),
        ('{ restrict = { graph = "ring.edgelist" }, elements = [1] }', None),
    ):
        column = more if means else more.replace("ms", "weight")
        (instance,) = load(folder, with_matroid(table, column)).instances
        assert instance.environment_for(0).means.tolist() == (means or [4])
    with pytest.raises(StudyError, match="the matroid is not from a file with columns"):
        load(folder, with_matroid(f"{{ sum = [{graph}, {graph}] }}", more))


@pytest.mark.parametrize(
    "table, colors, limit",
    [
        ('"own.py:OnePerColor"', ["red", "red", "blue"], 1),
        ('"own.py:OnePerColor(limit=2)"', ["red", "red", "blue"], 2),
        ('{ type = "own.py:OnePerColor", colors = ["a", "b"], limit = 0 }', ["a", "b"], 0),
    ],
)
def test_user_matroids(folder: Path, table: str, colors: list[str], limit: int) -> None:
    matroid = matroid_in(folder, table)
    assert type(matroid).__name__ == "OnePerColor"
    assert (list(matroid.colors), matroid.limit) == (colors, limit)
    # A part of others, too, and in worker processes.
    study = load(folder, "horizon = 9\nruns = 2\n" + with_matroid(f'{{ sum = ["K4", {table}] }}'))
    assert len(run_study(study, folder / "out", jobs=2).runs) == 2


def test_a_user_matroid_made_of_others(folder: Path) -> None:
    table = '{ type = "own.py:FirstOf", matroid = "K4", matroids = ["K4", { dual = "K4" }], '
    matroid = matroid_in(folder, table + 'edges = { csv = "links.csv" } }')
    assert [part.size for part in matroid.parts] == [6, 6, 6]
    assert matroid.edges[0] == ("Oslo", "Rome")
    assert matroid_in(folder, table + 'edges = "links.csv" }').edges == "links.csv"


@pytest.mark.parametrize(
    "policy, boldness, name",
    [
        ('{ type = "OMM", index = "own.py:Hopeful" }', 1.0, "OMM"),
        ('{ type = "MAUB", index = { type = "own.py:Hopeful", boldness = 2.5 } }', 2.5, "MAUB"),
        ('{ type = "OMM", index = "own.py:Hopeful(boldness=3)" }', 3, "OMM"),
        (
            "\"OMM(index='own.py:Hopeful(boldness=3)')\"",
            3,
            'OMM(index="own.py:Hopeful(boldness=3)")',
        ),
    ],
)
def test_user_indices(folder: Path, policy: str, boldness: float, name: str) -> None:
    (folder / "own.py").write_text(OWN)
    text = f'horizon = 20\nruns = 2\ninstances = ["K4"]\npolicies = [{policy}]\n'
    study = load(folder, text)
    (spec,) = study.policies
    assert spec.name == name
    assert spec.make(mb.UniformMatroid(1, 2)).index.boldness == boldness
    assert spec.origin["parameters"]["index"].startswith("Hopeful ")
    assert len(run_study(study, folder / "out", jobs=2).runs) == 2
    # An edit is another study.
    (folder / "own.py").write_text(OWN.replace("self.boldness / counts", "self.boldness"))
    assert load(folder, text).identity() != study.identity()


@pytest.mark.parametrize(
    "table, message",
    [
        ('{ dual = "K" }', "matroid.dual: unknown matroid 'K'; did you mean K20"),
        ('{ dual = "K5", rank = 2 }', "matroid.rank: unknown key; allowed are dual"),
        ('{ truncate = "K5" }', 'rank is missing; for example { truncate = "K5", rank = 2 }'),
        ('{ truncate = "K5", rank = -1 }', "matroid.rank: rank must be at least 0, got -1"),
        ('{ delete = "K5", elements = [12] }', "matroid.elements: element 12 is not in the ground"),
        ('{ delete = "K5", elements = "all" }', "matroid.elements: elements must be"),
        ('{ contract = "K5" }', 'elements is missing; for example { contract = "K5", elements'),
        ('{ sum = "K5" }', "matroid.sum: must be a list, such as sum = ["),
        ('{ sum = ["K5", "Q"] }', "matroid.sum[1]: unknown matroid 'Q'"),
        ('{ union = ["K5", "K4"] }', "matroid.union: "),
        ('{ sum = ["K5", { typ = "uniform" }] }', "matroid.sum[1]: type is missing; for example"),
        ("{ rank = 2 }", 'type = "uniform"; a table may also begin with graph, movielens, dual'),
        ('{ type = "union" }', "matroids is missing"),
        ('{ type = "oracle", size = 3 }', "is_independent is missing; OracleMatroid takes"),
        (
            '{ type = "oracle", size = 3, is_independent = "f" }',
            "matroid.is_independent: must be a function, such as \"file.py:function\", got 'f'",
        ),
        (
            '{ type = "oracle", size = 3, is_independent = "own.py:at_most_tow" }',
            "own.py has no function 'at_most_tow'; did you mean at_most_two?",
        ),
        ('"own.py:OnePerColour"', "own.py has no class 'OnePerColour'; did you mean OnePerColor?"),
        ('"own.py:OnePerColor(limt=2)"', "matroid.limt: unknown key; did you mean limit?"),
        ('"own.py:OnePerColor(limit=-2)"', "instances[0].matroid: KeyError('limit')"),
        ('"own.py:Broken"', "instances[0].matroid: KeyError(frozenset())"),
        ('"own.py:Other"', "matroid.type: Other is not a matroid: derive it from Matroid"),
        ('"own.py:Huge"', "instances[0].matroid: too large for this machine's memory"),
        ('"gone.py:Other"', "there is no file"),
    ],
)
def test_mistakes_in_matroids(folder: Path, table: str, message: str) -> None:
    (folder / "own.py").write_text(OWN)
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, with_matroid(table))


@pytest.mark.parametrize(
    "index, message",
    [
        ('"own.py:Hopefull"', "own.py has no class 'Hopefull'; did you mean Hopeful?"),
        ('"own.py:Other"', "policies[0].index.type: Other is not an index: derive it from Index"),
        ('{ type = "own.py:Hopeful", bold = 1 }', "policies[0].index.bold: unknown key; did you"),
        ('"hopeful"', "unknown index 'hopeful'"),
    ],
)
def test_mistakes_in_indices(folder: Path, index: str, message: str) -> None:
    (folder / "own.py").write_text(OWN)
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, f'instances = ["K4"]\npolicies = [{{ type = "OMM", index = {index} }}]\n')


@pytest.mark.parametrize("written", ["1e5", "100000.0", "100_000", "1E+5"])
def test_whole_numbers_in_any_notation(folder: Path, written: str) -> None:
    study = load(folder, GOOD.replace("horizon = 300", f"horizon = {written}"))
    assert study.instances[0].horizon == 100_000
    assert type(study.instances[0].horizon) is int
    assert (
        load(folder, GOOD.replace("seed = 5", "seed = 5.0")).identity()
        == load(folder, GOOD).identity()
    )


def test_user_policies(folder: Path) -> None:
    text = 'instances = ["K5"]\n[[policies]]\ntype = "mine.py:Mine"\nboldness = 2.0\n'
    (policy,) = load(folder, text).policies
    assert policy.name == "Mine"
    assert policy.origin["parameters"] == {"boldness": 2.0}
    made = policy.make(mb.GraphicMatroid.complete(4))
    assert len(list(made.select())) == 3
    imported = load(folder, 'instances = ["K5"]\npolicies = ["matroid_bandits.policies.omm:OMM"]\n')
    assert imported.policies[0].name == "OMM"
    # Another text is another policy, also if it differs outside the class.
    source = policy.origin["source"]
    assert source
    for other in (FILES["mine.py"].replace("* -1.0", "* -2.0"), FILES["mine.py"] + "X = 1\n"):
        (folder / "mine.py").write_text(other)
        assert load(folder, text).policies[0].origin["source"] != source


def test_a_policy_file_may_import_from_its_folder(folder: Path) -> None:
    (folder / "helping_hands.py").write_text("def boldness():\n    return 3.0\n")
    (folder / "theirs.py").write_text(
        "from helping_hands import boldness\nfrom mine import Mine\n"
        "class Theirs(Mine):\n    def __init__(self, matroid):\n"
        "        super().__init__(matroid, boldness=boldness())\n"
    )
    study = load(
        folder, 'horizon = 30\nruns = 2\ninstances = ["K4"]\npolicies = ["theirs.py:Theirs"]\n'
    )
    results = run_study(study, folder / "out", jobs=2)
    assert results.runs["policy"].tolist() == ["Theirs", "Theirs"]


BESIDE = """\
import json
import matplotlib
import pandas
import only_beside
import matroid_bandits as mb

class Mine(mb.OMM):
    name = "Mine"

    def _select(self):
        import only_later
        import yaml_of_nobody
        assert "site-packages" in matplotlib.__file__ and "site-packages" in pandas.__file__
        assert hasattr(json, "dumps")
        assert only_beside.VALUE + only_later.VALUE == 3
        return super()._select()
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_installed_packages_take_precedence_over_files_of_the_study(
    tmp_path: Path, jobs: int
) -> None:
    for name in ("json", "matplotlib", "pandas", "pickle", "loky", "numpy", "signal", "filelock"):
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('{name} from beside')\n")
    (tmp_path / "only_beside.py").write_text("VALUE = 1\n")
    (tmp_path / "only_later.py").write_text("VALUE = 2\n")
    (tmp_path / "yaml_of_nobody.py").write_text("")
    (tmp_path / "mine.py").write_text(BESIDE)
    (tmp_path / "study.toml").write_text(
        'horizon = 9\nruns = 2\npolicies = ["mine.py:Mine"]\ninstances = ["K4"]\n'
    )
    # As the command does it: from the study's folder, which is not where Python looks first.
    code = "import sys; from matroid_bandits.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", code, "run", "study.toml", "--jobs", str(jobs)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(read_results(tmp_path / "results" / "study").runs) == 2


def test_two_studies_with_files_of_the_same_name(tmp_path: Path) -> None:
    studies = []
    for name, value in (("one", 1.0), ("other", 2.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "common.py").write_text(f"VALUE = {value}\n")
        (tmp_path / name / "mine.py").write_text(
            "import matroid_bandits as mb\nfrom common import VALUE\n"
            "class Mine(mb.OMM):\n    name = 'Mine'\n    def _select(self):\n"
            "        import common\n"
            "        if common.VALUE != VALUE:\n            raise ValueError('of another study')\n"
            "        return super()._select()\n"
        )
        path = tmp_path / name / "study.toml"
        path.write_text('horizon = 9\nruns = 2\npolicies = ["mine.py:Mine"]\ninstances = ["K4"]')
        studies.append(load_study(path))
    for i, study in enumerate(studies):
        for jobs in (1, 2):
            assert len(run_study(study, tmp_path / f"out-{i}-{jobs}", jobs=jobs).runs) == 2


def test_a_file_is_executed_once(folder: Path) -> None:
    (folder / "counted.py").write_text(
        "from pathlib import Path\nfrom mine import Mine\n"
        f"with Path({str(folder / 'count.txt')!r}).open('a') as file: file.write('x')\n"
        "class One(Mine): pass\nclass Two(Mine): pass\n"
    )
    load(folder, 'policies = ["counted.py:One", "counted.py:Two"]\ninstances = ["K4"]\n')
    assert (folder / "count.txt").read_text() == "x"


TOPOLOGIES = Path(__file__).parents[3] / "shared" / "data" / "topologies"


@pytest.mark.skipif(not TOPOLOGIES.is_dir(), reason="network topologies are not here")
@pytest.mark.parametrize(
    "name, more, size, rank, column, tree",
    [
        ("topohub-topozoo-Abilene.gml", "", 14, 10, "dist", 7963.34),
        ("topohub-sndlib-germany50.gml", "", 88, 49, "dist", 3584.74),
        ("topozoo-Geant2012.graphml", "", 61, 39, None, None),
        ("topozoo-Garr201201.graphml", "", 89, 60, None, None),
        ("rocketfuel-1755.latencies.intra", ', format = "edgelist"', 161, 86, "weight", 193),
        ("rocketfuel-1221.latencies.intra", ', format = "edgelist"', 153, 105, "weight", 305),
    ],
)
def test_real_networks(tmp_path: Path, name, more, size, rank, column, tree) -> None:
    environment = f'environment = {{ means = {{ column = "{column}" }} }}' if column else ""
    graph = (TOPOLOGIES / name).resolve()
    text = with_matroid(f'{{ graph = "{graph}"{more} }}', environment)
    (instance,) = load(tmp_path, text).instances
    assert (instance.matroid.size, instance.matroid.rank) == (size, rank)
    if column:
        lengths = instance.environment_for(0).means
        shortest = instance.matroid.max_weight_basis(-lengths)
        assert lengths[shortest].sum() == pytest.approx(tree)


# ---- mistakes ----


@pytest.mark.parametrize(
    "old, new, message",
    [
        # Policy, key, rank, horizon, file, TOML
        ('["MAUB",', '["MUAB",', "line 5, policies[0].type: unknown policy 'MUAB'; did you mean"),
        ("horizon = 300", "horzon = 300", "line 2, horzon: unknown key; did you mean horizon?"),
        (
            "rank = 2, size = 4",
            "rank = 5, size = 4",
            "line 15, instances[1].matroid: rank must be at most size = 4, got 5",
        ),
        ("horizon = 300", "horizon = -300", "line 2, horizon: horizon must be at least 1, got -3"),
        ("horizon = 200", "horizon = 0", "line 16, instances[1].horizon: horizon must be at leas"),
        ('"K5"', '{ graph = "rng.gml" }', "matroid.graph: there is no file"),
        ('"K5"', '{ graph = "rng.gml" }', "did you mean ring.gml?"),
        ("runs = 2", "runs = = 2", "is not TOML: Invalid value (at line 3, column 8)"),
        # Keys
        ("std = 0.1", "sdt = 0.1", "line 8, environment.sdt: unknown key; did you mean std?"),
        ("rank = 2,", "rnk = 2,", "instances[1].matroid.rnk: unknown key; did you mean rank?"),
        ('label = "omm again"', 'lable = "x"', "policies[1].lable: unknown key; did you mean labe"),
        ("[[instances]]\nname", "[[instanzes]]\nname", "line 13, instanzes: unknown key; did you"),
        ('name = "few"', 'nam = "few"', "line 14, instances[1].nam: unknown key; did you mean"),
        ("{ uniform =", "{ unifrom =", "instances[1].environment.means.unifrom: unknown key"),
        # Values
        ("runs = 2", "runs = 0", "line 3, runs: runs must be at least 1, got 0"),
        ("runs = 2", 'runs = "two"', "line 3, runs: runs must be an integer, got 'two'"),
        ("runs = 2", "runs = 2.5", "line 3, runs: runs must be an integer, got 2.5"),
        (
            "horizon = 300",
            "horizon = 1e-5",
            "line 2, horizon: horizon must be an integer, got 1e-0",
        ),
        ("horizon = 300", "horizon = inf", "line 2, horizon: horizon must be an integer, got inf"),
        ("horizon = 300", "horizon = nan", "line 2, horizon: horizon must be an integer, got nan"),
        ("horizon = 300", "horizon = 1e300", "line 2, horizon: horizon must be at most"),
        ("seed = 5", "seed = -1", "line 4, seed: seed must be at least 0, got -1"),
        ("seed = 5", "seed = true", "line 4, seed: seed must be an integer, got True"),
        ('title = "A study"', "title = 7", "line 1, title: must be a text, got 7"),
        ("std = 0.1", "std = -0.1", "environment: std must be from 0 to 1e+100, got -0.1"),
        ("std = 0.1", 'type = "gauss"', "environment.type: unknown environment 'gauss'; did you"),
        ("[0.1, 0.9]", "[0.9, 0.1]", "means.uniform: must be from low to high, got [0.9, 0.1]"),
        ("[0.1, 0.9]", "[0.1]", "means.uniform: must be two numbers"),
        ("[0.1, 0.9]", "[0.1, 1.9]", "instances[1].environment: the mean of element"),
        ("{ uniform = [0.1, 0.9] }", "[0.1, 0.2]", "2 means for the 4 elements of uniform(4)"),
        ("{ uniform = [0.1, 0.9] }", '["x"]', "environment.means: means must be numbers"),
        ("{ uniform = [0.1, 0.9] }", '{ column = "ms" }', "the matroid is not from a file"),
        ("{ uniform = [0.1, 0.9] }", "{ }", "column is missing; for example means = "),
        ('"K5"', '"K"', "line 11, instances[0].matroid: unknown matroid 'K'; did you mean K20"),
        ('"K5"', '{ type = "uniformm" }', "matroid.type: unknown matroid 'uniformm'; did you mean"),
        ('"K5"', '{ type = "uniform", rank = 2 }', "matroid: size is missing; UniformMatroid take"),
        ('"K5"', "{ rank = 2 }", "type is missing; for example type ="),
        ('"K5"', "5", "instances[0].matroid: must be a table of keys and values, got 5"),
        ('name = "few"', 'name = "K5"', "instances[1]: 'K5' is there twice; give one of them"),
        (', label = "omm again"', ', label = "MAUB"', "policies[1]: 'MAUB' is there twice"),
        ('["MAUB", {', "[7, {", "policies[0].type: must be a name, got 7"),
        # Files
        (
            '"K5"',
            '{ type = "graphic", edges = "lnks.csv" }',
            "there is no file",
        ),
        ('"K5"', '{ type = "graphic", edges = "lnks.csv" }', "did you mean links.csv?"),
        ('"K5"', '{ graph = "gone/a.gml" }', "there is no folder"),
        (
            '"K5"',
            '{ type = "graphic", edges = "no-header.csv" }',
            "no-header.csv has no column 'source' (it has Oslo, Rome); say which to take",
        ),
        (
            '"K5"',
            '{ type = "graphic", edges = { csv = "links.csv", columns = ["sorce", "target"] } }',
            "links.csv has no column 'sorce'; did you mean source?",
        ),
        (
            '"K5"',
            '{ type = "graphic", edges = { csv = "links.csv", columns = ["source"] } }',
            "edges need two columns",
        ),
        ('"K5"', '{ type = "graphic", edges = "ragged.csv" }', "ragged.csv, line 3: 1 entries, b"),
        ('"K5"', '{ type = "graphic", edges = "empty.csv" }', "empty.csv is empty; its first line"),
        ('"K5"', '{ type = "graphic", edges = "header-only.csv" }', "has a header but no lines"),
        ('"K5"', '{ type = "linear", vectors = "word.csv" }', "word.csv, line 2, y: must be a fin"),
        (
            '"K5"',
            '{ type = "linear", vectors = "numbers-only.csv" }',
            "the first line must name the columns, got 1, 0",
        ),
        ('"K5"', '{ graph = "links.csv" }', "links.csv: say what it is, format = one of edgelist"),
        ('"K5"', '{ graph = "ring.gml", format = "gmll" }', "unknown graph format 'gmll'; did you"),
        ('"K5"', '{ graph = "broken.graphml" }', "broken.graphml cannot be read as graphml"),
        ('"K5"', '{ graph = "ring.gml", kind = "gml" }', "unknown key; allowed are graph, format"),
        ('"K5"', "{ movielens = 0 }", "matroid.movielens: movielens must be at least 1, got 0"),
        ('"K5"', '{ movielens = 5, path = "links.csv" }', "matroid.movielens"),
        ('"K5"', '{ type = "graphic", edges = "hole.csv" }', "hole.csv, line 3, target: is empty"),
        (
            '"K5"',
            '{ type = "partition", groups = "empty-group.csv", capacities = 1 }',
            "empty-group.csv, line 3, group: is empty",
        ),
        ('"K5"', '{ type = "graphic", edges = "huge-field.csv" }', "is not CSV: field larger"),
        (
            '"K5"',
            '{ type = "graphic", edges = { csv = "links.csv", columns = [1, 2] } }',
            "columns must be a list of names, got 1 in it",
        ),
        ('"K5"', '{ graph = "~nobody-of-this-name/x.gml" }', "no file can be '~nobody-of-this-na"),
        ('"K5"', f'{{ graph = "{"x" * 300}.gml" }}', "no file can be 'xxxxxxx"),
        ('"K5"', '{ graph = "." }', "there is no file"),
        ('"K5"', '{ type = "uniform", rank = 1, size = 100000000000000000000 }', "matroid: "),
        ('"K5"', '{ type = "uniform", rank = 1, size = 9007199254740992 }', "size must be at most"),
        ('name = "few"', 'name = "a\\nb"', "name: must be one line without control characters"),
        ("0.9] }", '0.9], csv = "x.csv" }', "means.csv: unknown key; allowed are uniform"),
        # Not for the first seed only
        ("[0.1, 0.9]", "[0.9, 1.001]", "the mean of element 0 must be from 0 to 1, got 1.001"),
        ("runs = 2", "runs = 10_000_000", "runs must be at most 1000000, got 10000000"),
        # Policies of the user
        ('["MAUB",', '["builtins:int",', "int cannot be used: its parameters are unknown"),
        ('["MAUB",', '["odd.py:Nothing",', "a policy has select and update; Nothing has no sele"),
        ('["MAUB",', '["odd.py:Lost",', "policies[0]: on K5: KeyError('lost')"),
        ('["MAUB",', '["gone.py:Mine",', "there is no file"),
        ('["MAUB",', '["mine.py:Mein",', "mine.py has no class 'Mein'; did you mean Mine?"),
        ('["MAUB",', '["broken.py:Mine",', "broken.py cannot be imported: ZeroDivisionError"),
        ('["MAUB",', '["no_such_package:Mine",', "no_such_package cannot be imported"),
        (
            '["MAUB",',
            '[{ type = "mine.py:Mine", boldness = -1.0 },',
            "line 5, policies[0]: on K5: boldness must not be negative, got -1.0",
        ),
        (
            '["MAUB",',
            '[{ type = "mine.py:Mine", boldnes = 1.0 },',
            "policies[0].boldnes: unknown key; did you mean boldness?",
        ),
    ],
)
def test_mistakes_are_reported_with_their_place(folder: Path, old, new, message) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "policies is missing; for example"),
        ('policies = ["MAUB"]', "instances is missing; for example"),
        ('policies = []\ninstances = ["K5"]', "line 1, policies: is empty; for example"),
        ('policies = "MAUB"\ninstances = ["K5"]', "line 1, policies: must be a list, such as"),
        ("horizon 5", "is not TOML"),
    ],
)
def test_required_keys(folder: Path, text: str, message: str) -> None:
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, text)


WITH_OMM = GOOD.replace("omm again", "OMM")
REFERENCE = """
[reference]
source = "somebody"
figures = "table.csv"
within = { oracle_calls = 2 }
"""
TABLE = "instance,policy,horizon,seconds,oracle_calls\nK5,MAUB,300,1.5,\nK5,OMM,300,2,70\n"


def test_figures_to_compare_with(folder: Path) -> None:
    (folder / "table.csv").write_text(TABLE)
    reference = load(folder, WITH_OMM + REFERENCE).reference
    assert reference is not None
    assert reference.machine == "another machine"
    assert reference.within == {"oracle_calls": 2}
    assert reference.rows == (
        {"instance": "K5", "policy": "MAUB", "horizon": 300, "seconds": 1.5},
        {"instance": "K5", "policy": "OMM", "horizon": 300, "seconds": 2.0, "oracle_calls": 70.0},
    )


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("figures =", "figure =", "line 21, reference.figure: unknown key; did you mean figures?"),
        ('figures = "table.csv"\n', "", "reference: figures is missing; for example"),
        ('"table.csv"', '"tabel.csv"', "did you mean table.csv?"),
        ("oracle_calls = 2", "oracle_cals = 2", "within.oracle_cals: unknown key; did you mean or"),
        ("oracle_calls = 2", "oracle_calls = 0.5", "must be a factor of at least 1, got 0.5"),
        ("oracle_calls = 2", 'oracle_calls = "2"', "must be a factor of at least 1, got '2'"),
        ("policy,horizon", "polcy,horizon", "unknown column 'polcy'; did you mean policy?"),
        ("horizon,seconds", "seconds,greedy_calls", "has no column 'horizon'"),
        ("K5,MAUB", "K_5,MAUB", "line 2, instance: unknown instance 'K_5'; did you mean K5?"),
        ("K5,OMM", "K5,omm", "unknown policy 'omm'"),
        ("K5,OMM", "K5,MAUB", "line 3, instance: K5, MAUB, 300 is there twice"),
        ("1.5", "0", "table.csv, line 2, seconds: must be positive, got 0"),
        ("1.5", "fast", "table.csv, line 2, seconds: must be a finite number, got 'fast'"),
        ("K5,OMM,300", "K5,OMM,", "table.csv, line 3, horizon: must be a finite number, got ''"),
    ],
)
def test_mistakes_in_figures_to_compare_with(folder: Path, old, new, message) -> None:
    assert old in REFERENCE + TABLE
    (folder / "table.csv").write_text(TABLE.replace(old, new, 1))
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, WITH_OMM + REFERENCE.replace(old, new, 1))


def test_files_that_are_not_studies(folder: Path) -> None:
    with pytest.raises(StudyError, match=r"there is no file .*studdy.toml$"):
        load_study(folder / "studdy.toml")
    load(folder, GOOD)
    with pytest.raises(StudyError, match=r"did you mean study.toml\?"):
        load_study(folder / "studdy.toml")
    with pytest.raises(StudyError, match="cannot be read"):
        load_study(folder)
    (folder / "latin.toml").write_bytes("title = 'Émile'".encode("latin-1"))
    with pytest.raises(StudyError, match="is not a text in UTF-8"):
        load_study(folder / "latin.toml")


# ---- policies by a text, and on some instances only ----


def test_policies_with_parameters_in_brackets(folder: Path) -> None:
    text = 'instances = ["K5"]\npolicies = ["MAUB", "maub(neighborhood = paper)", '
    text += '{ type = "MAUB(neighborhood=paper)", label = "as printed" }, '
    text += '"mine.py:Mine( boldness=2.5 )", { type = "mine.py:Mine()", boldness = 3.0 }]\n'
    study = load(folder, text)
    assert [policy.name for policy in study.policies] == [
        "MAUB",
        "MAUB(neighborhood=paper)",
        "as printed",
        "Mine(boldness=2.5)",
        "Mine",
    ]
    parameters = [policy.origin["parameters"] for policy in study.policies]
    paper = {"neighborhood": "paper"}
    assert parameters == [{}, paper, paper, {"boldness": 2.5}, {"boldness": 3.0}]
    assert study.policies[1].make(mb.UniformMatroid(1, 2)).neighborhood == "paper"


@pytest.mark.parametrize(
    "policy, message",
    [
        (
            '"MAUB(neighborhood=papr)"',
            "policies[0]: on K5: unknown neighborhood 'papr'; did you me",
        ),
        ('"MAUB(neighbourhood=paper)"', "policies[0].neighbourhood: unknown key; did you mean nei"),
        (
            '"MUAB(neighborhood=paper)"',
            "policies[0].type: unknown policy 'MUAB'; did you mean MAUB",
        ),
        ('"MAUB(paper)"', "policies[0].type: 'MAUB(paper)' cannot be read at 'paper'"),
        (
            '{ type = "MAUB(neighborhood=paper)", neighborhood = "lean" }',
            "policies[0].neighborhood: neighborhood is given in brackets and as a key",
        ),
        ('"MAUB(label=x)"', "policies[0].type: label is not a parameter; write it as a key"),
        ('"MAUB(type=x)"', "policies[0].type: type is not a parameter"),
    ],
)
def test_mistakes_in_brackets(folder: Path, policy: str, message: str) -> None:
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, f'policies = [{policy}]\ninstances = ["K5"]\n')


def test_classes_stand_for_their_names() -> None:
    study = load_study(
        {
            "policies": [mb.MAUB, "OMM", mb.CUCB],
            "instances": [{"matroid": "K4", "policies": [mb.CUCB, mb.MAUB]}, "K5"],
            "figures": [{"name": "first", "policies": [mb.OMM]}],
        }
    )
    assert study.instances[0].policies == ("MAUB", "CUCB")
    assert study.figures[0].policies == ("OMM",)
    rules = {"kind": "identification", "rules": [identification.CLUCB, identification.FrankWolfe]}
    study = load_study(
        rules | {"instances": [{"matroid": "K4", "rules": [identification.FrankWolfe]}, "K5"]}
    )
    assert study.instances[0].policies == ("FrankWolfe",)
    with pytest.raises(StudyError, match=r"policies\[0\]: 'KLOSM' is not among the policies of"):
        load_study({"policies": ["OMM"], "instances": [{"matroid": "K4", "policies": [mb.KLOSM]}]})


@pytest.mark.parametrize(
    "policies, message",
    [
        (
            '["MUAB"]',
            "line 14, instances[1].policies[0]: 'MUAB' is not among the policies of the st",
        ),
        ('["MUAB"]', "did you mean MAUB? allowed are MAUB, omm again"),
        ('["MAUB", "OMM"]', "instances[1].policies[1]: 'OMM' is not among"),
        ("[]", "instances[1].policies: is empty; for example"),
        ('"MAUB"', "instances[1].policies: must be a list, such as"),
        ("[7]", "instances[1].policies[0]: must be the name of a policy, got 7"),
    ],
)
def test_mistakes_in_the_policies_of_an_instance(folder: Path, policies, message) -> None:
    text = GOOD.replace('name = "few"', f'policies = {policies}\nname = "few"')
    with pytest.raises(StudyError, match=re.escape(message)):
        load(folder, text)


def test_a_policy_that_runs_nowhere(folder: Path) -> None:
    text = 'policies = ["MAUB", "OMM"]\ninstances = [{ matroid = "K5", policies = ["OMM"] }]\n'
    with pytest.raises(StudyError, match=r"line 1, policies\[0\]: MAUB runs on no instance"):
        load(folder, text)


def test_a_policy_is_tried_only_where_it_runs(folder: Path) -> None:
    class Small(mb.OMM):
        def __init__(self, matroid: mb.Matroid) -> None:
            if matroid.size > 6:
                raise ValueError(f"at most 6 elements, got {matroid.size}")
            super().__init__(matroid)

    policies = ["OMM", {"type": Small, "label": "small"}]
    with pytest.raises(StudyError, match="on K5: at most 6 elements, got 10"):
        load_study({"policies": policies, "instances": ["K4", "K5"]})
    instances = ["K4", {"matroid": "K5", "policies": ["OMM"]}]
    assert load_study({"policies": policies, "instances": instances, "runs": 1}).tasks() == [
        ("K4", "OMM", 0),
        ("K4", "small", 0),
        ("K5", "OMM", 0),
    ]


def test_parts_of_a_study_with_policies_on_some_instances(folder: Path) -> None:
    text = 'policies = ["MAUB", "OMM"]\nruns = 1\n'
    text += '[[instances]]\nmatroid = "K4"\npolicies = ["OMM"]\n[[instances]]\nmatroid = "K5"\n'
    study = load(folder, text)
    maub, omm = study.policies
    # Instances and policies without a partner are left out ...
    assert [i.name for i in study.part(policies=[maub]).instances] == ["K5"]
    assert study.part(only=["K4"]).policies == (omm,)
    part = load_study(folder / "study.toml", only=["K4"]).part(only=["K4"])
    assert part.tasks() == [("K4", "OMM", 0)]
    # ... unless it was selected.
    with pytest.raises(StudyError, match="MAUB has nothing to run with among K4"):
        study.part(only=["K4"], policies=[maub, omm])
    with pytest.raises(StudyError, match="K4 has nothing to run with among MAUB"):
        study.part(only=["K4", "K5"], policies=[maub])
    # A policy that is not in the study runs everywhere.
    other = policy_spec("MAUB(neighborhood=paper)")
    part = study.part(policies=[other, omm])
    assert [i.policies for i in part.instances] == [("MAUB(neighborhood=paper)", "OMM"), None]
    assert len(part.tasks()) == 4


# ---- parts of a study ----


def test_a_part_of_a_study(folder: Path) -> None:
    study = load(folder, GOOD)
    part = study.part(only=["FEW"], policies=study.policies[:1], runs=7, horizon=50)
    assert [i.name for i in part.instances] == ["few"]
    assert [p.name for p in part.policies] == ["MAUB"]
    assert (part.runs, part.seed, part.instances[0].horizon) == (7, 5, 50)
    quick = study.part(quick=True)
    assert [i.horizon for i in quick.instances] == [30, 20]
    assert quick.runs == 2
    assert study.part(quick=True, runs=5, horizon=9).instances[0].horizon == 9
    with pytest.raises(StudyError, match=r"unknown instance 'fw'; did you mean few\?"):
        study.part(only=["fw"])
    with pytest.raises(ValueError, match="horizon must be at least 1"):
        study.part(horizon=0)


def test_instances_that_are_not_selected_are_not_read(folder: Path) -> None:
    text = GOOD + '[[instances]]\nname = "gone"\nmatroid = { graph = "gone.gml" }\n'
    with pytest.raises(StudyError, match="there is no file"):
        load(folder, text)
    study = load_study(folder / "study.toml", only=["k5", "FEW"])
    assert [i.name for i in study.instances] == ["K5", "few"]
    with pytest.raises(StudyError, match=r"unknown instance 'gome'; did you mean gone\?"):
        load_study(folder / "study.toml", only=["gome"])
    # An instance whose name only its matroid can tell is read in any case.
    (folder / "study.toml").write_text(GOOD.replace('name = "few"\n', ""))
    study = load_study(folder / "study.toml", only=["uniform(4)"])
    assert [i.name for i in study.part(only=["uniform(4)"]).instances] == ["uniform(4)"]
    with pytest.raises(StudyError, match="unknown instance 'x'"):
        load_study(folder / "study.toml", only=["x"]).part(only=["x"])


def test_the_identity_depends_on_what_results_depend_on(folder: Path) -> None:
    first = load(folder, GOOD).identity()
    assert load(folder, "# a remark\n" + GOOD.replace('"A study"', '"Other"')).identity() == first
    for old, new in (
        ("seed = 5", "seed = 6"),
        ("std = 0.1", "std = 0.2"),
        ("rank = 2", "rank = 3"),
        ("0.9", "0.8"),
        ("horizon = 200", "horizon = 201"),
        ("{ uniform = [0.1, 0.9] }", "[0.1, 0.2, 0.3, 0.4]"),
        ('"omm again"', '"OMM"'),
    ):
        assert load(folder, GOOD.replace(old, new)).identity() != first
    fixed = [GOOD.replace("{ uniform = [0.1, 0.9] }", f"[0.1, 0.2, 0.3, {x}]") for x in (0.4, 0.5)]
    assert load(folder, fixed[0]).identity() != load(folder, fixed[1]).identity()
    # Elements of a graph whose edges are in another order are other elements.
    text = with_matroid('{ type = "graphic", edges = "links.csv" }')
    before = load(folder, text).identity()
    (folder / "links.csv").write_text("source,target\nOslo,Rome\nRome,Cork\nCork,Rome\n")
    assert load(folder, text).identity() != before


# ---- the studies that ship with the package ----


def test_the_instances_of_compare() -> None:
    study = load_study(shipped_study("compare"), movielens="synthetic")
    shape = {i.name: (i.matroid.size, i.matroid.rank) for i in study.instances}
    assert shape == {
        f"{name} {rewards}": size
        for rewards in ("Gaussian", "Bernoulli")
        for name, size in {
            "K7": (21, 6),
            "K15": (105, 14),
            "linear": (100, 16),
            "U(15,30)": (30, 15),
            "partition": (50, 20),
        }.items()
    }
    assert study.runs == 20
    for instance in study.instances:
        assert instance.horizon == 100_000
        environment = instance.environment_for(3)
        assert np.array_equal(environment.means, mb.random_means(instance.matroid.size, 3))
        kind = mb.GaussianEnvironment if "Gaussian" in instance.name else mb.BernoulliEnvironment
        assert isinstance(environment, kind)
        if isinstance(environment, mb.GaussianEnvironment):
            assert set(environment.std) == {0.2}


def test_the_papers_table_is_data_with_its_source() -> None:
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    reference = study.reference
    assert reference is not None
    assert "Delage & Gaudel 2025, arXiv 2512.00605, Table 2" in reference.source
    assert "2.2 GHz Xeon" in reference.machine
    rows = {(row["instance"], row["policy"]): row for row in reference.rows}
    # MAUB as it is by default has nothing to be compared with.
    names = {(i.name, p.name) for i in study.instances for p in study.policies if p.name != "MAUB"}
    assert set(rows) == names
    horizons = {i.name: i.horizon for i in study.instances}
    assert all(row["horizon"] == horizons[row["instance"]] for row in reference.rows)
    assert rows["K20", "MAUB (paper)"] == {
        "instance": "K20",
        "policy": "MAUB (paper)",
        "horizon": 100_000,
        "seconds": 235.67,
        "oracle_calls": 3501989.1,
        "greedy_calls": 357.3,
        "neighborhood_updates": 3765.8,
    }
    assert rows["transversal", "OMM"]["oracle_calls"] == 6_000_000
    assert "greedy_calls" not in rows["K20", "OMM"]  # not in the paper


def test_the_papers_instances() -> None:
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    shape = {i.name: (i.matroid.size, i.matroid.rank, i.horizon) for i in study.instances}
    assert shape == {
        "U(7,10)": (10, 7, 100_000),
        "U(7,15)": (15, 7, 100_000),
        "U(15,20)": (20, 15, 100_000),
        "U(15,30)": (30, 15, 100_000),
        "K5": (10, 4, 100_000),
        "K7": (21, 6, 100_000),
        "K15": (105, 14, 100_000),
        "K20": (190, 19, 100_000),
        "linear": (100, 16, 100_000),
        "transversal": (7, 6, 1_000_000),
    }
    assert study.runs == 20
    assert [p.name for p in study.policies] == ["OMM", "MAUB", "MAUB (paper)"]
    transversal = study.instance("transversal").matroid
    assert isinstance(transversal, mb.TransversalMatroid)
    assert sum(map(len, transversal.neighbors)) == 17
    # Seven bases of six elements: every six of the seven.
    assert all(transversal.is_independent([e for e in range(7) if e != f]) for f in range(7))
    for instance in study.instances:
        environment = instance.environment_for(0)
        assert isinstance(environment, mb.GaussianEnvironment)
        assert set(environment.std) == {0.2}
        if instance.name == "linear":
            assert environment.means.max() > 4  # ratings
            assert "invented movies" in instance.warning
        else:
            assert np.array_equal(environment.means, mb.random_means(instance.matroid.size, 0))
            assert not instance.warning
