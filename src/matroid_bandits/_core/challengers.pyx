"""The elements outside the leader, grouped by partner: who beats it, whom to try next.

A round changes the D elements played and no others, so most of what was true of a group in the
last round still is. Every group keeps a bound on what its members can reach; only a group whose
bound says that it might matter is looked into. docs/rounds.md explains and proves it.
"""

cimport cython

import numpy as np

from libc.math cimport INFINITY, fabs

from matroid_bandits._core.shelves cimport Shelf

# Bounds are rounded otherwise than the indices they bound. Both take fewer than 20 operations, each
# with a relative error of 2**-53 of the numbers in it; this is several times as much.
cdef double ROUNDING = 1e-14

cdef enum:
    LISTED = 8  # shelves on a new shortlist
    MOST_LISTED = 16


@cython.final
cdef class Challengers:
    """Classes of elements outside the leader in groups, one for each element of the leader."""

    def __init__(
        self,
        const int32_t[::1] class_of,
        Py_ssize_t n_classes,
        Py_ssize_t rank,
        const double[::1] means,
        const double[::1] inverse_root,
        const int64_t[::1] counts,
    ):
        self.rank = rank
        self.n_classes = n_classes
        self.class_of = class_of
        self.means = means
        self.inverse_root = inverse_root
        self.counts = counts
        self.shelves = Shelves(class_of, n_classes, means)
        self.leader = np.zeros(rank, dtype=np.intp)
        self.groups = np.zeros(rank, dtype=GROUP)
        self.next_class = np.full(n_classes, -1, dtype=np.int32)
        self.class_slot = np.full(n_classes, -1, dtype=np.int32)
        self.position_of_slot = np.zeros(rank, dtype=np.int32)
        self.shortlists = np.zeros((rank, MOST_LISTED), dtype=np.int32)
        self.bounds = np.zeros(rank)

    # ---- a round ----

    cdef Py_ssize_t look(self, double width, bint test_leader) noexcept:
        """Steps 2 and 4 of docs/maub.md in one walk over the leader.

        The element e outside with the largest positive exchange index (ties: lowest e), its
        partner's position in `best_position`; or NONE. If the leader is tested: BEATEN if some mean
        is above its partner's, else REORDERED if the leader is no longer in order.
        """
        cdef double best = 0.0
        cdef double highest_bound = -INFINITY
        cdef double last_mean = -INFINITY
        cdef double mean, root, value, bound, wider, margin
        cdef Py_ssize_t last = -1
        cdef Py_ssize_t found = NONE
        cdef Py_ssize_t k, x
        cdef bint reordered = False
        cdef Group *group
        if self.rank == 0:
            return NONE
        # Plain pointers: the compiler would fetch those in `self` anew after every store.
        cdef const Py_ssize_t *leader = &self.leader[0]
        cdef const double *means = &self.means[0]
        cdef const double *roots = &self.inverse_root[0]
        cdef double *bounds = &self.bounds[0]
        # The last winner first: it mostly comes close to winning again, and then the comparison
        # below is nearly always false, which the processor foresees.
        group = &self.groups[self.best_position]
        x = leader[self.best_position]
        value = (group.top_mean - means[x]) + width * (group.top_root - roots[x])
        if value > best:
            best = value
            found = group.top
        group = &self.groups[0]
        for k in range(self.rank):
            x = leader[k]
            mean = means[x]
            root = roots[x]
            if group.highest > mean and test_leader:
                self.make_shortlist(k, width)
                self.evaluate(k, width)
                if group.highest > mean:
                    return BEATEN
            if mean <= last_mean and (mean < last_mean or x < last):
                reordered = True
            last = x
            last_mean = mean
            value = (group.top_mean - mean) + width * (group.top_root - root)
            if value >= best and (value > best or group.top < found):
                best = value
                found = group.top
                self.best_position = k
            wider = width - group.since
            wider = wider if wider > 0.0 else 0.0
            bound = (group.rest + wider * group.slope) - (mean + width * root)
            bounds[k] = bound
            highest_bound = bound if bound > highest_bound else highest_bound
            group += 1
        if reordered and test_leader:
            return REORDERED
        # In order, the means are no larger than the first or the last.
        margin = ROUNDING * max(fabs(means[leader[0]]), fabs(last_mean))
        if highest_bound + margin < best:
            return found
        for k in range(self.rank):
            # A group that is not looked into has nothing better, nor anything as good.
            if bounds[k] + margin < best:
                continue
            self.evaluate(k, width)
            x = leader[k]
            group = &self.groups[k]
            value = (group.top_mean - means[x]) + width * (group.top_root - roots[x])
            if value >= best and (value > best or group.top < found):
                best = value
                found = group.top
                self.best_position = k
        return found

    cdef void evaluate(self, Py_ssize_t k, double width) noexcept:
        """Look into group k: its best exchange, a bound on the others, its highest mean."""
        if self.groups[k].n_listed >= 0 and self.evaluate_shortlist(k, width):
            return
        self.make_shortlist(k, width)
        if not self.evaluate_shortlist(k, width):
            # More shelves than the shortlist holds are level with the best.
            self.evaluate_all(k, width)

    cdef bint evaluate_shortlist(self, Py_ssize_t k, double width) noexcept:
        """The same from the shortlist alone; False if one that is not on it may be the best."""
        cdef Group *group = &self.groups[k]
        cdef double unlisted = group.unlisted
        cdef Tally tally
        cdef Py_ssize_t i
        self.begin(&tally, k, width)
        for i in range(group.n_listed):
            self.consider(&tally, self.shortlists[group.slot, i])
        if width > group.unlisted_since:
            unlisted += (width - group.unlisted_since) * group.unlisted_slope
        if unlisted > -INFINITY and (
            unlisted + ROUNDING * (fabs(unlisted) + fabs(tally.mean) + 50.0)
            >= tally.top_mean + width * tally.top_root
        ):
            return False
        tally.rest = max(tally.rest, unlisted)
        tally.slope = max(tally.slope, group.unlisted_slope)
        tally.highest = max(tally.highest, group.unlisted_highest)
        self.conclude(&tally, group)
        return True

    cdef void evaluate_all(self, Py_ssize_t k, double width) noexcept:
        """The same from all shelves."""
        cdef Group *group = &self.groups[k]
        cdef int32_t c = group.first_class
        cdef int32_t s
        cdef Tally tally
        self.begin(&tally, k, width)
        while c >= 0:
            s = self.shelves.first[c]
            while s >= 0:
                self.consider(&tally, s)
                s = self.shelves.shelves[s].next
            c = self.next_class[c]
        self.conclude(&tally, group)

    cdef void make_shortlist(self, Py_ssize_t k, double width) noexcept:
        """Put the shelves of group k with the highest indices on its shortlist."""
        cdef Group *group = &self.groups[k]
        cdef double[LISTED] indices
        cdef double index
        cdef double unlisted = -INFINITY
        cdef double slope = 0.0
        cdef double highest = -INFINITY
        cdef int32_t *shortlist = &self.shortlists[group.slot, 0]
        cdef Shelf *shelves = &self.shelves.shelves[0]
        cdef const int32_t *first = &self.shelves.first[0]
        cdef Py_ssize_t n_listed = 0
        cdef Py_ssize_t i
        cdef int32_t c = group.first_class
        cdef int32_t s, left_out
        while c >= 0:
            s = first[c]
            while s >= 0:
                index = shelves[s].mean + width * shelves[s].inverse_root
                left_out = s
                if n_listed < LISTED or index > indices[LISTED - 1]:
                    if n_listed < LISTED:
                        n_listed += 1
                        left_out = -1
                    else:
                        left_out = shortlist[LISTED - 1]
                        unlisted = max(unlisted, indices[LISTED - 1])
                    i = n_listed - 1
                    while i > 0 and indices[i - 1] < index:
                        indices[i] = indices[i - 1]
                        shortlist[i] = shortlist[i - 1]
                        i -= 1
                    indices[i] = index
                    shortlist[i] = s
                else:
                    unlisted = max(unlisted, index)
                if left_out >= 0:
                    slope = max(slope, shelves[left_out].inverse_root)
                    highest = max(highest, shelves[left_out].mean)
                s = shelves[s].next
            c = self.next_class[c]
        group.n_listed = <int32_t>n_listed
        group.unlisted = unlisted
        group.unlisted_since = width
        group.unlisted_slope = slope
        group.unlisted_highest = highest

    cdef void enlist(self, Group *group, int32_t shelf) noexcept:
        """A shelf has changed: from now on it is looked at itself."""
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[group.slot, i] == shelf:
                return
        if group.n_listed == MOST_LISTED:
            group.n_listed = -1
        if group.n_listed >= 0:
            self.shortlists[group.slot, group.n_listed] = shelf
            group.n_listed += 1

    cdef void strike(self, Group *group, int32_t shelf) noexcept:
        """A shelf is about to go."""
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[group.slot, i] == shelf:
                group.n_listed -= 1
                self.shortlists[group.slot, i] = self.shortlists[group.slot, group.n_listed]
                return

    cdef void begin(self, Tally *tally, Py_ssize_t k, double width) noexcept:
        tally.mean = self.means[self.leader[k]]
        tally.root = self.inverse_root[self.leader[k]]
        tally.width = width
        tally.best = -INFINITY
        tally.top_mean = -INFINITY
        tally.top_root = 0.0
        tally.rest = -INFINITY
        tally.slope = 0.0
        tally.highest = -INFINITY
        tally.top = -1
        tally.top_shelf = -1

    cdef void consider(self, Tally *tally, int32_t s) noexcept:
        cdef Shelf *shelf = &self.shelves.shelves[s]
        cdef double value = (shelf.mean - tally.mean) + tally.width * (
            shelf.inverse_root - tally.root
        )
        cdef double index = shelf.mean + tally.width * shelf.inverse_root
        cdef int32_t e = shelf.top
        tally.highest = max(tally.highest, shelf.mean)
        tally.slope = max(tally.slope, shelf.inverse_root)
        if value >= tally.best:
            if shelf.length > 1:
                e = self.lowest_of_equals(tally, s, value)
            if value > tally.best or e < tally.top:
                # The best so far is one of the others now.
                if tally.top >= 0:
                    index = max(self.runner_up(tally), tally.top_mean + tally.width * tally.top_root)
                else:
                    index = -INFINITY
                tally.best = value
                tally.top = e
                tally.top_shelf = s
                tally.top_mean = self.means[e]
                tally.top_root = shelf.inverse_root
        tally.rest = max(tally.rest, index)

    cdef void conclude(self, Tally *tally, Group *group) noexcept:
        if tally.top >= 0:
            tally.rest = max(tally.rest, self.runner_up(tally))
        group.top = tally.top
        group.top_mean = tally.top_mean
        group.top_root = tally.top_root
        group.highest = tally.highest
        group.slope = tally.slope
        group.since = tally.width
        group.rest = tally.rest
        if tally.rest > -INFINITY:
            group.rest += ROUNDING * (fabs(tally.rest) + fabs(tally.top_mean) + 50.0)

    cdef int32_t lowest_of_equals(self, Tally *tally, int32_t s, double value) noexcept:
        """The lowest element on shelf s with the exchange index `value`, which is its top's.

        A lower mean may round to the same.
        """
        cdef Shelf *shelf = &self.shelves.shelves[s]
        cdef int32_t lowest = shelf.top
        cdef int32_t e = lowest
        while True:
            e = self.shelves.below(s, self.means[e])
            if e < 0 or value > (self.means[e] - tally.mean) + tally.width * (
                shelf.inverse_root - tally.root
            ):
                return lowest
            lowest = min(lowest, e)

    cdef double runner_up(self, Tally *tally) noexcept:
        """A bound on the index of the others on the shelf of the best."""
        cdef Shelf *shelf = &self.shelves.shelves[tally.top_shelf]
        cdef int32_t other = shelf.top
        if shelf.length == 1:
            return -INFINITY
        # Those with the mean of the shelf's top and a higher number never win.
        if other == tally.top:
            other = self.shelves.below(tally.top_shelf, shelf.mean)
        return self.means[other] + tally.width * shelf.inverse_root if other >= 0 else -INFINITY

    # ---- learning ----

    cdef bint withdraw(self, Py_ssize_t e) noexcept:
        """Before the statistics of an element outside change: take it off its shelf, unless it is
        alone there. Returns whether it is.
        """
        if self.shelves.is_alone(e):
            return True
        if self.shelves.shelves[self.shelves.shelf_of[e]].length == 1:
            self.strike(self.group_of(e), self.shelves.shelf_of[e])
        self.shelves.take(e)
        return False

    cdef void come_back(self, Py_ssize_t e, bint alone) noexcept:
        """After they have changed."""
        cdef Group *group = self.group_of(e)
        if alone:
            self.shelves.relabel(e, self.inverse_root[e])
        else:
            self.put(e)
        self.enlist(group, self.shelves.shelf_of[e])
        group.highest = max(group.highest, self.means[e])
        if group.top == e:
            group.top_mean = self.means[e]
            group.top_root = self.inverse_root[e]
        if group.top != e or not alone:
            group.rest = INFINITY

    cdef Group *group_of(self, Py_ssize_t e) noexcept:
        return &self.groups[self.position_of_slot[self.class_slot[self.class_of[e]]]]

    cdef void put(self, Py_ssize_t e) noexcept:
        """Put an element on the shelf where its statistics belong."""
        self.shelves.put(e, self.counts[e], self.inverse_root[e])

    # ---- groups ----

    cdef void forget(self, Py_ssize_t k) noexcept:
        """Group k has other members than it had: what is known of it no longer holds."""
        cdef Group *group = &self.groups[k]
        group.top = -1
        group.top_mean = -INFINITY
        group.top_root = 0.0
        group.rest = INFINITY
        group.since = 0.0
        group.slope = 0.0
        group.highest = INFINITY
        group.n_listed = -1

    cdef void ungroup(self) noexcept:
        """Empty all groups; slots are positions again."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.forget(k)
            self.groups[k].first_class = -1
            self.groups[k].slot = <int32_t>k
            self.position_of_slot[k] = <int32_t>k
        self.class_slot[:] = -1

    cdef void attach(self, Py_ssize_t c, Py_ssize_t k) noexcept:
        """Put class c into group k."""
        self.next_class[c] = self.groups[k].first_class
        self.groups[k].first_class = <int32_t>c
        self.class_slot[c] = self.groups[k].slot


GROUP = np.dtype(
    [
        ("top_mean", "f8"),
        ("top_root", "f8"),
        ("rest", "f8"),
        ("since", "f8"),
        ("slope", "f8"),
        ("highest", "f8"),
        ("unlisted", "f8"),
        ("unlisted_since", "f8"),
        ("unlisted_slope", "f8"),
        ("unlisted_highest", "f8"),
        ("top", "i4"),
        ("first_class", "i4"),
        ("slot", "i4"),
        ("n_listed", "i4"),
    ],
    align=True,
)
