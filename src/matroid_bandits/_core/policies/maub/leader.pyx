"""The leader of MAUB and the partners of the outside elements, found as [DG25] writes.

`PublishedLeader` and `LeanLeader` (in `lean`) have the same interface and lead to the same plays.
They differ in how the next leader and its partners are found, and in what is counted.
"""

import numpy as np

from libc.string cimport memmove

from matroid_bandits._core.sorting cimport sort_ascending, sort_elements

from matroid_bandits.errors import no_partner, too_small

cdef extern from "portable.h":
    void prefetch "mb_prefetch"(const void *address) noexcept


cdef class Leader:
    """A basis, and the outside elements grouped by partner."""

    def __init__(
        self,
        matroid,
        MatroidKernel oracle,
        const int32_t[::1] symmetry_class,
        Py_ssize_t n_classes,
        Py_ssize_t rank,
        Py_ssize_t n_outside,
        const double[::1] means,
        inverse_root,
        counts,
        double scale,
    ):
        self.matroid = matroid
        self.oracle = oracle
        self.rank = rank
        self.n_outside = n_outside
        self.means = means
        self.search = Search(symmetry_class, n_classes, rank, means, inverse_root, counts, scale)
        self.members = np.zeros(rank, dtype=np.intp)
        self.prepared = np.zeros(rank, dtype=np.intp)
        self.position = np.zeros(rank, dtype=np.int32)
        self.next_order = np.zeros(rank, dtype=np.intp)
        self.sorting_space = np.zeros(rank, dtype=np.intp)
        self.next_partner = np.zeros(n_classes, dtype=np.int32)
        self.came = np.zeros(rank, dtype=np.intp)
        self.went = np.zeros(rank, dtype=np.intp)
        self.joint = Exchanges(oracle, rank, means.shape[0])
        self.is_joint_old = True

    # ---- step 2 ----

    cdef bint needs_greedy(self) noexcept:
        """Whether `replace` must be called with greedy's basis; else `improve` finds the basis."""
        return True

    cdef Py_ssize_t replace(
        self, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] order
    ) except -1:
        """`basis`, ascending, leads from now on, with new partners. `order` has all playable
        elements, the highest mean first. Returns the oracle calls of Algorithm 2.

        If it raises, the leader is the one before.
        """
        cdef Py_ssize_t calls
        self.n_exchanged = 0
        try:
            if self.exists:
                self.exchange(basis)
            else:
                self.first_outside(basis, order)
            self.next_order[:] = basis
            self.find_partners()
            calls = self.n_tests()
        except BaseException:
            self.undo_exchanges()
            raise
        self.install()
        self.install_groups()
        return calls

    cdef int improve(self) except -1:
        """The best basis by the means leads from now on. If it raises, nothing has changed."""
        raise NotImplementedError

    cdef Py_ssize_t reorder(self) except -1:
        """New partners, as the order of the leader has changed. Returns the oracle calls of
        Algorithm 2. If it raises, nothing has changed.
        """
        cdef Py_ssize_t calls
        self.next_order[:] = self.search.ordered
        self.find_partners()
        calls = self.n_tests()
        self.install_groups()
        return calls

    cdef int first_outside(
        self, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] order
    ) except -1:
        """Put all elements but those of `basis` into buckets."""
        cdef Py_ssize_t i
        # From the highest mean to the lowest: trees grow at one end, where it is cheap.
        for i in range(order.shape[0]):
            self.reserve(1)
            self.search.insert(order[i])
        for i in range(self.rank):
            self.search.buckets.remove(basis[i])
        return 0

    cdef void exchange(self, const Py_ssize_t[::1] basis) noexcept:
        """Exchange the elements in which the leader and `basis` differ."""
        cdef Py_ssize_t old = 0
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t n_went = 0
        while old < self.rank or new < self.rank:
            if old == self.rank or (new < self.rank and basis[new] < self.members[old]):
                self.came[self.n_exchanged] = basis[new]
                self.search.remove(basis[new])
                self.n_exchanged += 1
                new += 1
            elif new == self.rank or self.members[old] < basis[new]:
                self.went[n_went] = self.members[old]
                self.search.insert(self.members[old])
                n_went += 1
                old += 1
            else:
                old += 1
                new += 1

    cdef void undo_exchanges(self) noexcept:
        """Return to the present leader."""
        cdef Py_ssize_t i
        if not self.exists:
            self.search.buckets.clear()
        for i in range(self.n_exchanged - 1, -1, -1):
            self.search.remove(self.went[i])
            self.search.insert(self.came[i])
        for i in range(self.rank):
            self.search.forget(i)
        self.is_prepared = False

    # ---- partners ----

    cdef int prepare_for(self, const Py_ssize_t[::1] basis) except -1:
        self.is_prepared = False
        self.prepared[:] = basis
        self.oracle.prepare(self.prepared)
        return 0

    cdef int find_partners(self) except -1:
        """Sort the next leader and find the partner of every class outside it."""
        cdef Py_ssize_t c, partner
        cdef int32_t b
        sort_ascending(self.means, self.next_order, self.sorting_space)
        if self.n_outside == 0:
            return 0
        self.prepare_for(self.next_order)
        for c in range(self.search.n_classes):
            b = self.search.buckets.first[c]
            if b < 0:
                continue
            partner = self.oracle.partner(self.search.buckets.buckets[b].top)
            if partner < 0:
                raise no_partner(
                    self.matroid,
                    self.search.buckets.buckets[b].top,
                    np.asarray(self.next_order).tolist(),
                )
            self.next_partner[c] = <int32_t>partner
        return 0

    cdef Py_ssize_t n_tests(self) noexcept:
        """The oracle calls of [DG25] Algorithm 2 for the partners that were found, if they are
        counted as the paper does. Otherwise the oracle itself counts its calls.
        """
        return 0

    # ---- the next leader becomes the present one ----

    cdef void install(self) noexcept:
        self.members[:] = self.next_order
        sort_elements(self.members)
        self.known_key = None
        self.exists = True
        self.is_joint_old = True

    cdef void install_groups(self) noexcept:
        """Put every class into the group of the partner that was found."""
        cdef Py_ssize_t c, k
        self.search.set_leader(self.next_order)
        for c in range(self.search.n_classes):
            if self.search.buckets.first[c] >= 0:
                self.search.add_class(c, self.next_partner[c])
        for k in range(self.rank):
            self.position[k] = <int32_t>k
        self.is_prepared = True

    # ---- step 4 ----

    cdef Py_ssize_t scan_late(self, double width, bint test_leader) except -4:
        """The same as `Search.scan`, for a leader that finds partners late."""
        raise NotImplementedError

    cdef Py_ssize_t collect(
        self, double width, Py_ssize_t[::1] elements, double[::1] differences
    ) except -1:
        """Write all outside elements whose index UCB is above that of their partner to `elements`,
        in any order, and the differences by element. Returns how many there are.
        """
        cdef Search search = self.search
        cdef Py_ssize_t n = search.collect(width, False, elements)
        cdef Py_ssize_t i, e, x
        for i in range(n):
            e = elements[i]
            x = search.leader[search.class_group[search.symmetry_class[e]]]
            differences[e] = (search.means[e] - search.means[x]) + width * (
                search.inverse_root[e] - search.inverse_root[x]
            )
        return n

    cdef object partner_groups(self):
        """By class: the group of its partner; -1 if it has no outside element."""
        return np.asarray(self.search.class_group)

    cdef void write_exchange(self, Py_ssize_t e, Py_ssize_t[::1] basis) noexcept:
        """Write leader - x + e into `basis`, ascending, where e was found with its partner x by the
        last search; the leader itself if e is negative.
        """
        cdef Py_ssize_t *chosen
        cdef const Py_ssize_t *members
        cdef Py_ssize_t x = -1
        cdef Py_ssize_t old = 0  # the places of x and e among the members
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t k
        if self.rank == 0:
            return
        if e >= 0:
            x = self.search.leader[self.search.found_group]
        chosen = &basis[0]
        members = &self.members[0]
        # A loop with an unpredictable exit mispredicts: count instead.
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
        # An element that was not played for long is in no cache. Load all at once what its
        # observation needs.
        prefetch(&self.search.counts[e])
        prefetch(&self.search.means[e])
        prefetch(&self.search.inverse_root[e])
        prefetch(&self.search.buckets.bucket_of[e])
        prefetch(&self.search.symmetry_class[e])

    cdef Py_ssize_t write_best_basis(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] basis
    ) except -1:
        """Write the best basis of the leader and `candidates` into `basis`, ascending. Candidates
        are outside elements, the highest value first. Returns the oracle calls, if they are counted
        as the paper does: one for each element that greedy tests.
        """
        self.begin_joint()
        self.is_prepared = self.is_prepared and self.oracle.quick_exchange
        cdef Py_ssize_t taken = self.joint.find_by_greedy(values, candidates)
        if taken < self.rank:
            raise too_small(
                self.matroid, np.asarray(self.joint.positions[:taken]).tolist(), self.rank
            )
        self.joint.write(self.members, basis)
        return self.oracle.tested

    cdef void begin_joint(self) noexcept:
        if self.is_joint_old:
            self.joint.begin(self.search.ordered)
            self.is_joint_old = False

    # ---- for users, and saving ----

    def elements(self):
        """The leader, ascending."""
        return np.array(self.members)

    def key(self):
        """The leader as a key of dictionaries, None if there is none."""
        if self.known_key is None and self.exists:
            # Kept, because it is long at large ranks, and remembers its hash.
            self.known_key = bytes(self.members)
        return self.known_key

    def state(self):
        """What `restore` needs: the leader in the order for which partners were computed, and the
        position of the partner of every class.
        """
        place = np.full(self.rank + 1, -1)  # of every group in the order; -1 for no group
        place[np.asarray(self.search.order)] = np.arange(self.rank)
        return {
            "has_leader": self.exists,
            "leader": np.array(self.search.ordered),
            "partner": place[self.partner_groups()],
        }

    def restore(self, state, playable):
        self.exists = state["has_leader"]
        self.known_key = None
        if not self.exists:
            return
        np.asarray(self.members)[:] = np.sort(state["leader"])
        for e in np.setdiff1d(playable, self.members).tolist():
            self.reserve(1)
            self.search.insert(e)
        self.return_to(state)

    def return_to(self, state):
        """Return to the leader that there was, its order and its partners."""
        self.n_exchanged = 0
        if not state["has_leader"]:
            self.exists = False
            self.undo_exchanges()
            return
        self.exchange(np.sort(state["leader"]))
        np.asarray(self.next_order)[:] = state["leader"]
        np.asarray(self.next_partner)[:] = state["partner"]
        self.install()
        self.install_groups()
        self.is_prepared = False


cdef class PublishedLeader(Leader):
    """The leader as published: greedy from scratch, and Algorithm 2 after every change."""

    cdef Py_ssize_t n_tests(self) noexcept:
        """For every outside element, one call per element of the leader until the partner."""
        cdef Py_ssize_t calls = 0
        cdef Py_ssize_t c
        cdef int32_t b
        if self.n_outside == 0:
            return 0
        for c in range(self.search.n_classes):
            b = self.search.buckets.first[c]
            while b >= 0:
                calls += (self.next_partner[c] + 1) * self.search.buckets.buckets[b].length
                b = self.search.buckets.buckets[b].next
        return calls
