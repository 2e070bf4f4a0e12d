"""MAUB [DG25]: the five steps of docs/maub.md."""

from collections import OrderedDict

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.ucb cimport UCBKernel, width_of
from matroid_bandits._core.policies.base cimport (
    PolicyKernel,
    Statistics,
    observe,
    statistics_of,
)
from matroid_bandits._core.policies.maub.leader cimport Leader
from matroid_bandits._core.policies.maub.search cimport BEATEN, NO_EXCHANGE, REORDERED
from matroid_bandits._core.sorting cimport sort_elements

from matroid_bandits._core.policies.maub.leader import PublishedLeader
from matroid_bandits._core.policies.maub.lean import LeanLeader

# Local times of so many former leaders are kept, those that led most recently: 4 MB at rank 20.
MAX_FORMER_LEADERS = 10_000


cdef double scale_of(UCBKernel ucb) noexcept:
    """The factor of sqrt(2 ln l) in the width."""
    cdef double scale = 1.0 if ucb is None else ucb.noise * sqrt(0.5 * ucb.constant)
    # Without noise all widths are 0, and every positive scale is right.
    return scale if scale > 0 else 1.0


cdef class MAUBKernel(PolicyKernel):
    """MAUB at work. The leader and its partners are found as [DG25] writes, or with fewer oracle
    calls if `lean` (docs/lean-exchange.md); the plays are the same.
    """

    cdef readonly bint lean
    cdef Leader leader
    cdef Py_ssize_t local_time  # l: rounds in which this leader has led, this one included
    cdef object former_times  # l of bases that led before, by `Leader.key`
    cdef Py_ssize_t period  # rounds between two in which the leader is played in any case
    cdef UCBKernel ucb  # the index, if it is this one: rounds need not look at every element
    cdef double[::1] values  # of any other index, by element, computed in every round
    cdef Py_ssize_t valued  # the round that `values` are for

    def __init__(self, matroid, index, bint lean):
        # The leader needs means, even if the index does not.
        super().__init__(matroid, index, max(1, index.min_count))
        self.lean = lean
        self.valued = -1
        self.values = None
        if isinstance(index, UCBKernel):
            self.ucb = index
            self.work = self.rank
        else:
            self.values = np.zeros(self.size)
        if lean:
            self.remember_answers()
        symmetry_class = self.oracle.symmetry_classes()
        n_classes = int(symmetry_class.max(initial=-1)) + 1
        if lean:
            self.use_symmetry(symmetry_class, n_classes)
        n_outside = self.playable.shape[0] - self.rank
        self.period = n_outside + 1
        self.leader = (LeanLeader if lean else PublishedLeader)(
            matroid,
            self.oracle,
            symmetry_class,
            n_classes,
            self.rank,
            n_outside,
            self.means,
            self.inverse_root,
            self.counts,
            scale_of(self.ucb),
        )
        self.former_times = OrderedDict()

    # ---- steps 1 to 4 ----

    cdef int decide(self) except -1:
        cdef Py_ssize_t found
        # Step 1: initial rounds.
        if self.n_undersampled > 0:
            return self.initial_round()
        # Step 2: the leader, by the partners as last computed; then its order. The same pass over
        # the leader finds the best exchange of step 4.
        found = self.leader.scan(self.width()) if self.leader.exists else BEATEN
        if found == BEATEN or found == REORDERED:
            try:
                if found == BEATEN:
                    self.change_leader()
                else:
                    # The new partners may show that the leader is beaten. It leads this round.
                    self.oracle_calls += self.leader.reorder()
                    self.neighborhood_updates += 1
            finally:
                self.oracle_calls += self.oracle.n_calls
                self.oracle.n_calls = 0
            found = self.leader.best_exchange(self.width())
        # Step 4: play the leader every n - D + 1 rounds, and otherwise the best exchange. The
        # division takes a tenth of a round; it is left out where it decides nothing.
        if self.ucb is None or found != NO_EXCHANGE:
            if self.local_time % self.period == 0:
                found = NO_EXCHANGE
            elif self.ucb is None:
                found = self.best_exchange_by_values()
        self.leader.write_exchange(found, self.chosen)
        # Step 3: local time. Last, because an index may raise.
        self.local_time += 1
        return 0

    cdef int change_leader(self) except -1:
        """Step 2: the best basis by the means leads, with its own local time."""
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        former = self.leader.key()
        try:
            if self.leader.needs_greedy():
                self.greedy_on(self.means)
                sort_elements(self.found)
                self.oracle_calls += self.leader.replace(self.found, self.order)
            else:
                self.leader.improve()
        except BaseException:
            self.oracle_calls, self.greedy_calls = oracle_calls, greedy_calls
            raise
        if former is not None:
            self.store_time(former, self.local_time)
        # A basis that comes back continues its count.
        self.local_time = self.former_times.get(self.leader.key(), 0)
        self.drop_times()
        return 0

    cdef int store_time(self, key, Py_ssize_t local_time) except -1:
        """Keep the local time of a leader as the most recent one."""
        self.former_times[key] = local_time
        self.former_times.move_to_end(key)
        return 0

    cdef int drop_times(self) except -1:
        """Drop the local times of leaders that led longest ago, if there are too many."""
        while len(self.former_times) > MAX_FORMER_LEADERS:
            self.former_times.popitem(last=False)
        return 0

    cdef double width(self) except -1:
        """The width in step 4, where l includes this round."""
        return 0.0 if self.ucb is None else width_of(self.ucb, self.local_time + 1)

    cdef Py_ssize_t best_exchange_by_values(self) except -2:
        """Step 4 with an index other than UCB."""
        cdef Py_ssize_t found = self.leader.best_exchange_by(
            self.index, self.local_time + 1, self.playable, self.values
        )
        if not self.index.is_lazy:
            self.valued = self.rounds
        return found

    # ---- step 5 ----

    cdef int reserve(self, Py_ssize_t n) except -1:
        return self.leader.reserve(n)

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        cdef Statistics statistics
        cdef const int32_t *buckets
        cdef Py_ssize_t n = elements.shape[0]
        cdef Py_ssize_t i, e
        cdef int64_t min_count = self.min_count
        if n > 0:
            statistics = statistics_of(self)
            buckets = self.leader.buckets()
        if self.notifies_index:
            self.notify_index(elements, rewards)
        for i in range(n):
            e = elements[i]
            if buckets[e] >= 0:
                self.leader.observe(&statistics, e, rewards[i])
            elif observe(&statistics, e, rewards[i]) == min_count:
                self.n_undersampled -= self.is_playable[e]
        self.rounds += 1
        self.is_chosen = False
        return 0

    # ---- rounds in which some elements are not available ----

    def for_matroid(self, matroid, PolicyKernel before=None):
        cdef MAUBKernel part = super().for_matroid(matroid, before)
        part.leader.use_oracle(part.oracle)
        # The local time of a basis does not depend on what else is available.
        if self.leader.exists:
            self.store_time(self.leader.key(), self.local_time)
        part.former_times = self.former_times
        return part

    def outcome(self):
        leader = self.leader.key() if self.leader.exists else None
        return super().outcome() | {"leader": leader, "local_time": self.local_time}

    def adopt(self, dict outcome):
        super().adopt(outcome)
        leader = outcome["leader"]
        if self.leader.exists and leader == self.leader.key():
            self.local_time = outcome["local_time"]
        elif leader is not None:
            self.store_time(leader, outcome["local_time"])
        self.drop_times()

    cdef void shift_time(self, Py_ssize_t rounds) noexcept:
        if self.n_undersampled == 0:
            self.local_time += rounds

    # ---- for users ----

    def leader_copy(self):
        """The leader, ascending, or None in the initial rounds."""
        return self.leader.elements() if self.leader.exists else None

    def index_values(self):
        values = super().index_values()
        if not self.is_chosen or self.n_undersampled > 0:
            return values
        playable = np.asarray(self.playable)
        if self.ucb is not None or self.index.is_lazy:
            self.index.evaluate(self.playable, self.local_time, values)
        elif self.valued == self.rounds:
            values[playable] = np.asarray(self.values)[playable]
        return values

    # ---- saving ----

    def state(self):
        times = {"local_time": self.local_time, "former_times": dict(self.former_times)}
        return super().state() | self.leader.state() | times

    def parameters(self):
        return self.index, self.lean

    def restore(self, state):
        super().restore(state)
        self.local_time = state["local_time"]
        self.former_times = OrderedDict(state["former_times"])
        self.leader.restore(state, np.asarray(self.playable))
