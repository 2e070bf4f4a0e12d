"""The elements outside the leader, grouped by partner: who beats it, whom to try next.

A round changes the D elements played and no others, so most of what was true of a group in the
last round still is. Every group keeps a bound on what its members can reach; only a group whose
bound says that it might matter is looked into. docs/rounds.md explains and proves it.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

# Bounds are rounded otherwise than the indices they bound. Both take fewer than 20 operations, each
# with a relative error of 2**-53 of the numbers in it; this is several times as much.
cdef double ROUNDING = 1e-14


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
        self.shelves = Shelves(class_of, n_classes)
        self.leader = np.zeros(rank, dtype=np.intp)
        self.groups = np.zeros(rank, dtype=GROUP)
        self.next_class = np.full(n_classes, -1, dtype=np.int32)
        self.class_slot = np.full(n_classes, -1, dtype=np.int32)
        self.position_of_slot = np.zeros(rank, dtype=np.int32)
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
        cdef double mean, root, value, wider
        cdef Py_ssize_t last = -1
        cdef Py_ssize_t found = NONE
        cdef Py_ssize_t k, x
        cdef bint reordered = False
        cdef Group *group
        for k in range(self.rank):
            x = self.leader[k]
            group = &self.groups[k]
            mean = self.means[x]
            root = self.inverse_root[x]
            if group.highest > mean and test_leader:
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
            wider = width - group.since if width > group.since else 0.0
            self.bounds[k] = (
                (group.rest + wider * group.slope) - (mean + width * root) + ROUNDING * fabs(mean)
            )
        if reordered and test_leader:
            return REORDERED
        for k in range(self.rank):
            # A group that is not looked into has nothing better, nor anything as good.
            if self.bounds[k] < best:
                continue
            self.evaluate(k, width)
            x = self.leader[k]
            group = &self.groups[k]
            value = (group.top_mean - self.means[x]) + width * (
                group.top_root - self.inverse_root[x]
            )
            if value >= best and (value > best or group.top < found):
                best = value
                found = group.top
                self.best_position = k
        return found

    cdef void evaluate(self, Py_ssize_t k, double width) noexcept:
        """Look into group k: its best exchange, a bound on the others, its highest mean."""
        cdef Group *group = &self.groups[k]
        cdef double mean = self.means[self.leader[k]]
        cdef double root = self.inverse_root[self.leader[k]]
        cdef double best = -INFINITY
        cdef double rest = -INFINITY
        cdef double highest = -INFINITY
        cdef double slope = 0.0
        cdef double top_mean = -INFINITY
        cdef double top_root = 0.0
        cdef double value, m, r
        cdef int32_t top = -1
        cdef int32_t top_shelf = -1
        cdef int32_t c = group.first_class
        cdef int32_t s, other
        while c >= 0:
            s = self.shelves.first[c]
            while s >= 0:
                m = self.shelves.shelves[s].mean
                r = self.shelves.shelves[s].inverse_root
                value = (m - mean) + width * (r - root)
                highest = max(highest, m)
                slope = max(slope, r)
                if value >= best:
                    other = self.shelves.shelves[s].top
                    if self.shelves.shelves[s].length > 1:
                        other = self.lowest_of_equals(s, value, mean, root, width)
                    if value > best or other < top:
                        if top >= 0:
                            rest = max(rest, self.runner_up(top, top_shelf, width))
                            rest = max(rest, top_mean + width * top_root)
                        best = value
                        top = other
                        top_shelf = s
                        top_mean = self.shelves.nodes[top].mean
                        top_root = r
                        s = self.shelves.shelves[s].next
                        continue
                rest = max(rest, m + width * r)
                s = self.shelves.shelves[s].next
            c = self.next_class[c]
        if top >= 0:
            rest = max(rest, self.runner_up(top, top_shelf, width))
        group.top = top
        group.top_mean = top_mean
        group.top_root = top_root
        group.highest = highest
        group.slope = slope
        group.since = width
        group.rest = rest
        if rest > -INFINITY:
            group.rest += ROUNDING * (fabs(rest) + fabs(top_mean) + 50.0)

    cdef int32_t lowest_of_equals(
        self, int32_t shelf, double value, double mean, double root, double width
    ) noexcept:
        """The lowest element of `shelf` whose index for the partner (mean, root) is `value`.

        That is the value of the shelf's top; a lower mean may round to the same.
        """
        cdef double r = self.shelves.shelves[shelf].inverse_root
        cdef int32_t lowest = self.shelves.shelves[shelf].top
        cdef int32_t e = lowest
        while True:
            e = self.shelves.below(shelf, self.shelves.nodes[e].mean)
            if e < 0 or (self.shelves.nodes[e].mean - mean) + width * (r - root) < value:
                return lowest
            lowest = min(lowest, e)

    cdef double runner_up(self, int32_t top, int32_t shelf, double width) noexcept:
        """A bound on what others on the shelf of the best exchange reach."""
        cdef int32_t other = self.shelves.shelves[shelf].top
        if self.shelves.shelves[shelf].length == 1:
            return -INFINITY
        # Those with the mean of the shelf's top and a higher number never win.
        if other == top:
            other = self.shelves.below(shelf, self.shelves.nodes[top].mean)
        if other < 0:
            return -INFINITY
        return self.shelves.nodes[other].mean + width * self.shelves.shelves[shelf].inverse_root

    # ---- learning ----

    cdef bint withdraw(self, Py_ssize_t e) noexcept:
        """Before the statistics of an element outside change: take it off its shelf, unless it is
        alone there. Returns whether it is.
        """
        if self.shelves.is_alone(e):
            return True
        self.shelves.take(e)
        return False

    cdef void come_back(self, Py_ssize_t e, bint alone) noexcept:
        """After they have changed."""
        cdef Group *group = &self.groups[self.position_of_slot[self.class_slot[self.class_of[e]]]]
        if alone:
            self.shelves.relabel(e, self.means[e], self.inverse_root[e])
        else:
            self.put(e)
        group.highest = max(group.highest, self.means[e])
        if group.top == e:
            group.top_mean = self.means[e]
            group.top_root = self.inverse_root[e]
        if group.top != e or not alone:
            group.rest = INFINITY

    cdef void put(self, Py_ssize_t e) noexcept:
        """Put an element on the shelf where its statistics belong."""
        self.shelves.put(e, self.means[e], self.counts[e], self.inverse_root[e])

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
        ("top", "i4"),
        ("first_class", "i4"),
        ("slot", "i4"),
    ],
    align=True,
)
