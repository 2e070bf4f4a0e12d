"""What the pages of the dashboard show, as plain data. The templates see nothing else."""

from dataclasses import dataclass, field

__all__ = ["BanditView", "Bucket", "DecisionView", "EdgeView", "ElementView", "GraphView", "Series"]


@dataclass(frozen=True)
class ElementView:
    """A row of the table of elements.

    Attributes
    ----------
    label : str
        As people read it.
    mean, low, high : float or None
        Mean so far, and the ends of its interval; None if it was never observed.
    count, plays, pending : int
        How often it was observed, decided for, and waits for feedback.
    share : float
        Share of all decisions that contain it.
    partner : str or None
        Of an element of the leader, what would take its place; of any other, what it would replace.
    is_in_leader : bool
    """

    label: str
    mean: float | None
    low: float | None
    high: float | None
    count: int
    plays: int
    pending: int
    share: float
    partner: str | None
    is_in_leader: bool


@dataclass(frozen=True)
class DecisionView:
    """One of the latest decisions; `status` is "open", "rewarded", "closed" or "expired"."""

    id: str
    time: float
    round: int
    elements: list[str]
    why: str
    status: str


@dataclass(frozen=True)
class Bucket:
    """What happened in one interval of time, which begins at `start` (seconds since 1970)."""

    start: float
    decided: int
    observed: int
    reward: float
    expired: int

    @property
    def mean(self) -> float | None:
        """The mean of the rewards that were observed."""
        return self.reward / self.observed if self.observed else None


@dataclass(frozen=True)
class Series:
    """What happened over time: intervals of `seconds`, those without any event left out."""

    seconds: float
    buckets: list[Bucket] = field(default_factory=list)


@dataclass(frozen=True)
class EdgeView:
    """An edge of a graph: the numbers of its two vertices; `mean` is None if never observed."""

    tail: int
    head: int
    label: str
    is_in_leader: bool
    mean: float | None


@dataclass(frozen=True)
class GraphView:
    """A graph with coordinates: a label and a point (x to the right, y upwards) per vertex."""

    vertices: list[tuple[str, float, float]]
    edges: list[EdgeView]


@dataclass(frozen=True)
class BanditView:
    """A bandit.

    Attributes
    ----------
    name, policy, matroid : str
        `policy` and `matroid` are short descriptions.
    sense : str
        "max" (rewards) or "min" (costs).
    status : str
        "active", "paused" or "archived".
    size, rank, rounds : int
    decided, rewarded, pending, expired : int
        Decisions made; with all their feedback; that wait for it; given up.
    seconds_since_learned : float or None
        None if nothing was ever learned.
    warnings : list of str
        Sentences.
    leader : list of str or None
        None in the initial rounds.
    may_stop : str
        Sentences: whether the best basis is settled.
    elements : list of ElementView
        Leader first, then by mean; `n_elements_left_out` more are not shown.
    confidence : float
        The probability with which an interval holds.
    expire_after : float or None
        Seconds after which a decision expires.
    missing_reward : float or None
        What is then learned for elements without feedback.
    """

    name: str
    policy: str
    matroid: str
    sense: str
    status: str
    size: int
    rank: int
    rounds: int
    decided: int
    rewarded: int
    pending: int
    expired: int
    seconds_since_learned: float | None
    warnings: list[str] = field(default_factory=list)
    leader: list[str] | None = None
    may_stop: str = ""
    elements: list[ElementView] = field(default_factory=list)
    n_elements_left_out: int = 0
    series: Series | None = None
    latest: list[DecisionView] = field(default_factory=list)
    graph: GraphView | None = None
    confidence: float = 0.95
    expire_after: float | None = None
    missing_reward: float | None = None
