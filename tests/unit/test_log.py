"""Reading logs: any library, any order of rows; what is refused names row and column."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf, nan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import matroid_bandits as mb
from matroid_bandits.policies.contract.log import read_log

from ..seeds import seeds

LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
    "mapping": dict,
}
NEWS = mb.Problem(mb.UniformMatroid(2, 4), ["sport", "arts", "world", "local"])


@pytest.fixture(params=LIBRARIES)
def make(request):
    """Makes a table from columns."""
    return LIBRARIES[request.param]


def _by_decision(log) -> dict:
    """Decision -> element -> (reward, row), in the order of the log."""
    return {
        name: {
            int(log.elements[i]): (float(log.rewards[i]), int(log.rows[i]))
            for i in range(log.starts[k], log.starts[k + 1])
        }
        for k, name in enumerate(log.ids)
    }


def test_what_a_log_says(make) -> None:
    columns = {
        "decision": ["x", "y", "x", "z", "y"],
        "element": ["world", "arts", "sport", "local", "world"],
        "reward": [1.0, 0.0, 0.25, None, 1.0],
        "page": ["home", "home", "home", "home", "home"],
    }
    log = read_log(make(columns), NEWS)
    assert _by_decision(log) == {
        "x": {0: (0.25, 2), 2: (1.0, 0)},
        "y": {1: (0.0, 1), 2: (1.0, 4)},
        "z": {},
    }
    assert list(_by_decision(log)) == ["x", "y", "z"]
    assert log.elements.tolist() == [0, 2, 1, 2]
    assert (log.elements.dtype, log.rewards.dtype) == (np.intp, np.float64)


def test_numbers_and_costs(make) -> None:
    problem = mb.Problem(mb.UniformMatroid(2, 4), sense="min")
    columns = {"decision": [7, 7, 3], "element": [3, 1, 0], "reward": [1, 0, 1]}
    log = read_log(make(columns), problem, bounds=(0.0, 1.0), pivot=1.0)
    assert _by_decision(log) == {7: {1: (1.0, 1), 3: (0.0, 0)}, 3: {0: (0.0, 2)}}


@pytest.mark.parametrize("kind", [float, np.int64])
def test_whole_numbers_of_other_types(kind) -> None:
    columns = {"decision": [7, "a", 7], "element": [3, 1, 0], "reward": [1, 0, 1]}
    same = {
        "decision": [kind(7), "a", kind(7)],
        "element": np.array([kind(3), 1, kind(0)], dtype=object),
        "reward": [1, 0, 1],
    }
    problem = mb.Problem(mb.UniformMatroid(2, 4))
    log, expected = read_log(same, problem), read_log(columns, problem)
    assert [type(identifier) for identifier in log.ids] == [int, str]
    assert (log.ids, _by_decision(log)) == (expected.ids, _by_decision(expected))
    assert log.elements.dtype == np.intp
    with pytest.raises(ValueError, match="cannot be an id"):
        # The float stands for other integers too.
        read_log(columns | {"decision": [2.0**60, "a", "b"]}, problem)


def test_an_empty_log(make) -> None:
    log = read_log(make({"decision": [], "element": [], "reward": []}), NEWS)
    assert (log.ids, log.starts.tolist(), len(log.elements)) == ([], [0], 0)


DAY = datetime(2026, 11, 1)  # noqa: DTZ001


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2, 1],
        [0.3, -0.1, 0.2, -0.1],
        [DAY + timedelta(hours=h) for h in (3, 1, 2, 1)],
        [DAY.replace(tzinfo=UTC) + timedelta(hours=h) for h in (3, 1, 2, 1)],
        [(DAY + timedelta(days=d)).date() for d in (3, 1, 2, 1)],
        ["2026-11-03", "2026-11-01", "2026-11-02", "2026-11-01"],
    ],
)
def test_rows_are_ordered_by_time_then_by_row(make, times) -> None:
    columns = {
        "decision": ["late", "first", "middle", "second"],
        "element": ["sport"] * 4,
        "reward": [0.0] * 4,
        "time": times,
    }
    log = read_log(make(columns), NEWS)
    assert log.ids == ["first", "second", "middle", "late"]
    assert log.rows.tolist() == [1, 3, 2, 0]


def test_the_same_again_is_ignored(make) -> None:
    columns = {
        "decision": ["x", "x", "x"],
        "element": ["sport", "sport", "sport"],
        "reward": [1.0, None, 1.0],
    }
    assert _by_decision(read_log(make(columns), NEWS)) == {"x": {0: (1.0, 0)}}


def test_which_comes_first_goes_by_time(make) -> None:
    columns = {"decision": [1, 1], "element": ["arts", "arts"], "reward": [0.5, 0.5]}
    assert read_log(make({**columns, "time": [2, 1]}), NEWS).rows.tolist() == [1]
    with pytest.raises(ValueError, match=r"row 0 .*'reward': 0.5 contradicts row 1: .* had 0.25"):
        read_log(make({**columns, "time": [2, 1], "reward": [0.5, 0.25]}), NEWS)


@pytest.mark.parametrize(
    "rewards, learned",
    [
        ([True, False, None], [1.0, 0.0]),
        ([1, None, 0], [1.0, 0.0]),
        ([Decimal("0.5"), None, Decimal("0.25")], [0.5, 0.25]),
    ],
)
def test_rewards_of_other_kinds(make, rewards, learned) -> None:
    columns = {"decision": [1, 2, 3], "element": ["arts"] * 3, "reward": rewards}
    assert read_log(make(columns), NEWS).rewards.tolist() == learned


@pytest.mark.parametrize(
    "labels", [[("a", "b"), ("b", "c")], [("a", ("b", 1)), ("c", ("d", 2))], [("a", 1), ("a", 2)]]
)
def test_labels_that_are_tuples(labels) -> None:
    problem = mb.Problem(mb.UniformMatroid(1, 2), labels)
    columns = {"decision": [1, 2], "element": labels[::-1], "reward": [0.5, 0.25]}
    nested = {**columns, "element": [[x[0], list(x[1]) if isinstance(x[1], tuple) else x[1]]
                                     for x in labels[::-1]]}  # fmt: skip
    frames = [pd.DataFrame(columns), columns, pd.DataFrame(nested), nested]
    if all(isinstance(x, str) for x in labels[0]):
        frames += [pl.DataFrame(columns), pa.table(columns), pa.table(columns).to_pandas()]
    for frame in frames:
        assert read_log(frame, problem).elements.tolist() == [1, 0]


NAMES = ["sport", "arts", "local"]
COLUMNS = {"decision": [1, 1, 2], "element": NAMES, "reward": [1, 0, 1]}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(COLUMNS).astype({"element": "category"}),
        pd.DataFrame(COLUMNS).astype(object),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(COLUMNS).with_columns(pl.col("element").cast(pl.Categorical)),
        pl.DataFrame(COLUMNS).with_columns(pl.col("element").cast(pl.Enum(NAMES))),
        pl.DataFrame(COLUMNS).with_columns(pl.col("decision").cast(pl.UInt64)),
        pa.table({**COLUMNS, "element": pa.array(NAMES).dictionary_encode()}),
        {name: np.array(column) for name, column in COLUMNS.items()},
    ],
)
def test_less_usual_columns(frame) -> None:
    expected = {1: {0: (1.0, 0), 1: (0.0, 1)}, 2: {3: (1.0, 2)}}
    assert _by_decision(read_log(frame, NEWS)) == expected


def test_a_log_without_any_feedback(make) -> None:
    log = read_log(make({**COLUMNS, "reward": [None] * 3}), NEWS)
    assert (log.ids, log.starts.tolist(), len(log.rows)) == ([1, 2], [0, 0, 0], 0)


def test_columns_of_a_mapping_may_be_of_any_library() -> None:
    columns = {
        "decision": pl.Series([1, 2, 3]),
        "element": pd.Series(["sport", "arts", "local"]),
        "reward": pd.Series([1.0, nan, 0.0], index=[9, 8, 7]),
    }
    assert read_log(columns, NEWS).rewards.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"element": ["arts", "spurt"]}, r"row 1 .*'element': unknown label 'spurt'; did"),
        ({"element": ["arts", None]}, r"row 1 \(from 0\), column 'element': there is no value"),
        ({"decision": [None, 1]}, r"row 0 .*'decision': there is no value; only a reward may be"),
        ({"reward": ["1", "0"]}, r"row 0 .*'reward': '1' is no number"),
        ({"reward": [0.5, inf]}, r"row 1 .*'reward': inf is not finite; where there was no feed"),
        ({"reward": [0.5, 1.5]}, r"row 1 .*'reward': 1.5 is outside .* rewards from 0 to 1"),
        ({"decision": [1, 1], "element": ["arts"] * 2}, r"row 1 .*1.0 contradicts row 0: in deci"),
        ({"time": [None, 1]}, r"row 0 .*'time': there is no value"),
        ({"element": [["arts"], ["local"]]}, r"row 0 .*'element': unknown label \('arts',\)"),
    ],
)  # fmt: skip
def test_what_is_refused(make, changed, message: str) -> None:
    columns = {"decision": [1, 2], "element": ["sport", "arts"], "reward": [0.5, 1.0], **changed}
    with pytest.raises(ValueError, match=message):
        read_log(make(columns), NEWS, bounds=(0.0, 1.0))


@pytest.mark.parametrize(
    "elements, message",
    [
        ([0, 4], r"row 1 .*'element': element 4 is not in the ground set 0\.\.3"),
        ([-1, 0], r"row 0 .*'element': element -1 is not in"),
        ([0.0, 1.5], r"row 1 .*'element': 1.5 is no number of an element"),
        ([True, False], r"row 0 .*'element': True is no number of an element"),
        (["0", "1"], r"row 0 .*'element': '0' is no number of an element"),
    ],
)
def test_unfit_numbers_of_elements(make, elements, message: str) -> None:
    columns = {"decision": [1, 2], "element": elements, "reward": [0.5, 1.0]}
    with pytest.raises(ValueError, match=message):
        read_log(make(columns), mb.Problem(mb.UniformMatroid(2, 4)))


def test_rows_are_counted_from_0_whatever_the_index() -> None:
    frame = pd.DataFrame({"decision": [1, 2], "element": [0, 9], "reward": [0.0, 0.0]})
    with pytest.raises(ValueError, match="row 1 "):
        read_log(frame.set_index(pd.Index(["p", "q"])), mb.Problem(mb.UniformMatroid(2, 4)))


def test_missing_columns(make) -> None:
    columns = {"decision": [1], "elements": ["sport"], "reward": [0.5]}
    with pytest.raises(ValueError, match=r"no column 'element'; did you mean elements\?"):
        read_log(make(columns), NEWS)


@pytest.mark.parametrize(
    "frame, error, message",
    [
        ([(1, "arts", 0.0)], TypeError, r"learn_log needs .*, or a mapping of columns"),
        (pl.LazyFrame({"decision": [1]}), TypeError, r"pass its collect\(\)"),
        ({"decision": [1], "element": [], "reward": []}, ValueError, "be equally long"),
        ({"decision": "x", "element": [], "reward": []}, ValueError, "column 'decision' must be a"),
        ({"decision": [[1]], "element": ["arts"], "reward": [1]}, ValueError, "cannot be an id"),
        (
            {"decision": [1, 2], "element": ["arts"] * 2, "reward": [0, 0], "time": [1, "a"]},
            ValueError,
            "times in column 'time' cannot be ordered",
        ),
        (
            pl.DataFrame({"decision": [1], "element": ["arts"], "reward": [nan]}),
            ValueError,
            "nan is not finite",
        ),
        (
            {"decision": [1], "element": ["arts"], "reward": [0.0], "time": np.array([nan])},
            ValueError,
            r"row 0 .*'time': nan is no time",
        ),
        (
            {"decision": [1], "element": ["arts"], "reward": np.zeros((1, 1))},
            ValueError,
            "column 'reward' must be a list or an array with one dimension",
        ),
    ],
)  # fmt: skip
def test_what_is_no_log(frame, error, message: str) -> None:
    with pytest.raises(error, match=message):
        read_log(frame, NEWS)


def _read_slowly(rows: list[tuple]) -> dict:
    """What a log says, row by row, from the definition; None where it contradicts itself."""
    found: dict = {}
    for row, (decision, element, reward, _) in sorted(enumerate(rows), key=lambda x: x[1][3]):
        feedback = found.setdefault(decision, {})
        if reward is None:
            continue
        if feedback.setdefault(element, (reward, row))[0] != reward:
            return {"contradiction": True}
    return found


@pytest.mark.parametrize("seed", seeds(20))
def test_random_logs_against_the_definition(make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = mb.Problem(mb.UniformMatroid(2, 5))
    contradictions = 0
    for _ in range(20):
        rows = [
            (
                int(rng.integers(0, 6)),
                int(rng.integers(0, 5)),
                None if rng.random() < 0.2 else float(rng.random() < 0.1),
                int(rng.integers(0, 4)),
            )
            for _ in range(int(rng.integers(1, 15)))
        ]
        expected = _read_slowly(rows)
        names = ("decision", "element", "reward", "time")
        columns = {
            name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
        }
        if "contradiction" in expected:
            contradictions += 1
            with pytest.raises(ValueError, match="contradicts row"):
                read_log(make(columns), problem)
        else:
            log = read_log(make(columns), problem)
            assert _by_decision(log) == expected
            assert log.ids == list(expected)
    assert contradictions < 15
