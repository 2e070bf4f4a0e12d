"""What all policies share: rounds one after the other, and decisions whose feedback comes later.

`select` and `update` are the simple loop: `update` ends the round. `decide` opens a decision, which
is a round of its own, and `learn` brings its feedback, at any time and in parts.
"""

import numpy as np

from libc.math cimport isnan

from matroid_bandits._core.policies.decisions cimport CLOSED, COMPLETE, EXPIRED, OPEN
from matroid_bandits._core.policies.guard cimport HELD, LENT_TO_RULE
from matroid_bandits._core.policies.round cimport RoundKernel

from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits.errors import (
    closed_decision,
    conflicting_feedback,
    known_decision,
    no_basis,
    not_in_decision,
    wrong_length,
)


cdef class PolicyKernel(RoundKernel):
    """A policy at work; a compiled policy adds `decide`."""

    def __init__(self, matroid, index=None, min_count=1, counts_pending=False):
        super().__init__(matroid, index, min_count, counts_pending)
        self.decisions = DecisionTable(self.rank)
        # One more, for an element that is given twice before it is refused.
        self.new_elements = np.zeros(self.rank + 1, dtype=np.intp)
        self.new_rewards = np.zeros(self.rank + 1)
        self.set_elements = np.zeros(self.rank, dtype=np.intp)
        self.set_rewards = np.zeros(self.rank)

    def parameters(self):
        """The arguments of the constructor that follow the matroid."""
        return ()

    # ---- what a rule implements, if it keeps a time or learns about whole sets ----

    cdef int shift_time(self, Py_ssize_t rounds) except -1:
        """Add to the time of a rule that counts the rounds in which it decided."""
        return 0

    cdef int check_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1:
        """Refuse rewards of all elements of a set that cannot be learned from."""
        return 0

    cdef void learn_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept:
        """All rewards of a set have come, in any order."""

    cdef void shift_pending_set(
        self, const Py_ssize_t[::1] elements, Py_ssize_t plays
    ) noexcept:
        """A decision for the set `elements` is opened, or closed."""

    # ---- the simple loop ----

    def select(self, const unsigned char[::1] is_available=None, bint allow_smaller=False,
               rule=None):
        """The set to play, ascending; the same until the next update."""
        cdef int before = self.guard.take(False)
        try:
            if self.selection is not None:
                key = b"" if is_available is None else bytes(is_available)
                if key == self.selection_key:
                    elements = self.decisions.decision(self.selection)[1]
                    if len(elements) == self.rank or allow_smaller:
                        return elements
                else:
                    self.check_available(is_available, allow_smaller)
                    self.close_decision(self.decisions.find(self.selection), CLOSED)
            self.choose_for(is_available, allow_smaller, rule)
            self.is_selected = True
            return self.chosen_array[: self.round_rank].copy()
        finally:
            self.guard.give_back(before)

    def peek(self, rule=None):
        """Settle the set of this round, if that has not happened. The caller holds the guard."""
        if not self.is_chosen:
            self.choose_for(None, False, rule)
        return self.chosen_array[: self.round_rank].copy()

    cdef int drop_look(self) except -1:
        """Forget a set that was settled by `peek` alone: feedback comes, and may change it."""
        if self.is_chosen and not self.is_selected:
            self.withdraw()
            self.answers = None
        return 0

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards, observe=None):
        """Check the feedback, then learn from it and end the round."""
        cdef int before = self.guard.take(False)
        try:
            self.feedback.check(elements, rewards)
            self.check_set(elements, rewards)
            self.reserve(elements.shape[0])
            if observe is not None:
                self.call_hook(observe, np.array(elements), np.array(rewards))
            if self.selection is not None:
                self.close_decision(self.decisions.find(self.selection), CLOSED)
                self.learn(elements, rewards)
            else:
                self.learn(elements, rewards)
                self.end_round()
            self.learn_set(elements, rewards)
        finally:
            self.guard.give_back(before)

    def begin_run(self):
        """What was selected before a simulation is of no consequence."""
        if self.is_restricted:
            self.withdraw()
            self.answers = None
            self.set_available(None, False)

    cdef int refuse_if_deciding(self) except -1:
        """Refuse a call from inside a call."""
        self.guard.give_back(self.guard.take(False))
        return 0

    cdef int call_hook(self, observe, elements, rewards) except -1:
        """Pass feedback to a policy written in Python; it may run greedy, and nothing else."""
        self.guard.level = LENT_TO_RULE
        try:
            observe(elements, rewards)
        finally:
            self.guard.level = HELD
        return 0

    # ---- choosing for a set of available elements ----
    #
    # Within a round of the simple loop, each set of available elements has one answer, and only the
    # one selected last takes effect. Usually there is one set. If another one is selected, the
    # effects of the first are undone, and noted for the case that it is selected again.

    cdef int choose_for(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """Settle the set of this round for these available elements."""
        if self.is_chosen:
            if self.is_for(is_available):
                self.allow_smaller = allow_smaller
                return self.refuse_if_smaller()
            self.withdraw()
        self.set_available(is_available, allow_smaller)
        if self.answers is not None:
            outcome = self.answers.get(self.available_key())
            if outcome is not None:
                self.round_rank = len(outcome["chosen"])
                np.asarray(self.found)[: self.round_rank] = outcome["chosen"]
                self.refuse_if_smaller()
                self.mark()
                self.adopt(outcome)
                return 0
        try:
            self.choose(rule)
        except BaseException:
            self.undo_decision()
            if self.is_restricted:
                self.forget_draws()
                self.set_available(None, False)
            raise
        return 0

    cdef int withdraw(self) except -1:
        """Undo what choosing has changed, and note it."""
        if self.answers is None:
            self.answers = {}
        self.answers[self.available_key()] = self.outcome()
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
        }

    def adopt(self, dict outcome):
        """Choose what was chosen with this outcome, and change what that changed."""
        np.asarray(self.chosen)[: self.round_rank] = outcome["chosen"]
        self.known_values = outcome["values"]
        self.oracle_calls, self.greedy_calls, self.neighborhood_updates = outcome["calls"]
        if outcome["stream"] is not None:
            self.random_stream.set_position(outcome["stream"])
        self.is_decided = outcome["is_decided"]
        self.is_chosen = True

    def index_values(self):
        """The index of every element as this round was decided, NaN where it played no part."""
        if self.known_values is not None:
            return self.known_values
        return self.round_values() if self.is_chosen else np.full(self.size, np.nan)

    def round_values(self):
        """The same, while the round is the present one."""
        return np.full(self.size, np.nan)

    # ---- decisions ----

    def open(self, identifier=None, const unsigned char[::1] is_available=None,
             bint allow_smaller=False, rule=None):
        """Make a decision; return its id, its round and its elements."""
        cdef int before = self.guard.take(False)
        try:
            if identifier is not None and self.decisions.has(identifier):
                raise known_decision(identifier)
            self.decisions.reserve()
            if self.is_selected:
                self.choose_after_selection(identifier, is_available, allow_smaller, rule)
            else:
                self.choose_for(is_available, allow_smaller, rule)
            elements = self.chosen_array[: self.round_rank].copy()
            identifier = self.new_decision(identifier)
            number = self.rounds
            if not len(elements):
                # There is nothing to wait for.
                self.learn_row(self.decisions.find(identifier), 0, None, OPEN)
            return identifier, number, elements
        finally:
            self.guard.give_back(before)

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
        if len(basis) < self.rank:
            missing = self.completion(basis)[:5].tolist()
            raise no_basis(self.rank, len(basis), [self.feedback.name(e) for e in missing])
        return 0

    cdef int choose_after_selection(
        self, identifier, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """Choose a set before the update: what `select` has returned becomes a decision, too."""
        selected = self.outcome()
        key = self.available_key()
        before = self.answers, tuple(self.calls_before)
        if self.random_stream is not None:
            before += (self.random_stream.marked_position(),)
        own_id = self.free_id()
        while own_id == identifier or self.decisions.has(own_id):
            own_id += 1
        self.selection = self.new_decision(own_id)
        self.selection_key = key
        try:
            self.decisions.reserve()
            self.choose_for(is_available, allow_smaller, rule)
        except BaseException:
            self.take_back_selection(selected, key, before)
            raise
        return 0

    cdef int take_back_selection(self, dict selected, bytes key, tuple before) except -1:
        """Return to the round in which `select` has returned `selected`."""
        cdef Py_ssize_t row = self.decisions.find(self.selection)
        self.close_decision(row, CLOSED)
        self.decisions.forget_last()
        self.rounds -= 1
        self.set_available(np.frombuffer(key, dtype=np.uint8) if key else None, True)
        self.round_rank = len(selected["chosen"])
        self.adopt(selected)
        if self.is_decided:
            self.shift_time(-1)  # which `adopt` has added
        self.is_selected = True
        self.answers = before[0]
        self.marked = self.rounds
        self.calls_before = before[1]
        if self.random_stream is not None:
            self.random_stream.set_mark(before[2])
        return 0

    def free_id(self):
        """The id of the next decision that is given none: the number of its round, if it is free.

        """
        identifier = self.rounds + 1
        while self.decisions.has(identifier):
            identifier += 1
        return identifier

    cdef object new_decision(self, identifier):
        """Open a decision for the set of this round; the next round begins."""
        cdef Py_ssize_t i
        cdef const Py_ssize_t[::1] elements = self.chosen[: self.round_rank]
        if self.counts_pending:
            self.reserve(self.round_rank)
        if identifier is None:
            identifier = self.free_id()
        self.decisions.add(identifier, self.rounds + 1, elements)
        for i in range(elements.shape[0]):
            self.shift_pending(elements[i], 1)
        self.shift_pending_set(elements, 1)
        self.end_round()
        return identifier

    cdef void shift_pending(self, Py_ssize_t e, Py_ssize_t plays) noexcept:
        """Add to the pending plays of an element."""
        self.pending[e] += plays
        self.n_pending += plays
        if self.counts_pending:
            self.set_width(e)

    def learn_decision(self, identifier, const Py_ssize_t[::1] elements,
                       const double[::1] rewards, bint final=False, observe=None):
        """Learn the rewards of elements of a decision; all or nothing.

        A reward that was received before, with the same value, changes nothing. `elements` is None
        for all elements of the decision, in their order.
        """
        cdef int before = self.guard.take(False)
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t row, column, i
        try:
            row = table.find(identifier)
            if (table.lengths[row] if elements is None else elements.shape[0]) != rewards.shape[0]:
                raise wrong_length(identifier, table.lengths[row], rewards.shape[0])
            for i in range(rewards.shape[0]):
                column = i if elements is None else table.column_of(row, elements[i])
                if column < 0:
                    raise not_in_decision(self.feedback.name(elements[i]), identifier)
                if self.is_new(row, column, rewards[i]):
                    n = self.note_reward(n, table.elements[row, column], rewards[i])
            if table.status[row] == OPEN:
                self.learn_row(row, n, observe, CLOSED if final else OPEN)
        finally:
            self.guard.give_back(before)

    cdef bint is_new(self, Py_ssize_t row, Py_ssize_t column, double reward) except -1:
        """Whether a reward is to be learned; refuse it if it cannot be."""
        cdef DecisionTable table = self.decisions
        cdef double known = table.rewards[row, column]
        cdef Py_ssize_t e = table.elements[row, column]
        if known == reward:
            return False
        if not isnan(known) and table.status[row] != EXPIRED:
            raise conflicting_feedback(
                self.feedback.name(e),
                table.ids[row],
                self.feedback.in_user_units(known),
                self.feedback.in_user_units(reward),
            )
        if table.status[row] != OPEN:
            raise closed_decision(table.ids[row], table.status[row] == EXPIRED)
        self.feedback.check_reward(e, reward)
        return True

    cdef Py_ssize_t note_reward(self, Py_ssize_t n, Py_ssize_t e, double reward) except -1:
        """Add a reward to the n that are about to be learned, which ascend by element."""
        cdef Py_ssize_t i = n
        while i > 0 and self.new_elements[i - 1] > e:
            self.new_elements[i] = self.new_elements[i - 1]
            self.new_rewards[i] = self.new_rewards[i - 1]
            i -= 1
        if i > 0 and self.new_elements[i - 1] == e:
            raise ValueError(f"{self.feedback.described(e)} is given twice")
        self.new_elements[i] = e
        self.new_rewards[i] = reward
        return n + 1

    def expire(self, list identifiers, reward=None, observe=None):
        """Close decisions; what is missing is learned as `reward`, if there is one."""
        cdef int before = self.guard.take(False)
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t row, k, n
        try:
            if reward is not None:
                self.feedback.check_default(reward)
            rows = [table.find(identifier) for identifier in identifiers]
            for row in rows:
                for k in range(table.lengths[row]):
                    if reward is not None and isnan(table.rewards[row, k]):
                        self.feedback.check_reward(table.elements[row, k], reward)
            for row in rows:
                if table.status[row] != OPEN:
                    continue
                n = 0
                for k in range(table.lengths[row]):
                    if reward is not None and isnan(table.rewards[row, k]):
                        n = self.note_reward(n, table.elements[row, k], reward)
                self.learn_row(row, n, observe, EXPIRED)
        finally:
            self.guard.give_back(before)

    cdef int learn_row(self, Py_ssize_t row, Py_ssize_t n, observe, int status) except -1:
        """Learn the n rewards that were noted for an open decision; close it if all have come, or
        with `status`.
        """
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t length = table.lengths[row]
        cdef Py_ssize_t first = 0  # of the noted elements that the problem still has
        cdef Py_ssize_t i, k
        # A set with an element that the problem has no more is a set no more.
        cdef bint is_complete = table.n_missing[row] == n and (
            length == 0 or table.elements[row, 0] >= 0
        )
        while first < n and self.new_elements[first] < 0:
            first += 1
        if is_complete:
            i = 0
            for k in range(length):
                self.set_elements[k] = table.elements[row, k]
                self.set_rewards[k] = table.rewards[row, k]
                if isnan(self.set_rewards[k]):
                    self.set_rewards[k] = self.new_rewards[i]
                    i += 1
            self.check_set(self.set_elements[:length], self.set_rewards[:length])
        self.drop_look()
        self.reserve(2 * length)
        if observe is not None and first < n:
            self.call_hook(
                observe,
                np.array(self.new_elements[first:n]),
                np.array(self.new_rewards[first:n]),
            )
        for i in range(n):
            k = table.column_of(row, self.new_elements[i])
            table.rewards[row, k] = self.new_rewards[i]
            if i >= first:
                self.pending[self.new_elements[i]] -= 1
                self.n_pending -= 1
        table.n_missing[row] -= <int>n
        self.learn(self.new_elements[first:n], self.new_rewards[first:n])
        if is_complete:
            self.learn_set(self.set_elements[:length], self.set_rewards[:length])
        if status != OPEN or table.n_missing[row] == 0:
            self.close_decision(row, COMPLETE if status == OPEN else status)
        return 0

    cdef int close_decision(self, Py_ssize_t row, int status) except -1:
        """Nothing more is expected for a decision."""
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t k
        cdef Py_ssize_t length = table.lengths[row]
        self.reserve(2 * length)
        for k in range(length):
            self.set_elements[k] = table.elements[row, k]
            if isnan(table.rewards[row, k]) and table.elements[row, k] >= 0:
                self.shift_pending(table.elements[row, k], -1)
        self.shift_pending_set(self.set_elements[:length], -1)
        if table.ids[row] == self.selection:
            self.selection = None
            self.selection_key = None
        return table.close(row, status)

    def pending_copy(self):
        """Pending plays by element."""
        return np.array(self.pending)

    # ---- saving ----

    def state(self):
        """All that a copy on the same matroid needs to go on as if it were this one.

        Dictionaries, lists, numbers, texts, bytes and arrays, no other objects.
        """
        # Of this round, or of no consequence.
        is_marked = self.is_chosen or self.answers is not None
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
            "chosen": self.chosen_array[: self.round_rank].copy(),
            "values": self.index_values() if self.is_chosen else None,
            "available": np.array(self.is_available) if self.is_restricted else None,
            "answers": [] if self.answers is None else [list(a) for a in self.answers.items()],
            "decisions": self.decisions.state(),
            "former": list(self.feedback.former),
            "selection": self.selection,
            "selection_key": self.selection_key,
            "cached": self.oracle.state() if isinstance(self.oracle, CachedKernel) else None,
        }

    def restore(self, state):
        """Take over what `state` returned, which was checked."""
        cdef Py_ssize_t row, k, e
        cdef DecisionTable table = self.decisions
        self.rounds = state["rounds"]
        np.asarray(self.counts)[:] = state["counts"]
        np.asarray(self.means)[:] = state["means"]
        table.restore(state["decisions"])
        self.feedback.former[:] = state["former"]
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
        self.oracle_calls, self.greedy_calls, self.neighborhood_updates = state["calls"]
        if state["calls_before"] is not None:
            self.marked = self.rounds
            self.calls_before = state["calls_before"]
        if state["stream"] is not None:
            self.random_stream.set_position(state["stream"][0])
            if len(state["stream"]) > 1:
                self.random_stream.set_mark(state["stream"][1])
        self.set_available(state["available"], True)
        self.round_rank = len(state["chosen"])
        np.asarray(self.chosen)[: self.round_rank] = state["chosen"]
        self.is_chosen = state["is_chosen"]
        self.is_selected = state["is_selected"]
        self.is_decided = state["is_decided"]
        self.known_values = state["values"]
        self.answers = {key: outcome for key, outcome in state["answers"]} or None
        self.selection = state["selection"]
        self.selection_key = state["selection_key"]
        if state["cached"] is not None:
            self.oracle.restore(state["cached"])

    def __reduce__(self):
        return type(self), (self.matroid, *self.parameters()), self.state()

    def __setstate__(self, state):
        self.restore(state)
