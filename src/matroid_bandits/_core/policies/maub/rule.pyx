"""MAUB [DG25]: play near a leader, ask the matroid only when the leader or its order changes."""

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memmove

import numpy as np

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void *address) noexcept

from matroid_bandits._core.policies.maub.groups cimport BEATEN, NONE, REORDERED, Challengers
from matroid_bandits._core.indices.ucb cimport UCBKernel, width_of
from matroid_bandits._core.sorting cimport comes_before, sort_descending, sort_elements
from matroid_bandits._core.policies.base cimport (
    PolicyKernel,
    Statistics,
    statistics_of,
    observe,
)

from matroid_bandits.errors import no_end, no_partner

cdef double scale_of(UCBKernel ucb) noexcept:
    """What the index has in place of 1 in sqrt(2 ln l)."""
    cdef double scale = 1.0 if ucb is None else ucb.noise * sqrt(0.5 * ucb.constant)
    # No noise at all: any scale is right, as long as it is positive.
    return scale if scale > 0 else 1.0


cdef class MAUBKernel(PolicyKernel):
    """The five steps of MAUB; step numbers are those of docs/maub.md.

    The leader changes in one of two ways, with the same result: by greedy from scratch and partners
    computed anew ([DG25] as written), or, if `lean`, by exchanges from the leader there is, reading
    circuits that are known (docs/lean-exchange.md).
    """

    cdef readonly bint lean
    cdef bint has_leader
    cdef Py_ssize_t[::1] members  # of the leader, ascending
    cdef Py_ssize_t local_time  # l: rounds in which this leader has led, this one included
    cdef UCBKernel ucb  # the index, if it is of this kind: rounds need not look at every element
    cdef double[::1] values  # by element; of any other index, anew in every round
    cdef Py_ssize_t valued  # the round that `values` are for, if the index is not lazy
    cdef dict former_times  # basis (as bytes of `members`) -> l, of bases that led before
    cdef Py_ssize_t n_outside
    # The leader by mean, and the elements outside with their partners.
    cdef Challengers challengers
    # What `asks` was last prepared for; its order names the slots of `challengers`.
    cdef Py_ssize_t[::1] prepared
    cdef bint is_prepared
    # A leader in the making, so that a matroid that raises leaves the old one whole.
    cdef Py_ssize_t[::1] next_leader
    cdef int32_t[::1] next_slot  # of each of its elements
    cdef int32_t[::1] next_partner  # of each class: a position in `prepared`
    cdef Py_ssize_t[::1] came  # elements exchanged so far
    cdef Py_ssize_t[::1] went
    cdef Py_ssize_t n_exchanged
    cdef Py_ssize_t[::1] candidates

    def __init__(self, matroid, index, bint lean):
        # The leader needs means, whatever the index does without.
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
        self.n_outside = self.playable.shape[0] - self.rank
        self.challengers = Challengers(
            symmetry_class,
            n_classes,
            self.rank,
            self.means,
            self.inverse_root,
            self.counts,
            scale_of(self.ucb),
        )
        if lean:
            self.use_symmetry(symmetry_class, n_classes)
        self.former_times = {}
        self.members = np.zeros(self.rank, dtype=np.intp)
        self.prepared = np.zeros(self.rank, dtype=np.intp)
        self.next_leader = np.zeros(self.rank, dtype=np.intp)
        self.next_slot = np.zeros(self.rank, dtype=np.int32)
        self.next_partner = np.zeros(n_classes, dtype=np.int32)
        self.came = np.zeros(self.rank, dtype=np.intp)
        self.went = np.zeros(self.rank, dtype=np.intp)
        self.candidates = np.zeros(n_classes, dtype=np.intp)

    # ---- a round ----

    cdef int reserve(self, Py_ssize_t n) except -1:
        return self.challengers.shelves.reserve(n)

    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept:
        cdef Statistics statistics
        cdef const int32_t *shelf_of
        cdef Py_ssize_t n = elements.shape[0]
        cdef Py_ssize_t i, e
        cdef bint alone
        cdef int64_t min_count = self.min_count
        if n > 0:
            statistics = statistics_of(self)
            shelf_of = &self.challengers.shelves.shelf_of[0]
        if self.notifies_index:
            self.notify_index(elements, rewards)
        for i in range(n):
            e = elements[i]
            if shelf_of[e] >= 0:
                alone = self.challengers.withdraw(e)
                observe(&statistics, e, rewards[i])
                self.challengers.come_back(e, alone)
            elif observe(&statistics, e, rewards[i]) == min_count:
                self.n_undersampled -= self.is_playable[e]
        self.rounds += 1
        self.is_chosen = False
        return 0

    cdef int decide(self) except -1:
        cdef Py_ssize_t found
        # Step 1: the first rounds.
        if self.n_undersampled > 0:
            return self.initial_round()
        # Step 2: the leader, by the partners as last computed; only then the order.
        found = self.challengers.look(self.width(), True) if self.has_leader else BEATEN
        if found == BEATEN or found == REORDERED:
            try:
                if found == BEATEN:
                    self.change_leader()
                else:
                    # The new partners may show the leader beaten; it leads this round all the same.
                    self.change_order()
            finally:
                self.oracle_calls += self.oracle.n_calls
                self.oracle.n_calls = 0
            found = self.challengers.look(self.width(), False)
        # Step 4: play the leader, by force every n - D + 1 rounds, or the best exchange. A division
        # takes as long as a tenth of a round: it is left out where it decides nothing.
        if self.ucb is None or found != NONE:
            if self.local_time % (self.n_outside + 1) == 0:
                found = NONE
            elif self.ucb is None:
                found = self.best_exchange()
        if found == NONE:
            self.play(-1, -1)
        else:
            self.play(found, self.challengers.leader[self.challengers.best_position])
        # Step 3: local time. Last, because an index may raise.
        self.local_time += 1
        return 0

    cdef Py_ssize_t best_exchange(self) except -2:
        """Step 4 with any index: the element with the largest positive difference to its partner
        (ties: lowest), the partner's position in `best_position`; or NONE.
        """
        cdef Challengers all = self.challengers
        cdef bint is_lazy = self.index.is_lazy
        cdef Py_ssize_t time = self.local_time + 1
        cdef Py_ssize_t found = NONE
        cdef double best = 0.0
        cdef double value, own
        cdef Py_ssize_t i, k, e
        if is_lazy:
            self.index.evaluate(all.leader, time, self.values)
            self.index.begin(time)
        else:
            self.index.evaluate(self.playable, time, self.values)
            self.valued = self.rounds
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if all.shelves.shelf_of[e] < 0:
                continue
            k = all.position_of_slot[all.class_slot[all.symmetry_class[e]]]
            own = self.values[all.leader[k]]
            if is_lazy:
                # A little less, for the rounding of the difference.
                value = self.index.value_above(e, own + best - 1e-13) - own
            else:
                value = self.values[e] - own
            if value > best:
                best = value
                found = e
                all.best_position = k
        return found

    cdef double width(self) except -1:
        """The factor of the index in step 4, which wants l with this round included."""
        return 0.0 if self.ucb is None else width_of(self.ucb, self.local_time + 1)

    cdef void play(self, Py_ssize_t e, Py_ssize_t x) noexcept:
        """Write leader - x + e into `chosen`, ascending; the leader itself for e = x = -1."""
        cdef Py_ssize_t *chosen
        cdef const Py_ssize_t *members
        cdef Py_ssize_t old = 0  # the places of x and e among the members
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t k
        if self.rank == 0:
            return
        chosen = &self.chosen[0]
        members = &self.members[0]
        # Counted, not searched for: a loop that ends nobody knows when stalls the processor.
        for k in range(self.rank):
            chosen[k] = members[k]
            old += members[k] < x
            new += members[k] < e
        if e < 0:
            return
        if old < new:
            new -= 1
            memmove(chosen + old, chosen + old + 1, (new - old) * sizeof(Py_ssize_t))
        else:
            memmove(chosen + new + 1, chosen + new, (old - new) * sizeof(Py_ssize_t))
        chosen[new] = e
        # An element not tried for long is in no cache. Fetch all at once what learning will want.
        prefetch(&self.counts[e])
        prefetch(&self.means[e])
        prefetch(&self.inverse_root[e])
        prefetch(&self.challengers.shelves.shelf_of[e])
        prefetch(&self.challengers.symmetry_class[e])

    # ---- the order of the leader ----

    cdef inline bint comes_after(self, Py_ssize_t a, Py_ssize_t b) noexcept:
        # Not in [DG25]: equal means are ordered by element.
        return self.means[a] > self.means[b] or (self.means[a] == self.means[b] and a > b)

    cdef int change_order(self) except -1:
        """The leader stays, its order changed: new partners."""
        cdef Py_ssize_t calls
        if self.lean and self.oracle.quick_exchange:
            self.settle()
            self.reorder()
        else:
            self.next_leader[:] = self.challengers.leader
            calls = self.find_partners()
            self.install_groups()
            self.oracle_calls += calls
        self.neighborhood_updates += 1
        return 0

    cdef int reorder(self) except -1:
        """Sort the leader by (mean, element), neighbour by neighbour, partners kept right."""
        cdef Py_ssize_t[::1] leader = self.challengers.leader
        cdef Py_ssize_t i, k
        for i in range(1, self.rank):
            k = i
            while k > 0 and self.comes_after(leader[k - 1], leader[k]):
                k -= 1
                self.transpose(k)
        return 0

    cdef int transpose(self, Py_ssize_t k) except -1:
        """Exchange positions k and k + 1. Of those whose partner stood at k, the ones that can
        replace the other element now have that one; nobody else is concerned.
        """
        cdef Challengers all = self.challengers
        cdef int32_t *place
        cdef int32_t c
        all.leader[k], all.leader[k + 1] = all.leader[k + 1], all.leader[k]
        all.groups[k], all.groups[k + 1] = all.groups[k + 1], all.groups[k]
        all.position_of_slot[all.groups[k].slot] = <int32_t>k
        all.position_of_slot[all.groups[k + 1].slot] = <int32_t>(k + 1)
        place = &all.groups[k + 1].first_class
        c = place[0]
        if c >= 0 and all.next_class[c] < 0 and all.groups[k].first_class < 0:
            # All that was in one group may now be all that is in the other.
            if self.oracle.can_replace(all.groups[k].slot, self.one_of(c)):
                all.move_all(k + 1, k)
            return 0
        while place[0] >= 0:
            c = place[0]
            if self.oracle.can_replace(all.groups[k].slot, self.one_of(c)):
                place[0] = all.next_class[c]
                all.move(c, k + 1, k)
            else:
                place = &all.next_class[c]
        return 0

    cdef inline Py_ssize_t one_of(self, Py_ssize_t c) noexcept:
        """Some element of class c outside the leader: they all can replace the same."""
        return self.challengers.shelves.shelves[self.challengers.shelves.first[c]].top

    # ---- a new leader ----

    cdef int change_leader(self) except -1:
        """The leader becomes the best basis by the means, with its own local time."""
        cdef Py_ssize_t calls = 0
        cdef Py_ssize_t oracle_calls = self.oracle_calls
        cdef Py_ssize_t greedy_calls = self.greedy_calls
        cdef bint same_circuits = False
        self.n_exchanged = 0
        try:
            if self.lean and self.has_leader:
                same_circuits = self.find_leader_by_exchanges()
            else:
                self.find_leader_by_greedy()
            if not same_circuits:
                calls = self.find_partners()
        except BaseException:
            self.undo_exchanges()
            self.oracle_calls, self.greedy_calls = oracle_calls, greedy_calls
            raise
        if self.has_leader:
            self.former_times[bytes(self.members)] = self.local_time
        self.members[:] = self.next_leader
        sort_elements(self.members)
        # A basis that comes back continues its count.
        self.local_time = self.former_times.get(bytes(self.members), 0)
        self.has_leader = True
        self.oracle_calls += calls
        if same_circuits:
            self.replace_in_groups()
        else:
            self.install_groups()
        return 0

    cdef int find_leader_by_greedy(self) except -1:
        """[DG25]: greedy on the means."""
        cdef Py_ssize_t i
        self.greedy_on(self.means)
        self.next_leader[:] = self.found
        sort_elements(self.found)
        if not self.has_leader:
            # From the highest mean to the lowest: trees grow at one end, where it is cheap.
            for i in range(self.order.shape[0]):
                self.reserve(1)
                self.challengers.put(self.order[i])
            for i in range(self.rank):
                self.challengers.shelves.take(self.found[i])
            return 0
        cdef Py_ssize_t old = 0
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t n_went = 0
        while old < self.rank or new < self.rank:
            if old == self.rank or (new < self.rank and self.found[new] < self.members[old]):
                self.came[self.n_exchanged] = self.found[new]
                self.challengers.take(self.found[new])
                self.n_exchanged += 1
                new += 1
            elif new == self.rank or self.members[old] < self.found[new]:
                self.went[n_went] = self.members[old]
                self.challengers.put(self.members[old])
                n_went += 1
                old += 1
            else:
                old += 1
                new += 1
        return 0

    cdef void undo_exchanges(self) noexcept:
        """Back to the leader there was."""
        cdef Py_ssize_t i
        if not self.has_leader:
            self.challengers.shelves.clear()
        for i in range(self.n_exchanged - 1, -1, -1):
            self.challengers.take(self.went[i])
            self.challengers.put(self.came[i])
        for i in range(self.rank):
            self.challengers.forget(i)
        self.is_prepared = False

    cdef bint find_leader_by_exchanges(self) except -1:
        """The best basis, from the leader there is, by exchanges each of which is for the better.

        Return whether all circuits are as they were, as when all exchanges were within classes.
        """
        cdef Challengers all = self.challengers
        cdef bint same_circuits = self.oracle.quick_exchange
        cdef Py_ssize_t i, k, e, x, count
        self.settle()
        if self.oracle.quick_exchange:
            self.reorder()
        for k in range(self.rank):
            self.next_leader[k] = all.leader[k]
            self.next_slot[k] = all.groups[k].slot
            self.sink(k)
        count = self.find_candidates()
        # From the best down, every candidate needs to be looked at only once, and none that comes
        # in ever leaves again (docs/lean-exchange.md).
        i = 0
        while i < count:
            e = self.candidates[i]
            k = self.weakest(e)
            if k < 0:
                i += 1
                continue
            if self.n_exchanged == self.rank:
                raise no_end(self.matroid, np.asarray(self.members).tolist())
            x = self.next_leader[k]
            self.came[self.n_exchanged] = e
            self.went[self.n_exchanged] = x
            self.n_exchanged += 1
            all.take(e)
            all.put(x)
            self.next_leader[k] = e
            while k + 1 < self.rank and comes_before(self.means, e, self.next_leader[k + 1]):
                self.next_leader[k] = self.next_leader[k + 1]
                self.next_leader[k + 1] = e
                self.next_slot[k], self.next_slot[k + 1] = self.next_slot[k + 1], self.next_slot[k]
                k += 1
            if all.symmetry_class[e] != all.symmetry_class[x]:
                same_circuits = False
                self.prepare_for(self.next_leader)
                for k in range(self.rank):
                    self.next_slot[k] = <int32_t>k
            # The next best of its class takes its place in the queue.
            e = all.shelves.best(all.symmetry_class[e])
            if e < 0:
                i += 1
                continue
            k = i
            while k + 1 < count and comes_before(self.means, self.candidates[k + 1], e):
                self.candidates[k] = self.candidates[k + 1]
                k += 1
            self.candidates[k] = e
        return same_circuits

    cdef void sink(self, Py_ssize_t k) noexcept:
        """One step of an insertion sort of next_leader, worst first as greedy sees it."""
        cdef Py_ssize_t e = self.next_leader[k]
        cdef int32_t slot = self.next_slot[k]
        while k > 0 and comes_before(self.means, self.next_leader[k - 1], e):
            self.next_leader[k] = self.next_leader[k - 1]
            self.next_slot[k] = self.next_slot[k - 1]
            k -= 1
        self.next_leader[k] = e
        self.next_slot[k] = slot

    cdef Py_ssize_t find_candidates(self) noexcept:
        """The best element of every class that may beat its partner, best first."""
        cdef Challengers all = self.challengers
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t k, c, e
        cdef double mean
        if self.oracle.quick_exchange:
            for k in range(self.rank):
                mean = self.means[all.leader[k]]
                if all.groups[k].highest < mean:
                    continue
                c = all.groups[k].first_class
                while c >= 0:
                    e = all.best_of_class(<int32_t>c, mean)
                    if e >= 0:
                        self.candidates[count] = e
                        count += 1
                    c = all.next_class[c]
        else:
            for c in range(all.n_classes):
                if all.class_slot[c] < 0:
                    continue
                e = all.shelves.best(c)
                if comes_before(self.means, e, self.next_leader[0]):
                    self.candidates[count] = e
                    count += 1
        sort_descending(self.means, self.candidates[:count], self.scratch[:count])
        return count

    cdef Py_ssize_t weakest(self, Py_ssize_t e) except -2:
        """The position in next_leader of the weakest element that e can replace, if e is better; or
        -1.
        """
        cdef Py_ssize_t k
        for k in range(self.rank):
            if not comes_before(self.means, e, self.next_leader[k]):
                break
            if self.oracle.can_replace(self.next_slot[k], e):
                return k
        return -1

    # ---- partners ----

    cdef int prepare_for(self, const Py_ssize_t[::1] basis) except -1:
        self.is_prepared = False
        self.prepared[:] = basis
        self.oracle.prepare(self.prepared)
        return 0

    cdef int settle(self) except -1:
        """After a failure: `asks` is prepared for the leader again."""
        cdef Py_ssize_t k, c
        if self.is_prepared:
            return 0
        self.prepare_for(self.challengers.leader)
        for c in range(self.challengers.n_classes):
            k = self.challengers.class_slot[c]
            if k >= 0:
                self.challengers.class_slot[c] = self.challengers.position_of_slot[k]
        for k in range(self.rank):
            self.challengers.groups[k].slot = <int32_t>k
            self.challengers.position_of_slot[k] = <int32_t>k
        self.is_prepared = True
        return 0

    cdef Py_ssize_t find_partners(self) except -1:
        """Sort next_leader and find the partner of every class outside it; return the oracle calls
        of [DG25] Algorithm 2: for every element, one per leader element tested until the first yes.
        None, if lean: questions really asked are counted where they are asked.
        """
        cdef Challengers all = self.challengers
        cdef Py_ssize_t calls = 0
        cdef Py_ssize_t k, j, c, e, partner
        cdef int32_t s
        for k in range(1, self.rank):
            e = self.next_leader[k]
            j = k
            while j > 0 and self.comes_after(self.next_leader[j - 1], e):
                self.next_leader[j] = self.next_leader[j - 1]
                j -= 1
            self.next_leader[j] = e
        if self.n_outside == 0:
            return 0
        self.prepare_for(self.next_leader)
        for c in range(all.n_classes):
            s = all.shelves.first[c]
            if s < 0:
                continue
            partner = self.oracle.partner(all.shelves.shelves[s].top)
            if partner < 0:
                raise no_partner(
                    self.matroid,
                    all.shelves.shelves[s].top,
                    np.asarray(self.next_leader).tolist(),
                )
            self.next_partner[c] = <int32_t>partner
            while s >= 0 and not self.lean:
                calls += (partner + 1) * all.shelves.shelves[s].length
                s = all.shelves.shelves[s].next
        return calls

    cdef void install_groups(self) noexcept:
        """Make what find_partners found the leader's."""
        cdef Challengers all = self.challengers
        cdef Py_ssize_t c
        all.leader[:] = self.next_leader
        all.ungroup()
        for c in range(all.n_classes):
            if all.shelves.first[c] >= 0:
                all.attach(c, self.next_partner[c])
        self.is_prepared = True

    cdef int replace_in_groups(self) except -1:
        """Elements were exchanged within classes: groups stay, their order may change."""
        cdef Challengers all = self.challengers
        cdef Py_ssize_t i, k
        for k in range(self.rank):
            all.leader[all.position_of_slot[self.next_slot[k]]] = self.next_leader[k]
        for i in range(self.n_exchanged):
            k = all.position_of_slot[all.class_slot[all.symmetry_class[self.came[i]]]]
            if all.groups[k].top == self.came[i]:
                all.drop_top(k)
        # The confidence starts anew, and with it what was known for wider ones only.
        all.forget_bounds()
        return self.reorder()

    # ---- rounds in which not everything is on offer ----

    def for_matroid(self, matroid, PolicyKernel before=None):
        cdef MAUBKernel part = super().for_matroid(matroid, before)
        # A basis leads, whatever else is on offer: its local time is one.
        if self.has_leader:
            self.former_times[bytes(self.members)] = self.local_time
        part.former_times = self.former_times
        return part

    def adopt(self, PolicyKernel part):
        cdef MAUBKernel other = part
        super().adopt(part)
        if other.has_leader:
            self.former_times[bytes(other.members)] = other.local_time
        if self.has_leader:
            self.local_time = self.former_times[bytes(self.members)]

    # ---- what users see ----

    def leader_copy(self):
        """The leader, ascending, or None in the first rounds."""
        return np.array(self.members) if self.has_leader else None

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
        slots = np.asarray(self.challengers.class_slot)
        return super().state() | {
            "has_leader": self.has_leader,
            "leader": np.array(self.challengers.leader),
            "local_time": self.local_time,
            "former_times": dict(self.former_times),
            "partner": np.append(self.challengers.position_of_slot, -1)[slots],
        }

    def __reduce__(self):
        return type(self), (self.matroid, self.index, self.lean), self.state()

    def restore(self, state):
        super().restore(state)
        self.local_time = state["local_time"]
        self.former_times = dict(state["former_times"])
        self.has_leader = state["has_leader"]
        if not self.has_leader:
            return
        np.asarray(self.next_leader)[:] = state["leader"]
        np.asarray(self.next_partner)[:] = state["partner"]
        np.asarray(self.members)[:] = np.sort(state["leader"])
        for e in np.setdiff1d(self.playable, self.members).tolist():
            self.reserve(1)
            self.challengers.put(e)
        self.install_groups()
        self.is_prepared = False
