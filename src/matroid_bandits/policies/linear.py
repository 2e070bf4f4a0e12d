"""What policies with features share: a linear model of the means, and greedy on it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from matroid_bandits._arguments import abbreviated
from matroid_bandits._core.policies.linear import LinearKernel
from matroid_bandits._types import MatroidLike, Selection
from matroid_bandits.features import LinearFeatures
from matroid_bandits.policies.base import CompiledPolicy
from matroid_bandits.policies.contract.decision import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    import numpy.typing as npt

    from matroid_bandits._core.policies.base import PolicyKernel
    from matroid_bandits._core.streams.random_stream import RandomStream
    from matroid_bandits._types import FloatArray, IntArray
    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.checked_state import State
    from matroid_bandits.policies.contract.log import Log
    from matroid_bandits.problem import Problem

__all__ = ["LinearPolicy"]


class LinearPolicy(CompiledPolicy[Selection]):
    """Greedy on an index of a linear model; a subclass says which index."""

    _kernel: LinearKernel
    _confidence_refusal = (
        "its statistic is for elements that are learned apart from each other, and a policy with "
        "features learns all of them together; see `covariance` for what is not known yet"
    )

    def __init__(self, matroid: MatroidLike[Selection], features: LinearFeatures) -> None:
        super().__init__(matroid)
        if not isinstance(features, LinearFeatures):
            raise ValueError(
                "features must be LinearFeatures(phi, noise=..., prior=...), got "
                f"{abbreviated(features)}"
            )
        self._features = features
        self._phi = features.matrix_for(self._problem)

    @classmethod
    def _example(cls, matroid: Any) -> Self:
        # A feature of its own for each element.
        size = matroid.size
        return cls(matroid, features=LinearFeatures(np.eye(size, max(size, 1))))

    def _new_linear_kernel(
        self, matroid: Matroid, width: float, random_stream: RandomStream | None
    ) -> LinearKernel:
        given = self._features
        return LinearKernel(
            matroid, self._phi, given.n_features, given.noise, given.prior, width, random_stream
        )

    def _assumed_noise(self) -> float | None:
        noise = self._features.noise
        return noise if noise == 1.0 else None

    # ---- what users read ----

    @property
    def features(self) -> LinearFeatures:
        """The features of the elements, the noise and the prior."""
        return self._features

    @property
    def theta(self) -> FloatArray:
        """The estimated coefficient of each feature, in the user's units: rewards or costs (a
        copy).
        """
        with self._kernel.guard.hold():
            return self._in_user_units(self._kernel.theta())

    @property
    def covariance(self) -> FloatArray:
        """How uncertain the coefficients are: their covariance, Sigma (a copy)."""
        with self._kernel.guard.hold():
            return self._kernel.covariance()

    @property
    def estimates(self) -> FloatArray:
        """The estimated mean of every element, in the user's units, by the features of the round
        under way, else by the fixed ones; NaN where there are none.
        """
        with self._kernel.guard.hold():
            return self._in_user_units(_estimates(self._kernel))

    # ---- features that come with the round ----

    @contextmanager
    def _round_features(
        self, features: Any, mask: npt.NDArray[np.uint8] | None, *, to_decide: bool
    ) -> Iterator[None]:
        """A context in which `select` and `decide` use these features."""
        rows = self._features.of_round(features, self._problem, mask, self._phi)
        kernel = self._kernel
        with kernel.guard.hold():
            before = kernel.offer(rows, to_decide)
            try:
                with kernel.guard.lend_to_loop():
                    yield
            except BaseException:
                kernel.withdraw(before)
                raise
            kernel.accept()

    def _check_log(self, log: Log, is_known: list[bool]) -> None:
        if np.any(np.diff(log.starts)[~np.array(is_known, dtype=np.bool_)]):
            self._kernel.check_log()

    # ---- explanation ----

    def _explained(self, kernel: PolicyKernel) -> dict[str, Any]:
        model: LinearKernel = kernel  # type: ignore[assignment]
        phi = model.features
        if phi is None:
            return {}
        theta = self._in_user_units(model.theta())

        def contributions(e: int) -> tuple[tuple[str, float], ...]:
            """The strongest features of an element, and what each adds to its estimate."""
            parts = phi[e] * theta
            strongest = np.argsort(-np.abs(parts), kind="stable")[:_STRONGEST]
            return tuple((self._features.name(j), float(parts[j])) for j in strongest if parts[j])

        return {"estimates": phi @ theta, "contributions": contributions}

    # ---- other elements ----

    def _arguments_for(self, problem: Problem[Any, Any], features: Any) -> dict[str, Any]:
        """Features for the elements of a new problem: new elements need some."""
        changes = super()._arguments_for(problem, None)
        old = self._features
        if self._phi is None:
            if features is not None:
                raise ValueError(
                    "the features of this policy come with the round; moved_to takes none"
                )
            return changes
        names = list(problem.labels or ())
        known = {name: self._phi[e] for e, name in enumerate(self._problem.labels or ())}
        if features is None:
            given: dict[Any, Any] = {}
        elif isinstance(features, LinearFeatures):
            raise ValueError(
                "moved_to takes the features themselves, {label: vector} or an array; noise, prior "
                "and names stay"
            )
        else:
            elements, rows = old.rows_of(features, problem)
            chosen = names if elements is None else problem.names(elements)
            given = dict(zip(chosen, rows, strict=True))
        for name in names:
            if name not in given and name not in known:
                raise ValueError(
                    f"{name!r} is new and has no features: pass moved_to(..., "
                    f"features={{{name!r}: [...]}})"
                )
        phi = np.array([given[name] if name in given else known[name] for name in names])
        new = LinearFeatures(
            phi.reshape(-1, old.n_features), noise=old.noise, prior=old.prior, names=old.names
        )
        return changes | {"features": new}

    def _moved_state(self, new: Self, old_numbers: IntArray) -> dict[str, Any]:  # type: ignore[override]
        """What is known about theta stays, and the features that open decisions were made with."""
        moved, state = super()._moved_state(new, old_numbers), self._kernel.state()
        moved["system"] = state["system"]
        identifiers, stacked = state["decided_with"]
        table = state["decisions"]
        length = dict(zip(table["ids"], table["lengths"].tolist(), strict=True))
        ends = np.cumsum([0, *(length[i] for i in identifiers)]).tolist()
        rows = {i: stacked[a:b] for i, a, b in zip(identifiers, ends, ends[1:], strict=False)}
        stays = old_numbers >= 0
        if (
            self._phi is not None
            and new._phi is not None
            and not np.array_equal(new._phi[stays], self._phi[old_numbers[stays]])
        ):
            # From now on, some elements have other features.
            rows = self._kernel.open_rows()
        moved["decided_with"] = self._moved_rows(rows, table, moved, new)
        return moved

    def _moved_rows(
        self,
        rows: Mapping[Any, FloatArray],
        table: dict[str, Any],
        moved: dict[str, Any],
        new: LinearPolicy[Any],
    ) -> list[Any]:
        """Features of open decisions in the order of the elements of the new problem."""
        place = {identifier: row for row, identifier in enumerate(table["ids"])}
        new_table = moved["decisions"]
        new_place = {identifier: row for row, identifier in enumerate(new_table["ids"])}
        number = {name: e for e, name in enumerate(new._problem.labels or ())}
        former = {name: -1 - k for k, name in enumerate(moved["former"])}
        ordered = []
        for identifier, values in rows.items():
            row, new_row = place[identifier], new_place[identifier]
            count = len(values)
            names = names_of(self._problem, table["elements"][row, :count], self._kernel)
            columns = {number.get(n, former.get(n)): k for k, n in enumerate(names)}
            order = [columns[e] for e in new_table["elements"][new_row, :count].tolist()]
            ordered.append(values[order])
        return [list(rows), self._kernel.stacked(ordered)]

    # ---- saving ----

    def _check_state(self, state: State) -> None:
        super()._check_state(state)
        d, size = self._features.n_features, self._problem.size
        system = state.array("system", np.float64, [d, d + 1])
        if np.tril(system[:, :d], -1).any() or not (np.diagonal(system) > 0).all():
            raise state.refuse("system", "triangular with a positive diagonal")
        is_needed = {
            "features": state.flag("is_chosen"),
            "selection_features": state.has("selection"),
        }
        for key, needed in is_needed.items():
            if state.has(key):
                rows = state.value(key)
                is_table = isinstance(rows, np.ndarray) and rows.dtype == float
                # Elements that were not available may have none: NaN.
                if not is_table or rows.shape != (size, d) or np.isinf(rows).any():
                    raise state.refuse(key, f"an array of {size} x {d} float64, none infinite")
            elif self._phi is None and needed:
                raise state.refuse(key, "known, as something was selected")
        kept = state.value("decided_with")
        if not isinstance(kept, list) or len(kept) != 2 or not isinstance(kept[0], list):
            raise state.refuse("decided_with", "ids and features")
        table = state.value("decisions")
        length = {
            identifier: int(n)
            for identifier, n, status in zip(
                table["ids"], table["lengths"], table["status"], strict=True
            )
            if status == 1
        }
        try:
            total = sum(length[identifier] for identifier in kept[0])
            is_distinct = len(set(kept[0])) == len(kept[0])
        except (KeyError, TypeError):
            raise state.refuse("decided_with", "features of open decisions") from None
        rows = kept[1]
        if (
            not is_distinct
            or not isinstance(rows, np.ndarray)
            or rows.dtype != np.float64
            or rows.shape != (total, d)
            or not np.isfinite(rows).all()
            or (self._phi is None and len(kept[0]) != len(length))
        ):
            raise state.refuse("decided_with", f"{d} features for each element of open decisions")


# So many features are named for each element.
_STRONGEST = 3


def _estimates(kernel: LinearKernel) -> FloatArray:
    """The mean of every element, as rewards."""
    phi = kernel.features
    if phi is None:
        return np.full(kernel.size, np.nan)
    estimates: FloatArray = phi @ kernel.theta()
    return estimates
