"""MAUB [DG25]: play near a leader, ask the matroid only when the leader or its order changes."""

from libc.math cimport log, sqrt

import numpy as np

from matroid_bandits._core.policy cimport PolicyKernel, sort_elements

from matroid_bandits.errors import no_partner


cdef class MAUBKernel(PolicyKernel):
    """The five steps of MAUB; step numbers are those of docs/maub.md."""

    cdef bint has_leader
    cdef Py_ssize_t[::1] leader  # ascending by (mean, element) when partners were computed
    cdef Py_ssize_t[::1] members  # the same elements, ascending
    cdef Py_ssize_t local_time  # l: rounds in which this leader has led, this one included
    cdef dict former_times  # basis (as bytes of `members`) -> l, of bases that led before
    # Elements outside the leader, ascending, with a copy of their statistics side by side.
    cdef Py_ssize_t[::1] outside
    cdef Py_ssize_t[::1] partner  # position in `leader`
    cdef double[::1] outside_mean
    cdef double[::1] outside_inverse_root
    cdef Py_ssize_t[::1] place  # of an element in `outside`, -1 if it is not there
    cdef Py_ssize_t last_place  # where the last scan found the best exchange
    # The same of the leader, by position; filled at each scan.
    cdef double[::1] leader_mean
    cdef double[::1] leader_inverse_root
    # A leader in the making, so that a matroid that raises leaves the old one whole.
    cdef Py_ssize_t[::1] next_leader
    cdef Py_ssize_t[::1] next_outside
    cdef Py_ssize_t[::1] next_partner  # of each of next_outside: a position in next_leader

    def __init__(self, matroid):
        super().__init__(matroid)
        n_outside = self.playable.shape[0] - self.rank
        self.leader = np.zeros(self.rank, dtype=np.intp)
        self.members = np.zeros(self.rank, dtype=np.intp)
        self.next_leader = np.zeros(self.rank, dtype=np.intp)
        self.former_times = {}
        self.outside = np.zeros(n_outside, dtype=np.intp)
        self.partner = np.zeros(n_outside, dtype=np.intp)
        self.leader_mean = np.zeros(self.rank)
        self.leader_inverse_root = np.zeros(self.rank)
        self.outside_mean = np.zeros(n_outside)
        self.outside_inverse_root = np.zeros(n_outside)
        self.place = np.full(self.size, -1, dtype=np.intp)
        self.next_outside = np.zeros(n_outside, dtype=np.intp)
        self.next_partner = np.zeros(n_outside, dtype=np.intp)

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        cdef Py_ssize_t i
        PolicyKernel.learn(self, elements, rewards)
        for i in range(elements.shape[0]):
            self.copy_statistics(elements[i])
        return 0

    cdef inline void copy_statistics(self, Py_ssize_t e) noexcept:
        cdef Py_ssize_t place = self.place[e]
        if place >= 0:
            self.outside_mean[place] = self.means[e]
            self.outside_inverse_root[place] = self.inverse_root[e]

    cdef int decide(self) except -1:
        cdef Py_ssize_t challenger
        # Step 1: the first rounds.
        if self.unobserved > 0:
            return self.first_round()
        # Step 2: the leader, by the partners as last computed; only then the order.
        challenger = self.scan(True) if self.has_leader else BEATEN
        if challenger == BEATEN:
            self.change_leader()
            challenger = self.scan(False)
        elif self.order_has_changed():
            # The new partners may show the leader beaten; it leads for this round all the same.
            self.change_order()
            challenger = self.scan(False)
        # Step 3: local time.
        self.local_time += 1
        # Step 4: play the leader, by force every n - D + 1 rounds, or the best exchange.
        if challenger == NONE or (self.local_time - 1) % (self.outside.shape[0] + 1) == 0:
            self.chosen[:] = self.members
        else:
            self.play_exchange(challenger)
        return 0

    cdef Py_ssize_t scan(self, bint test_leader) noexcept:
        """One walk over the elements outside: the place in `outside` of the best exchange, NONE if
        none has a positive index; BEATEN if the leader is tested and some mean beats its partner's.
        """
        # Step 4 wants l with this round included.
        cdef double width = sqrt(2 * log(<double>(self.local_time + 1)))
        cdef double best = 0.0
        cdef double gap, value
        cdef Py_ssize_t best_place = NONE
        cdef Py_ssize_t i, k
        for k in range(self.rank):
            self.leader_mean[k] = self.means[self.leader[k]]
            self.leader_inverse_root[k] = self.inverse_root[self.leader[k]]
        # The last winner first: it mostly comes close to winning again, and then the comparison
        # below is nearly always false, which the processor foresees.
        if self.outside.shape[0] > 0:
            i = self.last_place
            k = self.partner[i]
            value = (self.outside_mean[i] - self.leader_mean[k]) + width * (
                self.outside_inverse_root[i] - self.leader_inverse_root[k]
            )
            if value > 0:
                best = value
                best_place = i
        for i in range(self.outside.shape[0]):
            k = self.partner[i]
            gap = self.outside_mean[i] - self.leader_mean[k]
            if gap > 0 and test_leader:
                return BEATEN
            value = gap + width * (self.outside_inverse_root[i] - self.leader_inverse_root[k])
            if value >= best and (value > best or i < best_place):
                best = value
                best_place = i
        if best_place != NONE:
            self.last_place = best_place
        return best_place

    cdef inline bint comes_after(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        # Not in [DG25]: equal means are ordered by element.
        return self.means[a] > self.means[b] or (self.means[a] == self.means[b] and a > b)

    cdef bint order_has_changed(self) noexcept:
        cdef Py_ssize_t k
        for k in range(1, self.leader.shape[0]):
            if self.comes_after(self.leader[k - 1], self.leader[k]):
                return True
        return False

    cdef void sort_by_mean(self, Py_ssize_t[::1] basis) noexcept:
        """Ascending insertion sort by (mean, element)."""
        cdef Py_ssize_t k, j, e
        for k in range(1, basis.shape[0]):
            e = basis[k]
            j = k
            while j > 0 and self.comes_after(basis[j - 1], e):
                basis[j] = basis[j - 1]
                j -= 1
            basis[j] = e

    cdef int change_order(self) except -1:
        """The leader stays, its order changed: new partners."""
        cdef Py_ssize_t calls = self.find_partners(self.members)
        self.install()
        self.oracle_calls += calls
        self.neighborhood_updates += 1
        return 0

    cdef int change_leader(self) except -1:
        """The leader becomes greedy's basis on the means, with its own local time."""
        cdef Py_ssize_t calls
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        self.greedy_on(self.means)
        sort_elements(self.found)
        try:
            calls = self.find_partners(self.found)
        except BaseException:
            self.oracle_calls, self.greedy_calls = oracle_calls, greedy_calls
            raise
        if self.has_leader:
            self.former_times[bytes(self.members)] = self.local_time
        self.members[:] = self.found
        # A basis that comes back continues its count.
        self.local_time = self.former_times.get(bytes(self.members), 0)
        self.has_leader = True
        self.install()
        self.oracle_calls += calls
        return 0

    cdef Py_ssize_t find_partners(self, const Py_ssize_t[::1] members) except -1:
        """[DG25] Algorithm 2 into next_leader, next_outside and next_partner; return its oracle
        calls: for every element outside, one per leader element tested until the first yes.
        """
        cdef Py_ssize_t calls = 0
        cdef Py_ssize_t inside = 0
        cdef Py_ssize_t i, e
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if inside < self.rank and members[inside] == e:
                inside += 1
            else:
                self.next_outside[i - inside] = e
        self.next_leader[:] = members
        self.sort_by_mean(self.next_leader)
        if self.next_outside.shape[0] > 0:
            self.asks.prepare(self.next_leader)
        for i in range(self.next_outside.shape[0]):
            self.next_partner[i] = self.asks.partner(self.next_outside[i])
            if self.next_partner[i] < 0:
                raise no_partner(
                    self.matroid, self.next_outside[i], np.asarray(members).tolist()
                )
            calls += self.next_partner[i] + 1
        return calls

    cdef void install(self) noexcept:
        """Make what find_partners found the leader's."""
        cdef Py_ssize_t i
        self.leader[:] = self.next_leader
        self.outside[:] = self.next_outside
        self.partner[:] = self.next_partner
        for i in range(self.rank):
            self.place[self.leader[i]] = -1
        for i in range(self.outside.shape[0]):
            self.place[self.outside[i]] = i
            self.copy_statistics(self.outside[i])

    cdef void play_exchange(self, Py_ssize_t place) noexcept:
        """Write leader - sigma(e) + e for e = outside[place] into `chosen`, ascending."""
        cdef Py_ssize_t e = self.outside[place]
        cdef Py_ssize_t x = self.leader[self.partner[place]]
        cdef Py_ssize_t written = 0
        cdef Py_ssize_t k, member
        cdef bint pending = True
        for k in range(self.rank):
            member = self.members[k]
            if pending and member > e:
                self.chosen[written] = e
                written += 1
                pending = False
            if member != x:
                self.chosen[written] = member
                written += 1
        if pending:
            self.chosen[written] = e

    # ---- what users see ----

    def leader_copy(self):
        """The leader, ascending, or None in the first rounds."""
        return np.array(self.members) if self.has_leader else None

    # ---- saving ----

    def state(self):
        return super().state() | {
            "has_leader": self.has_leader,
            "leader": np.array(self.leader),
            "members": np.array(self.members),
            "local_time": self.local_time,
            "former_times": dict(self.former_times),
            "outside": np.array(self.outside),
            "partner": np.array(self.partner),
        }

    def restore(self, state):
        cdef Py_ssize_t i
        super().restore(state)
        self.has_leader = state["has_leader"]
        np.asarray(self.leader)[:] = state["leader"]
        np.asarray(self.members)[:] = state["members"]
        self.local_time = state["local_time"]
        self.former_times = dict(state["former_times"])
        np.asarray(self.outside)[:] = state["outside"]
        np.asarray(self.partner)[:] = state["partner"]
        if self.has_leader:
            for i in range(self.outside.shape[0]):
                self.place[self.outside[i]] = i
                self.copy_statistics(self.outside[i])


# What a scan finds, apart from a place.
cdef enum:
    NONE = -1
    BEATEN = -2
