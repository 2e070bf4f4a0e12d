"""What a policy keeps of its observations, where means change."""

import numpy as np

# More rounds than any policy plays.
cdef Py_ssize_t ENDLESS = <Py_ssize_t>1 << 62


cdef class Memory:
    """Observations that are still used; a subclass says which.

    Parameters
    ----------
    size
        Number of elements.
    """

    def __init__(self, Py_ssize_t size):
        self.size = size
        self.longest_time = ENDLESS
        self.weights = None
        self.next_forgotten = np.full(size + 1, -1, dtype=np.int32)
        self.previous_forgotten = np.full(size + 1, -1, dtype=np.int32)
        self.clear_queue()

    cdef int attach(
        self, IndexKernel index, const int64_t[::1] counts, const double[::1] means,
        Py_ssize_t n_playable
    ) except -1:
        """Read the statistics of a policy from now on."""
        self.index = index
        self.counts = counts
        self.means = means
        return 0

    # ---- observations ----

    cdef int reserve(self, Py_ssize_t n, Py_ssize_t rounds) except -1:
        """Get all memory for n observations, and for the next round."""
        return 0

    cdef bint accepts(self, Py_ssize_t e, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        """Whether an observation from `round` is used, when `rounds` rounds have ended."""
        return True

    cdef void begin(self, Py_ssize_t round, Py_ssize_t rounds) noexcept:
        """Observations of a round follow, when `rounds` rounds have ended."""

    cdef void add(self, Py_ssize_t e, double reward) noexcept:
        """Find count and mean of e with one more observation, which its index has received."""

    cdef int add_many(self, Py_ssize_t e, double mean, int64_t count) except -1:
        """The same for several observations with a mean, if it accepts statistics."""
        raise NotImplementedError

    # ---- the end of a round ----

    cdef Py_ssize_t n_expiring(self, Py_ssize_t rounds) noexcept:
        """How many observations `remove` removes at the end of the next round."""
        return 0

    cdef Py_ssize_t remove(self, Py_ssize_t rounds) noexcept:
        """Remove one observation that is too old after `rounds` rounds; find count and mean of its
        element without it. Returns the element; -1 if there is no such observation.
        """
        return -1

    cdef void end_round(self) noexcept:
        """The next round begins."""

    # ---- when a round begins ----

    cdef bint is_due(self, Py_ssize_t rounds) noexcept:
        """Whether `forget` is to be called when the round after `rounds` rounds begins."""
        return False

    cdef object forget(self, Py_ssize_t rounds):
        """Find the elements whose statistics are to be cleared, in order."""
        return np.zeros(0, dtype=np.intp)

    cdef Py_ssize_t forced_place(self, Py_ssize_t time, Py_ssize_t n) noexcept:
        """Which of n elements is to be observed at a time, whatever is known; -1 for none."""
        return -1

    # ---- forgotten elements ----

    cdef void push(self, Py_ssize_t e) noexcept:
        """An element is forgotten."""
        cdef Py_ssize_t end = self.size
        cdef int32_t last = self.previous_forgotten[end]
        if self.next_forgotten[e] >= 0:
            return
        self.next_forgotten[last] = <int32_t>e
        self.previous_forgotten[e] = last
        self.next_forgotten[e] = <int32_t>end
        self.previous_forgotten[end] = <int32_t>e

    cdef void pull(self, Py_ssize_t e) noexcept:
        """It is observed again."""
        cdef int32_t before = self.previous_forgotten[e]
        cdef int32_t after = self.next_forgotten[e]
        if after < 0:
            return
        self.next_forgotten[before] = after
        self.previous_forgotten[after] = before
        self.next_forgotten[e] = self.previous_forgotten[e] = -1

    cdef void clear_queue(self) noexcept:
        self.next_forgotten[:] = -1
        self.previous_forgotten[:] = -1
        self.next_forgotten[self.size] = <int32_t>self.size
        self.previous_forgotten[self.size] = <int32_t>self.size

    cdef object queue(self):
        """Forgotten elements in order."""
        found = []
        e = self.next_forgotten[self.size]
        while e != self.size:
            found.append(e)
            e = self.next_forgotten[e]
        return np.array(found, dtype=np.intp)

    # ---- for users, and saving ----

    def effective_counts(self):
        """The number of observations that count, by element."""
        return np.array(self.counts, dtype=float)

    def state(self, Py_ssize_t rounds):
        """What `restore` needs, after so many rounds."""
        return {
            "is_past_initial": bool(self.is_past_initial),
            "forgotten": self.queue(),
            "restarted_at": self.restarted_at,
        }

    def restore(self, state, rounds):
        """Take over what `state` returned, after count and mean of every element."""
        self.is_past_initial = state["is_past_initial"]
        self.restarted_at = state["restarted_at"]
        self.clear_queue()
        for e in state["forgotten"].tolist():
            self.push(e)
