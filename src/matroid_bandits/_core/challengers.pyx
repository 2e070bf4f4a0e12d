"""The elements outside the leader, grouped by partner: who beats it, whom to try next.

A round changes the D elements played and no others, so most of what was true of a group in the
last round still is. Every group keeps a bound on what its members can reach; only a group whose
bound says that it might matter is looked into. docs/rounds.md explains and proves it.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from matroid_bandits._core.shelves cimport Shelf

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
        cdef double highest_bound = -INFINITY
        cdef double last_mean = -INFINITY
        cdef double mean, root, value, bound
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
            bound = group.rest - (mean + width * root) + ROUNDING * fabs(mean)
            if width > group.since:
                bound += (width - group.since) * group.slope
            bounds[k] = bound
            if bound > highest_bound:
                highest_bound = bound
            group += 1
        if reordered and test_leader:
            return REORDERED
        if highest_bound < best:
            return found
        for k in range(self.rank):
            # A group that is not looked into has nothing better, nor anything as good.
            if bounds[k] < best:
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
        cdef Shelf *shelf
        cdef Shelf *shelves = &self.shelves.shelves[0]
        cdef const int32_t *first = &self.shelves.first[0]
        while c >= 0:
            s = first[c]
            while s >= 0:
                shelf = shelves + s
                m = shelf.mean
                r = shelf.inverse_root
                value = (m - mean) + width * (r - root)
                highest = m if m > highest else highest
                slope = r if r > slope else slope
                other = shelf.top
                if value >= best and shelf.length > 1:
                    other = self.lowest_of_equals(s, value, mean, root, width)
                if value > best or (value == best and other < top):
                    if top >= 0 and shelves[top_shelf].length > 1:
                        rest = max(rest, self.runner_up(top, top_shelf, width))
                    # From here on m and r are those of the one that was best so far.
                    best = value
                    value = top_mean
                    top_mean = m if shelf.length == 1 else self.shelves.nodes[other].mean
                    m = value
                    value = top_root
                    top_root = r
                    r = value
                    top = other
                    top_shelf = s
                m += width * r
                rest = m if m > rest else rest
                s = shelf.next
            c = self.next_class[c]
        if top >= 0 and shelves[top_shelf].length > 1:
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
