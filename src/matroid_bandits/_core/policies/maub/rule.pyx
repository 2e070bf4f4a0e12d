"""MAUB [DG25]: the five steps of docs/explanation/maub.md."""

from collections import OrderedDict

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.indices.thompson cimport ThompsonKernel
from matroid_bandits._core.indices.ucb cimport UCBKernel, width_of
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.maub.available cimport AvailableLeader
from matroid_bandits._core.policies.maub.index_search cimport IndexSearch
from matroid_bandits._core.policies.maub.leader cimport Leader
from matroid_bandits._core.policies.maub.search cimport BEATEN, NO_EXCHANGE, REORDERED, Search
from matroid_bandits._core.policies.maub.thinned cimport ThinnedSearch, draws_everything
from matroid_bandits._core.policies.contract.round cimport Statistics, observe, statistics_of
from matroid_bandits._core.policies.memory.base cimport Memory
from matroid_bandits._core.sorting cimport sort_descending, sort_elements

from matroid_bandits._core.indices.base import PythonIndexKernel
from matroid_bandits._core.policies.maub.bounded import BoundedSearch
from matroid_bandits._core.policies.maub.index_search import FullSearch
from matroid_bandits._core.policies.maub.large import LargeLeader
from matroid_bandits._core.policies.maub.leader import PublishedLeader
from matroid_bandits._core.policies.maub.lean import LeanLeader
from matroid_bandits._core.policies.maub.reach_search import ReachSearch
from matroid_bandits.errors import too_small

# Local times of so many former leaders are kept, those that led most recently: 4 MB at rank 20; and
# not more elements of them in all than that, 16 MB.
MAX_FORMER_LEADERS = 10_000
MAX_FORMER_ELEMENTS = 2_000_000

# From this rank on partners are found when they are needed, where that is possible.
LARGE_RANK = 100

# `exchanges`: the best one, or so many as have a positive index, or at most as many as the number.
ONE = 0
ALL = -1

cdef enum:
    SEVERAL = -4  # exchanges were made and the set to play is written


cdef double scale_of(UCBKernel ucb) noexcept:
    """The factor of sqrt(2 ln l) in the width."""
    cdef double scale = 1.0 if ucb is None else ucb.noise * sqrt(0.5 * ucb.constant)
    # Without noise all widths are 0, and every positive scale is right.
    return scale if scale > 0 else 1.0


cdef class MAUBKernel(PolicyKernel):
    """MAUB at work. The leader and its partners are found as [DG25] writes, or with fewer oracle
    calls if `lean` (docs/explanation/lean-exchange.md); the plays are the same.
    """

    cdef readonly bint lean
    cdef Leader leader
    cdef AvailableLeader available  # that of a round in which some elements are not available
    cdef object decided_key  # the leader of the last decision, if it was not `leader`; else None
    cdef Py_ssize_t local_time  # l: rounds in which this leader has led, this one included
    cdef object former_times  # l of bases that led before, by `Leader.key`
    cdef Py_ssize_t period  # rounds between two in which the leader is played in any case
    cdef UCBKernel ucb  # the index, if it is this one: rounds need not look at every element
    cdef IndexSearch index_search  # for any other index; else None
    cdef readonly ThinnedSearch thinned  # the same, for a Thompson index; else None
    cdef bint searches_fully  # whether it looks at every element, even if that is not needed
    cdef double[::1] values  # of any other index, by element, as far as they are computed
    cdef Py_ssize_t valued  # the round that `values` are for
    cdef readonly Py_ssize_t exchanges  # in a round: ONE, ALL, or at most so many at once
    # Whether elements of the leader are valued by their means: several exchanges, and a draw for
    # every element. A new leader is then not played at once (docs/explanation/many-exchanges.md).
    cdef Py_ssize_t leads_by_mean
    cdef Py_ssize_t max_former  # leaders whose local times are kept
    # Working space for several exchanges at once: elements that may come in, and the difference
    # between the index of an element and that of its partner.
    cdef Py_ssize_t[::1] comers
    cdef double[::1] differences
    cdef bint discounts  # whether weights take the place of counts
    cdef bint begins_again  # whether all elements were forgotten since the last leader

    def __init__(
        self,
        matroid,
        index,
        bint lean,
        bint counts_pending=False,
        Py_ssize_t exchanges=ONE,
        Memory memory=None,
    ):
        # The leader needs means, even if the index does not.
        super().__init__(matroid, index, max(1, index.min_count), counts_pending, memory)
        self.lean = lean
        self.valued = -1
        self.values = None
        self.exchanges = exchanges
        self.leads_by_mean = (
            exchanges != ONE
            and self.index.random_stream is not None
            and not self.index.shares_draw
        )
        self.max_former = min(MAX_FORMER_LEADERS, max(1, MAX_FORMER_ELEMENTS // max(1, self.rank)))
        # With a discount, all widths grow with every round. They are bounded as those of other
        # indices are.
        self.discounts = memory is not None and memory.weights is not None
        if isinstance(index, UCBKernel) and not self.discounts:
            self.ucb = index
            self.work = self.rank
        if self.ucb is None or exchanges != ONE:
            self.values = np.zeros(self.size)
        if exchanges != ONE:
            self.comers = np.zeros(self.size, dtype=np.intp)
            self.differences = np.zeros(self.size)
        if lean:
            self.remember_answers()
        symmetry_class = self.oracle.symmetry_classes()
        n_classes = int(symmetry_class.max(initial=-1)) + 1
        if lean:
            self.use_symmetry(symmetry_class, n_classes)
        n_outside = self.playable.shape[0] - self.rank
        self.period = n_outside + 1
        kind = LeanLeader if lean else PublishedLeader
        if lean and self.ucb is not None and self.oracle.lists_circuits and self.rank >= LARGE_RANK:
            kind = LargeLeader
        self.leader = kind(
            matroid,
            self.oracle,
            symmetry_class,
            n_classes,
            self.rank,
            n_outside,
            self.means,
            # The leader depends on means alone; only the search by UCB needs widths.
            np.ones(self.size) if self.discounts else self.inverse_root,
            self.index_counts,
            scale_of(self.ucb),
        )
        self.former_times = OrderedDict()
        self.make_index_search()

    cdef int make_index_search(self) except -1:
        """Make what finds exchanges by an index other than UCB."""
        if self.ucb is not None:
            return 0
        kind = FullSearch
        self.thinned = None
        is_thinned = isinstance(self.index, ThompsonKernel) and not draws_everything()
        # A discount changes all posteriors in every round: all are drawn from.
        if is_thinned and not self.discounts:
            kind = ThinnedSearch
            # Most rounds draw for few elements, if for any.
            self.work = self.rank + self.size // 1000
        elif self.index.has_bounds and not self.searches_fully:
            kind = BoundedSearch
            self.work = self.rank
        elif self.index.has_scores:
            kind = ReachSearch
            self.work = self.rank
        self.index_search = kind(self.leader.search, self.index, self.playable, self.values)
        if kind is ReachSearch and self.searches_fully:
            self.index_search.is_plain = True
        if kind is ThinnedSearch:
            self.thinned = self.index_search
        return 0

    def search_fully(self):
        """Look at every element in every round, for tests: the plays are the same."""
        self.searches_fully = True
        self.make_index_search()
        if self.leader.exists:
            self.index_search.regroup()

    def positive_exchanges(self):
        """All outside elements whose exchange index is positive now, ascending, and the values of
        these and of the leader, by element; for tests. There must be a leader.
        """
        elements = np.zeros(self.size, dtype=np.intp)
        values = np.full(self.size, np.nan)
        n = self.index_search.collect(self.index_time(self.local_time + 1), elements, values)
        return elements[:n], values

    def n_within_reach(self):
        """How many elements the search compares with IMED or the shared Gaussian, for tests."""
        return self.index_search.n_compared()

    # ---- steps 1 to 4 ----

    cdef int decide(self) except -1:
        cdef Py_ssize_t found
        cdef dict before = None
        if self.decided_key is not None:
            self.decided_key = None
        # Values may be those of another set of elements that was selected in this round.
        self.valued = -1
        if self.is_oracle_used:
            self.leader.is_prepared = False
            self.is_oracle_used = False
        # Step 1: initial rounds.
        if self.n_initial > 0:
            return self.initial_round()
        if self.force_round():
            return 0
        if self.is_restricted:
            return self.decide_available()
        # Step 2: the leader, by the partners as last computed; then its order. The same pass over
        # the leader finds the best exchange of step 4.
        if self.leader.exists and not self.begins_again:
            found = self.leader.scan(self.width())
        else:
            found = BEATEN
        if found == BEATEN or found == REORDERED:
            if self.oracle.is_python or isinstance(self.index, PythonIndexKernel):
                # Python code in step 4 may raise.
                before = self.leader_state()
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
                # After an error too: the order of the leader may have changed.
                if self.index_search is not None and self.leader.exists:
                    self.index_search.regroup()
            found = self.leader.best_exchange(self.width())
        # Step 4: play the leader every n - D + 1 rounds, and otherwise the best exchange. The
        # division takes a tenth of a round; it is left out where it decides nothing.
        if self.ucb is None or found != NO_EXCHANGE:
            if (self.local_time + self.leads_by_mean) % self.period == 0:
                found = NO_EXCHANGE
            elif before is None and (self.ucb is None or self.exchanges != ONE):
                found = self.explore()
            elif self.ucb is None or self.exchanges != ONE:
                try:
                    found = self.explore()
                except BaseException:
                    # By the new partners, the next attempt might replace the leader.
                    self.return_to(before)
                    raise
        if found != SEVERAL:
            self.leader.write_exchange(found, self.chosen)
        # Step 3: local time. Last, because an index may raise.
        self.local_time += 1
        return 0

    cdef int decide_again(self) except -1:
        """Step 4 once more. Steps 1 to 3 draw nothing, and a second step 2 could find another
        leader.
        """
        cdef Py_ssize_t found
        if self.is_initial:
            return 0
        if self.decided_key is not None:
            return PolicyKernel.decide_again(self)
        self.local_time -= 1
        try:
            if (self.local_time + self.leads_by_mean) % self.period == 0:
                found = NO_EXCHANGE
            else:
                found = self.explore()
        finally:
            self.local_time += 1
        if found != SEVERAL:
            self.leader.write_exchange(found, self.chosen)
        return 0

    cdef Py_ssize_t explore(self) except -2:
        """Step 4 with several exchanges at once, or by another index than UCB."""
        if self.exchanges != ONE:
            return self.exchange_several()
        return self.best_exchange_by_values()

    cdef Py_ssize_t exchange_several(self) except -2:
        """Step 4 with several exchanges at once: the basis of largest index among the leader and
        the elements whose index is above that of their partner
        (docs/explanation/many-exchanges.md). It is written into `chosen`, for SEVERAL. NO_EXCHANGE
        if there is no such element.
        """
        cdef Py_ssize_t n = self.collect_comers()
        cdef Py_ssize_t calls
        if n == 0:
            return NO_EXCHANGE
        n = self.cut_comers(n)
        try:
            calls = self.leader.write_best_basis(self.values, self.comers[:n], self.chosen)
            if not self.lean:
                self.oracle_calls += calls
        finally:
            self.oracle_calls += self.oracle.n_calls
            self.oracle.n_calls = 0
        return SEVERAL

    cdef Py_ssize_t collect_comers(self) except -1:
        """Write the elements whose index is above that of their partner to `comers`, with the
        differences, and `values` of these and of the leader. Returns how many there are.
        """
        cdef Search search = self.leader.search
        cdef double width
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, k, e, x
        if self.ucb is not None:
            width = self.width()
            n = self.leader.collect(width, self.comers, self.differences)
            for k in range(self.rank):
                e = search.leader[k]
                self.values[e] = self.means[e] + width * self.inverse_root[e]
            for i in range(n):
                e = self.comers[i]
                self.values[e] = self.means[e] + width * self.inverse_root[e]
            return n
        n = self.index_search.collect(
            self.index_time(self.local_time + 1), self.comers, self.values
        )
        self.valued = self.rounds
        for i in range(n):
            e = self.comers[i]
            x = search.leader[search.class_group[search.symmetry_class[e]]]
            self.differences[e] = self.values[e] - self.values[x]
        return n

    cdef Py_ssize_t cut_comers(self, Py_ssize_t n) noexcept:
        """Keep the comers with the largest differences, if there are too many, and sort them by
        index. Returns how many are left.
        """
        if self.exchanges != ALL and n > self.exchanges:
            sort_descending(self.differences, self.comers[:n], self.scratch[:n])
            n = self.exchanges
        sort_descending(self.values, self.comers[:n], self.scratch[:n])
        return n

    cdef int decide_available(self) except -1:
        """Steps 2 to 4 on the available elements."""
        cdef Py_ssize_t n_outside, local_time
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef Py_ssize_t n_comers = 0
        cdef bint is_forced
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        cdef MatroidKernel oracle
        self.make_available()
        # The oracle is about to be prepared for another basis.
        self.leader.is_prepared = False
        try:
            self.greedy_on(self.means)
            self.available.lead(self.found[: self.round_rank])
            key = self.available.key()
            local_time = self.time_of(key)
            n_outside = self.candidates.shape[0] - self.round_rank
            # The leader is played every n_outside + 1 rounds. Its partners are not needed then;
            # [DG25] computes them nevertheless.
            is_forced = (local_time + self.leads_by_mean) % (n_outside + 1) == 0
            if n_outside > 0 and not (self.lean and is_forced):
                oracle = self.round_oracle()
                self.available.begin_search(oracle)
                try:
                    if not self.lean:
                        self.oracle_calls += self.available.n_tests(oracle, self.candidates)
                    if not is_forced and self.exchanges != ONE:
                        n_comers = self.collect_available(
                            oracle, self.index_time(local_time + 1)
                        )
                    elif not is_forced:
                        found = self.best_available_exchange(
                            oracle, self.index_time(local_time + 1)
                        )
                finally:
                    self.available.end_search()
            if n_comers > 0:
                self.exchange_available(n_comers)
        except BaseException:
            self.oracle_calls, self.greedy_calls = oracle_calls, greedy_calls
            raise
        finally:
            # The answers to these calls are cached, even if a later call raised an error.
            self.oracle_calls += self.oracle.n_calls
            self.oracle.n_calls = 0
        if n_comers == 0:
            self.available.write_exchange(found, self.chosen)
        self.decided_key = key
        self.set_time(key, local_time + 1)
        self.drop_times()
        return 0

    cdef int make_available(self) except -1:
        """Make the leader of rounds with some elements, when the first such round comes."""
        if self.available is None:
            symmetry_class = self.oracle.symmetry_classes()
            self.available = AvailableLeader(
                self.matroid,
                symmetry_class,
                int(symmetry_class.max(initial=-1)) + 1,
                self.rank,
                self.means,
                self.inverse_root,
            )
        return 0

    cdef Py_ssize_t best_available_exchange(
        self, MatroidKernel oracle, Py_ssize_t time
    ) except -2:
        """Step 4 on the available elements."""
        cdef double width = 0.0 if self.ucb is None else width_of(self.ucb, time)
        cdef IndexKernel index = self.index if self.ucb is None else None
        cdef Py_ssize_t found = self.available.best_exchange(
            oracle, self.candidates, width, index, time, self.values
        )
        if index is not None and not index.is_lazy:
            self.valued = self.rounds
        return found

    cdef Py_ssize_t collect_available(self, MatroidKernel oracle, Py_ssize_t time) except -1:
        """Find `comers` among the available elements; return how many there are."""
        cdef double width = 0.0 if self.ucb is None else width_of(self.ucb, time)
        cdef IndexKernel index = self.index if self.ucb is None else None
        cdef Py_ssize_t n = self.available.collect(
            oracle,
            self.candidates,
            width,
            index,
            time,
            self.values,
            self.differences,
            self.comers,
        )
        if index is not None:
            self.valued = self.rounds
        return self.cut_comers(n) if n > 0 else 0

    cdef int exchange_available(self, Py_ssize_t n) except -1:
        """Several exchanges at once among the available elements: greedy on the leader and the
        comers.
        """
        cdef Py_ssize_t rank = self.round_rank
        cdef Py_ssize_t k
        for k in range(rank):
            self.comers[n + k] = self.available.leader[k]
        n += rank
        sort_descending(self.values, self.comers[:n], self.scratch[:n])
        k = self.oracle.greedy(self.comers[:n], rank, self.found)
        if k < rank:
            raise too_small(self.matroid, np.asarray(self.found[:k]).tolist(), rank)
        self.oracle_calls += self.oracle.tested
        return self.choose_found()

    cdef Py_ssize_t time_of(self, key) except? -1:
        """The local time of a basis."""
        if self.leader.has_key(key) and not self.begins_again:
            return self.local_time
        return self.former_times.get(key, 0)

    cdef int set_time(self, key, Py_ssize_t local_time) except -1:
        """Set the local time of a basis that leads or has led."""
        if self.leader.has_key(key) and not self.begins_again:
            self.local_time = local_time
        else:
            self.store_time(key, local_time)
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
        if former is not None and not self.begins_again:
            self.store_time(former, self.local_time)
        self.begins_again = False
        # A basis that comes back continues its count.
        self.local_time = self.former_times.get(self.leader.key(), 0)
        self.drop_times()
        return 0

    cdef dict leader_state(self):
        """What step 2 changes, as `return_to` takes it."""
        key = self.leader.key()
        return {
            "leader": self.leader.state(),
            "key": key,
            "former_time": self.former_times.get(key),
            "local_time": self.local_time,
            "begins_again": self.begins_again,
            "neighborhood_updates": self.neighborhood_updates,
            "thinned": None if self.thinned is None else self.thinned.state(),
        }

    cdef int return_to(self, dict before) except -1:
        """Return to the leader before step 2. Answers of the oracle stay known, and counted."""
        self.leader.return_to(before["leader"])
        if before["former_time"] is None:
            self.former_times.pop(before["key"], None)
        else:
            self.former_times[before["key"]] = before["former_time"]
        self.local_time = before["local_time"]
        self.begins_again = before["begins_again"]
        self.neighborhood_updates = before["neighborhood_updates"]
        if self.thinned is not None:
            self.thinned.return_to(before["thinned"])
        elif self.index_search is not None and self.leader.exists:
            self.index_search.regroup()
        return 0

    cdef int store_time(self, key, Py_ssize_t local_time) except -1:
        """Keep the local time of a leader as the most recent one."""
        self.former_times[key] = local_time
        self.former_times.move_to_end(key)
        return 0

    cdef int drop_times(self) except -1:
        """Drop the local times of leaders that led longest ago, if there are too many."""
        while len(self.former_times) > self.max_former:
            self.former_times.popitem(last=False)
        return 0

    cdef double width(self) except -1:
        """The width in step 4, where l includes this round."""
        if self.ucb is None:
            return 0.0
        return width_of(self.ucb, self.index_time(self.local_time + 1))

    cdef Py_ssize_t best_exchange_by_values(self) except -2:
        """Step 4 with an index other than UCB."""
        cdef Py_ssize_t found = self.index_search.best(self.index_time(self.local_time + 1))
        if not self.index.is_lazy:
            self.valued = self.rounds
        return found

    # ---- step 5 ----

    cdef int reserve(self, Py_ssize_t n) except -1:
        return self.leader.reserve(n)

    cdef int learn(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        cdef Statistics statistics
        cdef const int32_t *buckets = self.leader.buckets()
        cdef Py_ssize_t i, e
        cdef int64_t min_count = self.min_count
        if self.memory is not None:
            self.learn_remembered(elements, rewards, n)
            return 0
        statistics = statistics_of(self)
        if self.notifies_index:
            self.notify_index(elements, rewards, n)
        for i in range(n):
            e = elements[i]
            if buckets[e] >= 0:
                self.leader.observe(&statistics, e, rewards[i])
                if self.index_search is not None:
                    self.index_search.observed(e)
            elif observe(&statistics, e, rewards[i]) == min_count:
                self.n_undersampled -= self.is_playable[e]
        return 0

    cdef void set_width(self, Py_ssize_t e) noexcept:
        self.set_statistics(e, self.counts[e], self.means[e])

    cdef void set_statistics(self, Py_ssize_t e, int64_t count, double mean) noexcept:
        cdef bint is_outside = self.leader.buckets()[e] >= 0
        if is_outside:
            self.leader.begin_change(e)
        self.counts[e] = count
        self.means[e] = mean
        PolicyKernel.set_width(self, e)
        if is_outside:
            self.leader.end_change(e)
            if self.index_search is not None:
                self.index_search.observed(e)

    cdef const Py_ssize_t[::1] by_mean(self):
        """The elements of the leader, if there is one: few, whatever the size of the matroid."""
        cdef Py_ssize_t[::1] members
        if self.is_restricted or not self.leader.exists or self.begins_again:
            return PolicyKernel.by_mean(self)
        members = np.array(self.leader.members)
        sort_descending(self.means, members, self.scratch[: self.rank])
        return members

    cdef int forget_all(self) except -1:
        """Local times begin again. The next leader is greedy on the means, as the first one."""
        self.begins_again = self.leader.exists
        self.former_times.clear()
        self.local_time = 0
        return 0

    # ---- decisions that are undone, or made again ----

    cdef int shift_time(self, Py_ssize_t rounds) except -1:
        if self.decided_key is not None:
            self.set_time(self.decided_key, self.time_of(self.decided_key) + rounds)
        elif not self.is_initial:
            self.local_time += rounds
        return 0

    def outcome(self):
        return super().outcome() | {"leader": self.decided_key}

    def adopt(self, dict outcome):
        super().adopt(outcome)
        self.decided_key = outcome["leader"]
        if self.decided_key is not None:
            self.make_available()
            self.available.lead_again(np.frombuffer(self.decided_key, dtype=np.intp))
        if self.is_decided:
            self.shift_time(1)

    # ---- for users ----

    def leader_copy(self):
        """The leader, ascending, or None in the initial rounds. Where feedback has come in place of
        these, nothing was decided yet: it is the basis of largest mean, which will lead.
        """
        if self.leader.exists and not self.begins_again:
            return self.leader.elements()
        if self.n_undersampled > 0:
            return None
        # Not by the oracle of the policy, which counts.
        return np.sort(self.matroid.max_weight_basis(self.means))

    def round_leader(self):
        """The leader by which this round was decided, ascending; None in the initial rounds."""
        return self.last_leader() if self.is_decided else None

    def last_leader(self):
        """The same for the round that was decided last, which may have ended."""
        if self.is_initial:
            return None
        return self.leader_copy() if self.decided_key is None else self.available.elements()

    def round_values(self):
        values = np.full(self.size, np.nan)
        if self.is_initial or not self.is_decided or not self.index.has_values:
            return values
        candidates = np.asarray(self.candidates)
        if (
            self.ucb is not None
            or self.index.is_lazy
            or (self.index.has_bounds and self.valued == self.rounds)
        ):
            local_time = (
                self.local_time if self.decided_key is None else self.time_of(self.decided_key)
            )
            self.index.evaluate(self.candidates, self.index_time(local_time), values)
        elif self.valued == self.rounds and self.index.shares_draw:
            # That of this round.
            for e in candidates:
                values[e] = self.index.value_at(e, self.index.budget_at(0))
        elif self.valued == self.rounds and self.thinned is not None and self.decided_key is None:
            drawn, found = self.thinned.draws()
            values[drawn] = found
        elif self.valued == self.rounds:
            values[candidates] = np.asarray(self.values)[candidates]
        return values

    # ---- saving ----

    def symmetry_classes(self):
        """By element: its class in `state`."""
        return self.oracle.symmetry_classes()

    def state(self):
        """The former leaders in one array, with their sizes and times."""
        keys = list(self.former_times)
        return super().state() | self.leader.state() | {
            "local_time": self.local_time,
            "former_leaders": np.frombuffer(b"".join(keys), dtype=np.intp),
            "former_ranks": np.array([len(key) for key in keys], np.int64) // self.found.itemsize,
            "former_times": np.array(list(self.former_times.values()), dtype=np.int64),
            # Of no use after the round; a decision that was refused may have left another one.
            "decided_key": self.decided_key if self.is_chosen else None,
            "thinned": None if self.thinned is None else self.thinned.state(),
            "begins_again": bool(self.begins_again),
        }

    def parameters(self):
        return self.index, self.lean, self.counts_pending, self.exchanges, self.memory

    def restore(self, state):
        super().restore(state)
        self.local_time = state["local_time"]
        self.begins_again = state.get("begins_again", False)
        ends = np.cumsum(state["former_ranks"])
        leaders = np.split(np.asarray(state["former_leaders"], dtype=np.intp), ends)
        times = state["former_times"].tolist()
        self.former_times = OrderedDict(
            (basis.tobytes(), time) for basis, time in zip(leaders, times)
        )
        self.decided_key = state["decided_key"]
        if self.decided_key is not None:
            self.make_available()
            self.available.lead_again(np.frombuffer(self.decided_key, dtype=np.intp))
        self.leader.restore(state, np.asarray(self.playable))
        self.make_index_search()
        if self.thinned is not None and self.leader.exists:
            # Files from before thresholds were saved do not have it.
            self.thinned.restore(state.get("thinned"))
        elif self.index_search is not None and self.leader.exists:
            # Bounds are not saved: they follow from the statistics.
            self.index_search.regroup()
