cimport cython
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.shelves cimport Shelves

# What is remembered of the elements outside the leader that have one partner. Indices here are
# mean + width * root, without the partner.
cdef struct Group:
    # The best exchange when last evaluated; its statistics are kept up to date.
    double top_mean
    double top_root
    # No other had an index above `rest` at the width `since`; a wider confidence raises none of
    # them by more than `slope` per unit.
    double rest
    double since
    double slope
    double highest  # no mean in the group is above this
    # The same for shelves that are not on the shortlist.
    double unlisted
    double unlisted_since
    double unlisted_slope
    double unlisted_highest
    int32_t top  # -1 if none is known
    int32_t first_class  # a list of the classes in the group, -1 if it is empty
    int32_t slot  # what `class_slot` calls this group, wherever it stands
    int32_t n_listed  # shelves on the shortlist, -1 if there is no list


# The best exchange of some shelves, in the making.
cdef struct Tally:
    double mean  # of the partner
    double root
    double width
    double best
    double top_mean
    double top_root
    double rest
    double slope
    double highest
    int32_t top
    int32_t top_shelf


# What `look` finds, apart from an element.
cdef enum:
    NONE = -1  # no exchange has a positive index
    BEATEN = -2  # some mean is above its partner's
    REORDERED = -3  # the order of the leader has changed


@cython.final
cdef class Challengers:
    cdef readonly Py_ssize_t rank
    cdef Py_ssize_t n_classes
    cdef Shelves shelves
    cdef const double[::1] means
    cdef const double[::1] inverse_root
    cdef const int64_t[::1] counts
    cdef const int32_t[::1] class_of
    cdef Py_ssize_t[::1] leader  # ascending by (mean, element) when partners were computed
    cdef Group[::1] groups  # by position in `leader`
    cdef int32_t[::1] next_class
    cdef int32_t[::1] class_slot  # by class: the slot of its group, -1 if it is in none
    cdef int32_t[::1] position_of_slot
    cdef int32_t[:, ::1] shortlists  # [slot, i]: shelves of the group that may matter soon
    cdef double[::1] bounds  # working space of `look`
    cdef Py_ssize_t best_position  # of the partner of what `look` found

    cdef Py_ssize_t look(self, double width, bint test_leader) noexcept
    cdef void evaluate(self, Py_ssize_t k, double width) noexcept
    cdef bint evaluate_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void evaluate_all(self, Py_ssize_t k, double width) noexcept
    cdef void make_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void enlist(self, Group *group, int32_t shelf) noexcept
    cdef void strike(self, Group *group, int32_t shelf) noexcept
    cdef void begin(self, Tally *tally, Py_ssize_t k, double width) noexcept
    cdef void consider(self, Tally *tally, int32_t shelf) noexcept
    cdef void conclude(self, Tally *tally, Group *group) noexcept
    cdef int32_t lowest_of_equals(self, Tally *tally, int32_t shelf, double value) noexcept
    cdef double runner_up(self, Tally *tally) noexcept
    cdef bint withdraw(self, Py_ssize_t e) noexcept
    cdef void come_back(self, Py_ssize_t e, bint alone) noexcept
    cdef Group *group_of(self, Py_ssize_t e) noexcept
    cdef void forget(self, Py_ssize_t k) noexcept
    cdef void ungroup(self) noexcept
    cdef void attach(self, Py_ssize_t c, Py_ssize_t k) noexcept
    cdef void put(self, Py_ssize_t e) noexcept
