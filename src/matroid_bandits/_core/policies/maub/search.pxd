cimport cython
from libc.stdint cimport int32_t

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.policies.maub.groups cimport Group, Groups
from matroid_bandits._core.sorting cimport is_better


cdef inline bint comes_after(
    const double[::1] means, Py_ssize_t a, Py_ssize_t b
) noexcept:
    """The order of the leader, ascending by (mean, element). Not in [DG25]: ties. Of equal means
    the lower element comes first here and is the better one for greedy.
    """
    return is_better(means[a], b, means[b], a)


# What `scan` returns if not an element.
cdef enum:
    NO_EXCHANGE = -1  # no exchange has a positive index
    BEATEN = -2  # some mean is above its partner's
    REORDERED = -3  # the order of the leader has changed


# The best exchange of several buckets, while they are compared.
cdef struct Tally:
    double mean  # of the partner
    double root
    double width
    double until
    double value  # of the best exchange
    double best_mean
    double best_root
    double rest  # the largest index of the others at `width`
    double rest_until  # and at `until`
    double highest_mean
    int32_t best
    int32_t best_bucket


@cython.final
cdef class Search(Groups):
    cdef double[::1] bounds  # by group; working space of `scan`
    cdef Py_ssize_t found_group  # of the exchange that was found

    cdef Py_ssize_t scan(self, double width, bint test_leader) noexcept
    cdef Py_ssize_t scan_index(
        self,
        IndexKernel index,
        Py_ssize_t time,
        const Py_ssize_t[::1] playable,
        double[::1] values,
    ) except -2
    cdef Py_ssize_t collect(
        self, double width, bint with_ties, Py_ssize_t[::1] elements
    ) noexcept
    cdef bint collect_blocks(
        self,
        int32_t b,
        double mean,
        double factor,
        bint with_ties,
        Py_ssize_t[::1] elements,
        Py_ssize_t *n,
    ) noexcept
    cdef int32_t best_of_class(self, int32_t c, double threshold) noexcept
    cdef double exchange_value(
        self, Py_ssize_t k, double width, double margin, double best
    ) noexcept
    cdef bint is_beaten(self, Py_ssize_t k, double mean) noexcept
    cdef void evaluate(self, Py_ssize_t k, double width) noexcept
    cdef bint evaluate_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void evaluate_all(self, Py_ssize_t k, double width) noexcept
    cdef void make_shortlist(self, Py_ssize_t k, double width) noexcept
    cdef void bound_class(self, int32_t c, double width) noexcept
    cdef double class_bound(self, int32_t c, double width) noexcept
    cdef void begin(self, Tally *tally, Py_ssize_t k, double width) noexcept
    cdef void compare(self, Tally *tally, int32_t bucket) noexcept
    cdef void add_rest(self, Tally *tally, double mean, double root) noexcept
    cdef void add_runner_up(self, Tally *tally) noexcept
    cdef int32_t lowest_of_equals(self, Tally *tally, int32_t bucket) noexcept
    cdef void conclude(self, Tally *tally, Group *group) noexcept
