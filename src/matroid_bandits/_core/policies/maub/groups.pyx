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
        self.leader = np.zeros(rank, dtype=np.intp)
        self.groups = np.zeros(rank, dtype=GROUP)
        self.next_class = np.full(n_classes, -1, dtype=np.int32)
        self.class_slot = np.full(n_classes, -1, dtype=np.int32)
        self.position_of_slot = np.zeros(rank, dtype=np.int32)
        self.class_bounds = np.zeros(n_classes, dtype=CLASS_BOUND)
        self.shortlists = np.zeros((rank, MAX_LISTED), dtype=np.int32)

    @cython.final
    cdef Group *group_of(self, Py_ssize_t e) noexcept:
        """The group of an element's class, NULL if it is in none."""
        cdef int32_t slot = self.class_slot[self.symmetry_class[e]]
        return &self.groups[self.position_of_slot[slot]] if slot >= 0 else NULL

    # ---- elements ----

    @cython.final
    cdef void insert(self, Py_ssize_t e) noexcept:
        """An element comes from the leader, or has new statistics."""
        self.buckets.insert(e, self.counts[e], self.inverse_root[e])
        self.bucket_improved(e)

    @cython.final
    cdef void remove(self, Py_ssize_t e) noexcept:
        """An element goes to the leader, or gets new statistics."""
        cdef Group *group = self.group_of(e)
        if group != NULL and self.buckets.buckets[self.buckets.bucket_of[e]].length == 1:
            self.remove_from_shortlist(group, self.buckets.bucket_of[e])
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
        cdef Group *group = self.group_of(e)
        if group.best == e:
            group.best_mean = self.means[e]
            group.best_root = self.inverse_root[e]
            if is_alone:
                # The rest has not changed.
                self.buckets.raise_count(e, self.inverse_root[e])
                if not group.is_best_listed:
                    self.add_to_shortlist(group, self.buckets.bucket_of[e])
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
        cdef Group *group = self.group_of(e)
        self.class_bounds[self.symmetry_class[e]].chord.until = NEVER
        if group != NULL:
            self.add_to_shortlist(group, self.buckets.bucket_of[e])
            group.highest_mean = max(group.highest_mean, self.means[e])
            group.rest.until = NEVER

    # ---- shortlists ----

    @cython.final
    cdef void add_to_shortlist(self, Group *group, int32_t bucket) noexcept:
        """A bucket has changed: the bound on what is not listed does not cover it any more."""
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[group.slot, i] == bucket:
                return
        if group.n_listed == MAX_LISTED:
            group.n_listed = -1
        if group.n_listed >= 0:
            self.shortlists[group.slot, group.n_listed] = bucket
            group.n_listed += 1

    @cython.final
    cdef void remove_from_shortlist(self, Group *group, int32_t bucket) noexcept:
        """A bucket is about to become empty, or to leave the group."""
        cdef int32_t i
        for i in range(group.n_listed):
            if self.shortlists[group.slot, i] == bucket:
                group.n_listed -= 1
                self.shortlists[group.slot, i] = self.shortlists[group.slot, group.n_listed]
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
    cdef void forget_indices(self) noexcept:
        """Elements are the same, but widths may be lower than those that bounds begin at."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.groups[k].rest.until = NEVER

    # ---- classes ----

    @cython.final
    cdef void clear(self) noexcept:
        """Remove all classes from all groups. Slots are positions again."""
        cdef Py_ssize_t k
        for k in range(self.rank):
            self.forget(k)
            self.groups[k].first_class = -1
            self.groups[k].slot = <int32_t>k
            self.position_of_slot[k] = <int32_t>k
        self.class_slot[:] = -1

    @cython.final
    cdef void number_slots(self) noexcept:
        """Slots are positions again; all classes stay where they are."""
        cdef Py_ssize_t k, c
        for c in range(self.n_classes):
            k = self.class_slot[c]
            if k >= 0:
                self.class_slot[c] = self.position_of_slot[k]
        for k in range(self.rank):
            if self.groups[k].slot != k:
                # Shortlists are stored by slot.
                self.groups[k].n_listed = -1
            self.groups[k].slot = <int32_t>k
            self.position_of_slot[k] = <int32_t>k

    @cython.final
    cdef void add_class(self, Py_ssize_t c, Py_ssize_t k) noexcept:
        """Put class c into group k."""
        self.next_class[c] = self.groups[k].first_class
        self.groups[k].first_class = <int32_t>c
        self.class_slot[c] = self.groups[k].slot

    @cython.final
    cdef void swap_positions(self, Py_ssize_t k) noexcept:
        """Swap the elements of the leader at k and k + 1, with their groups."""
        self.leader[k], self.leader[k + 1] = self.leader[k + 1], self.leader[k]
        self.groups[k], self.groups[k + 1] = self.groups[k + 1], self.groups[k]
        self.position_of_slot[self.groups[k].slot] = <int32_t>k
        self.position_of_slot[self.groups[k + 1].slot] = <int32_t>(k + 1)

    @cython.final
    cdef void move_only_class(self, Py_ssize_t old, Py_ssize_t new) noexcept:
        """Move the only class of group `old` into group `new`, which is empty, with all bounds:
        indices do not depend on the partner.
        """
        cdef int32_t old_slot = self.groups[old].slot
        cdef int32_t new_slot = self.groups[new].slot
        self.groups[old], self.groups[new] = self.groups[new], self.groups[old]
        self.groups[old].slot = old_slot
        self.groups[new].slot = new_slot
        self.shortlists[new_slot, :] = self.shortlists[old_slot, :]
        self.forget(old)
        self.groups[old].highest_mean = -INFINITY
        self.class_slot[self.groups[new].first_class] = new_slot

    @cython.final
    cdef void move_class(self, int32_t c, Py_ssize_t old, Py_ssize_t new) noexcept:
        """Put class c, which was taken out of the list of group `old`, into group `new`."""
        cdef Group *group = &self.groups[old]
        cdef Chord *unlisted
        cdef Bucket *bucket
        cdef double value_until
        cdef int32_t b
        cdef Py_ssize_t i
        if group.best >= 0 and self.symmetry_class[group.best] == c:
            self.remove_best(old)
        i = 0
        while i < group.n_listed:
            b = self.shortlists[group.slot, i]
            if self.symmetry_class[self.buckets.buckets[b].top] == c:
                self.remove_from_shortlist(group, b)
            else:
                i += 1
        self.add_class(c, new)
        group = &self.groups[new]
        group.rest.until = NEVER
        unlisted = &group.unlisted
        value_until = value_at_end(unlisted)
        b = self.buckets.first[c]
        while b >= 0:
            bucket = &self.buckets.buckets[b]
            group.highest_mean = max(group.highest_mean, bucket.mean)
            if 0 <= group.n_listed < MAX_LISTED:
                self.shortlists[group.slot, group.n_listed] = b
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
        ("slot", "i4"),
        ("n_listed", "i4"),
        ("is_best_listed", "i4"),
    ],
    align=True,
)
