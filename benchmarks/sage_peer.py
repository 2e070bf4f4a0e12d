"""MAUB and OMM in plain Python over SageMath's matroids: what the engine is compared with.

Runs in an environment of its own (``make sage``) and imports nothing of the package. A job comes
as JSON on stdin, its result goes as JSON to stdout: see `Job` and `run`. Plays, counters and
regret are those of docs/explanation/maub.md and docs/reference/random-numbers.md, to the last bit.

It is meant to be as fast as such a program can be. Its *form* has three parts:

- the class of SageMath's matroid. Graphs: BinaryMatroid and RegularMatroid are equally fast to
  ask, GraphicMatroid takes 3 (K7) to 7 times (K20) as long. Vectors: SageMath is fastest over the
  rationals, where it computes with GMP; over GF(p) it needs more packages, is no faster in
  questions and takes 3 to 6 times as long for cocircuits. The list of bases (BasisMatroid) is
  somewhat faster than TransversalMatroid, and no faster than SageMath's uniform matroid.
- how the oracle is called. ``each`` makes one oracle call per test, as published and as counted.
  ``prefix`` lets greedy first ask for as many elements at once as can fit: right for uniform
  matroids. ``circuits`` is for those who know SageMath well: the cocircuits of a leader are its
  neighborhood. Tests are counted as if made one by one. Tried for greedy, and slower over
  100,000 rounds: closures of what was chosen, to end long rows of rejections; and to start from
  the basis of the round before and ask only what shows that it is still best.
- where the statistics are: in ``lists``, or in ``arrays`` that Python writes and NumPy reads,
  which pays from some fifty elements on. Learning is faster in a loop than with NumPy.

A part that the job leaves out is the fastest one measured.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib import import_module
from itertools import chain, count
from math import log, sqrt
from operator import itemgetter, lt
from time import perf_counter
from typing import Any, TypedDict

import numpy as np

# The fastest class and method, and the number of elements from which NumPy is faster.
FASTEST = {
    ("uniform", "MAUB"): ("UniformMatroid", "prefix"),
    ("uniform", "OMM"): ("UniformMatroid", "prefix"),
    ("graphic", "MAUB"): ("BinaryMatroid", "circuits"),
    ("graphic", "OMM"): ("BinaryMatroid", "each"),
    ("linear", "MAUB"): ("LinearMatroid", "circuits"),
    ("linear", "OMM"): ("LinearMatroid", "each"),
    ("transversal", "MAUB"): ("BasisMatroid", "prefix"),
    ("transversal", "OMM"): ("BasisMatroid", "prefix"),
}
MANY = 50


class Job(TypedDict):
    """What to run."""

    matroid: dict[str, Any]
    means: list[float]
    std: float
    seed: int
    horizon: int
    policy: str
    form: str  # such as "RegularMatroid/each/lists" or "/each/"; a part left out: the fastest
    plays: bool  # whether to hash the bases played, which takes time


def sage(module: str, name: str) -> Any:
    """Something of SageMath's, which the type checker cannot see."""
    for everything in ("all__sagemath_modules", "all__sagemath_graphs"):
        import_module(f"sage.{everything}")  # its modules import each other; this order works
    return getattr(import_module(f"sage.{module}"), name)


# --- matroids ------------------------------------------------------------------------------------


def uniform(described: dict[str, Any], cls: str) -> Any:
    """As SageMath's catalog makes it, by its one circuit closure, or the list of its bases."""
    matroid = sage("matroids.database_matroids", "Uniform")(described["rank"], described["size"])
    return sage("matroids.basis_matroid", cls)(matroid) if cls == "BasisMatroid" else matroid


def graphic(described: dict[str, Any], cls: str) -> Any:
    """From a graph, or from its incidence matrix over GF(2) or signed."""
    edges = described["edges"]
    if cls == "GraphicMatroid":
        graph = sage("graphs.graph", "Graph")(
            [(u, v, e) for e, (u, v) in enumerate(edges)], multiedges=True
        )
        return sage("matroids.graphic_matroid", cls)(graph)
    vertices = {v: i for i, v in enumerate(dict.fromkeys(chain.from_iterable(edges)))}
    incidence = np.zeros((len(vertices), len(edges)), dtype=int)
    for e, (u, v) in enumerate(edges):
        incidence[vertices[u], e] = 1
        incidence[vertices[v], e] = 1 if cls == "BinaryMatroid" else -1
    return matrix_matroid(incidence.tolist(), cls)


def linear(described: dict[str, Any], cls: str) -> Any:
    """Over the rationals."""
    return matrix_matroid(np.array(described["vectors"]).T.tolist(), cls)


def matrix_matroid(columns: list[list[int]], cls: str) -> Any:
    """The matroid of the columns of a matrix."""
    if cls == "BinaryMatroid":
        ring = sage("rings.finite_rings.finite_field_constructor", "GF")(2)
    elif cls == "RegularMatroid":
        ring = sage("rings.integer_ring", "ZZ")
    else:
        ring = sage("rings.rational_field", "QQ")
    matrix = sage("matrix.constructor", "matrix")(ring, columns)
    return sage("matroids.linear_matroid", cls)(matrix)


def transversal(described: dict[str, Any], cls: str) -> Any:
    """By matchings, or by the list of its bases where there are few."""
    neighbors = described["neighbors"]
    slots = dict.fromkeys(chain.from_iterable(neighbors))
    sets = [[e for e, near in enumerate(neighbors) if slot in near] for slot in slots]
    matroid = sage("matroids.transversal_matroid", "TransversalMatroid")(
        sets, groundset=range(len(neighbors))
    )
    return sage("matroids.basis_matroid", cls)(matroid) if cls == "BasisMatroid" else matroid


KINDS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "uniform": uniform,
    "graphic": graphic,
    "linear": linear,
    "transversal": transversal,
}


# --- oracle calls --------------------------------------------------------------------------------


class Each:
    """One oracle call per test."""

    def __init__(self, matroid: Any) -> None:
        self.matroid = matroid
        self.rank = int(matroid.full_rank())
        # To add one of these to a set is faster than to add an element.
        self.alone = [frozenset((e,)) for e in range(matroid.size())]
        self.oracle_calls = 0
        self.greedy_calls = 0

    def greedy(self, order: list[int]) -> tuple[int, ...]:
        """The basis of the elements that fit, in this order; ascending."""
        is_independent, alone = self.matroid._is_independent, self.alone
        chosen: frozenset[int] = frozenset()
        tests = 0
        for tests, e in enumerate(order, 1):  # noqa: B007
            larger = chosen | alone[e]
            if is_independent(larger):
                chosen = larger
                if len(chosen) == self.rank:
                    break
        self.greedy_calls += 1
        self.oracle_calls += tests
        return tuple(sorted(chosen))

    def partners(self, ascending: Sequence[int], outside: list[int]) -> dict[int, int]:
        """Algorithm 2: for every element outside the first of the basis that it can replace."""
        is_independent, alone = self.matroid._is_independent, self.alone
        basis = frozenset(ascending)
        partner: dict[int, int] = {}
        for x in ascending:
            self.oracle_calls += len(outside)
            rest = basis - alone[x]
            left = []
            for e in outside:
                if is_independent(rest | alone[e]):
                    partner[e] = x
                else:
                    left.append(e)
            outside = left
            if not left:
                break
        return partner


class Prefix(Each):
    """First as many as can fit, all at once; if they do not, one by one."""

    def greedy(self, order: list[int]) -> tuple[int, ...]:
        first = order[: self.rank]
        if not self.matroid._is_independent(frozenset(first)):
            return super().greedy(order)
        self.greedy_calls += 1
        self.oracle_calls += self.rank
        return tuple(sorted(first))


class Circuits(Each):
    """Cocircuits in place of the oracle calls of Algorithm 2; the same results and counts."""

    def partners(self, ascending: Sequence[int], outside: list[int]) -> dict[int, int]:
        # What can replace x is its fundamental cocircuit.
        cocircuit = self.matroid._fundamental_cocircuit
        basis = frozenset(ascending)
        partner: dict[int, int] = {}
        left = frozenset(outside)
        for x in ascending:
            self.oracle_calls += len(left)
            found = left & cocircuit(basis, x)
            partner.update(dict.fromkeys(found, x))
            left -= found
            if not left:
                break
        return partner


ASKING: dict[str, type[Each]] = {"each": Each, "prefix": Prefix, "circuits": Circuits}


# --- policies ------------------------------------------------------------------------------------


# A basis and its pseudo-regret.
Play = tuple[tuple[int, ...], float]


def ascending_sum(means: Sequence[float], basis: Sequence[int]) -> float:
    """Not sum(), which has other last digits since Python 3.12."""
    value = 0.0
    for e in basis:
        value += means[e]
    return value


def values_at(elements: Sequence[int]) -> Callable[[Sequence[float]], tuple[float, ...]]:
    """A function that gets the values of these elements, as a tuple, also of a single one."""
    if len(elements) == 1:
        return lambda values: (values[elements[0]],)
    return itemgetter(*elements)


class Policy:
    """Statistics and initial rounds."""

    def __init__(self, ask: Each, true_means: list[float], arrays: bool) -> None:
        self.ask = ask
        self.size = size = len(true_means)
        self.true_means = true_means
        order = sorted(range(size), key=true_means.__getitem__, reverse=True)
        self.best_value = ascending_sum(true_means, ask.greedy(order))
        ask.oracle_calls = ask.greedy_calls = 0
        self.counts = [0] * size
        # Means, and behind them 1/sqrt(count).
        self.means: Any
        self.roots: Any
        if arrays:
            self.statistics = np.zeros(2 * size)
            whole = self.statistics.data
            self.means, self.roots = whole[:size], whole[size:]
        else:
            self.means, self.roots = [0.0] * size, [0.0] * size
        self.rounds = 0
        self.neighborhood_updates = 0

    def gap(self, basis: Sequence[int]) -> float:
        """The pseudo-regret of a round."""
        return self.best_value - ascending_sum(self.true_means, basis)

    def select(self) -> Play:
        """The basis of this round and its pseudo-regret."""
        self.rounds += 1
        counts = self.counts
        unobserved = [e for e in range(self.size) if not counts[e]]
        if unobserved:
            basis = self.ask.greedy(unobserved + [e for e in range(self.size) if counts[e]])
            return basis, self.gap(basis)
        self.select = self.decide  # type: ignore[method-assign]
        self.rounds -= 1
        return self.decide()

    def decide(self) -> Play:
        """The same, once everything has been observed."""
        raise NotImplementedError

    def by_value(self, values: Sequence[float]) -> list[int]:
        """Elements, largest first; Python's sort keeps ties in order, also when reversed."""
        return sorted(range(self.size), key=values.__getitem__, reverse=True)


class OMM(Policy):
    """Greedy on optimistic indices in every round."""

    def decide(self) -> Play:
        self.rounds += 1
        width = sqrt(2 * log(self.rounds))
        index = [m + width * s for m, s in zip(self.means, self.roots, strict=True)]
        basis = self.ask.greedy(self.by_value(index))
        return basis, self.gap(basis)


class ArrayOMM(OMM):
    """The same with NumPy."""

    def decide(self) -> Play:
        self.rounds += 1
        index = self.statistics[self.size :] * -sqrt(2 * log(self.rounds))
        index -= self.statistics[: self.size]
        basis = self.ask.greedy(index.argsort(kind="stable").tolist())
        return basis, self.gap(basis)


class MAUB(Policy):
    """Plays the leader or an exchange with it."""

    def __init__(self, ask: Each, true_means: list[float], arrays: bool) -> None:
        super().__init__(ask, true_means, arrays)
        self.period = self.size - ask.rank + 1
        self.local_time: dict[tuple[int, ...], int] = {}
        self.leader: tuple[int, ...] = ()
        self.time = 0

    def set_leader(self) -> None:
        """Greedy on the means."""
        if self.leader:
            self.local_time[self.leader] = self.time
        self.leader = leader = self.ask.greedy(self.by_value(self.means))
        self.time = self.local_time.get(leader, 0)
        self.outside = [e for e in range(self.size) if e not in leader]
        self.leader_play = leader, self.gap(leader)
        self.set_partners()

    def set_partners(self) -> None:
        """Algorithm 2, for the present order of the leader."""
        self.order = sorted(self.leader, key=self.means.__getitem__)
        self.ordered = values_at(self.order)
        self.partner = self.ask.partners(self.order, self.outside)
        self.plays: dict[int, Play] = {}
        self.arrange()

    def arrange(self) -> None:
        """Arrays of the partners, for fast comparisons."""
        self.groups: dict[int, list[int]] = {}
        for e, x in self.partner.items():
            self.groups.setdefault(x, []).append(e)

    def order_changed(self) -> bool:
        """Whether the leader, by mean and then by element, is in another order than it was."""
        means = self.ordered(self.means)
        # Usually the order has not changed, which is quick to test.
        if all(map(lt, means, means[1:])):
            return False
        return sorted(self.leader, key=self.means.__getitem__) != self.order

    def exchange(self, e: int) -> Play:
        """The leader with e in place of its partner."""
        play = self.plays.get(e)
        if play is None:
            x = self.partner[e]
            basis = tuple(sorted([e, *(y for y in self.leader if y != x)]))
            play = self.plays[e] = basis, self.gap(basis)
        return play

    def decide(self) -> Play:
        if not self.leader or self.improves():
            self.set_leader()
        elif self.order_changed():
            self.set_partners()
            self.neighborhood_updates += 1
        self.time = time = self.time + 1
        if (time - 1) % self.period == 0:
            return self.leader_play
        return self.play_near(sqrt(2 * log(time)))

    def improves(self) -> bool:
        """Whether some element has a greater mean than its partner."""
        means = self.means
        for x, group in self.groups.items():
            mean = means[x]
            for e in group:
                if means[e] > mean:
                    return True
        return False

    def play_near(self, width: float) -> Play:
        """The exchange that looks best, the lowest in a tie, if it looks better than the leader."""
        means, roots = self.means, self.roots
        best, choice = 0.0, -1
        for x, group in self.groups.items():
            mean, root = means[x], roots[x]
            for e in group:
                value = (means[e] - mean) + width * (roots[e] - root)
                if value >= best and (value > best or e < choice):
                    best, choice = value, e
        return self.leader_play if choice < 0 else self.exchange(choice)


class ArrayMAUB(MAUB):
    """The same with NumPy."""

    def set_leader(self) -> None:
        self.fresh = True
        super().set_leader()

    def arrange(self) -> None:
        # Means, and behind them 1/sqrt(count), of the elements outside and of their partners.
        width, size = len(self.outside), self.size
        if self.fresh:
            self.fresh = False
            outside = np.array(self.outside)
            self.taken = np.concatenate((outside, outside + size))
            self.gains, self.losses = np.empty((2, 2 * width))
            self.mean_gains, self.root_gains = self.gains[:width], self.gains[width:]
        inside = np.array([self.partner[e] for e in self.outside])
        self.given = np.concatenate((inside, inside + size))
        self.compare()

    def compare(self) -> None:
        """Elements outside minus their partners, in means and in roots."""
        # "clip" spares a copy; nothing is out of range.
        self.statistics.take(self.taken, None, self.gains, "clip")
        self.statistics.take(self.given, None, self.losses, "clip")
        np.subtract(self.gains, self.losses, self.gains)

    def improves(self) -> bool:
        self.compare()
        gains = self.mean_gains
        return bool(gains[gains.argmax()] > 0)

    def play_near(self, width: float) -> Play:
        values = self.root_gains
        np.multiply(values, width, values)
        np.add(self.mean_gains, values, values)
        choice = values.argmax()
        return self.exchange(self.outside[choice]) if values[choice] > 0 else self.leader_play


POLICIES: dict[tuple[str, str], type[Policy]] = {
    ("MAUB", "lists"): MAUB,
    ("MAUB", "arrays"): ArrayMAUB,
    ("OMM", "lists"): OMM,
    ("OMM", "arrays"): ArrayOMM,
}


# --- one run -------------------------------------------------------------------------------------


def rewards(seed: int, element: int, mean: float, std: float) -> Iterator[float]:
    """The rewards of an element, drawn in blocks that grow with its use."""
    rng = np.random.default_rng([int.from_bytes(b"bandits--rewards", "little"), seed, element])
    blocks = (min(2**k, 4096) for k in count(4))
    drawn = ((mean + std * rng.standard_normal(size)).tolist() for size in blocks)
    return chain.from_iterable(drawn)


def play_rounds(
    policy: Policy,
    streams: list[Iterator[float]],
    horizon: int,
    plays: list[tuple[int, ...]] | None,
) -> float:
    """Play, and return the pseudo-regret."""
    counts, means, roots = policy.counts, policy.means, policy.roots
    draw = [stream.__next__ for stream in streams]
    inverse_root = [0.0, *(1 / np.sqrt(np.arange(1, horizon + 1))).tolist()]
    regret = 0.0
    for _ in range(horizon):
        basis, gap = policy.select()
        for e in basis:
            n = counts[e]
            counts[e] = after = n + 1
            means[e] = (n * means[e] + draw[e]()) / after
            roots[e] = inverse_root[after]
        regret += gap
        if plays is not None:
            plays.append(basis)
    return regret


def run(job: Job) -> dict[str, Any]:
    """One run, and the numbers to compare."""
    kind = job["matroid"]["type"]
    usual = (*FASTEST[kind, job["policy"]], "arrays" if len(job["means"]) > MANY else "lists")
    wanted = (job["form"] or "//").split("/")
    cls, asking, statistics = (w or u for w, u in zip(wanted, usual, strict=True))
    start = perf_counter()
    ask = ASKING[asking](KINDS[kind](job["matroid"], cls))
    if ask.matroid.loops():
        raise ValueError("loops are not played, and not provided for here: leave them out")
    built = perf_counter()
    policy = POLICIES[job["policy"], statistics](ask, job["means"], statistics == "arrays")
    streams = [rewards(job["seed"], e, mean, job["std"]) for e, mean in enumerate(job["means"])]
    plays: list[tuple[int, ...]] | None = [] if job["plays"] else None
    ready = perf_counter()
    regret = play_rounds(policy, streams, job["horizon"], plays)
    seconds = perf_counter() - ready
    return {
        "form": f"{cls}/{asking}/{statistics}",
        "seconds": seconds,
        "seconds_matroid": built - start,
        "seconds_streams": ready - built,
        "regret": regret,
        "oracle_calls": ask.oracle_calls,
        "greedy_calls": ask.greedy_calls,
        "neighborhood_updates": policy.neighborhood_updates,
        "counts": policy.counts,
        "plays": sha256(np.array(plays, dtype="<i8").tobytes()).hexdigest() if plays else "",
    }


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
