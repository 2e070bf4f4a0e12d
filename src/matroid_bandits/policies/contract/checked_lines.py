"""Checks of the state of FasterCUCB: elements on lines, which are in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from matroid_bandits.matroids import Matroid
    from matroid_bandits.policies.contract.checked_state import State

__all__ = ["check_lines"]


def check_lines(
    state: State, matroid: Matroid, members: npt.NDArray[np.intp], n_chains: int
) -> npt.NDArray[Any]:
    """The elements on lines: all that can be played, or none before there is a basis.

    Parameters
    ----------
    state : State
    matroid : Matroid
    members : array of int
        The basis; empty if there is none.
    n_chains : int
        The number of chains of lines.
    """
    # The root of 1.5 ln t; no policy sees so many rounds that it is 10.
    state.number("scale", 0, 10)
    features = _features(state)
    n_lines = len(features)
    lengths = state.array("chain_lengths", np.int32, [n_chains], 0, n_lines)
    if lengths.sum() != n_lines:
        raise state.refuse("chain_lengths", f"the lengths of chains of {n_lines} lines in all")
    blocks = state.array("blocks_of_line", np.int32, [n_lines, 2], 0, matroid.size)
    block_lengths = state.array("block_lengths", np.int32, [int(blocks.sum())], 1, matroid.size)
    elements = state.array("elements", np.int32, [int(block_lengths.sum())], 0, matroid.size - 1)
    playable = np.setdiff1d(np.arange(matroid.size), matroid.loops)
    expected = playable if state.flag("has_basis") else playable[:0]
    if not np.array_equal(np.sort(elements), expected) or (blocks.sum(axis=1) == 0).any():
        raise state.refuse("elements", "all elements, each on one line")
    chain_of_line = np.repeat(np.arange(n_chains), lengths)
    # Each line has blocks outside the basis, and then blocks inside.
    place_of_block = np.repeat(np.arange(2 * n_lines), blocks.ravel())
    place = np.repeat(place_of_block, block_lengths)
    if not np.array_equal(np.sort(elements[place % 2 == 1]), np.sort(members)):
        raise state.refuse("blocks_of_line", "blocks that have the basis on one side")
    classes = matroid._new_kernel().symmetry_classes()[elements]
    first = np.cumsum(block_lengths) - block_lengths
    if (classes != np.repeat(classes[first], block_lengths)).any() or (
        n_chains > 1 and (classes != chain_of_line[place // 2]).any()
    ):
        raise state.refuse("block_lengths", "blocks of symmetric elements")
    _check_heap(state, features, chain_of_line)
    return elements


def _features(state: State) -> npt.NDArray[Any]:
    """Mean and width of every line, and the bounds of the means that are rounded to it."""
    features = state.value("features")
    if (
        not isinstance(features, np.ndarray)
        or features.dtype != float
        or features.shape != (len(features) if features.ndim else 0, 4)
        or not np.isfinite(features[:, :2]).all()
        or not (features[:, 1] > 0).all()
        or np.isnan(features).any()
    ):
        raise state.refuse("features", "four numbers for each line")
    return features


def _check_heap(state: State, features: npt.NDArray[Any], chain: npt.NDArray[Any]) -> None:
    """Lines by the next crossing with the line above them, the smallest on top."""
    n_lines = len(features)
    heap = state.array("heap", np.int32, [n_lines], 0)
    alpha, beta = features[:, 0], features[:, 1]
    with np.errstate(all="ignore"):
        crossing = np.append(np.inf, (alpha[:-1] - alpha[1:]) / (beta[1:] - beta[:-1]))[:n_lines]
    is_met = np.append(False, (beta[1:] > beta[:-1]) & (chain[1:] == chain[:-1]))[:n_lines]
    crossing[~is_met] = np.inf
    children = np.arange(1, n_lines)
    if (
        not np.array_equal(np.sort(heap), np.arange(n_lines))
        or (crossing[heap[(children - 1) // 2]] > crossing[heap[children]]).any()
    ):
        raise state.refuse("heap", "a heap of all lines")
