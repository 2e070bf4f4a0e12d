"""Decisions, and feedback that comes late, in parts, twice or never."""

import numpy as np

from libc.math cimport isfinite, isnan

from matroid_bandits._core.policies.contract.choosing cimport ChoosingKernel, mask_of_key
from matroid_bandits._core.policies.contract.decisions cimport CLOSED, COMPLETE, EXPIRED, OPEN

from matroid_bandits.errors import (
    closed_decision,
    conflicting_feedback,
    known_decision,
    not_in_decision,
    reordered_decision,
    wrong_length,
)


cdef class DecidingKernel(ChoosingKernel):
    """Makes decisions, each a round of its own, and learns when their feedback comes."""

    def __init__(self, matroid, index=None, min_count=1, counts_pending=False, memory=None):
        super().__init__(matroid, index, min_count, counts_pending, memory)
        self.decisions = DecisionTable(self.rank)
        self.new_elements = None

    cdef int allocate_space(self) except -1:
        """Get working space for the largest decision."""
        cdef Py_ssize_t n = self.decisions.width
        # One more, for an element that is given twice before it is refused.
        self.new_elements = np.zeros(n + 1, dtype=np.intp)
        self.new_rewards = np.zeros(n + 1)
        self.set_elements = np.zeros(n, dtype=np.intp)
        self.set_rewards = np.zeros(n)
        return 0

    # ---- what a rule implements, if it learns about whole sets ----

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

    # ---- decisions ----

    def open(self, identifier=None, const unsigned char[::1] is_available=None,
             bint allow_smaller=False, rule=None, const Py_ssize_t[::1] shown=None,
             Py_ssize_t n_draws=0):
        """Make a decision; return its id, its round, the set of this round and its propensities.

        Feedback is then expected for that set, or for the elements `shown`, ascending and at most
        as many as the rank, if they are given. Propensities are estimated by so many draws of the
        kernel's own rule; None without any.
        """
        cdef int before = self.guard.take(False)
        try:
            if identifier is not None and self.decisions.has(identifier):
                raise known_decision(identifier)
            self.decisions.reserve()
            if n_draws > 0:
                self.decisions.reserve_propensities()
                self.n_draws = n_draws
            if self.is_selected:
                self.choose_after_selection(identifier, is_available, allow_smaller, rule)
            elif self.is_chosen and not self.is_for(is_available):
                self.choose_instead(is_available, allow_smaller, rule)
            else:
                self.choose_for(is_available, allow_smaller, rule)
            elements = self.chosen_array[: self.round_rank].copy()
            propensities = None
            if n_draws > 0:
                if self.n_drawn is None:
                    # The set was known before this call.
                    self.draw_again()
                # It counts as one more draw, so nothing in it has the propensity 0.
                propensities = (self.n_drawn[elements] + 1) / (n_draws + 1.0)
            if shown is None:
                shown = self.chosen[: self.round_rank]
            identifier = self.new_decision(identifier, shown)
            number = self.rounds
            if propensities is not None:
                self.decisions.set_propensities(identifier, propensities)
            if shown.shape[0] == 0:
                # There is nothing to wait for.
                self.learn_row(self.decisions.find(identifier), 0, None, OPEN)
            return identifier, number, elements, propensities
        finally:
            self.n_draws = 0
            self.n_drawn = None
            self.guard.give_back(before)

    cdef int choose_after_selection(
        self, identifier, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        """Choose a set before the update: what `select` has returned becomes a decision, too."""
        if self.memory is not None:
            self.check_available(is_available, allow_smaller)
        selected = self.outcome()
        key = self.available_key()
        before = self.answers, tuple(self.calls_before)
        if self.random_stream is not None:
            before += (self.random_stream.marked_position(),)
        own_id = self.free_id()
        while own_id == identifier or self.decisions.has(own_id):
            own_id += 1
        self.selection = self.new_decision(own_id, self.chosen[: self.round_rank])
        self.selection_key = key
        try:
            self.decisions.reserve()
            self.choose_for(is_available, allow_smaller, rule)
        except BaseException:
            # Where the end of a round forgets observations it cannot be undone. What was selected
            # stays a decision, whose feedback `update` still takes.
            if self.memory is None:
                self.take_back_selection(selected, key, before)
            raise
        return 0

    cdef int take_back_selection(self, dict selected, bytes key, tuple before) except -1:
        """Return to the round in which `select` has returned `selected`."""
        cdef Py_ssize_t row = self.decisions.find(self.selection)
        self.end_waiting(row)
        self.decisions.remove(row)
        self.rounds -= 1
        self.set_available(mask_of_key(key), True)
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

    cdef object new_decision(self, identifier, const Py_ssize_t[::1] elements):
        """Open a decision for `elements`; the next round begins."""
        cdef Py_ssize_t i
        if self.counts_pending or self.memory is not None:
            self.reserve_round(elements.shape[0])
        if self.new_elements is None:
            self.allocate_space()
        if identifier is None:
            identifier = self.free_id()
        self.decisions.add(identifier, self.rounds + 1, elements)
        for i in range(elements.shape[0]):
            self.shift_pending(elements[i], 1)
        if self.learns_sets:
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
            if elements is None and table.is_reordered[row]:
                raise reordered_decision(identifier)
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
            # Each decision once, in the order given.
            rows = list(dict.fromkeys(table.find(identifier) for identifier in identifiers))
            if reward is not None:
                self.check_missing(rows, reward)
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

    cdef int check_missing(self, list rows, double reward) except -1:
        """Refuse a reward that cannot be learned for all missing elements of decisions."""
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t row, k, e
        times = {}
        for row in rows:
            for k in range(table.lengths[row]):
                if table.status[row] == OPEN and isnan(table.rewards[row, k]):
                    e = table.elements[row, k]
                    times[e] = times.get(e, 0) + 1
        for e, n in times.items():
            self.feedback.check_reward(e, reward)
            if e >= 0 and not isfinite(self.counts[e] * self.means[e] + n * reward):
                raise self.feedback.overflow(e, reward)
        return 0

    cdef int learn_row(self, Py_ssize_t row, Py_ssize_t n, observe, int status) except -1:
        """Learn the n rewards that were noted for an open decision; close it if all have come, or
        with `status`.
        """
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t length = table.lengths[row]
        cdef Py_ssize_t first = 0  # of the noted elements that were not dropped
        cdef Py_ssize_t i, k
        # A set with a dropped element is not learned as a whole.
        cdef bint is_complete = table.n_missing[row] == n and (
            length == 0 or table.elements[row, 0] >= 0
        )
        while first < n and self.new_elements[first] < 0:
            first += 1
        if is_complete and self.learns_sets:
            i = 0
            for k in range(length):
                self.set_elements[k] = table.elements[row, k]
                self.set_rewards[k] = table.rewards[row, k]
                if isnan(self.set_rewards[k]):
                    self.set_rewards[k] = self.new_rewards[i]
                    i += 1
            self.check_set(self.set_elements[:length], self.set_rewards[:length])
        self.drop_peek()
        if n > 0 and self.is_chosen and self.known_values is None:
            # Those by which this round was decided, before the statistics change.
            self.known_values = self.index_values()
        self.reserve_round(2 * length)
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
        if first < n:
            self.learned_round = table.rounds[row]
            self.learn(&self.new_elements[first], &self.new_rewards[first], n - first)
            self.learned_round = 0
        if is_complete and self.learns_sets:
            self.learn_set(self.set_elements[:length], self.set_rewards[:length])
        if status != OPEN or table.n_missing[row] == 0:
            self.close_decision(row, COMPLETE if status == OPEN else status)
        return 0

    cdef int close_decision(self, Py_ssize_t row, int status) except -1:
        """Nothing more is expected for a decision."""
        self.end_waiting(row)
        return self.decisions.close(row, status)

    cdef int end_waiting(self, Py_ssize_t row) except -1:
        """The elements of an open decision are pending no longer."""
        self.shift_waiting(row, -1)
        if self.decisions.ids[row] == self.selection:
            self.selection = None
            self.selection_key = None
        return 0

    cdef int shift_waiting(self, Py_ssize_t row, Py_ssize_t plays) except -1:
        """Add to the pending plays of the elements that a decision waits for."""
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t k
        cdef Py_ssize_t length = table.lengths[row]
        self.reserve(2 * length)
        for k in range(length):
            self.set_elements[k] = table.elements[row, k]
            if isnan(table.rewards[row, k]) and table.elements[row, k] >= 0:
                self.shift_pending(table.elements[row, k], plays)
        if self.learns_sets:
            self.shift_pending_set(self.set_elements[:length], plays)
        return 0

    cdef int call_hook(self, observe, elements, rewards) except -1:
        """Pass feedback to a policy written in Python."""
        self.guard.lend_to_rule(observe, (elements, rewards))
        return 0

    cdef int prepare_chosen(self, const double[::1] rewards) except -1:
        """Everything about learning the rewards of the set of this round that can fail."""
        raise NotImplementedError

    def random_position(self):
        """The position in the random stream; None if nothing is drawn."""
        return None if self.random_stream is None else self.random_stream.position()

    def set_random_position(self, position):
        """Go on from another position in the random stream."""
        self.random_stream.set_position(position)

    def pending_copy(self):
        """Pending plays by element."""
        return np.array(self.pending)
