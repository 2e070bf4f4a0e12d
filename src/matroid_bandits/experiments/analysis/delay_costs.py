"""What late feedback costs: runs with a delay against the same runs without one."""

import json
from math import isfinite
from typing import Any

from matroid_bandits.experiments.analysis.formatting import number
from matroid_bandits.experiments.analysis.summary import half_width
from matroid_bandits.experiments.reading.late import delay_text
from matroid_bandits.experiments.storing.results import Results

__all__ = ["delay_costs"]


def delay_costs(results: Results) -> list[dict[str, str]]:
    """One line per policy and instance with a delay, if the study has it without a delay, too.

    Runs with the same seed have the same means and rewards and are compared in pairs. The mean of
    the differences in regret comes with half the width of its 95 % confidence interval.
    """
    instances = results.study["identity"]["instances"]
    at_once = {
        _apart_from_delay(origin): name
        for name, origin in instances.items()
        if "delay" not in origin
    }
    rows = []
    for name, origin in instances.items():
        base = at_once.get(_apart_from_delay(origin))
        if "delay" not in origin or base is None:
            continue
        late, prompt = (
            runs.set_index("seed")["regret"].groupby(runs.set_index("seed")["policy"], sort=False)
            for runs in (results.runs.query("instance == @one") for one in (name, base))
        )
        delay = origin["delay"]
        rounds = delay.get("rounds", delay.get("mean", 0))
        for policy, regret in late:
            if policy not in prompt.groups:
                continue
            cost = (regret - prompt.get_group(policy)).dropna()
            if cost.empty:
                continue
            mean, half = float(cost.mean()), half_width(cost.to_numpy())
            rows.append(
                {
                    "instance": name,
                    "delay": delay_text(delay),
                    "policy": str(policy),
                    "cost": _with_half(mean, half),
                    "per_round": _with_half(mean / rounds, half / rounds) if rounds else "",
                }
            )
    return rows


def _apart_from_delay(origin: dict[str, Any]) -> str:
    rest = {key: value for key, value in origin.items() if key != "delay"}
    return json.dumps(rest, sort_keys=True)


def _with_half(mean: float, half: float) -> str:
    text = number(mean)
    return f"{text} \N{PLUS-MINUS SIGN} {number(half)}" if isfinite(half) else text
