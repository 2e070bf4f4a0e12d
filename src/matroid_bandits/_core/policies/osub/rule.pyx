"""OSUB [CP14]: on a graph of arms, play the leader or one of its neighbors."""

from libc.math cimport isfinite, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from matroid_bandits._core.matroids.bases cimport NONE, Sets, exchange
from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.contract.round cimport Statistics, observe

from matroid_bandits.errors import NoBasisError, changed_matroid, not_reached

NOT_SMALLER = "OSUB has arms of whole bases: it cannot play a smaller set"


cdef class Arms:
    """Sets of elements that are played together, and the neighbors of each.

    Parameters
    ----------
    size
        Number of elements.
    members
        The elements of each arm, a row each, ascending.
    starts, neighbors
        The neighbors of arm k are ``neighbors[starts[k] : starts[k + 1]]``, ascending. Without
        them, arms that differ in one element are neighbors.
    """

    cdef readonly Sets sets
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t largest_degree  # gamma
    cdef int64_t[::1] starts
    cdef int32_t[::1] neighbors

    def __init__(self, Py_ssize_t size, const Py_ssize_t[:, ::1] members, starts=None,
                 neighbors=None):
        cdef Py_ssize_t k
        self.sets = Sets(size, members.shape[1])
        for k in range(members.shape[0]):
            self.sets.add(members[k], self.sets.key(members[k]))
        self.count = self.sets.count
        if starts is None:
            self.find_neighbors()
        else:
            self.starts = starts
            self.neighbors = neighbors
        self.largest_degree = int(np.diff(self.starts).max(initial=0))

    cdef int find_neighbors(self) except -1:
        """Find all pairs of arms that differ in one element."""
        cdef Sets sets = self.sets
        cdef unsigned char[::1] is_inside = np.zeros(sets.size, dtype=np.uint8)
        cdef Py_ssize_t[::1] exchanged = np.zeros(sets.rank, dtype=np.intp)
        cdef int32_t[::1] found = np.zeros(64 * (self.count + 1), dtype=np.int32)
        cdef int32_t[::1] longer
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k, other, i, e
        cdef uint64_t key
        self.starts = np.zeros(self.count + 1, dtype=np.int64)
        for k in range(self.count):
            if n + sets.rank * sets.size > found.shape[0]:
                longer = np.zeros(2 * found.shape[0] + sets.rank * sets.size, dtype=np.int32)
                longer[:n] = found[:n]
                found = longer
            is_inside[:] = 0
            for i in range(sets.rank):
                is_inside[sets.members[k, i]] = 1
            for e in range(sets.size):
                if is_inside[e]:
                    continue
                for i in range(sets.rank):
                    key = (
                        sets.keys[k]
                        - sets.element_keys[sets.members[k, i]]
                        + sets.element_keys[e]
                    )
                    if sets.slots[key & sets.mask] == NONE:
                        continue
                    exchange(sets.members[k], i, e, exchanged)
                    other = sets.find(exchanged, key)
                    if other != NONE:
                        found[n] = <int32_t>other
                        n += 1
            self.starts[k + 1] = n
        self.sort_neighbors(found)
        return 0

    cdef int sort_neighbors(self, const int32_t[::1] found) except -1:
        """Write the neighbors of each arm, ascending: arm k is a neighbor of those it found."""
        cdef int64_t[::1] free = np.array(self.starts[: self.count])
        cdef Py_ssize_t k, i
        self.neighbors = np.zeros(self.starts[self.count], dtype=np.int32)
        for k in range(self.count):
            for i in range(self.starts[k], self.starts[k + 1]):
                self.neighbors[free[found[i]]] = <int32_t>k
                free[found[i]] += 1
        return 0

    def members_copy(self):
        return np.array(self.sets.members[: self.count])

    def neighbors_copy(self, Py_ssize_t k):
        return np.array(self.neighbors[self.starts[k] : self.starts[k + 1]])

    def __reduce__(self):
        return type(self), (
            self.sets.size,
            self.members_copy(),
            np.asarray(self.starts),
            np.asarray(self.neighbors),
        )

    def __deepcopy__(self, memo):
        # It never changes.
        return self


cdef class OSUBKernel(PolicyKernel):
    """An index over arms: the reward of an arm is the mean of the rewards of its elements."""

    cdef readonly Arms arms
    cdef int64_t[::1] arm_counts
    cdef double[::1] arm_means  # 0 where never played
    cdef int64_t[::1] arm_pending  # plays of an arm whose rewards have not all come
    cdef int64_t[::1] arm_index_counts  # plays, or plays + pending if pending plays count
    cdef double[::1] arm_inverse_root
    cdef int64_t[::1] leader_rounds  # l of every arm
    cdef Py_ssize_t decided_leader  # the leader of the last decision
    cdef int64_t min_plays  # plays of an arm before it has an index
    cdef unsigned char[::1] is_open  # whether each arm is available in this round

    # Arms that were played, the one with the largest mean on top (ties: lowest arm).
    cdef int32_t[::1] heap
    cdef int32_t[::1] place  # position of each arm in the heap
    cdef Py_ssize_t n_played
    cdef Py_ssize_t first_unplayed

    # Working space
    cdef Py_ssize_t[::1] candidates
    cdef double[::1] values  # by arm
    cdef Py_ssize_t[::1] sorted_elements
    cdef double[::1] sorted_rewards

    def __init__(self, matroid, IndexKernel index, Arms arms, bint counts_pending=False):
        super().__init__(matroid, None, 0, counts_pending)
        self.learns_sets = True
        if arms.sets.rank != self.rank or arms.sets.size != self.size:
            raise changed_matroid(matroid, arms.sets.size, arms.sets.rank, len(matroid.loops))
        cdef Py_ssize_t n = arms.count
        self.arms = arms
        self.work = self.rank + arms.largest_degree
        self.arm_counts = np.zeros(n, dtype=np.int64)
        self.arm_means = np.zeros(n)
        self.arm_pending = np.zeros(n, dtype=np.int64)
        self.arm_index_counts = np.zeros(n, np.int64) if counts_pending else self.arm_counts
        self.arm_inverse_root = np.full(n, np.inf)
        self.leader_rounds = np.zeros(n, dtype=np.int64)
        self.heap = np.zeros(n, dtype=np.int32)
        self.place = np.zeros(n, dtype=np.int32)
        self.candidates = np.zeros(arms.largest_degree + 1, dtype=np.intp)
        self.values = np.zeros(n)
        self.sorted_elements = np.zeros(self.rank, dtype=np.intp)
        self.sorted_rewards = np.zeros(self.rank)
        # The mean of rewards within bounds is within these bounds, too.
        self.index = index
        self.feedback.limit(index.name, index.low, index.high)
        self.min_plays = max(1, index.min_count)
        self.is_open = np.zeros(n, dtype=np.uint8)
        self.attach_index()

    cdef int attach_index(self) except -1:
        # Statistics of arms, not of elements.
        if self.index is not None:
            self.index.attach(
                self.arm_counts, self.arm_means, self.arm_index_counts, self.arm_inverse_root
            )
            self.index.n_playable = self.arms.count
            self.random_stream = self.index.random_stream
        return 0

    # ---- the leader ----

    cdef inline bint is_better(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        return self.arm_means[a] > self.arm_means[b] or (
            self.arm_means[a] == self.arm_means[b] and a < b
        )

    cdef Py_ssize_t leader(self) noexcept:
        """The arm with the largest mean. Of the arms never played, it can only be the lowest."""
        if self.n_played == 0:
            return 0
        if self.n_played < self.arms.count and self.is_better(self.first_unplayed, self.heap[0]):
            return self.first_unplayed
        return self.heap[0]

    cdef Py_ssize_t available_leader(self) noexcept:
        """The same among available arms, NONE if there is none."""
        cdef Py_ssize_t best = NONE
        cdef Py_ssize_t arm, i
        for arm in range(self.arms.count):
            self.is_open[arm] = 1
            for i in range(self.rank):
                self.is_open[arm] &= self.is_available[self.arms.sets.members[arm, i]] != 0
            if self.is_open[arm] and (best == NONE or self.is_better(arm, best)):
                best = arm
        return best

    cdef void put(self, Py_ssize_t place, Py_ssize_t arm) noexcept:
        self.heap[place] = <int32_t>arm
        self.place[arm] = <int32_t>place

    cdef void enter(self, Py_ssize_t arm) noexcept:
        """Add an arm that was played for the first time."""
        self.put(self.n_played, arm)
        self.n_played += 1
        while self.first_unplayed < self.arms.count and self.arm_counts[self.first_unplayed] > 0:
            self.first_unplayed += 1

    cdef void settle(self, Py_ssize_t arm) noexcept:
        """Restore the heap after the mean of `arm` has changed."""
        cdef Py_ssize_t place = self.place[arm]
        cdef Py_ssize_t child
        while place > 0 and self.is_better(arm, self.heap[(place - 1) // 2]):
            self.put(place, self.heap[(place - 1) // 2])
            place = (place - 1) // 2
        while 2 * place + 1 < self.n_played:
            child = 2 * place + 1
            if child + 1 < self.n_played and self.is_better(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.is_better(self.heap[child], arm):
                break
            self.put(place, self.heap[child])
            place = child
        self.put(place, arm)

    # ---- a round ----

    cdef int decide(self) except -1:
        cdef Py_ssize_t leader = self.available_leader() if self.is_restricted else self.leader()
        cdef int64_t local_time
        cdef Py_ssize_t arm = leader
        if leader == NONE:
            self.refuse_without_arm()
        local_time = self.leader_rounds[leader] + 1
        # [CP14] Algorithm OSUB: the leader itself in every (gamma + 1)-th of its rounds.
        if (local_time - 1) % (self.arms.largest_degree + 1) != 0:
            arm = self.best_near(leader, local_time)
        self.chosen[:] = self.arms.sets.members[arm]
        # Last, because an index may raise.
        self.leader_rounds[leader] = local_time
        self.decided_leader = leader
        return 0

    cdef int check_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1:
        try:
            PolicyKernel.check_available(self, is_available, False)
        except NoBasisError:
            if allow_smaller:
                raise ValueError(NOT_SMALLER) from None
            raise
        return 0

    cdef int refuse_without_arm(self) except -1:
        """No arm is available: say why."""
        self.find_round_rank()
        if self.round_rank < self.rank:
            raise ValueError(NOT_SMALLER)
        # Exchanges lead from any basis of a matroid to all others, so one would be listed.
        raise not_reached(self.matroid, np.asarray(self.found).tolist())

    cdef Py_ssize_t best_near(self, Py_ssize_t leader, Py_ssize_t local_time) except -1:
        """The arm with the largest index among the leader and its neighbors (ties: the leader, then
        the lowest arm). Arms with fewer than `min_plays` plays come first, in the same order.
        """
        cdef Py_ssize_t n = 1
        cdef Py_ssize_t i, arm, best
        self.candidates[0] = leader
        for i in range(self.arms.starts[leader], self.arms.starts[leader + 1]):
            arm = self.arms.neighbors[i]
            if not self.is_restricted or self.is_open[arm]:
                self.candidates[n] = arm
                n += 1
        for i in range(n):
            if self.arm_counts[self.candidates[i]] < self.min_plays:
                return self.candidates[i]
        self.index.evaluate(self.candidates[:n], local_time, self.values)
        best = leader
        for i in range(1, n):
            arm = self.candidates[i]
            if self.values[arm] > self.values[best]:
                best = arm
        return best

    cdef Py_ssize_t arm_of(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept:
        """The arm of exactly these elements, or NONE. Sorts the feedback by element."""
        cdef Py_ssize_t i, j, e
        if elements.shape[0] != self.rank or rewards.shape[0] != self.rank:
            return NONE
        for i in range(self.rank):
            e = elements[i]
            if e < 0 or e >= self.size:
                return NONE
            j = i
            while j > 0 and self.sorted_elements[j - 1] > e:
                self.sorted_elements[j] = self.sorted_elements[j - 1]
                self.sorted_rewards[j] = self.sorted_rewards[j - 1]
                j -= 1
            self.sorted_elements[j] = e
            self.sorted_rewards[j] = rewards[i]
        return self.arms.sets.find(
            self.sorted_elements, self.arms.sets.key(self.sorted_elements)
        )

    cdef double sorted_reward(self) noexcept:
        """The mean of the sorted rewards: the reward of their arm. The empty arm has reward 0."""
        cdef double total = 0.0
        cdef Py_ssize_t i
        for i in range(self.rank):
            total += self.sorted_rewards[i]
        return total / self.rank if self.rank > 0 else 0.0

    cdef int check_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1:
        cdef Py_ssize_t arm = self.arm_of(elements, rewards)
        if arm != NONE and not isfinite(
            self.arm_counts[arm] * self.arm_means[arm] + self.sorted_reward()
        ):
            raise ValueError(
                f"the rewards of {np.asarray(elements).tolist()} are too large: "
                "the mean of their arm overflows"
            )
        return 0

    cdef void learn_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept:
        cdef Py_ssize_t arm = self.arm_of(elements, rewards)
        if arm != NONE:
            self.learn_arm(arm, self.sorted_reward())

    cdef void shift_pending_set(
        self, const Py_ssize_t[::1] elements, Py_ssize_t plays
    ) noexcept:
        cdef Py_ssize_t arm = NONE
        # Dropped elements are below 0.
        if elements.shape[0] == self.rank and (self.rank == 0 or elements[0] >= 0):
            arm = self.arms.sets.find(elements, self.arms.sets.key(elements))
        if arm != NONE:
            self.arm_pending[arm] += plays
            if self.counts_pending:
                self.set_arm_width(arm)

    cdef void set_arm_width(self, Py_ssize_t arm) noexcept:
        """The number of pending plays of an arm has changed, and these count."""
        self.arm_index_counts[arm] = self.arm_counts[arm] + self.arm_pending[arm]
        self.arm_inverse_root[arm] = 1 / sqrt(<double>self.arm_index_counts[arm])

    cdef void learn_arm(self, Py_ssize_t arm, double reward) noexcept:
        cdef Statistics statistics
        if self.index.needs_rewards:
            self.index.observe(arm, reward)
        statistics.counts = &self.arm_counts[0]
        statistics.means = &self.arm_means[0]
        statistics.inverse_root = &self.arm_inverse_root[0]
        statistics.pending = &self.arm_pending[0] if self.counts_pending else NULL
        statistics.index_counts = &self.arm_index_counts[0]
        statistics.inverse_roots = &self.inverse_roots[0]
        statistics.n_inverse_roots = self.inverse_roots.shape[0]
        statistics.earlier_means = NULL
        if observe(&statistics, arm, reward) == 1:
            self.enter(arm)
        self.settle(arm)

    def merge(self, elements, means, counts, rounds, index_state):
        raise ValueError("OSUB learns about arms: statistics of elements are of no use to it")

    # ---- decisions that are undone, or made again ----

    cdef int shift_time(self, Py_ssize_t rounds) except -1:
        self.leader_rounds[self.decided_leader] += rounds
        return 0

    def outcome(self):
        return super().outcome() | {"leader": self.decided_leader}

    def adopt(self, dict outcome):
        super().adopt(outcome)
        self.decided_leader = outcome["leader"]
        if self.is_decided:
            self.shift_time(1)

    # ---- what users see ----

    def count_calls(self, Py_ssize_t oracle_calls, Py_ssize_t greedy_calls):
        """Add the calls that listing the arms took."""
        self.oracle_calls += oracle_calls
        self.greedy_calls += greedy_calls

    def leader_copy(self):
        return np.array(self.arms.sets.members[self.leader()])

    def arm_counts_copy(self):
        return np.array(self.arm_counts)

    def arm_means_copy(self):
        """Means so far; NaN where an arm was never played."""
        means = np.array(self.arm_means)
        means[np.asarray(self.arm_counts) == 0] = np.nan
        return means

    # ---- saving ----

    def state(self):
        return super().state() | {
            "arm_counts": np.array(self.arm_counts),
            "arm_means": np.array(self.arm_means),
            "leader_rounds": np.array(self.leader_rounds),
            "decided_leader": self.decided_leader,
        }

    def parameters(self):
        return self.index, self.arms, self.counts_pending

    def restore(self, state):
        super().restore(state)
        counts = state["arm_counts"]
        np.asarray(self.arm_counts)[:] = counts
        np.asarray(self.arm_means)[:] = state["arm_means"]
        np.asarray(self.leader_rounds)[:] = state["leader_rounds"]
        self.decided_leader = state["decided_leader"]
        for identifier in self.decisions.open_ids():
            self.shift_pending_set(self.decisions.decision(identifier)[1], 1)
        if self.counts_pending:
            np.asarray(self.arm_index_counts)[:] = counts + np.asarray(self.arm_pending)
        with np.errstate(divide="ignore"):
            np.asarray(self.arm_inverse_root)[:] = 1 / np.sqrt(
                np.asarray(self.arm_index_counts, dtype=float)
            )
        self.n_played = 0
        self.first_unplayed = 0
        for arm in np.flatnonzero(counts).tolist():
            self.enter(arm)
            self.settle(arm)
