"""The elements outside the leader, grouped by partner: who beats it, whom to try next.

A round changes the D elements played and no others, so most of what was true of a group in the
last round still is. Every group keeps a bound on what its members can reach; only a group whose
bound says that it might matter is looked into. docs/rounds.md explains and proves it.
"""

cimport cython

import numpy as np

from libc.math cimport INFINITY, fabs

from matroid_bandits._core.policies.maub.chords cimport later, set_chord, slope_between, value_at
from matroid_bandits._core.policies.maub.classes cimport Shelf

# Bounds are rounded otherwise than the indices they bound. Both take fewer than 20 operations, each
# with a relative error of 2**-53 of the numbers in it; this is several times as much.
cdef double ROUNDING = 1e-14

# The `until` of a bound that does not hold at any width.
cdef double NEVER = -1.0

cdef enum:
    LISTED = 3  # shelves on a new shortlist
    MOST_LISTED = 10


@cython.final
cdef class Challengers:
    """Classes of elements outside the leader in groups, one for each element of the leader."""

    def __init__(
        self,
        const int32_t[::1] symmetry_class,
        Py_ssize_t n_classes,
        Py_ssize_t rank,
        const double[::1] means,
        const double[::1] inverse_root,
        const int64_t[::1] counts,
        double scale,
    ):
        self.rank = rank
        self.n_classes = n_classes
        self.scale = scale
        # sqrt(2 ln l) is below 10 for any number of rounds that can be counted.
        self.largest = 50.0 * scale
        self.symmetry_class = symmetry_class
        self.means = means
        self.inverse_root = inverse_root
        self.counts = counts
        self.shelves = Shelves(symmetry_class, n_classes, means)
        self.leader = np.zeros(rank, dtype=np.intp)
        self.groups = np.zeros(rank, dtype=GROUP)
        self.next_class = np.full(n_classes, -1, dtype=np.int32)
        self.class_slot = np.full(n_classes, -1, dtype=np.int32)
        self.position_of_slot = np.zeros(rank, dtype=np.int32)
        self.summaries = np.zeros(n_classes, dtype=SUMMARY)
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
        cdef double last_mean = -INFINITY
        cdef double mean, root, value, bound, margin
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
        group = &self.groups[0]
        for k in range(self.rank):
            x = leader[k]
            mean = means[x]
            root = roots[x]
            if group.highest > mean and test_leader:
                # First the cheap way, then for certain.
                self.evaluate(k, width)
                if group.highest > mean and self.is_beaten(k, mean):
                    return BEATEN
            if mean <= last_mean and (mean < last_mean or x < last):
                reordered = True
            last = x
            last_mean = mean
            bound = (group.cap + width * group.cap_slope) - (mean + width * root)
            bounds[k] = bound if width <= group.rest.until else INFINITY
            group += 1
        if reordered and test_leader:
            return REORDERED
        # In order, the means are no larger than the first or the last.
        margin = ROUNDING * max(fabs(means[leader[0]]), fabs(last_mean))
        # The last winner first: it mostly comes close to winning again, and then hardly any other
        # group needs a look, which the processor foresees.
        k = self.best_position
        value = self.exchange_value(k, width, margin, best)
        if value > best:
            best = value
            found = self.groups[k].top
        bounds[k] = -INFINITY
        for k in range(self.rank):
            # A group that is passed over has nothing better, nor anything as good.
            if bounds[k] + margin < best:
                continue
            value = self.exchange_value(k, width, margin, best)
            if value >= best and (value > best or self.groups[k].top < found):
                best = value
                found = self.groups[k].top
                self.best_position = k
        return found

    cdef double exchange_value(
        self, Py_ssize_t k, double width, double margin, double best
    ) noexcept:
        """The largest exchange index of group k if that is `best` or more, else anything less."""
        cdef Group *group = &self.groups[k]
        cdef double mean = self.means[self.leader[k]]
        cdef double root = self.inverse_root[self.leader[k]]
        cdef double value = (group.top_mean - mean) + width * (group.top_root - root)
        cdef double bound = value_at(&group.rest, width) - (mean + width * root) + margin
        if bound >= value and bound >= best:
            self.evaluate(k, width)
            value = (group.top_mean - mean) + width * (group.top_root - root)
        return value

    cdef bint is_beaten(self, Py_ssize_t k, double mean) noexcept:
        """Whether some mean in group k is above `mean`; if not, the highest of them is noted."""
        cdef Group *group = &self.groups[k]
        cdef double highest = -INFINITY
        cdef int32_t c = group.first_class
        cdef int32_t s
        while c >= 0:
            if self.summaries[c].bound.until >= 0 and self.summaries[c].highest <= mean:
                highest = max(highest, self.summaries[c].highest)
            else:
                s = self.shelves.first[c]
                while s >= 0:
                    if self.shelves.shelves[s].mean > mean:
                        return True
                    highest = max(highest, self.shelves.shelves[s].mean)
                    s = self.shelves.shelves[s].next
            c = self.next_class[c]
        group.highest = highest
        group.unlisted_highest = min(group.unlisted_highest, highest)
        return False

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
        cdef double unlisted = value_at(&group.unlisted, width)
        cdef Tally tally
        cdef Py_ssize_t i
        self.begin(&tally, k, width)
        for i in range(group.n_listed):
            self.consider(&tally, self.shortlists[group.slot, i])
        if unlisted > -INFINITY:
            if (
                unlisted + ROUNDING * (fabs(unlisted) + fabs(tally.mean) + self.largest)
                >= tally.top_mean + width * tally.top_root
            ):
                return False
            tally.rest = max(tally.rest, unlisted)
            tally.until = min(tally.until, group.unlisted.until)
            tally.rest_until = max(tally.rest_until, value_at(&group.unlisted, tally.until))
            tally.highest = max(tally.highest, group.unlisted_highest)
        self.conclude(&tally, group)
        group.is_top_listed = True
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
        cdef double index, threshold
        cdef double until = later(width, self.scale)
        cdef double unlisted = -INFINITY
        cdef double unlisted_until = -INFINITY
        cdef double highest = -INFINITY
        cdef int32_t *shortlist = &self.shortlists[group.slot, 0]
        cdef Shelf *shelves = &self.shelves.shelves[0]
        cdef const int32_t *first = &self.shelves.first[0]
        cdef Py_ssize_t n_listed = 0
        cdef Py_ssize_t i
        cdef int32_t c = group.first_class
        cdef int32_t s, left_out
        cdef Summary *summary
        while c >= 0:
            s = first[c]
            threshold = indices[LISTED - 1] if n_listed == LISTED else -INFINITY
            if shelves[s].next >= 0 and threshold > -INFINITY:
                # Several shelves: passed over if none of them can come onto the list.
                summary = &self.summaries[c]
                if summary.bound.until < 0.5 * (width + until):
                    self.summarise(c, width)
                if self.class_bound(c, width) <= threshold:
                    # What was worked out for a later width holds all the more for this one.
                    until = min(until, summary.bound.until)
                    unlisted = max(unlisted, self.class_bound(c, width))
                    unlisted_until = max(unlisted_until, self.class_bound(c, until))
                    highest = max(highest, summary.highest)
                    c = self.next_class[c]
                    continue
            while s >= 0:
                index = shelves[s].mean + width * shelves[s].inverse_root
                left_out = s
                if n_listed < LISTED or index > indices[LISTED - 1]:
                    left_out = -1
                    if n_listed < LISTED:
                        n_listed += 1
                    else:
                        left_out = shortlist[LISTED - 1]
                    i = n_listed - 1
                    while i > 0 and indices[i - 1] < index:
                        indices[i] = indices[i - 1]
                        shortlist[i] = shortlist[i - 1]
                        i -= 1
                    indices[i] = index
                    shortlist[i] = s
                if left_out >= 0:
                    index = shelves[left_out].mean + width * shelves[left_out].inverse_root
                    unlisted = index if index > unlisted else unlisted
                    index = shelves[left_out].mean + until * shelves[left_out].inverse_root
                    unlisted_until = index if index > unlisted_until else unlisted_until
                    index = shelves[left_out].mean
                    highest = index if index > highest else highest
                s = shelves[s].next
            c = self.next_class[c]
        group.n_listed = <int32_t>n_listed
        set_chord(&group.unlisted, width, unlisted, until, unlisted_until)
        group.unlisted_highest = highest

    cdef void summarise(self, int32_t c, double width) noexcept:
        """Bounds on all shelves of a class."""
        cdef Summary *summary = &self.summaries[c]
        cdef Shelf *shelf
        cdef double until = later(width, self.scale)
        cdef double index = -INFINITY
        cdef double index_until = -INFINITY
        cdef int32_t s = self.shelves.first[c]
        summary.highest = -INFINITY
        while s >= 0:
            shelf = &self.shelves.shelves[s]
            summary.highest = max(summary.highest, shelf.mean)
            index = max(index, shelf.mean + width * shelf.inverse_root)
            index_until = max(index_until, shelf.mean + until * shelf.inverse_root)
            s = shelf.next
        set_chord(&summary.bound, width, index, until, index_until)

    cdef double class_bound(self, int32_t c, double width) noexcept:
        """A bound on the index of class c, which must not be summarised for lower widths only."""
        cdef Summary *summary = &self.summaries[c]
        if width < summary.bound.since:
            # The chord from the width 0, where the index is the mean.
            return summary.highest + (summary.bound.least - summary.highest) * (
                width / summary.bound.since
            )
        return value_at(&summary.bound, width)

    cdef int32_t best_of_class(self, int32_t c, double threshold) noexcept:
        """The element of class c with the highest mean (ties: lowest element), if that is at
        least `threshold`; else -1.
        """
        cdef int32_t e
        if self.shelves.first[c] < 0 or (
            self.summaries[c].bound.until >= 0 and self.summaries[c].highest < threshold
        ):
            return -1
        e = self.shelves.best(c)
        return e if self.means[e] >= threshold else -1

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
        tally.until = later(width, self.scale)
        tally.best = -INFINITY
        tally.top_mean = -INFINITY
        tally.top_root = 0.0
        tally.rest = -INFINITY
        tally.rest_until = -INFINITY
        tally.highest = -INFINITY
        tally.top = -1
        tally.top_shelf = -1

    cdef void consider(self, Tally *tally, int32_t s) noexcept:
        cdef Shelf *shelf = &self.shelves.shelves[s]
        cdef double value = (shelf.mean - tally.mean) + tally.width * (
            shelf.inverse_root - tally.root
        )
        cdef int32_t e = shelf.top
        tally.highest = shelf.mean if shelf.mean > tally.highest else tally.highest
        if value >= tally.best and shelf.length > 1:
            e = self.lowest_of_equals(tally, s, value)
        if value < tally.best or (value == tally.best and e > tally.top):
            self.add_rest(tally, shelf.mean, shelf.inverse_root)
            return
        # The best so far is one of the others now.
        if tally.top >= 0:
            self.add_rest(tally, tally.top_mean, tally.top_root)
            self.add_runner_up(tally)
        tally.best = value
        tally.top = e
        tally.top_shelf = s
        tally.top_mean = self.means[e] if shelf.length > 1 else shelf.mean
        tally.top_root = shelf.inverse_root

    cdef void add_rest(self, Tally *tally, double mean, double root) noexcept:
        cdef double index = mean + tally.width * root
        tally.rest = index if index > tally.rest else tally.rest
        index = mean + tally.until * root
        tally.rest_until = index if index > tally.rest_until else tally.rest_until

    cdef void add_runner_up(self, Tally *tally) noexcept:
        """The others on the shelf of the best are bounded by the next of them."""
        cdef Shelf *shelf = &self.shelves.shelves[tally.top_shelf]
        cdef int32_t other = shelf.top
        if shelf.length == 1:
            return
        # Those with the mean of the shelf's top and a higher number never win.
        if other == tally.top:
            other = self.shelves.below(tally.top_shelf, shelf.mean)
        if other >= 0:
            self.add_rest(tally, self.means[other], shelf.inverse_root)

    cdef void conclude(self, Tally *tally, Group *group) noexcept:
        cdef double margin = ROUNDING * (fabs(tally.top_mean) + self.largest)
        if tally.top >= 0:
            self.add_runner_up(tally)
        group.top = tally.top
        group.top_mean = tally.top_mean
        group.top_root = tally.top_root
        group.is_top_listed = False
        group.highest = tally.highest
        if tally.rest > -INFINITY:
            tally.rest += margin + ROUNDING * fabs(tally.rest)
            tally.rest_until += margin + ROUNDING * fabs(tally.rest_until)
        set_chord(&group.rest, tally.width, tally.rest, tally.until, tally.rest_until)
        self.set_cap(group)

    cdef void set_cap(self, Group *group) noexcept:
        """The line above the chord of the others and above the best, from `since` to `until`."""
        cdef Bound *rest = &group.rest
        cdef double least = max(rest.least, group.top_mean + rest.since * group.top_root)
        cdef double least_until = max(
            rest.least + (rest.until - rest.since) * rest.slope,
            group.top_mean + rest.until * group.top_root,
        )
        if least > -INFINITY:
            least += ROUNDING * (fabs(least) + self.largest)
            least_until += ROUNDING * (fabs(least_until) + self.largest)
        # At most 1: where the line meets the width 0 is as exact as the two points are.
        group.cap_slope = slope_between(rest.since, least, rest.until, least_until)
        group.cap = least - rest.since * group.cap_slope

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

    # ---- learning ----

    cdef bint withdraw(self, Py_ssize_t e) noexcept:
        """Before the statistics of an element outside change: take it off its shelf, unless it is
        alone there. Returns whether it is.
        """
        if self.shelves.is_alone(e):
            return True
        self.take(e)
        return False

    cdef void come_back(self, Py_ssize_t e, bint alone) noexcept:
        """After they have changed."""
        cdef Group *group = self.group_of(e)
        if group.top == e:
            group.top_mean = self.means[e]
            group.top_root = self.inverse_root[e]
            if alone:
                # The others are what they were.
                self.shelves.relabel(e, self.inverse_root[e])
                if not group.is_top_listed:
                    self.enlist(group, self.shelves.shelf_of[e])
                group.highest = max(group.highest, self.means[e])
                self.summaries[self.symmetry_class[e]].bound.until = NEVER
                if group.rest.until >= 0:
                    self.set_cap(group)
                return
        if alone:
            self.shelves.relabel(e, self.inverse_root[e])
            self.shelf_changed(e)
        else:
            self.put(e)

    # ---- elements come and go ----

    cdef void put(self, Py_ssize_t e) noexcept:
        """Put an element on the shelf where its statistics belong."""
        self.shelves.put(e, self.counts[e], self.inverse_root[e])
        self.shelf_changed(e)

    cdef void shelf_changed(self, Py_ssize_t e) noexcept:
        """The shelf with e on it may have a better top than it had."""
        cdef Group *group = self.group_of(e)
        self.summaries[self.symmetry_class[e]].bound.until = NEVER
        if group != NULL:
            self.enlist(group, self.shelves.shelf_of[e])
            group.highest = max(group.highest, self.means[e])
            group.rest.until = NEVER

    cdef void take(self, Py_ssize_t e) noexcept:
        """Take an element off its shelf."""
        cdef Group *group = self.group_of(e)
        if group != NULL and self.shelves.shelves[self.shelves.shelf_of[e]].length == 1:
            self.strike(group, self.shelves.shelf_of[e])
        self.shelves.take(e)

    cdef Group *group_of(self, Py_ssize_t e) noexcept:
        """The group of an element's class, NULL if it has none."""
        cdef int32_t slot = self.class_slot[self.symmetry_class[e]]
        return &self.groups[self.position_of_slot[slot]] if slot >= 0 else NULL

    # ---- groups ----

    cdef void drop_top(self, Py_ssize_t k) noexcept:
        """The best of group k is no longer there."""
        cdef Group *group = &self.groups[k]
        group.top = -1
        group.top_mean = -INFINITY
        group.top_root = 0.0
        group.rest.until = NEVER

    cdef void forget(self, Py_ssize_t k) noexcept:
        """Group k has other members than it had: what is known of it no longer holds."""
        cdef Group *group = &self.groups[k]
        self.drop_top(k)
        group.highest = INFINITY
        group.n_listed = -1

    cdef void forget_bounds(self) noexcept:
        """Members are what they were, but widths may be lower than those bounds were made for."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.groups[k].rest.until = NEVER

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

    cdef void move_all(self, Py_ssize_t old, Py_ssize_t new) noexcept:
        """Move the only class of group `old` into group `new`, which is empty, with all that is
        known of it: indices do not depend on the partner.
        """
        cdef int32_t old_slot = self.groups[old].slot
        cdef int32_t new_slot = self.groups[new].slot
        self.groups[old], self.groups[new] = self.groups[new], self.groups[old]
        self.groups[old].slot = old_slot
        self.groups[new].slot = new_slot
        self.shortlists[new_slot, :] = self.shortlists[old_slot, :]
        self.forget(old)
        self.groups[old].highest = -INFINITY
        self.class_slot[self.groups[new].first_class] = new_slot

    cdef void move(self, int32_t c, Py_ssize_t old, Py_ssize_t new) noexcept:
        """Put class c, which is in no list of classes, from group `old` into group `new`."""
        cdef Group *group = &self.groups[old]
        cdef Bound *bound
        cdef double least_until
        cdef int32_t s
        cdef Py_ssize_t i
        if group.top >= 0 and self.symmetry_class[group.top] == c:
            self.drop_top(old)
        i = 0
        while i < group.n_listed:
            s = self.shortlists[group.slot, i]
            if self.symmetry_class[self.shelves.shelves[s].top] == c:
                self.strike(group, s)
            else:
                i += 1
        self.attach(c, new)
        group = &self.groups[new]
        group.rest.until = NEVER
        bound = &group.unlisted
        least_until = bound.least + (bound.until - bound.since) * bound.slope
        s = self.shelves.first[c]
        while s >= 0:
            group.highest = max(group.highest, self.shelves.shelves[s].mean)
            if 0 <= group.n_listed < MOST_LISTED:
                self.shortlists[group.slot, group.n_listed] = s
                group.n_listed += 1
            elif group.n_listed >= 0:
                # No room on the list: raise the bound on what is not on it.
                group.unlisted_highest = max(group.unlisted_highest, self.shelves.shelves[s].mean)
                bound.least = max(
                    bound.least,
                    self.shelves.shelves[s].mean
                    + bound.since * self.shelves.shelves[s].inverse_root,
                )
                least_until = max(
                    least_until,
                    self.shelves.shelves[s].mean
                    + bound.until * self.shelves.shelves[s].inverse_root,
                )
            s = self.shelves.shelves[s].next
        if group.n_listed >= 0:
            set_chord(bound, bound.since, bound.least, bound.until, least_until)


BOUND = np.dtype(
    [("least", "f8"), ("slope", "f8"), ("since", "f8"), ("until", "f8")], align=True
)
SUMMARY = np.dtype([("bound", BOUND), ("highest", "f8")], align=True)
GROUP = np.dtype(
    [
        ("top_mean", "f8"),
        ("top_root", "f8"),
        ("rest", BOUND),
        ("cap", "f8"),
        ("cap_slope", "f8"),
        ("highest", "f8"),
        ("unlisted", BOUND),
        ("unlisted_highest", "f8"),
        ("top", "i4"),
        ("first_class", "i4"),
        ("slot", "i4"),
        ("n_listed", "i4"),
        ("is_top_listed", "i4"),
    ],
    align=True,
)
