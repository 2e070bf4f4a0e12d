"""What all policies share: the simple loop, statistics from elsewhere, and saving.

`select` and `update` are the simple loop: `update` ends the round. Decisions, whose feedback comes
later, are in `deciding`.
"""

from copy import deepcopy

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN, isnan
from libc.stdint cimport int64_t

from matroid_bandits._core.policies.contract.deciding cimport DecidingKernel
from matroid_bandits._core.policies.contract.decisions cimport CLOSED, OPEN, DecisionTable
from matroid_bandits._core.policies.contract.round cimport RoundKernel

from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits._streams import PROPENSITIES


cdef class PolicyKernel(DecidingKernel):
    """A policy at work; a compiled policy adds `decide`."""

    def parameters(self):
        """The arguments of the constructor that follow the matroid."""
        return ()

    # ---- the simple loop ----

    def select(self):
        """The basis to play by the kernel's own rule, ascending; the same until the next update."""
        cdef int before = self.guard.take(False)
        try:
            if self.selection is not None or self.is_restricted:
                return self.select_here(None, False, None)
            if not self.is_chosen:
                self.choose_for(None, False, None)
            self.is_selected = True
            return self.chosen_array.copy()
        finally:
            self.guard.give_back(before)

    def select_from(self, const unsigned char[::1] is_available, bint allow_smaller, rule):
        """The set to play, for some available elements, or by a rule written in Python."""
        cdef int before = self.guard.take(False)
        try:
            return self.select_here(is_available, allow_smaller, rule)
        finally:
            self.guard.give_back(before)

    cdef object select_here(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ):
        if self.selection is not None:
            key = b"" if is_available is None else bytes(is_available)
            if key == self.selection_key:
                elements = self.decisions.decision(self.selection)[1]
                if len(elements) == self.rank or allow_smaller:
                    return elements
                self.choose_for(is_available, allow_smaller, rule)
            else:
                self.check_available(is_available, allow_smaller)
                self.choose_instead_of_decision(is_available, allow_smaller, rule)
        elif self.is_chosen and not self.is_for(is_available):
            self.check_available(is_available, allow_smaller)
            self.choose_instead(is_available, allow_smaller, rule)
        else:
            self.choose_for(is_available, allow_smaller, rule)
        self.is_selected = True
        return self.chosen_array[: self.round_rank].copy()

    cdef int choose_instead_of_decision(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """Choose a set after what was selected has become a decision, which is closed; if that
        fails, it stays open.
        """
        cdef Py_ssize_t row = self.decisions.find(self.selection)
        selection = self.selection, self.selection_key
        self.shift_waiting(row, -1)
        self.selection = self.selection_key = None
        # Values of a call that failed were computed with these plays pending.
        self.forget_draws()
        try:
            self.choose_for(is_available, allow_smaller, rule)
        except BaseException:
            self.shift_waiting(row, 1)
            self.selection, self.selection_key = selection
            raise
        return self.decisions.close(row, CLOSED)

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards, observe=None):
        """Check the feedback, then learn from it and end the round."""
        cdef int before = self.guard.take(False)
        # What was selected has become a decision, and its round has ended.
        cdef bint ends_selection = self.selection is not None
        cdef Py_ssize_t row
        try:
            if observe is not None:
                # The hook may change what the caller has passed.
                elements, rewards = np.array(elements), np.array(rewards)
            self.feedback.check(elements, rewards)
            if self.learns_sets:
                self.check_set(elements, rewards)
            self.reserve_round(elements.shape[0])
            if observe is not None:
                self.call_hook(observe, np.array(elements), np.array(rewards))
            if not ends_selection and not self.is_chosen:
                # Its feedback begins a round that nobody has decided, as when a log is learned.
                self.begin_round()
            if ends_selection:
                self.drop_peek()
                row = self.decisions.find(self.selection)
                self.learned_round = self.decisions.rounds[row]
                self.close_decision(row, CLOSED)
            if elements.shape[0] > 0:
                self.learn(&elements[0], &rewards[0], elements.shape[0])
            self.learned_round = 0
            if not ends_selection:
                self.end_round()
            if self.learns_sets:
                self.learn_set(elements, rewards)
        finally:
            self.guard.give_back(before)

    def begin_run(self):
        """What was selected before a simulation is of no consequence."""
        self.is_selected = False
        if self.is_restricted:
            self.undo_choice()
            self.answers = None
            self.set_available(None, False)

    # ---- propensities ----

    cdef int draw_again(self) except -1:
        """Decide this round again and again, on a copy that draws from a stream of its own."""
        cdef PolicyKernel other
        cdef int64_t[::1] times
        cdef Py_ssize_t k, _draw
        if self.random_stream is None:
            self.n_drawn = np.full(self.size, self.n_draws)
            return 0
        other = self.copy_of_round()
        n_drawn = np.zeros(self.size, dtype=np.int64)
        times = n_drawn
        for _draw in range(self.n_draws):
            PyErr_CheckSignals()
            other.decide_again()
            for k in range(other.round_rank):
                times[other.chosen[k]] += 1
        self.n_drawn = n_drawn
        return 0

    cdef PolicyKernel copy_of_round(self):
        """A copy in this round, without decisions, which draws other random numbers once the round
        is decided.
        """
        from numpy.random import SeedSequence

        cdef PolicyKernel other = self.copy_without_decisions()
        other.choose(None)
        words = SeedSequence([PROPENSITIES, self.random_stream.seed, self.rounds + 1])
        high, low = words.generate_state(2, np.uint64).tolist()
        other.set_random_position(high << 64 | low)
        return other

    def copy_without_decisions(self):
        """A copy in this round that decides as this one would; it takes no feedback."""
        cdef PolicyKernel other
        # There may be millions. A rule asks only how many plays of each element are pending.
        self.omits_decisions = not self.learns_sets
        try:
            state = self.state()
        finally:
            self.omits_decisions = False
        if not self.learns_sets:
            state["pending"] = self.pending_copy()
        other = type(self)(self.matroid, *deepcopy(self.parameters()))
        other.restore(state)
        other.feedback.set_up(*self.feedback.settings())
        other.allow_smaller = self.allow_smaller
        return other

    # ---- statistics from elsewhere ----

    def merge(self, const Py_ssize_t[::1] elements, const double[::1] means,
              const int64_t[::1] counts, Py_ssize_t rounds, dict index_state):
        """Add observations that were made elsewhere, all checked.

        Parameters
        ----------
        elements
            Distinct elements.
        means, counts
            Mean and number of the rewards of each.
        rounds
            How many rounds they took.
        index_state
            What the index of the other policy keeps of each; empty if that is not known.
        """
        cdef int before = self.guard.take(False)
        cdef Py_ssize_t i, e
        cdef int64_t count
        try:
            self.drop_peek()
            self.reserve(2 * elements.shape[0])
            if self.index is not None:
                self.index.merge(
                    np.asarray(elements), np.asarray(means), np.asarray(counts), index_state
                )
            for i in range(elements.shape[0]):
                e = elements[i]
                count = self.counts[e] + counts[i]
                if counts[i] == 0:
                    continue
                # Nobody knows what the mean was before.
                self.earlier_means[e, :] = NAN
                if self.memory is not None:
                    self.memory.add_many(e, means[i], counts[i])
                    self.set_remembered(e)
                else:
                    self.set_statistics(
                        e,
                        count,
                        (self.counts[e] * self.means[e] + counts[i] * means[i]) / count
                        if self.counts[e] > 0
                        else means[i],
                    )
            self.rounds += rounds
            self.marked = -1
            self.count_undersampled()
            if self.memory is not None and self.n_undersampled == 0:
                self.memory.is_past_initial = True
        finally:
            self.guard.give_back(before)

    # ---- saving ----

    def state(self):
        """All that a copy on the same matroid needs to go on as if it were this one.

        Dictionaries, lists, numbers, texts, bytes and arrays, no other objects.
        """
        # The mark matters only if this round was decided.
        is_marked = self.is_chosen or self.answers is not None
        cdef DecisionTable table = self.decisions
        if self.omits_decisions:
            table = DecisionTable(self.rank)
        stream = None
        if self.random_stream is not None:
            stream = [self.random_stream.position()]
            stream += [self.random_stream.marked_position()] if is_marked else []
        return {
            "rounds": self.rounds,
            "counts": np.array(self.counts),
            "means": np.array(self.means),
            "index": {} if self.index is None else self.index.state(),
            "stream": stream,
            "calls": [self.oracle_calls, self.greedy_calls, self.neighborhood_updates],
            "calls_before": list(self.calls_before) if is_marked else None,
            "is_chosen": self.is_chosen,
            "is_selected": self.is_selected,
            "is_decided": self.is_decided,
            "is_initial": self.is_initial,
            "is_forced": bool(self.is_forced),
            "chosen": self.chosen_array[: self.round_rank].copy(),
            "values": self.index_values() if self.is_chosen else None,
            "available": np.array(self.is_available) if self.is_restricted else None,
            "answers": [] if self.answers is None else [list(a) for a in self.answers.items()],
            "decisions": table.state(),
            "former": list(self.feedback.former),
            "selection": self.selection,
            "selection_key": self.selection_key,
            "cached": self.oracle.state() if isinstance(self.oracle, CachedKernel) else None,
            "earlier_means": self.earlier_means_copy(),
            "memory": None if self.memory is None else self.memory.state(self.rounds),
        }

    def check_cached(self, cached):
        """Refuse cached answers that are not about this matroid."""
        if isinstance(self.oracle, CachedKernel):
            self.oracle.check_state(cached)
        elif cached is not None:
            raise ValueError("answers of a matroid written in Python are cached; this is another")

    def restore(self, state):
        """Take over what `state` returned, which was checked."""
        cdef Py_ssize_t row, k, e
        cdef DecisionTable table = self.decisions
        self.rounds = state["rounds"]
        np.asarray(self.counts)[:] = state["counts"]
        np.asarray(self.means)[:] = state["means"]
        table.restore(state["decisions"])
        self.allocate_space()
        self.feedback.drop(state["former"])
        if "pending" in state:
            np.asarray(self.pending)[:] = state["pending"]
            self.n_pending = int(state["pending"].sum())
        for row in range(len(table.ids)):
            if table.status[row] != OPEN:
                continue
            for k in range(table.lengths[row]):
                e = table.elements[row, k]
                if isnan(table.rewards[row, k]) and e >= 0:
                    self.pending[e] += 1
                    self.n_pending += 1
        if self.counts_pending:
            np.asarray(self.index_counts)[:] = np.asarray(self.counts) + np.asarray(self.pending)
        with np.errstate(divide="ignore"):
            np.asarray(self.inverse_root)[:] = 1 / np.sqrt(np.asarray(self.index_counts, float))
        self.count_undersampled()
        if self.index is not None:
            self.index.restore(state["index"])
        # Files of older versions do not have these two.
        if state.get("earlier_means") is not None:
            np.asarray(self.earlier_means)[: self.size] = state["earlier_means"]
        if self.memory is not None:
            self.memory.restore(state["memory"], self.rounds)
            for e in range(self.size):
                RoundKernel.set_width(self, e)
        self.oracle_calls, self.greedy_calls, self.neighborhood_updates = state["calls"]
        if state["calls_before"] is not None:
            self.marked = self.rounds
            self.calls_before = state["calls_before"]
        if state["stream"] is not None:
            self.random_stream.set_position(state["stream"][0])
            if len(state["stream"]) > 1:
                self.random_stream.set_mark(state["stream"][1])
        self.set_available(state["available"], True)
        np.asarray(self.chosen)[: len(state["chosen"])] = state["chosen"]
        self.is_chosen = state["is_chosen"]
        if self.is_chosen:
            self.round_rank = len(state["chosen"])
            np.asarray(self.found)[: self.round_rank] = state["chosen"]
        self.is_selected = state["is_selected"]
        self.is_decided = state["is_decided"]
        self.is_initial = state["is_initial"]
        self.is_forced = state.get("is_forced", False)
        self.known_values = state["values"]
        self.answers = {key: outcome for key, outcome in state["answers"]} or None
        self.selection = state["selection"]
        self.selection_key = state["selection_key"]
        if state["cached"] is not None:
            self.oracle.restore(state["cached"])

    def __reduce__(self):
        settings = {"feedback": self.feedback.settings()}
        return type(self), (self.matroid, *self.parameters()), self.state() | settings

    def __setstate__(self, state):
        self.feedback.set_up(*state["feedback"])
        self.restore(state)
