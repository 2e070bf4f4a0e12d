"""The set of a round, for whichever elements are available.

Within a round of the simple loop, each set of available elements has one answer, and only the one
selected last takes effect. Usually there is one set. If another one is selected, the effects of the
first are undone, and noted for the case that it is selected again.
"""

import numpy as np

from matroid_bandits._core.policies.contract.round cimport RoundKernel

# So many answers of a round are kept, and at most so many values of elements in them: 9 MB.
cdef Py_ssize_t MAX_ANSWERS = 100
cdef Py_ssize_t MAX_ANSWER_VALUES = 1_000_000


cdef object mask_of_key(bytes key):
    """The available elements of `available_key`; None if all are available."""
    return np.frombuffer(key, dtype=np.uint8) if key else None


cdef class ChoosingKernel(RoundKernel):
    """Chooses the set of a round; what choosing has changed can be undone."""

    cdef int shift_time(self, Py_ssize_t rounds) except -1:
        """Add to the time of a rule that counts the rounds in which it decided."""
        return 0

    cdef int decide_again(self) except -1:
        """Decide this round once more: the same rule with the next random numbers."""
        self.shift_time(-1)
        self.forget_draws()
        return self.decide()

    cdef int draw_again(self) except -1:
        """Draw for propensities of this round, decided or not; only `n_drawn` changes."""
        raise NotImplementedError

    cdef int choose_for(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """Settle the set of this round for these available elements."""
        if self.is_chosen:
            if self.is_for(is_available):
                self.allow_smaller = allow_smaller
                return self.refuse_if_smaller()
            self.undo_choice()
        if is_available is None and not self.is_restricted:
            self.allow_smaller = allow_smaller
        else:
            self.set_available(is_available, allow_smaller)
        if self.answers is not None:
            outcome = self.answers.get(self.available_key())
            if outcome is not None:
                if len(outcome["chosen"]) < self.rank and not allow_smaller:
                    return self.refuse_smaller(outcome["chosen"])
                self.mark()
                self.adopt(outcome)
                return 0
        try:
            if self.memory is not None and self.memory.is_due(self.rounds):
                # A call that is refused forgets nothing.
                self.check_available(is_available, allow_smaller)
            if self.n_draws > 0:
                # Before the round is decided, which cannot be undone altogether.
                self.draw_again()
            self.choose(rule)
        except BaseException:
            self.undo_decision()
            if self.is_restricted:
                self.forget_draws()
                self.set_available(None, False)
            raise
        return 0

    cdef int choose_instead(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """The same for other elements than the set of this round was chosen from. That set is noted
        if it was selected. If choosing fails, the round has it again.
        """
        cdef bint was_selected = self.is_selected
        key, outcome = self.available_key(), self.outcome()
        if was_selected:
            self.note_answer(key, outcome)
        try:
            self.choose_for(is_available, allow_smaller, rule)
        except BaseException:
            self.set_available(mask_of_key(key), True)
            self.mark()
            self.adopt(outcome)
            self.is_selected = was_selected
            if self.answers is not None:
                self.answers.pop(key, None)
            raise
        return 0

    cdef int note_answer(self, bytes key, dict outcome) except -1:
        """Note what was selected for some available elements, and what that has changed."""
        cdef Py_ssize_t most = max(2, min(MAX_ANSWERS, MAX_ANSWER_VALUES // (self.size + 1)))
        if self.answers is None:
            self.answers = {}
        self.answers[key] = outcome
        while len(self.answers) > most:
            # The oldest. If it is selected again, it is decided again.
            del self.answers[next(iter(self.answers))]
        return 0

    cdef int undo_choice(self) except -1:
        """Undo what choosing has changed."""
        self.undo_decision()
        self.oracle_calls = self.calls_before[0]
        self.greedy_calls = self.calls_before[1]
        self.neighborhood_updates = self.calls_before[2]
        self.forget_draws()
        self.is_chosen = False
        self.is_selected = False
        return 0

    cdef int undo_decision(self) except -1:
        """Go back to the random numbers and times before this round.

        The leader of MAUB and the order of FasterCUCB are not undone: they are what they would be
        after one more round. Later plays can differ from those without the decision.
        """
        if self.is_decided:
            if self.random_stream is not None:
                self.random_stream.rewind()
            self.shift_time(-1)
            self.is_decided = False
        self.known_values = None
        return 0

    def outcome(self):
        """What choosing has changed in this round, as `adopt` takes it."""
        return {
            "chosen": self.chosen_array[: self.round_rank].copy(),
            "values": self.index_values(),
            "calls": (self.oracle_calls, self.greedy_calls, self.neighborhood_updates),
            "stream": None if self.random_stream is None else self.random_stream.position(),
            "is_decided": self.is_decided,
            "is_initial": self.is_initial,
            "is_forced": bool(self.is_forced),
        }

    def adopt(self, dict outcome):
        """Choose what was chosen with this outcome, and change what that changed."""
        self.round_rank = len(outcome["chosen"])
        np.asarray(self.chosen)[: self.round_rank] = outcome["chosen"]
        np.asarray(self.found)[: self.round_rank] = outcome["chosen"]
        self.known_values = outcome["values"]
        self.oracle_calls, self.greedy_calls, self.neighborhood_updates = outcome["calls"]
        if outcome["stream"] is not None:
            self.random_stream.set_position(outcome["stream"])
        self.is_decided = outcome["is_decided"]
        self.is_initial = outcome["is_initial"]
        self.is_forced = outcome.get("is_forced", False)
        self.is_chosen = True

    def index_values(self):
        """The index of every element as this round was decided, NaN where it played no part."""
        if self.known_values is not None:
            return self.known_values
        return self.round_values() if self.is_chosen else np.full(self.size, np.nan)

    def round_values(self):
        """The same, while the round is the present one."""
        return np.full(self.size, np.nan)

    def peek(self, rule=None):
        """Settle the set of this round, if that has not happened, for an explanation. The caller
        holds the guard.
        """
        if not self.is_chosen:
            self.choose_for(None, False, rule)
        return self.chosen_array[: self.round_rank].copy()

    cdef int drop_peek(self) except -1:
        """Forget a set that was settled by `peek` alone, and values of a choice that failed:
        feedback comes, and may change them.
        """
        if not self.is_chosen:
            self.forget_draws()
            # Learning may draw: the next choice begins after that.
            self.marked = -1
        elif not self.is_selected:
            self.undo_choice()
            self.answers = None
        return 0

    cdef int check_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1:
        """Refuse available elements that cannot be chosen from; change nothing."""
        if is_available is None or allow_smaller:
            return 0
        playable = np.asarray(self.playable)
        candidates = playable[np.asarray(is_available)[playable] != 0]
        self.is_oracle_used = True
        basis = self.oracle.greedy_basis(candidates, self.rank)
        return self.refuse_smaller(basis) if len(basis) < self.rank else 0

    cdef int refuse_if_deciding(self) except -1:
        """Refuse a call from inside a call."""
        self.guard.give_back(self.guard.take(False))
        return 0
