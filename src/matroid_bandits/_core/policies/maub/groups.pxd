cimport cython
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.policies.maub.chords cimport Bound
from matroid_bandits._core.policies.maub.classes cimport Shelves

# What is remembered of the elements outside the leader that have one partner.
cdef struct Group:
    # The best exchange when last evaluated; its statistics are kept up to date.
    double top_mean
    double top_root
    Bound rest  # on all others
    # No index, the best one's included, is above cap + width * cap_slope, from `rest.since` to
    # `rest.until`; widths only grow while one leader leads.
    double cap
    double cap_slope
    double highest  # no mean in the group is above this
    Bound unlisted  # on shelves that are not on the shortlist
    double unlisted_highest
    int32_t top  # -1 if none is known
    int32_t first_class  # a list of the classes in the group, -1 if it is empty
    int32_t slot  # what `class_slot` calls this group, wherever it stands
    int32_t n_listed  # shelves on the shortlist, -1 if there is no list
    int32_t is_top_listed  # whether the shelf of `top` is on it


# What is remembered of a class with several shelves.
cdef struct Summary:
    Bound bound
    double highest  # mean; the bound at the width 0


# The best exchange of some shelves, in the making.
cdef struct Tally:
    double mean  # of the partner
    double root
    double width
    double until
    double best
    double top_mean
    double top_root
    double rest  # the largest index of the others at `width`
    double rest_until  # and at `until`
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
    cdef double scale  # widths are this times sqrt(2 ln l)
    cdef double largest  # no width times 1 / sqrt(count) is ever above this
    cdef Shelves shelves
    cdef const double[::1] means
    cdef const double[::1] inverse_root
    cdef const int64_t[::1] counts
    cdef const int32_t[::1] symmetry_class
    cdef Py_ssize_t[::1] leader  # ascending by (mean, element) when partners were computed
    cdef Group[::1] groups  # by position in `leader`
    cdef int32_t[::1] next_class
    cdef int32_t[::1] class_slot  # by class: the slot of its group, -1 if it is in none
    cdef int32_t[::1] position_of_slot
    cdef Summary[::1] summaries  # by class
    cdef int32_t[:, ::1] shortlists  # [slot, i]: shelves of the group that may matter soon
    cdef double[::1] bounds  # working space of `look`
    cdef Py_ssize_t best_position  # of the partner of what `look` found

    cdef Py_ssize_t look(self, double width, bint test_leader) noexcept
    cdef double exchange_value(
        self, Py_ssize_t k, double width, double margin, double best
    ) noexcept
    cdef bint is_beaten(self, Py_ssize_t k, double mean) noexcept
    cdef void evaluate(self, Py_ssize_t k, double width) noexcept
    cdef bint evaluate_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void evaluate_all(self, Py_ssize_t k, double width) noexcept
    cdef void make_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void enlist(self, Group *group, int32_t shelf) noexcept
    cdef void strike(self, Group *group, int32_t shelf) noexcept
    cdef void begin(self, Tally *tally, Py_ssize_t k, double width) noexcept
    cdef void consider(self, Tally *tally, int32_t shelf) noexcept
    cdef void set_cap(self, Group *group) noexcept
    cdef void conclude(self, Tally *tally, Group *group) noexcept
    cdef int32_t lowest_of_equals(self, Tally *tally, int32_t shelf, double value) noexcept
    cdef void add_rest(self, Tally *tally, double mean, double root) noexcept
    cdef void add_runner_up(self, Tally *tally) noexcept
    cdef double class_bound(self, int32_t c, double width) noexcept
    cdef void summarise(self, int32_t c, double width) noexcept
    cdef int32_t best_of_class(self, int32_t c, double threshold) noexcept
    cdef bint withdraw(self, Py_ssize_t e) noexcept
    cdef void come_back(self, Py_ssize_t e, bint alone) noexcept
    cdef Group *group_of(self, Py_ssize_t e) noexcept
    cdef void drop_top(self, Py_ssize_t k) noexcept
    cdef void forget(self, Py_ssize_t k) noexcept
    cdef void forget_bounds(self) noexcept
    cdef void ungroup(self) noexcept
    cdef void attach(self, Py_ssize_t c, Py_ssize_t k) noexcept
    cdef void move_all(self, Py_ssize_t old, Py_ssize_t new) noexcept
    cdef void move(self, int32_t c, Py_ssize_t old, Py_ssize_t new) noexcept
    cdef void put(self, Py_ssize_t e) noexcept
    cdef void take(self, Py_ssize_t e) noexcept
    cdef void shelf_changed(self, Py_ssize_t e) noexcept
