"""Decisions that wait for feedback.

A decision is a row of a table: its round, its elements and the rewards received. A million open
decisions of ten elements take about 250 MB. The last 10,000 closed ones stay (fewer, if they have
more than 400 elements), so that feedback that is delivered twice is recognized.
"""

import numpy as np

from matroid_bandits.errors import unknown_decision

# So many closed decisions are kept, those that were closed most recently; and at most so many
# rewards of them: 48 MB.
MAX_CLOSED = 10_000
MAX_CLOSED_REWARDS = 4_000_000

# For checks of what was saved.
STATUSES = (OPEN, COMPLETE, CLOSED, EXPIRED)


cdef class DecisionTable:
    """Open decisions, and those closed most recently, by id."""

    def __init__(self, Py_ssize_t largest):
        self.width = max(1, largest)
        self.rows = {}
        self.ids = []
        self.free_rows = []
        # Arrays are allocated when the first decision is made.
        self.rounds = None
        self.closed = None
        self.known_propensities = None

    def allocate(self, Py_ssize_t n):
        """Make room for `n` rows, and keep those in use."""
        used = len(self.ids)
        rounds = np.zeros(n, dtype=np.int64)
        lengths = np.zeros(n, dtype=np.int32)
        n_missing = np.zeros(n, dtype=np.int32)
        status = np.zeros(n, dtype=np.uint8)
        is_reordered = np.zeros(n, dtype=np.uint8)
        elements = np.zeros((n, self.width), dtype=np.int32)
        rewards = np.zeros((n, self.width))
        if used:
            rounds[:used] = self.rounds[:used]
            lengths[:used] = self.lengths[:used]
            n_missing[:used] = self.n_missing[:used]
            status[:used] = self.status[:used]
            is_reordered[:used] = self.is_reordered[:used]
            elements[:used] = self.elements[:used]
            rewards[:used] = self.rewards[:used]
        if self.known_propensities is not None:
            propensities = np.full((n, self.width), np.nan)
            propensities[:used] = self.known_propensities[:used]
            self.known_propensities = propensities
        self.rounds, self.lengths, self.n_missing = rounds, lengths, n_missing
        self.status, self.is_reordered = status, is_reordered
        self.elements, self.rewards = elements, rewards

    cdef int reserve(self) except -1:
        """Allocate what the next `add` needs."""
        cdef Py_ssize_t n = 0 if self.rounds is None else self.rounds.shape[0]
        if not self.free_rows and len(self.ids) == n:
            self.allocate(n + n // 2 + 16)
        if self.closed is None:
            self.closed = np.zeros(self.max_closed(), dtype=np.int32)
        return 0

    def reserve_propensities(self):
        """Allocate what the next `set_propensities` needs; `reserve` comes first."""
        if self.known_propensities is None:
            self.known_propensities = np.full((self.rounds.shape[0], self.width), np.nan)

    def max_closed(self):
        """How many closed decisions are kept."""
        return max(1, min(MAX_CLOSED, MAX_CLOSED_REWARDS // self.width))

    cdef Py_ssize_t add(
        self, identifier, int64_t round, const Py_ssize_t[::1] elements
    ) except -1:
        """A new open decision for `elements`, ascending; return its row. `reserve` comes first."""
        cdef Py_ssize_t row, k
        if self.free_rows:
            row = self.free_rows.pop()
            self.ids[row] = identifier
        else:
            row = len(self.ids)
            self.ids.append(identifier)
        self.rows[identifier] = row
        self.rounds[row] = round
        self.lengths[row] = <int32_t>elements.shape[0]
        self.n_missing[row] = <int32_t>elements.shape[0]
        self.status[row] = OPEN
        self.is_reordered[row] = False
        for k in range(elements.shape[0]):
            self.elements[row, k] = <int32_t>elements[k]
            self.rewards[row, k] = float("nan")
        if self.known_propensities is not None:
            self.known_propensities[row, :] = float("nan")
        self.n_open += 1
        return row

    cdef Py_ssize_t find(self, identifier) except -1:
        """The row of a decision that is open, or was closed not long ago."""
        row = self.rows.get(identifier)
        if row is None:
            raise unknown_decision(identifier)
        return row

    cdef Py_ssize_t column_of(self, Py_ssize_t row, Py_ssize_t element) noexcept:
        """The column of an element, or -1."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self.lengths[row]
        cdef Py_ssize_t middle
        while low < high:
            middle = (low + high) // 2
            if self.elements[row, middle] < element:
                low = middle + 1
            else:
                high = middle
        if low < self.lengths[row] and self.elements[row, low] == element:
            return low
        return -1

    cdef int close(self, Py_ssize_t row, int status) except -1:
        """Close a decision, and forget the one that was closed longest ago."""
        cdef Py_ssize_t place
        self.status[row] = <unsigned char>status
        self.n_open -= 1
        if self.n_closed == self.closed.shape[0]:
            self.forget(self.closed[self.oldest])
            self.oldest = (self.oldest + 1) % self.closed.shape[0]
            self.n_closed -= 1
        place = (self.oldest + self.n_closed) % self.closed.shape[0]
        self.closed[place] = <int32_t>row
        self.n_closed += 1
        return 0

    cdef int remove(self, Py_ssize_t row) except -1:
        """Remove an open decision, as if it had never been made."""
        self.n_open -= 1
        return self.forget(row)

    cdef int forget(self, Py_ssize_t row) except -1:
        del self.rows[self.ids[row]]
        self.ids[row] = None
        self.free_rows.append(row)
        return 0

    # ---- for users ----

    def open_ids(self):
        """The ids of open decisions, in the order in which they were made."""
        return [identifier for identifier, row in self.rows.items() if self.status[row] == OPEN]

    def is_open(self, identifier):
        row = self.rows.get(identifier)
        return row is not None and self.status[row] == OPEN

    def has(self, identifier):
        """Whether a decision with this id is open, or was closed not long ago."""
        return identifier in self.rows

    def round_of(self, identifier):
        """The round of a decision that is open, or was closed not long ago; else None."""
        row = self.rows.get(identifier)
        return None if row is None else self.rounds[row]

    def has_new_order(self, identifier):
        """Whether the elements of a decision had another order when it was made."""
        row = self.rows.get(identifier)
        return row is not None and self.is_reordered[row] != 0

    def decision(self, identifier):
        """Round and elements of a decision."""
        cdef Py_ssize_t row = self.find(identifier)
        elements = np.array(self.elements[row, : self.lengths[row]], dtype=np.intp)
        return self.rounds[row], elements

    def received(self, identifier):
        """The rewards of a decision so far, by element, ascending; NaN where there is none."""
        cdef Py_ssize_t row = self.find(identifier)
        return np.array(self.rewards[row, : self.lengths[row]])

    def propensities(self, identifier):
        """The propensities of a decision, by element, ascending; None if they are not known."""
        cdef Py_ssize_t row = self.find(identifier)
        if self.known_propensities is None:
            return None
        propensities = np.array(self.known_propensities[row, : self.lengths[row]])
        return None if np.isnan(propensities).any() else propensities

    def set_propensities(self, identifier, const double[::1] propensities):
        """Keep the propensities of a decision; `reserve_propensities` comes first."""
        cdef Py_ssize_t row = self.find(identifier)
        cdef Py_ssize_t k
        for k in range(propensities.shape[0]):
            self.known_propensities[row, k] = propensities[k]

    def missing(self, identifier):
        """The elements of a decision without feedback, ascending."""
        cdef Py_ssize_t row = self.find(identifier)
        cdef Py_ssize_t k
        return [
            self.elements[row, k]
            for k in range(self.lengths[row])
            if self.rewards[row, k] != self.rewards[row, k]
        ]

    # ---- saving, and changes of the ground set ----

    def state(self):
        """All decisions, in the order in which they were made."""
        if self.rounds is None:
            self.allocate(0)
        rows = np.fromiter(self.rows.values(), dtype=np.intp, count=len(self.rows))
        place = np.zeros(len(self.ids), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        ring = [
            self.closed[(self.oldest + k) % self.closed.shape[0]] for k in range(self.n_closed)
        ]
        lengths = np.asarray(self.lengths)[rows]
        elements = np.asarray(self.elements)[rows]
        rewards = np.asarray(self.rewards)[rows]
        # Rows are used again: behind its end, a row has what was there before.
        is_behind = np.arange(self.width) >= lengths[:, np.newaxis]
        elements[is_behind] = 0
        rewards[is_behind] = 0.0
        known = {}
        if self.known_propensities is not None:
            propensities = np.asarray(self.known_propensities)[rows]
            if not np.isnan(propensities).all():
                propensities[is_behind] = 0.0
                known["propensities"] = propensities
        return known | {
            "width": self.width,
            "ids": list(self.rows),
            "rounds": np.asarray(self.rounds)[rows],
            "lengths": lengths,
            "status": np.asarray(self.status)[rows],
            "is_reordered": np.asarray(self.is_reordered)[rows],
            "elements": elements,
            "rewards": rewards,
            "closed": place[np.array(ring, dtype=np.intp)],
        }

    def restore(self, state):
        """Take over what `state` returned, which was checked."""
        cdef Py_ssize_t row, k
        n = len(state["ids"])
        self.width = state["width"]
        self.ids = list(state["ids"])
        self.rows = {identifier: row for row, identifier in enumerate(self.ids)}
        self.free_rows = []
        self.rounds = np.array(state["rounds"], dtype=np.int64)
        self.lengths = np.array(state["lengths"], dtype=np.int32)
        self.status = np.array(state["status"], dtype=np.uint8)
        self.is_reordered = np.array(state["is_reordered"], dtype=np.uint8)
        self.elements = np.array(state["elements"], dtype=np.int32).reshape(n, self.width)
        self.rewards = np.array(state["rewards"], dtype=np.float64).reshape(n, self.width)
        self.known_propensities = None
        if "propensities" in state:
            propensities = np.array(state["propensities"], dtype=np.float64)
            self.known_propensities = propensities.reshape(n, self.width)
        self.n_missing = np.zeros(n, dtype=np.int32)
        self.n_open = 0
        for row in range(n):
            for k in range(self.lengths[row]):
                self.n_missing[row] += self.rewards[row, k] != self.rewards[row, k]
            self.n_open += self.status[row] == OPEN
        self.oldest = 0
        self.n_closed = len(state["closed"])
        # A state may have more of them than this table would keep.
        self.closed = np.zeros(max(self.max_closed(), self.n_closed), dtype=np.int32)
        np.asarray(self.closed)[: self.n_closed] = state["closed"]
