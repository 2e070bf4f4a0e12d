cimport cython
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport Line
from matroid_bandits._core.policies.maub.index_search cimport IndexSearch

cdef enum:
    FAN_OUT = 16  # children of a node
    MOST_LEVELS = 9  # 16**8 is more than there can be elements

# Bounds on several elements, in an interval of budgets. Bounds on one element are exact lines. A
# bound on several is the chord of a convex function, and the less exact the longer it is: there is
# a second one for a short span of the interval.
cdef struct Bounds:
    Line top  # on the value of `best`
    # On the value of every other element, except those that are like `best` and come after it.
    Line rest
    Line span_rest  # the same for the span
    int64_t span  # the number of the span
    int32_t best  # -1 if there is none
    int32_t is_known  # of a group: whether there are bounds


# Bounds on all outside elements for budgets from `since` to `until`.
cdef class Interval:
    cdef double since
    cdef double until
    cdef Line[::1] lines  # by place
    cdef Bounds[::1] nodes
    cdef int64_t n_seen  # changes that it takes account of
    cdef int64_t last_use


@cython.final
cdef class BoundedSearch(IndexSearch):
    # Elements by class, ascending: a place is a position in this order.
    cdef int32_t[::1] element_at
    cdef int32_t[::1] place_of
    cdef int32_t[::1] class_start  # by class: its first place; and the end
    cdef int32_t[::1] node_start  # by class: its first node; the last is its root
    cdef Bounds[::1] groups  # by position of the partner
    cdef dict intervals  # by number
    cdef Interval interval  # the present one, None before the first search
    cdef Line *lines  # of the present interval
    cdef Bounds *nodes
    # Elements whose statistics have changed, the last ones in a ring
    cdef int32_t[::1] changed
    cdef int64_t n_changed
    cdef int64_t[::1] last_change  # by element
    cdef Py_ssize_t[::1] members  # the leader at the last `regroup`
    cdef unsigned char[::1] is_member  # by element
    # The present round
    cdef double budget
    cdef double share  # how far in the interval, from 0 to 1
    cdef int64_t span  # the number of the present span
    cdef double span_since
    cdef double span_until
    cdef double span_share  # how far in the span
    cdef double first_share  # where in the interval the span begins and ends
    cdef double last_share
    cdef double own  # the value of the partner
    cdef double best_value
    cdef Py_ssize_t found
    cdef Py_ssize_t found_group  # of the best exchange so far
    cdef double cut  # elements with a lower value are of no interest
    cdef Py_ssize_t[::1] needed  # positions, working space
    cdef Py_ssize_t[::1] needed_elements
    cdef double[::1] lower
    cdef double[::1] bounds
    # The tree that is searched
    cdef int32_t[MOST_LEVELS] level_start
    cdef int32_t[MOST_LEVELS] level_size
    # The last element that was evaluated, by its place; -1 if none
    cdef Py_ssize_t last_place
    cdef double last_value
    # For `collect`
    cdef bint is_collecting
    cdef Py_ssize_t n_collected
    cdef Py_ssize_t *collected
    cdef double *collected_values

    cdef int begin(self, Py_ssize_t time) except -1
    cdef int set_interval(self) except -1
    cdef void set_span(self, Py_ssize_t time) noexcept
    cdef void build(self) noexcept
    cdef void apply_changes(self) noexcept
    cdef void renew(self, Py_ssize_t e) noexcept
    cdef void update_path(self, Py_ssize_t e) noexcept
    cdef void sum_up_lines(self, Bounds *node, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void sum_up_nodes(self, Bounds *node, Bounds *child, Py_ssize_t n) noexcept
    cdef void clear(self, Bounds *bounds) noexcept
    cdef void raise_by_line(self, Bounds *bounds, const Line *line) noexcept
    cdef void raise_by_rest(self, Bounds *bounds, const Bounds *other) noexcept
    cdef double rest_of(self, const Bounds *bounds) noexcept
    cdef double bound_of(self, const Bounds *bounds) noexcept
    cdef void sum_up_group(self, Py_ssize_t k) noexcept
    cdef Py_ssize_t find_needed(self) noexcept
    cdef void set_cut(self) noexcept
    cdef bint is_excluded(self) noexcept
    cdef void evaluate_group(self, Py_ssize_t k) noexcept
    cdef void search_class(self, Py_ssize_t c) noexcept
    cdef void search_node(self, Py_ssize_t level, Py_ssize_t i) noexcept
    cdef void search_lines(self, Bounds *node, Py_ssize_t start, Py_ssize_t end) noexcept
    cdef void evaluate(self, Py_ssize_t place) noexcept
    cdef void compare(self, Py_ssize_t e, double value) noexcept
    cdef int verify(self, Py_ssize_t time, Py_ssize_t found) except -1
    cdef int verify_bounds(
        self, Py_ssize_t e, Py_ssize_t k, double value, double slack
    ) except -1
    cdef bint is_covered(self, Py_ssize_t e, Py_ssize_t best) noexcept
