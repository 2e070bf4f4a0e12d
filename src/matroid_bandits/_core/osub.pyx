"""OSUB [CP14]: on a graph of arms, play the leader or one of its neighbors."""

from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from matroid_bandits._core.index cimport IndexKernel
from matroid_bandits._core.matroid cimport MatroidKernel
from matroid_bandits._core.policy cimport PolicyKernel, Statistics, sort_elements, take_in

from matroid_bandits._core.matroid import PythonKernel
from matroid_bandits.errors import no_partner, too_small

cdef enum:
    NONE = -1

# Lists of arms end here: 80 MB for their elements, 80 MB for their neighbors.
cdef Py_ssize_t MOST_ARMS = 200_000
cdef Py_ssize_t MOST_ELEMENTS = 10_000_000
cdef Py_ssize_t MOST_NEIGHBORS = 20_000_000


cdef uint64_t key_of(uint64_t element) noexcept:
    """Scattered over all numbers of 64 bits (the finalizer of SplitMix64)."""
    element = (element + 1) * <uint64_t>0x9E3779B97F4A7C15
    element = (element ^ (element >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    element = (element ^ (element >> 27)) * <uint64_t>0x94D049BB133111EB
    return element ^ (element >> 31)


cdef class Sets:
    """Different sets of `rank` elements each, numbered in the order they came."""

    cdef readonly Py_ssize_t size  # of the ground set
    cdef readonly Py_ssize_t rank
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t[:, ::1] members  # of each, ascending
    cdef uint64_t[::1] element_keys
    cdef uint64_t[::1] keys  # of each set: the sum over its elements
    cdef int32_t[::1] slots  # a hash table by key: a set, or NONE
    cdef uint64_t mask

    def __init__(self, Py_ssize_t size, Py_ssize_t rank):
        cdef Py_ssize_t e
        self.size = size
        self.rank = rank
        self.element_keys = np.zeros(size, dtype=np.uint64)
        for e in range(size):
            self.element_keys[e] = key_of(e)
        self.members = np.zeros((64, rank), dtype=np.intp)
        self.keys = np.zeros(64, dtype=np.uint64)
        self.fill_slots()

    cdef int fill_slots(self) except -1:
        """A table for as many sets as there is memory for, at most half full."""
        cdef Py_ssize_t n = 2 * self.keys.shape[0]
        cdef Py_ssize_t k
        self.slots = np.full(n, NONE, dtype=np.int32)
        self.mask = <uint64_t>(n - 1)
        for k in range(self.count):
            self.slots[self.free_slot(self.keys[k])] = <int32_t>k
        return 0

    cdef Py_ssize_t free_slot(self, uint64_t key) noexcept:
        cdef uint64_t slot = key & self.mask
        while self.slots[slot] != NONE:
            slot = (slot + 1) & self.mask
        return <Py_ssize_t>slot

    cdef uint64_t key(self, const Py_ssize_t[::1] elements) noexcept:
        cdef uint64_t key = 0
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            key += self.element_keys[elements[i]]
        return key

    cdef bint is_set(self, Py_ssize_t k, const Py_ssize_t[::1] elements) noexcept:
        cdef Py_ssize_t i
        for i in range(self.rank):
            if self.members[k, i] != elements[i]:
                return False
        return True

    cdef Py_ssize_t find(self, const Py_ssize_t[::1] elements, uint64_t key) noexcept:
        """The number of the set of ascending `elements`, whose key is `key`; NONE if it is new."""
        cdef uint64_t slot = key & self.mask
        cdef Py_ssize_t k
        while self.slots[slot] != NONE:
            k = self.slots[slot]
            if self.keys[k] == key and self.is_set(k, elements):
                return k
            slot = (slot + 1) & self.mask
        return NONE

    cdef int add(self, const Py_ssize_t[::1] elements, uint64_t key) except -1:
        """Number a set of ascending elements, if it is new."""
        cdef Py_ssize_t length = self.keys.shape[0]
        cdef Py_ssize_t[:, ::1] members
        cdef uint64_t[::1] keys
        if self.find(elements, key) != NONE:
            return 0
        if self.count == length:
            members = np.zeros((2 * length, self.rank), dtype=np.intp)
            members[:length] = self.members
            keys = np.zeros(2 * length, dtype=np.uint64)
            keys[:length] = self.keys
            self.members = members
            self.keys = keys
            self.fill_slots()
        self.members[self.count] = elements
        self.keys[self.count] = key
        self.slots[self.free_slot(key)] = <int32_t>self.count
        self.count += 1
        return 0


cdef void exchange(
    const Py_ssize_t[::1] elements, Py_ssize_t position, Py_ssize_t e, Py_ssize_t[::1] exchanged
) noexcept:
    """Write `elements` with e in place of the one at `position`, ascending."""
    cdef Py_ssize_t i
    for i in range(elements.shape[0]):
        exchanged[i] = elements[i]
    exchanged[position] = e
    sort_elements(exchanged)


cdef int refuse_if_many(
    matroid, Py_ssize_t rank, Py_ssize_t n_bases, Py_ssize_t n_neighbors
) except -1:
    cdef Py_ssize_t most = min(MOST_ARMS, MOST_ELEMENTS // max(1, rank))
    if n_bases > most:
        raise ValueError(
            f"OSUB lists all bases, {most:,} at most, and {matroid!r} has more; "
            "use MAUB, which lists none"
        )
    if n_neighbors > MOST_NEIGHBORS:
        raise ValueError(
            f"OSUB lists the neighbors of every basis, {MOST_NEIGHBORS:,} at most, and the bases "
            f"of {matroid!r} have more; use MAUB, which lists none"
        )
    return 0


def bases_of(matroid):
    """All bases in lexicographic order, a row each, and the number of questions this took.

    From one basis, exchange by exchange, all others are reached. Questions are those asked of a
    matroid written in Python; the compiled ones read their structure.
    """
    cdef MatroidKernel asks = matroid._new_kernel()
    cdef Py_ssize_t size = matroid.size
    cdef Py_ssize_t rank = matroid.rank
    cdef Py_ssize_t[::1] playable = np.setdiff1d(np.arange(size), matroid.loops)
    cdef Py_ssize_t[::1] basis = np.zeros(rank, dtype=np.intp)
    cdef Py_ssize_t[::1] exchanged = np.zeros(rank, dtype=np.intp)
    cdef Py_ssize_t[::1] positions = np.zeros(rank, dtype=np.intp)
    cdef unsigned char[::1] is_inside = np.zeros(size, dtype=np.uint8)
    cdef Sets found = Sets(size, rank)
    cdef Py_ssize_t questions = 0
    cdef Py_ssize_t questions_of_circuit = 0
    cdef Py_ssize_t n_exchanges = 0
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t taken, i, j, e, x
    cdef uint64_t key
    taken = asks.greedy(playable, rank, basis)
    if taken < rank:
        raise too_small(matroid, np.asarray(basis[:taken]).tolist(), rank)
    if isinstance(asks, PythonKernel):
        questions = asks.tested if rank > 0 else 0
        questions_of_circuit = 1 if asks.has_circuit else rank
    sort_elements(basis)
    found.add(basis, found.key(basis))
    while k < found.count:
        basis[:] = found.members[k]
        asks.prepare(basis)
        is_inside[:] = 0
        for i in range(rank):
            is_inside[basis[i]] = 1
        for i in range(playable.shape[0]):
            e = playable[i]
            if is_inside[e]:
                continue
            taken = asks.circuit(e, positions)
            questions += questions_of_circuit
            if taken == 0:
                raise no_partner(matroid, e, np.asarray(basis).tolist())
            for j in range(taken):
                x = basis[positions[j]]
                key = found.keys[k] - found.element_keys[x] + found.element_keys[e]
                exchange(basis, positions[j], e, exchanged)
                found.add(exchanged, key)
            n_exchanges += taken
            refuse_if_many(matroid, rank, found.count, n_exchanges)
        k += 1
    members = np.array(found.members[: found.count])
    # The first element decides first; bases of no elements are equal, and there is but one.
    order = np.lexsort(members.T[::-1]) if rank > 0 else np.zeros(1, dtype=np.intp)
    return members[order], questions


cdef class Arms:
    """Sets of elements that are played together, and which of them are neighbors.

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
        """Look for every exchange among the arms."""
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
        """Ascending: whoever finds k is a neighbor of k, and they come in ascending order."""
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
    """The index sees arms, not elements: an arm's reward is the mean of its elements' rewards."""

    cdef readonly Arms arms
    cdef int64_t[::1] arm_counts
    cdef double[::1] arm_means  # 0 where never played
    cdef double[::1] arm_inverse_root
    cdef int64_t[::1] leader_rounds  # l of every arm
    cdef int64_t needed  # plays of an arm before it has an index

    # Arms that were played, the one with the largest mean on top (ties: lowest arm).
    cdef int32_t[::1] heap
    cdef int32_t[::1] place  # of each arm in it
    cdef Py_ssize_t n_played
    cdef Py_ssize_t first_unplayed

    # Working space
    cdef Py_ssize_t[::1] candidates
    cdef double[::1] values  # by arm
    cdef Py_ssize_t[::1] sorted_elements
    cdef double[::1] sorted_rewards

    def __init__(self, matroid, IndexKernel index, Arms arms):
        super().__init__(matroid, None, 0)
        cdef Py_ssize_t n = arms.count
        self.arms = arms
        self.work = self.rank + arms.largest_degree
        self.arm_counts = np.zeros(n, dtype=np.int64)
        self.arm_means = np.zeros(n)
        self.arm_inverse_root = np.full(n, np.inf)
        self.leader_rounds = np.zeros(n, dtype=np.int64)
        self.heap = np.zeros(n, dtype=np.int32)
        self.place = np.zeros(n, dtype=np.int32)
        self.candidates = np.zeros(arms.largest_degree + 1, dtype=np.intp)
        self.values = np.zeros(n)
        self.sorted_elements = np.zeros(self.rank, dtype=np.intp)
        self.sorted_rewards = np.zeros(self.rank)
        # A mean of rewards between two bounds lies between them too.
        self.index = index
        self.is_bounded = index.low > -INFINITY or index.high < INFINITY
        self.needed = max(1, index.least)
        index.attach(self.arm_counts, self.arm_means, self.arm_inverse_root)

    # ---- the leader ----

    cdef inline bint is_better(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        return self.arm_means[a] > self.arm_means[b] or (
            self.arm_means[a] == self.arm_means[b] and a < b
        )

    cdef Py_ssize_t leader(self) noexcept:
        """The arm with the largest mean; of those never played, only the lowest can be it."""
        if self.n_played == 0:
            return 0
        if self.n_played < self.arms.count and self.is_better(self.first_unplayed, self.heap[0]):
            return self.first_unplayed
        return self.heap[0]

    cdef void put(self, Py_ssize_t place, Py_ssize_t arm) noexcept:
        self.heap[place] = <int32_t>arm
        self.place[arm] = <int32_t>place

    cdef void enter(self, Py_ssize_t arm) noexcept:
        """An arm was played for the first time."""
        self.put(self.n_played, arm)
        self.n_played += 1
        while self.first_unplayed < self.arms.count and self.arm_counts[self.first_unplayed] > 0:
            self.first_unplayed += 1

    cdef void settle(self, Py_ssize_t arm) noexcept:
        """The mean of `arm` has changed: find its place in the heap."""
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
        cdef Py_ssize_t leader = self.leader()
        cdef int64_t local_time = self.leader_rounds[leader] + 1
        cdef Py_ssize_t arm = leader
        # [CP14] Algorithm OSUB: by force every gamma + 1 rounds of this leader.
        if (local_time - 1) % (self.arms.largest_degree + 1) != 0:
            arm = self.best_near(leader, local_time)
        self.chosen[:] = self.arms.sets.members[arm]
        # Last, because an index may raise.
        self.leader_rounds[leader] = local_time
        return 0

    cdef Py_ssize_t best_near(self, Py_ssize_t leader, Py_ssize_t local_time) except -1:
        """Of the leader and its neighbors, the one with the largest index (ties: the leader, then
        the lowest). Those played too little to have one come first, in the same order.
        """
        cdef Py_ssize_t n = 1
        cdef Py_ssize_t i, arm, best
        self.candidates[0] = leader
        for i in range(self.arms.starts[leader], self.arms.starts[leader + 1]):
            self.candidates[n] = self.arms.neighbors[i]
            n += 1
        for i in range(n):
            if self.arm_counts[self.candidates[i]] < self.needed:
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
        """The arm of exactly these elements, or NONE; what was observed is sorted by element."""
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
        """The mean of the sorted rewards: the reward of their arm. An arm of nothing pays 0."""
        cdef double total = 0.0
        cdef Py_ssize_t i
        for i in range(self.rank):
            total += self.sorted_rewards[i]
        return total / self.rank if self.rank > 0 else 0.0

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards):
        """Check the feedback, then take it in and end the round."""
        cdef Py_ssize_t arm
        cdef double total
        self.refuse_if_deciding()
        arm = self.arm_of(elements, rewards)
        if arm != NONE:
            total = self.arm_counts[arm] * self.arm_means[arm] + self.sorted_reward()
            # A reward that is not finite itself is refused below.
            if not isfinite(total) and np.isfinite(rewards).all():
                raise ValueError(
                    f"the rewards of {np.asarray(elements).tolist()} are too large: "
                    "the mean of their arm overflows"
                )
        super().update(elements, rewards)

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        cdef Py_ssize_t arm = self.arm_of(elements, rewards)
        if arm != NONE:
            self.learn_arm(arm, self.sorted_reward())
        return PolicyKernel.learn(self, elements, rewards)

    cdef void learn_arm(self, Py_ssize_t arm, double reward) noexcept:
        cdef double old_mean = self.arm_means[arm]
        cdef Statistics statistics
        statistics.counts = &self.arm_counts[0]
        statistics.means = &self.arm_means[0]
        statistics.inverse_root = &self.arm_inverse_root[0]
        statistics.inverse_roots = &self.inverse_roots[0]
        statistics.n_inverse_roots = self.inverse_roots.shape[0]
        if take_in(&statistics, arm, reward) == 1:
            self.enter(arm)
        self.settle(arm)
        if self.index.is_watching:
            self.index.observe(arm, reward, old_mean, self.arm_means[arm])

    # ---- what users see ----

    def count_calls(self, Py_ssize_t oracle_calls, Py_ssize_t greedy_calls):
        """Add what listing the arms took."""
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
        }

    def __reduce__(self):
        return type(self), (self.matroid, self.index, self.arms), self.state()

    def restore(self, state):
        super().restore(state)
        counts = state["arm_counts"]
        np.asarray(self.arm_counts)[:] = counts
        np.asarray(self.arm_means)[:] = state["arm_means"]
        np.asarray(self.leader_rounds)[:] = state["leader_rounds"]
        with np.errstate(divide="ignore"):
            np.asarray(self.arm_inverse_root)[:] = 1 / np.sqrt(counts.astype(float))
        self.n_played = 0
        self.first_unplayed = 0
        for arm in np.flatnonzero(counts).tolist():
            self.enter(arm)
            self.settle(arm)
