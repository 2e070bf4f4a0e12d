"""The leader of MAUB in a graph with many vertices: partners are found when they are needed.

With thousands of elements in the leader, some change their order in every round, and so do
partners. Here a group is not that of the partner. Every group has a *floor*, which stays while
means move, and a class is in the group of the lowest floor on its circuit. No mean of the leader is
below its floor by more than `drop`. So the partner of a class has at least the mean `floor - drop`,
and most groups cannot matter. For the few classes that can, the circuit is followed to the partner
(docs/large-ranks.md).
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt

from matroid_bandits._core.checked cimport CHECKED
from matroid_bandits._core.policies.maub.chords cimport ROUNDING
from matroid_bandits._core.policies.maub.classes cimport Bucket
from matroid_bandits._core.policies.maub.groups cimport Group
from matroid_bandits._core.policies.maub.search cimport (
    BEATEN,
    NO_EXCHANGE,
    REORDERED,
    Search,
    Tally,
    comes_after,
)
from matroid_bandits._core.sorting cimport sort_ascending

cdef enum:
    # Finding the groups of all classes takes about as long as so many steps for each of them.
    STEPS_PER_CLASS = 5
    # Floors that wear out at once are tried again after so many rounds.
    PATIENCE = 16


cdef class LargeLeader(LeanLeader):
    """The same leaders and partners as `LeanLeader`, for kernels that list circuits."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.finds_partners_late = True
        self.floors = np.zeros(self.rank)
        self.floor_order = np.arange(self.rank)
        self.floor_at = np.zeros(self.rank)
        self.place_at = np.zeros(self.rank, dtype=np.int32)
        self.place_of = np.zeros(self.rank, dtype=np.int32)
        self.path = np.zeros(self.rank, dtype=np.intp)

    # ---- partners ----

    cdef Py_ssize_t partner_group(self, int32_t c) noexcept:
        """The group of the partner of class c, in the order as last sorted."""
        cdef Search search = self.search
        cdef Py_ssize_t i, count
        cdef int32_t place
        if self.is_exact:
            return search.class_group[c]
        count = self.oracle.circuit_in_any_order(search.any_element(c), &self.path[0])
        self.n_steps += count
        place = <int32_t>self.rank
        for i in range(count):
            place = min(place, self.place_at[self.path[i]])
        return search.order[place]

    cdef object partner_groups(self):
        cdef int32_t c
        found = np.array(self.search.class_group)
        self.prepare_again()
        for c in range(<int32_t>self.search.n_classes):
            if found[c] >= 0:
                found[c] = self.partner_group(c)
        return found

    cdef void lower_floors(self) noexcept:
        """Find `drop`, `smallest_root` and `margin` for the present statistics."""
        cdef Search search = self.search
        cdef const Py_ssize_t *leader = &search.leader[0]
        cdef const double *means = &search.means[0]
        cdef const double *roots = &search.inverse_root[0]
        cdef const double *floors = &self.floors[0]
        cdef double drop = 0.0
        cdef double root = INFINITY
        cdef double largest = 0.0
        cdef double mean
        cdef Py_ssize_t k
        for k in range(self.rank):
            mean = means[leader[k]]
            drop = max(drop, floors[k] - mean)
            largest = max(largest, max(fabs(floors[k]), fabs(mean)))
            root = min(root, roots[leader[k]])
        self.margin = 4 * ROUNDING * (largest + drop + search.largest)
        self.drop = drop + self.margin
        self.smallest_root = root

    # ---- steps 2 and 4 ----

    cdef Py_ssize_t scan_late(self, double width, bint test_leader) except -4:
        cdef Search search = self.search
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double best = 0.0
        cdef double bound
        cdef Py_ssize_t k
        cdef Group *group
        if self.rank == 0 or self.n_outside == 0:
            return REORDERED if test_leader and self.is_reordered() else NO_EXCHANGE
        self.prepare_again()
        self.lower_floors()
        self.n_rounds += test_leader
        if test_leader and self.is_beaten_late():
            found = BEATEN
        elif test_leader and self.is_reordered():
            found = REORDERED
        else:
            # The last winner first: it often wins again, and then few other groups matter.
            self.best_of_group(self.last_group, width, &best, &found)
            for k in range(self.rank):
                group = &search.groups[k]
                if group.first_class < 0:
                    continue
                if not group.rest.since <= width <= group.rest.until:
                    search.evaluate(k, width)
                bound = (group.cap + width * group.cap_slope) - (
                    (self.floors[k] - self.drop) + width * self.smallest_root
                )
                if bound + self.margin >= best:
                    self.best_of_group(k, width, &best, &found)
        if CHECKED:
            self.verify_late(found, width, test_leader)
        return found

    cdef bint is_beaten_late(self) noexcept:
        """Whether some mean is above that of its partner."""
        cdef Search search = self.search
        cdef Group *group
        cdef Bucket *bucket
        cdef double floor, highest_mean
        cdef Py_ssize_t k, partner
        cdef int32_t c, b
        for k in range(self.rank):
            group = &search.groups[k]
            floor = self.floors[k] - self.drop
            if group.highest_mean <= floor:
                continue
            highest_mean = -INFINITY
            c = group.first_class
            while c >= 0:
                partner = -1
                b = search.buckets.first[c]
                while b >= 0:
                    bucket = &search.buckets.buckets[b]
                    highest_mean = max(highest_mean, bucket.mean)
                    if bucket.mean > floor:
                        if partner < 0:
                            partner = self.partner_group(c)
                        if bucket.mean > search.means[search.leader[partner]]:
                            return True
                    b = bucket.next
                c = search.next_class[c]
            group.highest_mean = highest_mean
            group.unlisted_highest_mean = min(group.unlisted_highest_mean, highest_mean)
        return False

    cdef bint is_reordered(self) noexcept:
        cdef Py_ssize_t k
        for k in range(1, self.rank):
            if comes_after(self.means, self.search.ordered[k - 1], self.search.ordered[k]):
                return True
        return False

    cdef void best_of_group(
        self, Py_ssize_t k, double width, double *best, Py_ssize_t *found
    ) noexcept:
        """Compare the exchanges of group k with the best so far."""
        cdef Search search = self.search
        cdef double floor = (self.floors[k] - self.drop) + width * self.smallest_root
        cdef Bucket *bucket
        cdef Tally tally
        cdef double value
        cdef Py_ssize_t x, partner, e
        cdef int32_t c, b
        tally.width = width
        c = search.groups[k].first_class
        while c >= 0:
            partner = -1
            b = search.buckets.first[c]
            while b >= 0:
                bucket = &search.buckets.buckets[b]
                value = (bucket.mean + width * bucket.inverse_root) - floor
                if value + self.margin >= best[0]:
                    if partner < 0:
                        partner = self.partner_group(c)
                        x = search.leader[partner]
                        tally.mean = search.means[x]
                        tally.root = search.inverse_root[x]
                    value = (bucket.mean - tally.mean) + width * (
                        bucket.inverse_root - tally.root
                    )
                    if value > best[0] or (value == best[0] and found[0] >= 0):
                        e = bucket.top
                        if bucket.length > 1:
                            e = search.lowest_of_equals(&tally, b)
                        if value > best[0] or e < found[0]:
                            best[0] = value
                            found[0] = e
                            search.found_group = partner
                            self.last_group = k
                b = bucket.next
            c = search.next_class[c]

    cdef Py_ssize_t collect(
        self, double width, Py_ssize_t[::1] elements, double[::1] differences
    ) except -1:
        # The best exchange of this round was found before: floors and bounds are up to date.
        cdef Search search = self.search
        cdef Group *group
        cdef Bucket *bucket
        cdef double floor, factor, value, mean, root
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k, partner, first, i, e
        cdef int32_t c, b
        for k in range(self.rank):
            group = &search.groups[k]
            floor = (self.floors[k] - self.drop) + width * self.smallest_root
            if (
                group.rest.since <= width <= group.rest.until
                and (group.cap + width * group.cap_slope) + self.margin < floor
            ):
                continue
            c = group.first_class
            while c >= 0:
                partner = -1
                b = search.buckets.first[c]
                while b >= 0:
                    bucket = &search.buckets.buckets[b]
                    if (bucket.mean + width * bucket.inverse_root) + self.margin >= floor:
                        if partner < 0:
                            partner = self.partner_group(c)
                            mean = search.means[search.leader[partner]]
                            root = search.inverse_root[search.leader[partner]]
                        factor = width * (bucket.inverse_root - root)
                        value = (bucket.mean - mean) + factor
                        first = n
                        if value > 0 and bucket.length > 1:
                            search.collect_blocks(
                                bucket.root, mean, factor, False, elements, &n
                            )
                        elif value > 0:
                            elements[n] = bucket.top
                            n += 1
                        for i in range(first, n):
                            e = elements[i]
                            differences[e] = (search.means[e] - mean) + factor
                    b = bucket.next
                c = search.next_class[c]
        return n

    cdef Py_ssize_t collect_better(self) except -1:
        """All elements that may be better than their partners: the best basis is the same with
        others, so that no partner is needed.
        """
        cdef Search search = self.search
        cdef Group *group
        cdef Bucket *bucket
        cdef double floor
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k
        cdef int32_t c, b
        self.lower_floors()
        for k in range(self.rank):
            group = &search.groups[k]
            floor = self.floors[k] - self.drop
            if group.highest_mean < floor:
                continue
            c = group.first_class
            while c >= 0:
                b = search.buckets.first[c]
                while b >= 0:
                    bucket = &search.buckets.buckets[b]
                    if bucket.mean >= floor and bucket.length > 1:
                        search.collect_blocks(
                            bucket.root, floor, 0.0, True, self.candidates, &n
                        )
                    elif bucket.mean >= floor:
                        self.candidates[n] = bucket.top
                        n += 1
                    b = bucket.next
                c = search.next_class[c]
        return n

    # ---- the order ----

    cdef Py_ssize_t reorder(self) except -1:
        self.prepare_again()
        self.sort_leader()
        if self.are_floors_worn():
            self.find_all_groups()
        return 0

    cdef int sort_leader(self) except -1:
        """Sort the leader. Floors and groups stay."""
        cdef Search search = self.search
        cdef Py_ssize_t i
        cdef int32_t k
        self.is_exact = False
        sort_ascending(self.means, search.ordered, self.sorting_space)
        for i in range(self.rank):
            k = self.group_of[search.ordered[i]]
            search.order[i] = k
            self.place_of[k] = <int32_t>i
            self.place_at[self.position[k]] = <int32_t>i
        return 0

    cdef int prepare_in_order(self) except -1:
        """Prepare the oracle for the leader in the order of floors."""
        cdef Search search = self.search
        cdef Py_ssize_t i, k
        for i in range(self.rank):
            self.place_of[search.order[i]] = <int32_t>i
        self.sort_floors()
        for i in range(self.rank):
            self.sorting_space[i] = search.leader[self.floor_order[i]]
        self.prepare_for(self.sorting_space)
        for i in range(self.rank):
            k = self.floor_order[i]
            self.position[k] = <int32_t>i
            self.place_at[i] = self.place_of[k]
        return 0

    cdef void sort_floors(self) noexcept:
        """Sort groups by floor. Of equal floors the one that is first in the order comes first, as
        where floors are means.
        """
        cdef Py_ssize_t i
        for i in range(self.rank):
            self.floor_at[i] = self.floors[self.search.order[i]]
            self.floor_order[i] = i
        sort_ascending(self.floor_at, self.floor_order, self.sorting_space)
        for i in range(self.rank):
            self.floor_order[i] = self.search.order[self.floor_order[i]]

    # ---- groups ----

    cdef bint are_floors_worn(self) noexcept:
        """Whether to find all groups again: since they were found, the steps on circuits took as
        long as that. Floors that do not last are given up for some rounds.
        """
        if self.n_exact_rounds > 0:
            self.n_exact_rounds -= 1
            return True
        if self.n_steps <= STEPS_PER_CLASS * self.search.n_classes:
            return False
        if self.n_rounds <= 2:
            self.n_exact_rounds = PATIENCE
        self.lasting = max(16.0, 2.0 * self.n_rounds)
        return True

    cdef double floor_of(self, Py_ssize_t e) noexcept:
        """A floor for an element of the leader, which its mean will not reach soon: after r rounds
        the mean has moved by about sqrt(r) / count times the noise.
        """
        cdef double root = self.search.inverse_root[e]
        if self.n_exact_rounds > 0:
            return self.means[e]
        return self.means[e] - 3 * self.search.scale * root * min(1.0, sqrt(self.lasting) * root)

    cdef int find_all_groups(self) except -1:
        """New floors, and groups that fit. The leader is sorted."""
        cdef Search search = self.search
        cdef Py_ssize_t k
        cdef int32_t c
        for k in range(self.rank):
            self.floors[k] = self.floor_of(search.leader[k])
        self.prepare_in_order()
        for c in range(<int32_t>search.n_classes):
            if search.buckets.first[c] >= 0:
                self.put_class(c, self.floor_order[self.oracle.partner(search.any_element(c))])
        self.is_exact = self.n_exact_rounds > 0
        self.n_steps = 0
        self.n_rounds = 0
        return 0

    cdef int find_groups(self, const Py_ssize_t[::1] classes) except -1:
        # The leader is new: circuits of other classes stay, but the order has changed.
        self.is_exact = False
        if 4 * classes.shape[0] > self.search.n_classes or self.are_floors_worn():
            return self.find_all_groups()
        return LeanLeader.find_groups(self, classes)

    cdef int find_group(self, int32_t c) except -1:
        """Put class c into the group of the lowest floor on its circuit."""
        cdef Py_ssize_t count = self.oracle.circuit_in_any_order(
            self.search.any_element(c), &self.path[0]
        )
        cdef Py_ssize_t lowest = self.rank
        cdef Py_ssize_t i
        self.n_steps += count
        for i in range(count):
            lowest = min(lowest, self.path[i])
        self.put_class(c, self.floor_order[lowest])
        return 0

    cdef void put_class(self, int32_t c, Py_ssize_t k) noexcept:
        """Put class c into group k, unless it is there."""
        if self.search.class_group[c] < 0:
            self.search.enter_class(c, k)
        elif self.search.class_group[c] != k:
            self.search.move_class(c, k)

    cdef void begin_group(self, Py_ssize_t e, Py_ssize_t k) noexcept:
        # Every circuit that contains e is a new one: its class gets a new group.
        LeanLeader.begin_group(self, e, k)
        self.floors[k] = self.floor_of(e)

    cdef void install_groups(self) noexcept:
        """Floors that rise with the order: the partner has the lowest of its circuit."""
        cdef double floor = INFINITY
        cdef Py_ssize_t i
        LeanLeader.install_groups(self)
        for i in range(self.rank - 1, -1, -1):
            floor = min(floor, self.means[self.search.ordered[i]])
            self.floors[i] = floor
            self.floor_order[i] = i
            self.place_at[i] = <int32_t>i
            self.place_of[i] = <int32_t>i
        self.is_exact = True
        self.n_steps = 0
        self.n_rounds = 0
        self.lasting = 16.0
        # The first means move too much for floors.
        self.n_exact_rounds = PATIENCE
        self.last_group = 0

    # ---- the checked build ----

    cdef int verify_late(self, Py_ssize_t found, double width, bint test_leader) except -1:
        """Compare the result of a scan with the definition."""
        cdef Search search = self.search
        cdef Py_ssize_t expected = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value
        cdef bint is_beaten = False
        cdef Py_ssize_t e, x
        groups = self.partner_groups()
        for e in range(search.symmetry_class.shape[0]):
            if search.buckets.bucket_of[e] < 0:
                continue
            x = search.leader[groups[search.symmetry_class[e]]]
            is_beaten = is_beaten or search.means[e] > search.means[x]
            value = (search.means[e] - search.means[x]) + width * (
                search.inverse_root[e] - search.inverse_root[x]
            )
            if value > best:
                best = value
                expected = e
        if test_leader and is_beaten:
            expected = BEATEN
        elif test_leader and self.is_reordered():
            expected = REORDERED
        if found != expected:
            raise AssertionError(f"scan found {found} instead of {expected} at the width {width}")
        return 0
