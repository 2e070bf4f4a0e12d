"""The interface of matroids, and what a new matroid has to implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from matroid_bandits._arguments import (
    distinct_elements,
    frozen_state,
    integer,
    weight_array,
)
from matroid_bandits._core.matroids.bases import bases_of, circuits_of
from matroid_bandits._core.matroids.partners import find_partners
from matroid_bandits._core.matroids.python import PythonKernel
from matroid_bandits._html import Html, facts, never_raises, number, panel, shown
from matroid_bandits._overrides import outdated
from matroid_bandits.errors import MatroidAxiomError, too_small
from matroid_bandits.matroids.specification import Specified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from matroid_bandits._core.matroids.base import MatroidKernel
    from matroid_bandits._types import BoolArray, IntArray

__all__ = ["CompiledMatroid", "Matroid", "check_size"]


# What may be overridden to define a matroid in Python.
_HOOKS = ("_is_independent", "_greedy", "_fundamental_circuit")
# What holds only for the definition that it was written for.
_DERIVED = (
    "_find_rank",
    "_are_loops",
    "_dual",
    "_truncate",
    "_minor",
    "_n_bases",
    "_data",
    "_spec",
    "_more_facts",
    "_picture",
)
# Symmetry classes and tables of bases are 32-bit integers.
_MAX_SIZE = 2**31 - 1
_FOR_SMALL = "listing is for small matroids"
# In a notebook the rank is shown if it is known already, or if there are no more elements.
_MOST_RANKED = 60
# So many parts of a composition are shown.
_MOST_PARTS = 8


class Matroid(Specified, ABC):
    """A family of *independent* sets of the elements ``0..size-1``: those that may be played.

    A matroid is immutable; everything that changes during a run is in a kernel made for that run.

    To write your own, pass the size to ``super().__init__`` and implement `_is_independent`. All
    else follows from it. Where there is a faster way, override `_greedy` or `_fundamental_circuit`
    as well; :func:`matroid_bandits.check_matroid` compares them with the independence test.

    Parameters
    ----------
    size : int
        Number of elements.

    Examples
    --------
    >>> import matroid_bandits as mb
    >>> class AtMostTwoInARow(mb.Matroid):
    ...     '''At most two of 0, 1, 2, and at most two of 3, 4, 5.'''
    ...     def __init__(self):
    ...         super().__init__(size=6)
    ...     def _is_independent(self, elements):
    ...         return sum(e < 3 for e in elements) <= 2 and sum(e >= 3 for e in elements) <= 2
    >>> AtMostTwoInARow().max_weight_basis([5, 1, 2, 9, 9, 1])
    array([0, 2, 3, 4])
    """

    #: Levels of compositions within this matroid.
    _depth = 0
    #: Methods of the class that no longer fit because a subclass has changed the definition.
    _outdated: frozenset[str] = frozenset()
    #: Whether `_find_rank` takes no time, also for millions of elements.
    _rank_is_quick = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._outdated = outdated(cls, ["_kernel"], _HOOKS) | outdated(
            cls, _DERIVED, ["_kernel", *_HOOKS]
        )

    def __init__(self, size: int) -> None:
        self._size = integer(size, "size", minimum=0, maximum=_MAX_SIZE)
        self._known_rank: int | None = None
        self._known_rank_and_loops: tuple[int, IntArray] | None = None

    # ---- what a new matroid implements ----

    @abstractmethod
    def _is_independent(self, elements: frozenset[int]) -> bool:
        """Whether `elements` may be played together. Input is checked: distinct and in range."""

    def _greedy(self, order: tuple[int, ...], limit: int) -> Iterable[int]:
        """Optional: the elements that greedy takes in this `order`, at most `limit`."""
        raise NotImplementedError

    def _fundamental_circuit(self, basis: frozenset[int], element: int) -> Iterable[int]:
        """Optional: `element` with all elements of `basis` that it can replace."""
        raise NotImplementedError

    def _find_rank(self) -> int | None:
        """Optional: the rank, where it can be found without the greedy algorithm."""
        return None

    def _dual(self) -> Matroid:
        """Optional: the dual, where it is simpler than the wrapper made here."""
        from matroid_bandits.matroids.compose.dual import DualMatroid

        return DualMatroid(self)

    def _truncate(self, rank: int) -> Matroid:
        """Optional, likewise: the truncation to `rank`, which is smaller than the rank."""
        from matroid_bandits.matroids.compose.truncated import TruncatedMatroid

        return TruncatedMatroid(self, rank)

    def _minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        """Optional, likewise: the elements `kept`, after the elements `contracted` are contracted.

        Both are ascending and have no element in common; all other elements are deleted.
        """
        from matroid_bandits.matroids.compose.minor import MinorMatroid

        return MinorMatroid(self, kept, contracted=contracted)

    def _n_bases(self) -> int:
        """Optional: the number of bases, without listing them."""
        return len(bases_of(self, "n_bases()", _FOR_SMALL)[0])

    def _data(self) -> tuple[Any, ...] | None:
        """Optional: what determines the matroid, besides its class, size and parts.

        A nested tuple of plain values (numbers, texts, bytes) that are the same in every process.
        Names that make no difference to the matroid are left out. None, the default, means that
        the matroid is equal to itself alone.
        """
        return None

    def _attributes(self) -> Any:
        """Optional: what attributes show and `_data` does not contain, such as names."""
        return None

    def _more_facts(self) -> list[tuple[str, Any]]:
        """Optional: what a notebook shows besides size and rank, as names and values.

        It must be quick, also for millions of elements.
        """
        parts = self._components()
        if not parts:
            return []
        lines = [_outline(part) for part in parts[:_MOST_PARTS]]
        if len(parts) > _MOST_PARTS:
            lines.append(Html(f"\N{HORIZONTAL ELLIPSIS} {len(parts) - _MOST_PARTS:,} more"))
        return [("parts" if len(parts) > 1 else "of", Html("<br>".join(lines)))]

    def _picture(self, title: Callable[[int], str], marked: Collection[int]) -> Html | None:  # noqa: ARG002
        """Optional: a small picture of the elements, for notebooks.

        Parameters
        ----------
        title : callable
            What is said of an element, given its number.
        marked : collection of int
            Elements to be seen at once.
        """
        return None

    def _components(self) -> tuple[Matroid, ...]:
        """The matroids that this one is composed of."""
        return ()

    @classmethod
    def random(cls, rng: np.random.Generator, size: int) -> Self:
        """A random instance with `size` elements, for tests and experiments."""
        raise NotImplementedError(f"{cls.__name__} has no random instances")

    # ---- for the algorithms ----

    def _new_kernel(self) -> MatroidKernel:
        """The working state of one run: `_kernel`, unless a subclass has changed the definition."""
        kernel = Matroid._kernel(self) if self._is_python() else self._kernel()
        check_size(self, self.size, kernel.size)
        return kernel

    def _is_python(self) -> bool:
        """Whether a method written in Python defines this matroid."""
        return "_kernel" in self._outdated or any(hook in self.__dict__ for hook in _HOOKS)

    def _kernel(self) -> MatroidKernel:
        """A kernel for this class; overridden by classes that have a compiled kernel."""
        cls = type(self)
        return PythonKernel(
            self,
            has_greedy=cls._greedy is not Matroid._greedy,
            has_circuit=cls._fundamental_circuit is not Matroid._fundamental_circuit,
        )

    def _class_for(self, method: str) -> type[Matroid]:
        """The class whose `method` fits: `Matroid`, if a subclass has changed the definition."""
        fits = method not in self._outdated and not any(h in self.__dict__ for h in _HOOKS)
        return type(self) if fits else Matroid

    # ---- what users call ----

    @property
    def size(self) -> int:
        """Number of elements."""
        try:
            return self._size
        except AttributeError:
            raise TypeError(
                f"{type(self).__name__}.__init__ must call super().__init__(size)"
            ) from None

    @property
    def rank(self) -> int:
        """Number of elements of every basis."""
        size = self.size
        if self._known_rank_and_loops is not None:
            return self._known_rank_and_loops[0]
        if self._known_rank is None:
            found = self._class_for("_find_rank")._find_rank(self)
            if found is None:
                return self._facts()[0]
            self._known_rank = integer(found, "rank", minimum=0, maximum=size)
        return self._known_rank

    @property
    def loops(self) -> IntArray:
        """Elements that are in no basis, ascending."""
        return self._facts()[1].copy()

    def is_independent(self, elements: Iterable[int]) -> bool:
        """Whether `elements` may be played together.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.
        """
        kernel = self._new_kernel()
        return bool(kernel.is_independent(distinct_elements(elements, kernel.size)))

    def is_basis(self, elements: Iterable[int]) -> bool:
        """Whether `elements` are a basis: independent, and no larger set is.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> triangle = mb.GraphicMatroid.complete(3)
        >>> triangle.is_basis([0, 2]), triangle.is_basis([0])
        (True, False)
        """
        return not self._why_no_basis(distinct_elements(elements, self.size))

    def rank_of(self, elements: Iterable[int]) -> int:
        """The size of the largest independent sets within `elements`.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.PartitionMatroid(list("aaabb"), capacities=2).rank_of([0, 1, 2, 3])
        3
        """
        kernel = self._new_kernel()
        given = distinct_elements(elements, kernel.size)
        return len(kernel.greedy_basis(given, len(given)))

    def closure(self, elements: Iterable[int]) -> IntArray:
        """All elements that can be added to `elements` without raising their rank.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.

        Returns
        -------
        numpy.ndarray
            `elements` and all elements that depend on them, ascending.

        Examples
        --------
        Two sides of a triangle span the third; the closure of the empty set is the loops:

        >>> import matroid_bandits as mb
        >>> network = mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)])
        >>> network.closure([0, 1])
        array([0, 1, 2, 4])
        >>> network.closure([])
        array([4])
        """
        kernel = self._new_kernel()
        given = distinct_elements(elements, kernel.size)
        others = np.delete(np.arange(kernel.size), given)
        independent = kernel.greedy_basis(given, len(given))
        if self._is_python():
            spanned = [
                e for e in others.tolist() if not kernel.is_independent(np.append(independent, e))
            ]
            return np.sort(np.append(given, np.array(spanned, dtype=np.intp)))
        # Completed to a basis: an element depends on `given` if and only if it is not in the basis
        # and can replace none of the elements that complete it.
        basis = kernel.greedy_basis(np.append(independent, others), kernel.size)
        completion = np.setdiff1d(basis, independent)
        outside = np.setdiff1d(others, completion)
        partners = find_partners(kernel, np.append(completion, independent), outside)
        return np.sort(np.append(given, outside[~np.isin(partners, completion)]))

    def max_weight_basis(self, weights: npt.ArrayLike) -> IntArray:
        """The basis of largest total weight, by greedy; ties go to the lowest index.

        Parameters
        ----------
        weights : array_like of float
            One weight per element; negative and infinite ones are allowed, NaN is not.

        Returns
        -------
        numpy.ndarray
            The elements of the basis, ascending.

        Notes
        -----
        Costs one sort and at most ``size`` independence tests.
        """
        rank = self.rank
        kernel = self._new_kernel()
        order = np.argsort(-weight_array(weights, kernel.size), kind="stable")
        basis = np.sort(kernel.greedy_basis(order, rank))
        if len(basis) < rank:
            raise too_small(self, basis.tolist(), rank)
        return basis

    def fundamental_circuit(self, basis: Iterable[int], element: int) -> IntArray:
        """The circuit in ``basis + element``: `element` and all elements that it can replace.

        Parameters
        ----------
        basis : iterable of int
            A basis.
        element : int
            An element outside it.

        Returns
        -------
        numpy.ndarray
            The circuit, ascending, `element` included (a loop is a circuit by itself).
        """
        members = distinct_elements(basis, self.size)
        (checked,) = distinct_elements([integer(element, "element")], self.size).tolist()
        if checked in members:
            raise ValueError(f"element {checked} is in the basis; a circuit needs one outside it")
        reason = self._why_no_basis(members)
        if reason:
            raise ValueError(f"{members.tolist()} is not a basis: {reason}")
        kernel = self._new_kernel()
        return np.sort(np.append(kernel.replaceable(members, checked), checked))

    # ---- compositions ----

    def dual(self) -> Matroid:
        """The matroid whose bases are the complements of the bases of this one.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.UniformMatroid(1, 4).dual()
        UniformMatroid(rank=3, size=4)
        """
        return self._class_for("_dual")._dual(self)

    def truncate(self, rank: int) -> Matroid:
        """The independent sets with at most `rank` elements; this matroid, if that is all of them.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.PartitionMatroid(list("aabbcc"), 1).truncate(2).max_weight_basis(range(6))
        array([3, 5])
        """
        limit = integer(rank, "rank", minimum=0)
        if limit >= self.rank:
            return self
        return self._class_for("_truncate")._truncate(self, limit)

    def restrict(self, elements: Iterable[int]) -> Matroid:
        """Only these elements, renumbered in ascending order.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.GraphicMatroid([("a", "b"), ("b", "c"), ("c", "a")]).restrict([0, 2]).edges
        [('a', 'b'), ('c', 'a')]
        """
        kept = distinct_elements(elements, self.size)
        return self._checked_minor(kept, np.empty(0, dtype=np.intp))

    def delete(self, elements: Iterable[int]) -> Matroid:
        """All but these elements, renumbered in ascending order.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order.
        """
        deleted = distinct_elements(elements, self.size)
        return self.restrict(np.delete(np.arange(self.size), deleted))

    def contract(self, elements: Iterable[int]) -> Matroid:
        """What is left to choose when these elements are chosen already.

        The others are renumbered in ascending order. A set of them is independent if its union with
        any basis of the contracted elements is independent.

        Parameters
        ----------
        elements : iterable of int
            Distinct elements, in any order; they may be dependent.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.UniformMatroid(3, 5).contract([1])
        UniformMatroid(rank=2, size=4)
        """
        contracted = distinct_elements(elements, self.size)
        return self._checked_minor(np.delete(np.arange(self.size), contracted), contracted)

    def __add__(self, other: Matroid) -> Matroid:
        if not isinstance(other, Matroid):
            return NotImplemented
        from matroid_bandits.matroids.compose.direct_sum import DirectSumMatroid

        return DirectSumMatroid(self, other)

    def __or__(self, other: Matroid) -> Matroid:
        if not isinstance(other, Matroid):
            return NotImplemented
        from matroid_bandits.matroids.compose.union import UnionMatroid

        return UnionMatroid(self, other)

    def _checked_minor(self, kept: IntArray, contracted: IntArray) -> Matroid:
        if len(kept) == self.size:
            return self
        return self._class_for("_minor")._minor(self, kept, contracted)

    # ---- lists, for small matroids ----

    def bases(self) -> IntArray:
        """All bases, at most 200,000.

        Returns
        -------
        numpy.ndarray
            A row for each basis, its elements ascending; rows in lexicographic order.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.PartitionMatroid(list("aab"), capacities=1).bases()
        array([[0, 2],
               [1, 2]])
        """
        return bases_of(self, "bases()", _FOR_SMALL)[0]

    def circuits(self) -> list[IntArray]:
        """All circuits, at most 200,000: the minimal dependent sets. A loop is a circuit.

        Returns
        -------
        list of numpy.ndarray
            The elements of each circuit, ascending; circuits by length, then in lexicographic
            order.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.GraphicMatroid([(0, 1), (1, 2), (2, 0), (0, 2), (1, 1)]).circuits()
        [array([4]), array([2, 3]), array([0, 1, 2]), array([0, 1, 3])]
        """
        return circuits_of(self, "circuits()", _FOR_SMALL)

    def n_bases(self) -> int:
        """The number of bases, exactly.

        Where there is no formula the bases are listed, at most 200,000.

        Examples
        --------
        >>> import matroid_bandits as mb
        >>> mb.UniformMatroid(15, 30).n_bases()
        155117520
        """
        return self._class_for("_n_bases")._n_bases(self)

    # ---- for messages ----

    def _why_no_basis(self, elements: IntArray) -> str:
        """Why distinct `elements` are not a basis; empty if they are one."""
        rank = self.rank
        if len(elements) != rank:
            return f"it has {len(elements)} elements, the rank is {rank}"
        return "" if self._new_kernel().is_independent(elements) else "it is dependent"

    @property
    def _correction(self) -> str:
        """How to correct a matroid that contradicts the axioms, as the end of a message."""
        return "correct its independence test"

    # ---- computed once ----

    def _facts(self) -> tuple[int, IntArray]:
        """Rank and loops, computed when they are first needed."""
        size = self.size
        if self._known_rank_and_loops is None:
            find_loops = self._class_for("_are_loops")._are_loops
            everything = np.arange(size)
            rank = self._class_for("_find_rank")._find_rank(self)
            if rank is not None:
                self._known_rank_and_loops = rank, everything[find_loops(self, everything)]
                return self._known_rank_and_loops
            kernel = self._new_kernel()
            if not kernel.is_independent(np.empty(0, dtype=np.intp)):
                name = f"{type(self).__name__}(size={size})"  # a repr may need the rank
                raise MatroidAxiomError(f"not a matroid: {name} calls the empty set dependent")
            basis = kernel.greedy_basis(everything, size)
            if not kernel.is_independent(basis):
                raise MatroidAxiomError(
                    f"not a matroid: greedy of {type(self).__name__} took {basis.tolist()}, which "
                    "its independence test calls dependent"
                )
            rejected = np.setdiff1d(everything, basis, assume_unique=True)
            self._known_rank_and_loops = len(basis), rejected[find_loops(self, rejected)]
        return self._known_rank_and_loops

    def _are_loops(self, elements: IntArray) -> BoolArray:
        """Which of `elements` are loops; overridden where no independence test is needed."""
        kernel = self._new_kernel()
        alone = (kernel.is_independent(elements[i : i + 1]) for i in range(len(elements)))
        return ~np.fromiter(alone, dtype=np.bool_, count=len(elements))

    # ---- equality ----

    def _content(self) -> tuple[Any, ...] | None:
        """What determines this matroid: class, size, data and parts, as a nested tuple.

        The values are plain and the same in every process. None if the matroid, or a part of it,
        has no data: it is written in Python, or a subclass has changed the definition.
        """
        data = self._own_data()
        parts = tuple(part._content() for part in self._components())
        if data is None or None in parts:
            return None
        cls = type(self)
        return f"{cls.__module__}.{cls.__qualname__}", self.size, data, parts

    def _own_data(self) -> tuple[Any, ...] | None:
        """`_data`, computed once; None if a subclass has changed the definition."""
        if "_kept_data" not in self.__dict__:
            self._kept_data: tuple[Any, ...] | None = self._class_for("_data")._data(self)
        return self._kept_data

    def __eq__(self, other: object) -> bool:
        """Whether `other` is of the same class and has the same data, names included.

        Matroids of different classes are never equal, even if they have the same bases. A matroid
        written in Python is equal to itself alone, unless its class overrides `_data`.
        """
        if not isinstance(other, Matroid):
            return NotImplemented
        if self is other:
            return True
        if type(self) is not type(other) or self._own_data() is None:
            return False
        return (
            self.size == other.size
            and self._own_data() == other._own_data()
            and self._components() == other._components()
            and bool(self._attributes() == other._attributes())
        )

    def __hash__(self) -> int:
        data = self._own_data()
        if data is None:
            return object.__hash__(self)
        return hash((type(self), self.size, data, self._components()))

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept_data"}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Immutable: a copy of a policy shares its matroid.
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(frozen_state(state))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"

    @never_raises
    def _repr_html_(self) -> Html:
        picture = self._shown_picture(lambda e: f"element {e}")
        return panel(type(self).__name__, facts(self._shown_facts()), *picture)

    def _shown_facts(self) -> list[tuple[str, Any]]:
        """What a notebook shows: size, rank if that takes no time, and more of some classes."""
        rank = self._quick_rank()
        ranks = [] if rank is None else [("rank", number(rank))]
        more = self._class_for("_more_facts")._more_facts(self)
        return [("elements", number(self.size)), *ranks, *more]

    def _shown_picture(
        self, title: Callable[[int], str], marked: Collection[int] = ()
    ) -> tuple[Html, ...]:
        drawn = self._class_for("_picture")._picture(self, title, marked)
        return () if drawn is None else (drawn,)

    def _quick_rank(self) -> int | None:
        """The rank, if it is known or found in no time; nobody's Python code is called for it."""
        if self._known_rank_and_loops is not None:
            return self._known_rank_and_loops[0]
        if self._known_rank is not None:
            return self._known_rank
        is_quick = self._class_for("_find_rank")._rank_is_quick
        if not is_quick and (self.size > _MOST_RANKED or self._calls_python()):
            return None
        return self.rank

    def _calls_python(self) -> bool:
        """Whether a method written in Python defines this matroid or a part of it."""
        if self._is_python() or not isinstance(self, CompiledMatroid):
            return True
        return any(part._calls_python() for part in self._components())


def _outline(matroid: Matroid) -> Html:
    """A matroid in a few words, which take no time to find."""
    rank = matroid._quick_rank()
    of_rank = "" if rank is None else f", rank {rank:,}"
    return shown(f"{type(matroid).__name__}: {matroid.size:,} elements{of_rank}")


def check_size(matroid: Matroid, before: int, now: int) -> None:
    """Raise an error if the size of a matroid has changed."""
    if before != now:
        raise MatroidAxiomError(
            f"{type(matroid).__name__} had {before} elements and now has {now}; the size of a "
            "matroid must not change, make a new matroid instead"
        )


class CompiledMatroid(Matroid):
    """A matroid with a compiled kernel; a subclass implements `_kernel` alone."""

    @abstractmethod
    def _kernel(self) -> MatroidKernel: ...

    def _is_independent(self, elements: frozenset[int]) -> bool:
        return bool(self._kernel().is_independent(np.array(sorted(elements), dtype=np.intp)))
