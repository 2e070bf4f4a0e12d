"""A matroid in its user's terms: labels for elements, and whether more or less is better.

Policies, gaps and simulations take a :class:`Problem` wherever they take a matroid. Inside,
elements are numbers and larger is better; labels become numbers here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

import numpy as np

from matroid_bandits._arguments import (
    abbreviated,
    as_list,
    choice,
    distinct_elements,
    element_array,
    integer,
    real_array,
    suggestion,
)
from matroid_bandits._html import Html, facts, joined, never_raises, panel
from matroid_bandits._plain_data import plain
from matroid_bandits._types import Label, Labels
from matroid_bandits.matroids import Matroid

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from matroid_bandits._types import FloatArray, IntArray

__all__ = ["Problem"]

Names = Iterable[Any]

_SENSES: tuple[Literal["max"], Literal["min"]] = ("max", "min")


class Problem(Generic[Label, Labels]):
    """What may be played, with labels for its elements, and which way is better.

    A policy made for a problem selects labels and accepts labels. With ``sense="min"`` it receives
    costs and looks for the basis of smallest total cost; means, gaps and regret are costs too.

    A problem is immutable, like its matroid. In annotations, ``Problem[str]`` has labels that are
    texts, and its sets are ``list[str]``.

    Parameters
    ----------
    matroid : Matroid
        What may be played.
    labels : sequence of hashable, optional
        The label of every element: texts, numbers, tuples, all different. Without labels, elements
        are called by their numbers.
    sense : {"max", "min"}, default "max"
        Whether rewards are to be large, or costs small.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> links = [("Oslo", "Rome"), ("Rome", "Cork"), ("Cork", "Oslo")]
    >>> network = mb.Problem(mb.GraphicMatroid(links), labels=links, sense="min")
    >>> network.best_basis([20.0, 35.0, 18.0])
    [('Oslo', 'Rome'), ('Cork', 'Oslo')]
    >>> policy = mb.MAUB(network)
    >>> policy.update({("Oslo", "Rome"): 21.5, ("Cork", "Oslo"): 17.2})
    """

    # `Problem[str]` in annotations, also where the second parameter has its default.
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)

    @overload
    def __init__(
        self: Problem[Label, list[Label]],
        matroid: Matroid,
        labels: Iterable[Label],
        *,
        sense: Literal["max", "min"] = "max",
    ) -> None: ...

    @overload
    def __init__(
        self: Problem[int, IntArray],
        matroid: Matroid,
        labels: None = None,
        *,
        sense: Literal["max", "min"] = "max",
    ) -> None: ...

    def __init__(
        self,
        matroid: Matroid,
        labels: Iterable[Any] | None = None,
        *,
        sense: Literal["max", "min"] = "max",
    ) -> None:
        if not isinstance(matroid, Matroid):
            raise not_a_matroid("a problem", matroid)
        self._matroid = matroid
        self._sense: Literal["max", "min"] = choice(sense, "sense", _SENSES)
        self._labels = None if labels is None else distinct_labels(labels, matroid.size)
        self._number = {label: e for e, label in enumerate(self._labels or ())}

    @classmethod
    def of(cls, matroid: Any) -> Problem[Any, Any]:
        """`matroid` as a problem: itself if it is one, else without labels, larger is better."""
        return matroid if isinstance(matroid, Problem) else Problem(matroid)

    # ---- what it is ----

    @property
    def matroid(self) -> Matroid:
        """What may be played."""
        return self._matroid

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The label of every element; None if they are called by their numbers."""
        return self._labels

    @property
    def sense(self) -> Literal["max", "min"]:
        """Whether rewards are to be large, or costs small."""
        return self._sense

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._matroid.size

    @property
    def rank(self) -> int:
        """Number of elements of every basis."""
        return self._matroid.rank

    # ---- labels and numbers ----

    def elements(self, names: Names) -> IntArray:
        """The numbers of `names`, in the same order.

        Parameters
        ----------
        names : iterable
            Labels, each at most once; numbers where there are no labels.
        """
        if self._labels is None:
            if isinstance(names, Iterable) and not isinstance(names, np.ndarray):
                names = list(names)
            elements = element_array(names)
            distinct_elements(elements, self.size)
            return elements
        numbers = [self._number_of(name) for name in as_list(names, "names")]
        if len(set(numbers)) < len(numbers):
            seen: set[int] = set()
            doubled = next(e for e in numbers if e in seen or seen.add(e))  # type: ignore[func-returns-value]
            raise ValueError(f"{self._labels[doubled]!r} is given twice")
        return np.array(numbers, dtype=np.intp)

    def names(self, elements: IntArray) -> Labels:
        """The labels of `elements`, as a list; `elements` themselves where there are none.

        Parameters
        ----------
        elements : array of int
            Numbers of elements.
        """
        if self._labels is None:
            return elements  # type: ignore[return-value]
        try:
            return [self._labels[e] for e in elements.tolist()]  # type: ignore[return-value]
        except TypeError:
            # Whole numbers of another type.
            return self.names(element_array(elements))

    def name(self, element: int) -> Label:
        """The label of `element`; its number where there are none."""
        e = integer(element, "element")
        return e if self._labels is None else self._labels[e]  # type: ignore[return-value]

    def _number_of(self, name: Any) -> int:
        try:
            return self._number[name]
        except (KeyError, TypeError):
            reverse = name[::-1] if isinstance(name, tuple) else None
            known = [str(label) for label in self._labels or ()]
            if reverse in self._number:
                raise ValueError(
                    f"unknown label {abbreviated(name)}; did you mean its reverse, {reverse!r}?"
                ) from None
            raise ValueError(
                f"unknown label {abbreviated(name)}; {suggestion(str(name), known)}"
            ) from None

    # ---- the matroid, in labels ----

    def is_independent(self, names: Names) -> bool:
        """Whether `names` may be played together."""
        return self._matroid.is_independent(self.elements(names))

    def is_basis(self, names: Names) -> bool:
        """Whether `names` are a basis: independent, and no larger set is."""
        return self._matroid.is_basis(self.elements(names))

    def rank_of(self, names: Names) -> int:
        """The size of the largest independent sets within `names`."""
        return self._matroid.rank_of(self.elements(names))

    def closure(self, names: Names) -> Labels:
        """All elements that can be added to `names` without raising their rank."""
        return self.names(self._matroid.closure(self.elements(names)))

    def best_basis(self, values: npt.ArrayLike | Mapping[Any, float]) -> Labels:
        """The basis of largest total value, or of smallest, if costs are to be small.

        Parameters
        ----------
        values : array_like of float, or mapping
            The value of every element: in the order of the labels, or by name.

        Returns
        -------
        list, or numpy.ndarray
            Elements in the order of the labels; numbers where there are none.
        """
        return self.names(self._matroid.max_weight_basis(self.gains(self.values(values))))

    def fundamental_circuit(self, basis: Names, name: Any) -> Labels:
        """`name` with all of `basis` that it can replace.

        Parameters
        ----------
        basis : iterable
            The names of a basis.
        name : hashable
            An element outside it.
        """
        members = self.elements(basis)
        (element,) = self.elements([name])
        reason = self._matroid._why_no_basis(members)
        if reason:
            raise ValueError(f"{self.names(members)} is not a basis: {reason}")
        return self.names(self._matroid.fundamental_circuit(members, element))

    def values(self, values: npt.ArrayLike | Mapping[Any, float]) -> FloatArray:
        """One value per element, given in the order of the labels or by name.

        Parameters
        ----------
        values : array_like of float, or mapping
            A mapping must have every name.
        """
        if not isinstance(values, Mapping):
            return real_array(values, "values")
        elements = self.elements(list(values))
        if len(elements) < self.size:
            missing = np.setdiff1d(np.arange(self.size), elements)
            raise ValueError(f"one value per element is needed; {self.name(missing[0])!r} has none")
        ordered = np.empty(self.size)
        ordered[elements] = real_array(list(values.values()), "values")
        return ordered

    def gains(self, values: FloatArray) -> FloatArray:
        """`values` such that larger is better: costs become negative."""
        return -values if self._sense == "min" else values

    # ---- parts and sums ----

    def restrict(self, names: Names) -> Self:
        """The problem with `names` alone; see :meth:`Matroid.restrict`."""
        kept = np.sort(self.elements(names))
        return self._with(self._matroid.restrict(kept), kept)

    def delete(self, names: Names) -> Self:
        """The problem without `names`; see :meth:`Matroid.delete`."""
        gone = self.elements(names)
        return self._with(self._matroid.delete(gone), self._all_but(gone))

    def contract(self, names: Names) -> Self:
        """What can be added where `names` are played anyway; see :meth:`Matroid.contract`."""
        gone = self.elements(names)
        return self._with(self._matroid.contract(gone), self._all_but(gone))

    def truncate(self, rank: int) -> Self:
        """The same, but at most `rank` elements together; see :meth:`Matroid.truncate`."""
        return self._with(self._matroid.truncate(integer(rank, "rank", minimum=0)))

    def dual(self) -> Self:
        """What can be left out of some basis; see :meth:`Matroid.dual`."""
        return self._with(self._matroid.dual())

    def __add__(self, other: Problem[Label, Labels]) -> Problem[Label, Labels]:
        if not isinstance(other, Problem):
            return NotImplemented
        self._refuse_other_sense(other)
        if (self._labels is None) != (other._labels is None):
            raise ValueError("one problem has labels, the other has none: give both labels")
        labels = None if self._labels is None else (*self._labels, *(other._labels or ()))
        both = set(self._labels or ()) & set(other._labels or ())
        if both:
            shared = next(label for label in self._labels or () if label in both)
            raise ValueError(
                f"both problems have a label {shared!r}; rename one, for instance to "
                f"{('second', shared)!r}"
            )
        return Problem(self._matroid + other._matroid, labels, sense=self._sense)  # type: ignore[return-value]

    def __or__(self, other: Problem[Label, Labels]) -> Problem[Label, Labels]:
        if not isinstance(other, Problem):
            return NotImplemented
        self._refuse_other_sense(other)
        if self._labels != other._labels:
            raise ValueError(
                "a union is of problems with the same labels in the same order; for elements of "
                "their own, add them up: first + second"
            )
        return Problem(self._matroid | other._matroid, self._labels, sense=self._sense)  # type: ignore[return-value]

    def _refuse_other_sense(self, other: Problem[Any, Any]) -> None:
        if self._sense != other._sense:
            raise ValueError(
                f"one problem has sense={self._sense!r}, the other {other._sense!r}: turn the "
                "rewards of one into costs"
            )

    def _with(self, matroid: Matroid, elements: IntArray | None = None) -> Self:
        """The same with `matroid`, whose elements are called `elements` here."""
        kept = np.arange(self.size) if elements is None else elements
        labels = None if self._labels is None else self.names(kept)
        return type(self)(matroid, labels, sense=self._sense)  # type: ignore[arg-type]

    def _all_but(self, elements: IntArray) -> IntArray:
        return np.setdiff1d(np.arange(self.size), elements)

    # ---- as data ----

    def to_spec(self) -> dict[str, Any]:
        """The problem as plain data, as JSON has it: ``matroid``, ``labels`` if any, ``sense``.

        :func:`~matroid_bandits.problem_from_spec` makes an equal problem of it. Tuples become
        lists, and tuples again when they are read.

        Raises
        ------
        ValueError
            If a label is neither a text, a finite number, a truth value, None, nor a tuple of
            these.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.Problem(mb.UniformMatroid(1, 2), labels=[("a", 1), "b"]).to_spec()["labels"]
        [['a', 1], 'b']
        """
        labels = {} if self._labels is None else {"labels": plain(self._labels, "labels")}
        return {"matroid": self._matroid.to_spec(), **labels, "sense": self._sense}

    def __eq__(self, other: object) -> bool:
        """Whether `other` has an equal matroid, the same labels and the same sense."""
        if not isinstance(other, Problem):
            return NotImplemented
        return self is other or (
            type(self) is type(other)
            and self._sense == other._sense
            and self._labels == other._labels
            and self._matroid == other._matroid
        )

    def __hash__(self) -> int:
        return hash((self._matroid, self._labels, self._sense))

    # ---- copies ----

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Immutable: a copy of a policy shares its problem, and labels stay the very same objects.
        return self

    # ---- for people ----

    def __repr__(self) -> str:
        labels = "" if self._labels is None else f", labels={_abridged(self._labels)}"
        sense = "" if self._sense == "max" else ", sense='min'"
        return f"Problem({self._matroid!r}{labels}{sense})"

    @never_raises
    def _repr_html_(self) -> Html:
        matroid = self._matroid
        labels = () if self._labels is None else self._labels
        shown_labels = [("labels", joined(labels, self.size))] if labels else []
        picture = matroid._shown_picture(lambda e: str(self.name(e)))
        pairs = [("better", self._better()), *matroid._shown_facts(), *shown_labels]
        return panel(type(self).__name__, facts(pairs), *picture, note=type(matroid).__name__)

    def _better(self) -> str:
        """Which way is better, in words."""
        return "larger rewards" if self._sense == "max" else "smaller costs"


def distinct_labels(labels: Any, size: int, what: str = "element") -> tuple[Any, ...]:
    """One label per element, all hashable and different; messages call an element a `what`."""
    # Series and indices of data frames give their plain values as arrays do.
    names = as_list(labels.tolist() if hasattr(labels, "tolist") else labels, "labels")
    if len(names) != size:
        raise ValueError(f"one label per {what} is needed: {size}, got {len(names)}")
    first: dict[Any, int] = {}
    for e, name in enumerate(names):
        try:
            # Tuples are hashable, unless they hold a list; NaN is not even equal to itself.
            before = first.setdefault(name, e) if name == name else None  # noqa: PLR0124
        except TypeError:
            before = None
        if before is None:
            raise ValueError(f"the label of {what} {e} must be hashable, got {abbreviated(name)}")
        if before != e:
            raise ValueError(f"{what}s {before} and {e} have the same label {abbreviated(name)}")
    return tuple(names)


def _abridged(labels: tuple[Any, ...]) -> str:
    first = ", ".join(repr(label) for label in labels[:3])
    return f"[{first}{', ...' if len(labels) > 3 else ''}]"


def not_a_matroid(owner: str, value: object) -> TypeError:
    """The error for something that is neither a matroid nor a problem, with what to do instead."""
    if isinstance(value, type):
        advice = f"{value.__name__} is a class: pass an instance, {value.__name__}(...)"
    elif isinstance(value, str):
        advice = f"for a matroid by its name, pass catalog.matroid({value!r})"
    elif hasattr(value, "nodes") and hasattr(value, "edges"):
        advice = "for a NetworkX graph, pass from_networkx(graph)"
    elif hasattr(value, "iloc") or hasattr(value, "to_pandas"):
        advice = "for a data frame, pass from_dataframe(frame, ...)"
    elif hasattr(value, "tocsr"):
        advice = "for a sparse matrix, pass from_scipy_sparse(matrix)"
    elif hasattr(value, "groundset"):
        advice = "for a matroid of SageMath, pass from_sage(matroid)"
    else:
        advice = "for a function that tests independence, pass OracleMatroid(size, function)"
    return TypeError(f"{owner} needs a matroid, got {abbreviated(value)}; {advice}")
