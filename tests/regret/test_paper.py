"""Counts and regrets of the paper's experiments, mean of 20 seeds.

The margins were fixed beforehand: a factor of 2 on oracle calls and of 3 on the other counts is
about what the spread over seeds allows (docs/explanation/reproduction.md). The paper does not give
the linear instance, so its counts are not compared; nor is its regret here, to save time.
"""

import pytest

from matroid_bandits.experiments import (
    Results,
    compare,
    load_study,
    run_study,
    shipped_study,
    summarize,
)

SIZES = {"U(7,10)": (7, 10), "U(7,15)": (7, 15), "U(15,20)": (15, 20), "U(15,30)": (15, 30)}
INSTANCES = [*SIZES, "K5", "K7", "K15", "K20", "transversal"]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Results:
    study = load_study(shipped_study("reproduce"), movielens="synthetic")
    return run_study(study.part(only=INSTANCES), tmp_path_factory.mktemp("paper"))


def test_counts_are_near_the_papers(results: Results) -> None:
    table = summarize(results)
    compared = 0
    for row in table.to_dict("records"):
        for measure, factor in (
            ("oracle_calls", 2),
            ("greedy_calls", 3),
            ("neighborhood_updates", 3),
        ):
            if row[f"published_{measure}"] > 0:
                ratio = row[f"ratio_{measure}"]
                assert 1 / factor <= ratio <= factor, (row["instance"], row["policy"], measure)
                compared += 1
    assert compared == 9 * 4  # three counts of MAUB as published and OMM's one


def test_both_ways_of_maub_play_the_same(results: Results) -> None:
    columns = ["instance", "seed", "regret", "neighborhood_updates"]
    lean, paper = (
        results.runs[results.runs["policy"] == name].sort_values(["instance", "seed"])
        for name in ("MAUB", "MAUB (paper)")
    )
    assert lean[columns].to_numpy().tolist() == paper[columns].to_numpy().tolist()
    # Built-in matroids have their circuits: no oracle calls after the first leader.
    assert (lean["oracle_calls"] < 2000).all()


@pytest.mark.parametrize("name", SIZES)
def test_for_uniform_matroids_the_counts_hang_together_exactly(results: Results, name) -> None:
    d, n = SIZES[name]
    runs = results.runs.query("instance == @name and policy == 'MAUB (paper)'")
    leaders = runs["greedy_calls"] - -(-n // d)
    expected = d * runs["greedy_calls"] + (n - d) * (leaders + runs["neighborhood_updates"])
    assert (runs["oracle_calls"] == expected).all()
    assert (
        results.runs.query("instance == @name and policy == 'OMM'")["oracle_calls"] == d * 10**5
    ).all()


def test_maub_is_nowhere_worse_than_omm_and_clearly_better_on_large_graphs(
    results: Results,
) -> None:
    found = {c.instance: c for c in compare(results, "MAUB", "OMM")}
    assert len(found) == 9
    assert all(c.verdict != "higher" for c in found.values())
    for name, most in {"K15": 0.8, "K20": 0.7}.items():
        assert found[name].verdict == "lower"
        assert found[name].regret < most * found[name].other_regret


def test_maub_hardly_asks_in_the_long_run(results: Results) -> None:
    """In the last half of the rounds its calls grow by a fifth at most, OMM's double."""
    for (instance, policy), curves in results.curves.groupby(["instance", "policy"]):
        calls = curves.groupby("round")["oracle_calls"].mean().astype(float)
        growth = calls.iloc[-1] / calls[calls.index >= calls.index[-1] / 2].iloc[0]
        assert (growth > 1.8) if policy == "OMM" else (growth < 1.2), (instance, policy, growth)
