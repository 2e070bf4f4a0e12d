"""The leader of MAUB in a graph with many vertices: partners are found when they are needed.

With thousands of elements in the leader, some change their order in every round, and so do
partners. Here a group is not that of the partner. Every group has a *floor*, which stays while
means move, and a class is in the group of the lowest floor on its circuit. No mean of the leader is
below its floor by more than `drop`. So the partner of a class has at least the mean `floor - drop`,
and most groups cannot matter. For the few classes that can, the circuit is followed to the partner
(docs/explanation/large-ranks.md).

Most leaders lead for a few rounds only, at first for a single one. Such a leader is *loose*: no
groups are found for it. It comes from greedy, which takes its elements with the highest mean first
and so also links the oracle: each partner can be asked for in O(log D) steps. The circuit of an
outside element is among the first elements that greedy took: those with at least its own mean, and
with at least the lowest mean of its circuit in a former leader, whatever has changed since then. By
the lowest mean, or index, of these most outside elements cannot matter, and no partner is needed.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt

from matroid_bandits._core.checked cimport CHECKED
from matroid_bandits._core.policies.maub.chords cimport ROUNDING
from matroid_bandits._core.policies.maub.classes cimport Bucket
from matroid_bandits._core.policies.maub.exchanges cimport Exchanges
from matroid_bandits._core.policies.maub.groups cimport Group
from matroid_bandits._core.policies.maub.search cimport (
    BEATEN,
    NO_EXCHANGE,
    REORDERED,
    Search,
    Tally,
    comes_after,
)
from matroid_bandits._core.sorting cimport reverse, sort_ascending, sort_descending

cdef enum:
    # Finding the groups of all classes takes about as long as so many steps for each of them.
    STEPS_PER_CLASS = 5
    # Floors that wear out at once are tried again after so many rounds.
    PATIENCE = 16
    # A leader that leads for more rounds than this gets groups.
    LASTING = 100


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
        self.graph = self.oracle
        size = self.means.shape[0]
        self.outside = np.zeros(self.n_outside, dtype=np.intp)
        self.outside_place = np.zeros(size, dtype=np.int32)
        self.is_outside_old = True
        self.places = np.zeros(self.n_outside, dtype=np.intp)
        self.n_places = -1
        self.created = np.zeros(self.rank, dtype=np.intp)
        self.among = np.zeros(self.n_outside, dtype=np.int32)
        self.lowest = np.zeros(self.rank + 1)
        self.referred = np.zeros(self.rank, dtype=np.intp)
        self.referred_floors = np.zeros(self.rank)
        self.circuit_floors = np.full(size, -np.inf)
        self.descending = np.zeros(self.rank, dtype=np.intp)
        self.bins = np.zeros(size + 2, dtype=np.int32)
        self.last_found = -1

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
            if found[c] >= 0 and self.is_loose:
                found[c] = self.search.order[self.oracle.partner(self.search.any_element(c))]
            elif found[c] >= 0:
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
        self.n_led += test_leader
        if self.is_loose and self.n_led > LASTING:
            self.settle()
        if self.is_loose:
            if test_leader and self.is_beaten_loose():
                found = BEATEN
            elif test_leader and self.is_reordered():
                found = REORDERED
            elif test_leader or not self.is_new or width > 0:
                found = self.best_of_loose(width)
            # A new leader is the best basis: no mean is above that of its partner.
            if CHECKED:
                self.verify_late(found, width, test_leader)
            return found
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
        if self.is_loose:
            return self.collect_loose(width, elements, differences)
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

    # ---- leaders that do not last ----

    cdef int improve_at_once(self) except -1:
        cdef bint is_lasting = self.n_led > LASTING
        self.n_led = 0
        if self.is_loose or self.n_exact_rounds > 0 or not is_lasting:
            return self.improve_by_greedy()
        self.is_outside_old = True
        return LeanLeader.improve_at_once(self)

    cdef int improve_by_greedy(self) except -1:
        """The best basis of the leader and all candidates. Groups are not found."""
        cdef Search search = self.search
        cdef Exchanges exchanges = self.joint
        cdef const double *means = &self.means[0]
        cdef Py_ssize_t rank = self.rank
        cdef Py_ssize_t n, i, e, x
        cdef int32_t c, k
        if self.n_places < 0:
            # Nothing has tested the leader, or its groups did: any outside element may come in.
            self.list_outside()
        n = self.n_places
        self.n_places = -1
        for i in range(n):
            e = self.outside[self.places[i]]
            self.outside_place[e] = <int32_t>self.places[i]
            self.candidates[i] = e
        self.spread(&self.candidates[0], &self.scratch[0], n, False)
        sort_descending(self.means, self.candidates[:n], self.scratch[:n])
        if 4 * n > rank:
            # Where means move much, most of the order is new.
            self.spread(&search.ordered[0], &self.sorting_space[0], rank, True)
        sort_ascending(self.means, search.ordered, self.sorting_space)
        reverse(means, &search.ordered[0], &self.descending[0], rank)
        exchanges.n = self.graph.improve(
            means,
            &self.descending[0],
            rank,
            &self.candidates[0],
            n,
            &self.created[0],
            &exchanges.came[0],
            &exchanges.went[0],
        )
        for i in range(exchanges.n):
            e = exchanges.came[i]
            search.remove(e)
            c = search.symmetry_class[e]
            k = search.class_group[c]
            if search.groups[k].best == e:
                search.remove_best(k)
            if search.buckets.first[c] < 0:
                search.unlink_class(c)
                search.class_group[c] = -1
        for i in range(exchanges.n):
            e = exchanges.came[i]
            x = exchanges.went[i]
            search.insert(x)
            c = search.symmetry_class[x]
            k = self.group_of[x]
            if search.class_group[c] < 0:
                search.enter_class(c, k)
            search.leader[k] = e
            self.group_of[e] = k
            self.outside[self.outside_place[e]] = x
        exchanges.write(self.members, self.next_order)
        self.members[:] = self.next_order
        self.known_key = None
        self.is_joint_old = True
        self.is_loose = True
        self.is_new = True
        self.n_created += 1
        if self.n_asked > 2 * self.n_outside:
            self.refer()
        if self.n_outside > 0:
            self.bound_circuits()
        # Of equal means greedy takes the partner first: then the links are not right.
        self.is_prepared = (
            not reverse(means, &self.created[0], &search.ordered[0], rank) and self.graph.is_linked
        )
        for i in range(rank):
            search.order[i] = self.group_of[search.ordered[i]]
        return 0

    cdef void list_outside(self) noexcept:
        """List all outside elements and their places."""
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t e
        if self.is_outside_old:
            for e in range(self.means.shape[0]):
                if self.search.buckets.bucket_of[e] >= 0:
                    self.outside[n] = e
                    n += 1
            self.is_outside_old = False
        for e in range(self.n_outside):
            self.places[e] = e
        self.n_places = self.n_outside

    cdef void spread(
        self, Py_ssize_t *elements, Py_ssize_t *space, Py_ssize_t n, bint ascending
    ) noexcept:
        """Sort roughly, by dividing the range of the means into as many parts as there are
        elements.
        """
        cdef const double *means = &self.means[0]
        cdef int32_t *bins = &self.bins[0]
        cdef double low = INFINITY
        cdef double high = -INFINITY
        cdef double factor
        cdef Py_ssize_t i, b
        cdef int32_t total, count
        for i in range(n):
            low = min(low, means[elements[i]])
            high = max(high, means[elements[i]])
        if n < 16 or not (n - 1) / (high - low) < INFINITY:
            return
        factor = (n - 1) / (high - low)
        for b in range(n):
            bins[b] = 0
        for i in range(n):
            space[i] = elements[i]
            b = min(n - 1, <Py_ssize_t>((means[elements[i]] - low) * factor))
            bins[b if ascending else n - 1 - b] += 1
        total = 0
        for b in range(n):
            count = bins[b]
            bins[b] = total
            total += count
        for i in range(n):
            b = min(n - 1, <Py_ssize_t>((means[space[i]] - low) * factor))
            if not ascending:
                b = n - 1 - b
            elements[bins[b]] = space[i]
            bins[b] += 1

    cdef void bound_circuits(self) noexcept:
        """Find `among` for a new leader, which is the best basis.

        Between the ends of an edge, no path has a higher lowest mean than the path in the leader.
        So no mean of a circuit is below the mean of the outside element, nor below the lowest mean
        of its circuit in the leader referred to.
        """
        cdef const double *means = &self.means[0]
        cdef const double *floors = &self.circuit_floors[0]
        cdef const Py_ssize_t *outside = &self.outside[0]
        cdef int32_t *among = &self.among[0]
        cdef int32_t *bins = &self.bins[0]
        cdef Py_ssize_t rank = self.rank
        cdef double low = means[self.created[rank - 1]]
        cdef double high = means[self.created[0]]
        cdef double drop = 0.0
        cdef double largest = 0.0
        cdef double factor, floor
        cdef Py_ssize_t i, b
        cdef int32_t n
        if rank < 2 or not (rank - 1) / (high - low) < INFINITY:
            for i in range(self.n_outside):
                among[i] = <int32_t>rank
            return
        for i in range(self.n_referred):
            floor = self.referred_floors[i]
            drop = max(drop, floor - means[self.referred[i]])
            largest = max(largest, max(fabs(floor), fabs(means[self.referred[i]])))
        drop += 4 * ROUNDING * (largest + drop)
        # How many means are in a part of their range or above it: that a mean is not below another
        # is true of their parts too, however these are rounded.
        factor = (rank - 1) / (high - low)
        for b in range(rank):
            bins[b] = 0
        for i in range(rank):
            b = min(rank - 1, <Py_ssize_t>((means[self.created[i]] - low) * factor))
            bins[b] += 1
        n = 0
        for b in range(rank - 1, -1, -1):
            n += bins[b]
            bins[b] = n
        for i in range(self.n_outside):
            floor = max(means[outside[i]], floors[outside[i]] - drop) - low
            b = min(rank - 1, <Py_ssize_t>(floor * factor)) if floor > 0 else 0
            among[i] = bins[b]

    cdef int refer(self) except -1:
        """Refer to the present leader, which is new, from now on."""
        cdef Search search = self.search
        cdef double rounds = max(16.0, 2.0 * self.n_created)
        cdef double root
        cdef Py_ssize_t i, e
        for i in range(self.rank):
            e = self.created[i]
            root = search.inverse_root[e]
            self.descending[i] = e
            self.circuit_floors[e] = self.means[e] - 3 * search.scale * root * min(
                1.0, sqrt(rounds) * root
            )
        sort_ascending(self.circuit_floors, self.descending, self.sorting_space)
        for i in range(self.rank):
            e = self.descending[i]
            self.referred[i] = e
            self.referred_floors[i] = self.circuit_floors[e]
            self.circuit_floors[e] = -INFINITY
        self.n_referred = self.rank
        self.graph.basis = self.referred
        self.graph.is_linked = False
        for i in range(self.n_outside):
            e = self.outside[i]
            self.circuit_floors[e] = self.referred_floors[self.graph.partner(e)]
        self.graph.is_linked = False
        self.n_asked = 0
        self.n_created = 0
        return 0

    cdef void find_lowest(self, double width) noexcept:
        """The lowest index of the first n of `created`, for every n."""
        cdef const double *means = &self.means[0]
        cdef const double *roots = &self.search.inverse_root[0]
        cdef const Py_ssize_t *created = &self.created[0]
        cdef double *lowest = &self.lowest[0]
        cdef double low = INFINITY
        cdef Py_ssize_t k
        lowest[0] = low
        for k in range(self.rank):
            low = min(low, means[created[k]] + width * roots[created[k]])
            lowest[k + 1] = low

    cdef bint is_beaten_loose(self) except -1:
        """Whether some mean is above that of its partner. If so, `places` has the elements that may
        come in.
        """
        cdef const double *means = &self.means[0]
        cdef const double *lowest = &self.lowest[0]
        cdef const Py_ssize_t *ordered = &self.search.ordered[0]
        cdef const Py_ssize_t *outside = &self.outside[0]
        cdef const int32_t *among = &self.among[0]
        cdef Py_ssize_t *places = &self.places[0]
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e
        self.is_new = False
        self.prepare_again()
        self.find_lowest(0.0)
        for i in range(self.n_outside):
            places[n] = i
            n += means[outside[i]] >= lowest[among[i]]
        for i in range(n):
            e = outside[places[i]]
            if means[e] > means[ordered[self.graph.partner(e)]]:
                self.n_asked += i + 1
                self.n_places = n
                return True
        self.n_asked += n
        return False

    cdef Py_ssize_t best_of_loose(self, double width) except -4:
        """The best exchange."""
        cdef Search search = self.search
        cdef const double *means = &self.means[0]
        cdef const double *roots = &search.inverse_root[0]
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value, margin
        cdef Py_ssize_t i, e, x, partner
        self.prepare_again()
        self.find_lowest(width)
        margin = self.loose_margin()
        for i in range(-1, self.n_outside):
            # The last winner first: it often wins again, and then few others matter.
            e = self.outside[i] if i >= 0 else self.last_found
            if i >= 0:
                value = (means[e] + width * roots[e]) - self.lowest[self.among[i]]
                if value + margin < best:
                    continue
            elif e < 0 or search.buckets.bucket_of[e] < 0:
                continue
            self.n_asked += 1
            partner = self.graph.partner(e)
            x = search.ordered[partner]
            value = (means[e] - means[x]) + width * (roots[e] - roots[x])
            if value > best or (value == best and e < found):
                best = value
                found = e
                search.found_group = search.order[partner]
        self.last_found = found
        return found

    cdef Py_ssize_t collect_loose(
        self, double width, Py_ssize_t[::1] elements, double[::1] differences
    ) except -1:
        """The same as `collect`."""
        cdef Search search = self.search
        cdef const double *means = &self.means[0]
        cdef const double *roots = &search.inverse_root[0]
        cdef double value, margin
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e, x
        # The best exchange of this round was found before: `lowest` is up to date.
        margin = self.loose_margin()
        for i in range(self.n_outside):
            e = self.outside[i]
            value = (means[e] + width * roots[e]) - self.lowest[self.among[i]]
            if value + margin < 0:
                continue
            self.n_asked += 1
            x = search.ordered[self.graph.partner(e)]
            value = (means[e] - means[x]) + width * (roots[e] - roots[x])
            if value > 0:
                elements[n] = e
                differences[e] = value
                n += 1
        return n

    cdef double loose_margin(self) noexcept:
        """For rounding."""
        cdef Search search = self.search
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.rank):
            largest = max(largest, fabs(self.means[search.ordered[i]]))
        return 4 * ROUNDING * (largest + search.largest)

    cdef int settle(self) except -1:
        """Find groups, for the order as last sorted."""
        self.is_loose = False
        self.search.lower_widths()
        self.n_exact_rounds = 0
        self.find_all_groups()
        self.is_prepared = True
        return 0

    cdef Py_ssize_t write_best_basis(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] basis
    ) except -1:
        if not self.is_loose:
            return LeanLeader.write_best_basis(self, values, candidates, basis)
        # Greedy leaves the links as they are.
        self.begin_joint()
        self.joint.find_by_greedy(values, candidates)
        self.joint.write(self.members, basis)
        return 0

    # ---- the order ----

    cdef Py_ssize_t reorder(self) except -1:
        if self.is_loose:
            self.sort_loose()
            return 0
        self.prepare_again()
        self.sort_leader()
        if self.are_floors_worn():
            self.find_all_groups()
        return 0

    cdef int sort_loose(self) except -1:
        """The same for a loose leader."""
        cdef Search search = self.search
        cdef Py_ssize_t i
        sort_ascending(self.means, search.ordered, self.sorting_space)
        for i in range(self.rank):
            search.order[i] = self.group_of[search.ordered[i]]
        self.is_prepared = False
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
        if self.is_loose:
            # No circuits are listed: links are enough.
            self.prepared[:] = search.ordered
            self.graph.basis = self.prepared
            self.graph.is_linked = False
            return 0
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
        self.is_loose = False
        self.is_outside_old = True
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
