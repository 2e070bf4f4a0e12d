cimport cython
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.policies.maub.chords cimport (
    ROUNDING,
    Chord,
    slope_between,
    value_at_end,
)
from matroid_bandits._core.policies.maub.classes cimport Buckets

cdef enum:
    MAX_LISTED = 10  # buckets on a shortlist

# The outside elements with one partner, and bounds on their means and indices.
cdef struct Group:
    # The best exchange when the group was last evaluated. Its statistics are kept up to date.
    double best_mean
    double best_root
    Chord rest  # on the index of every other element
    # No index in the group is above cap + width * cap_slope, from `rest.since` to `rest.until`.
    double cap
    double cap_slope
    double highest_mean  # no mean in the group is above this
    Chord unlisted  # on the index of every element whose bucket is not on the shortlist
    double unlisted_highest_mean
    int32_t best  # -1 if it is not known
    int32_t first_class  # a linked list of the classes in the group, -1 if it is empty
    int32_t n_listed  # buckets on the shortlist, -1 if there is no list
    int32_t is_best_listed  # whether the bucket of `best` is on it


# Bounds on a class with several buckets.
cdef struct ClassBound:
    Chord chord
    double highest_mean  # the largest index at the width 0


cdef inline void set_cap(Group *group, double largest) noexcept:
    """The line above the chord of the rest and above the best, from `since` to `until`."""
    cdef Chord *rest = &group.rest
    cdef double value = max(rest.value, group.best_mean + rest.since * group.best_root)
    cdef double value_until = max(
        value_at_end(rest), group.best_mean + rest.until * group.best_root
    )
    if value > -INFINITY:
        value += ROUNDING * (fabs(value) + largest)
        value_until += ROUNDING * (fabs(value_until) + largest)
    group.cap_slope = slope_between(rest.since, value, rest.until, value_until)
    # Exact enough, as the slope is at most 1: `since` is a width, and far below `largest`.
    group.cap = value - rest.since * group.cap_slope


cdef class Groups:
    cdef Py_ssize_t rank
    cdef Py_ssize_t n_classes
    cdef double scale  # widths are this times sqrt(2 ln l)
    cdef double largest  # several times the largest width
    cdef Buckets buckets
    cdef const double[::1] means
    cdef const double[::1] inverse_root
    cdef const int64_t[::1] counts
    cdef const int32_t[::1] symmetry_class
    cdef Group[::1] groups
    cdef Py_ssize_t[::1] leader  # by group: the element of the leader, partner of all in it
    # The leader ascending by (mean, element) when partners were computed: groups and elements.
    cdef int32_t[::1] order
    cdef Py_ssize_t[::1] ordered
    cdef int32_t[::1] next_class  # in the list of its group, by class; -1 if it is the last
    cdef int32_t[::1] previous_class  # -1 if it is the first
    cdef int32_t[::1] class_group  # by class: its group, -1 if it is in none
    cdef ClassBound[::1] class_bounds
    cdef int32_t[:, ::1] shortlists  # [group, i]: buckets of the group that may matter soon

    cdef inline Py_ssize_t any_element(self, Py_ssize_t c) noexcept:
        """An outside element of class c: all of them can replace the same elements."""
        return self.buckets.buckets[self.buckets.first[c]].top

    cdef void insert(self, Py_ssize_t e) noexcept
    cdef void remove(self, Py_ssize_t e) noexcept
    cdef bint begin_change(self, Py_ssize_t e) noexcept
    cdef void end_change(self, Py_ssize_t e, bint is_alone) noexcept
    cdef void bucket_improved(self, Py_ssize_t e) noexcept
    cdef void add_to_shortlist(self, Py_ssize_t k, int32_t bucket) noexcept
    cdef void remove_from_shortlist(self, Py_ssize_t k, int32_t bucket) noexcept
    cdef void remove_best(self, Py_ssize_t k) noexcept
    cdef void forget(self, Py_ssize_t k) noexcept
    cdef void lower_widths(self) noexcept
    cdef void set_leader(self, const Py_ssize_t[::1] ordered) noexcept
    cdef void add_class(self, Py_ssize_t c, Py_ssize_t k) noexcept
    cdef void unlink_class(self, int32_t c) noexcept
    cdef void move_class(self, int32_t c, Py_ssize_t new) noexcept
    cdef void enter_class(self, int32_t c, Py_ssize_t new) noexcept
    cdef void move_only_class(self, Py_ssize_t old, Py_ssize_t new) noexcept
