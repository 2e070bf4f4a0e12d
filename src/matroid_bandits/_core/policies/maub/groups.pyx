"""The outside elements in groups by partner: which is where, and which bounds still hold.

A round changes the D elements played and no others, so most of what is known of a group in one
round is true in the next. Every group keeps bounds on the means and indices of its elements; here
is what happens to them when elements and classes change places. `search` makes and uses them.
"""

cimport cython

import numpy as np

from matroid_bandits._core.policies.maub.chords cimport NEVER, set_chord
from matroid_bandits._core.policies.maub.classes cimport Bucket


cdef class Groups:
    """Classes of outside elements in groups, one for each element of the leader."""

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
        # sqrt(2 ln l) is below 10 for every number of rounds that can be counted. Below 1e-300
        # errors are absolute, not relative.
        self.largest = 50.0 * scale + 1e-300
        self.symmetry_class = symmetry_class
        self.means = means
        self.inverse_root = inverse_root
        self.counts = counts
        self.buckets = Buckets(symmetry_class, n_classes, means)
        self.groups = np.zeros(rank, dtype=GROUP)
        self.leader = np.zeros(rank, dtype=np.intp)
        self.order = np.zeros(rank, dtype=np.int32)
        self.ordered = np.zeros(rank, dtype=np.intp)
        self.next_class = np.full(n_classes, -1, dtype=np.int32)
        self.previous_class = np.full(n_classes, -1, dtype=np.int32)
        self.class_group = np.full(n_classes, -1, dtype=np.int32)
        self.class_bounds = np.zeros(n_classes, dtype=CLASS_BOUND)
        self.shortlists = np.zeros((rank, MAX_LISTED), dtype=np.int32)

    # ---- elements ----

    @cython.final
    cdef void insert(self, Py_ssize_t e) noexcept:
        """An element comes from the leader, or has new statistics."""
        self.buckets.insert(e, self.counts[e], self.inverse_root[e])
        self.bucket_improved(e)

    @cython.final
    cdef void remove(self, Py_ssize_t e) noexcept:
        """An element goes to the leader, or gets new statistics."""
        cdef int32_t k = self.class_group[self.symmetry_class[e]]
        if k >= 0 and self.buckets.buckets[self.buckets.bucket_of[e]].length == 1:
            self.remove_from_shortlist(k, self.buckets.bucket_of[e])
        self.buckets.remove(e)

    @cython.final
    cdef bint begin_change(self, Py_ssize_t e) noexcept:
        """Before the statistics of an element change: remove it, unless it is alone in its bucket
        and can stay there. Returns whether it is.
        """
        if self.buckets.is_alone(e):
            return True
        self.remove(e)
        return False

    @cython.final
    cdef void end_change(self, Py_ssize_t e, bint is_alone) noexcept:
        """After the statistics of an element have changed."""
        cdef int32_t k = self.class_group[self.symmetry_class[e]]
        cdef Group *group = &self.groups[k]
        if group.best == e:
            group.best_mean = self.means[e]
            group.best_root = self.inverse_root[e]
            if is_alone:
                # The rest has not changed.
                self.buckets.raise_count(e, self.inverse_root[e])
                if not group.is_best_listed:
                    self.add_to_shortlist(k, self.buckets.bucket_of[e])
                group.highest_mean = max(group.highest_mean, self.means[e])
                self.class_bounds[self.symmetry_class[e]].chord.until = NEVER
                if group.rest.until >= 0:
                    set_cap(group, self.largest)
                return
        if is_alone:
            self.buckets.raise_count(e, self.inverse_root[e])
            self.bucket_improved(e)
        else:
            self.insert(e)

    @cython.final
    cdef void bucket_improved(self, Py_ssize_t e) noexcept:
        """The bucket of e may have a better element than before."""
        cdef int32_t c = self.symmetry_class[e]
        cdef int32_t k = self.class_group[c]
        cdef Group *group
        self.class_bounds[c].chord.until = NEVER
        if k >= 0:
            group = &self.groups[k]
            self.add_to_shortlist(k, self.buckets.bucket_of[e])
            group.highest_mean = max(group.highest_mean, self.means[e])
            group.rest.until = NEVER

    # ---- shortlists ----

    @cython.final
    cdef void add_to_shortlist(self, Py_ssize_t k, int32_t bucket) noexcept:
        """A bucket has changed: the bound on what is not listed does not cover it any more."""
        cdef Group *group = &self.groups[k]
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[k, i] == bucket:
                return
        if group.n_listed == MAX_LISTED:
            group.n_listed = -1
        if group.n_listed >= 0:
            self.shortlists[k, group.n_listed] = bucket
            group.n_listed += 1

    @cython.final
    cdef void remove_from_shortlist(self, Py_ssize_t k, int32_t bucket) noexcept:
        """A bucket is about to become empty, or to leave the group."""
        cdef Group *group = &self.groups[k]
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[k, i] == bucket:
                group.n_listed -= 1
                self.shortlists[k, i] = self.shortlists[k, group.n_listed]
                return

    # ---- bounds that no longer hold ----

    @cython.final
    cdef void remove_best(self, Py_ssize_t k) noexcept:
        """The best element of group k has left it."""
        cdef Group *group = &self.groups[k]
        group.best = -1
        group.best_mean = -INFINITY
        group.best_root = 0.0
        group.rest.until = NEVER

    @cython.final
    cdef void forget(self, Py_ssize_t k) noexcept:
        """Group k has other elements than before: no bound holds."""
        cdef Group *group = &self.groups[k]
        self.remove_best(k)
        group.highest_mean = INFINITY
        group.n_listed = -1

    @cython.final
    cdef void lower_widths(self) noexcept:
        """Widths may now be lower than those that bounds begin at. The value of a bound at its
        last width holds at all lower ones, as indices grow with the width.
        """
        cdef Py_ssize_t k
        cdef Group *group
        for k in range(self.rank):
            group = &self.groups[k]
            if group.rest.until >= 0:
                group.rest.value = value_at_end(&group.rest)
                group.rest.slope = 0.0
                group.rest.since = 0.0
                set_cap(group, self.largest)

    # ---- classes ----

    @cython.final
    cdef void set_leader(self, const Py_ssize_t[::1] ordered) noexcept:
        """A new leader, ascending by (mean, element): one group for each, no class in any."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.leader[k] = ordered[k]
            self.ordered[k] = ordered[k]
            self.order[k] = <int32_t>k
            self.forget(k)
            self.groups[k].first_class = -1
        self.class_group[:] = -1

    @cython.final
    cdef void add_class(self, Py_ssize_t c, Py_ssize_t k) noexcept:
        """Put class c into group k."""
        cdef int32_t other = self.groups[k].first_class
        self.next_class[c] = other
        self.previous_class[c] = -1
        if other >= 0:
            self.previous_class[other] = <int32_t>c
        self.groups[k].first_class = <int32_t>c
        self.class_group[c] = <int32_t>k

    @cython.final
    cdef void unlink_class(self, int32_t c) noexcept:
        """Take class c out of the list of its group."""
        cdef int32_t before = self.previous_class[c]
        cdef int32_t after = self.next_class[c]
        if before >= 0:
            self.next_class[before] = after
        else:
            self.groups[self.class_group[c]].first_class = after
        if after >= 0:
            self.previous_class[after] = before

    @cython.final
    cdef void move_only_class(self, Py_ssize_t old, Py_ssize_t new) noexcept:
        """Move the only class of group `old` into group `new`, which is empty, with all bounds:
        indices do not depend on the partner.
        """
        cdef int32_t i
        self.groups[new] = self.groups[old]
        for i in range(self.groups[new].n_listed):
            self.shortlists[new, i] = self.shortlists[old, i]
        self.forget(old)
        self.groups[old].first_class = -1
        self.groups[old].highest_mean = -INFINITY
        self.class_group[self.groups[new].first_class] = <int32_t>new

    @cython.final
    cdef void move_class(self, int32_t c, Py_ssize_t new) noexcept:
        """Move class c from its group to group `new`."""
        cdef Py_ssize_t old = self.class_group[c]
        cdef Group *group = &self.groups[old]
        cdef int32_t b
        cdef Py_ssize_t i = 0
        if group.best >= 0 and self.symmetry_class[group.best] == c:
            self.remove_best(old)
        while i < group.n_listed:
            b = self.shortlists[old, i]
            if self.symmetry_class[self.buckets.buckets[b].top] == c:
                self.remove_from_shortlist(old, b)
            else:
                i += 1
        self.unlink_class(c)
        self.enter_class(c, new)

    @cython.final
    cdef void enter_class(self, int32_t c, Py_ssize_t new) noexcept:
        """Put class c, which is in no group, into group `new`, and correct its bounds."""
        cdef Group *group = &self.groups[new]
        cdef Chord *unlisted = &group.unlisted
        cdef Bucket *bucket
        cdef double value_until = value_at_end(unlisted)
        cdef int32_t b = self.buckets.first[c]
        self.add_class(c, new)
        group.rest.until = NEVER
        while b >= 0:
            bucket = &self.buckets.buckets[b]
            group.highest_mean = max(group.highest_mean, bucket.mean)
            if 0 <= group.n_listed < MAX_LISTED:
                self.shortlists[new, group.n_listed] = b
                group.n_listed += 1
            elif group.n_listed >= 0:
                # No room on the list: raise the bounds on what is not on it.
                group.unlisted_highest_mean = max(group.unlisted_highest_mean, bucket.mean)
                unlisted.value = max(
                    unlisted.value, bucket.mean + unlisted.since * bucket.inverse_root
                )
                value_until = max(value_until, bucket.mean + unlisted.until * bucket.inverse_root)
            b = bucket.next
        if group.n_listed >= 0:
            set_chord(unlisted, unlisted.since, unlisted.value, unlisted.until, value_until)


CHORD = np.dtype(
    [("value", "f8"), ("slope", "f8"), ("since", "f8"), ("until", "f8")], align=True
)
CLASS_BOUND = np.dtype([("chord", CHORD), ("highest_mean", "f8")], align=True)
GROUP = np.dtype(
    [
        ("best_mean", "f8"),
        ("best_root", "f8"),
        ("rest", CHORD),
        ("cap", "f8"),
        ("cap_slope", "f8"),
        ("highest_mean", "f8"),
        ("unlisted", CHORD),
        ("unlisted_highest_mean", "f8"),
        ("best", "i4"),
        ("first_class", "i4"),
        ("n_listed", "i4"),
        ("is_best_listed", "i4"),
    ],
    align=True,
)
