from libc.math cimport sqrt
from libc.stdint cimport int64_t

from matroid_bandits._core.matroid cimport MatroidKernel


# What all policies share: statistics of the elements, this round's basis, the counters.
cdef class PolicyKernel:
    cdef readonly object matroid
    cdef MatroidKernel asks
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t rank
    cdef Py_ssize_t[::1] playable  # elements that are no loops, ascending
    cdef unsigned char[::1] is_playable

    # Statistics
    cdef readonly Py_ssize_t rounds  # rounds ended
    cdef readonly Py_ssize_t unobserved  # playable elements never observed
    cdef int64_t[::1] counts
    cdef double[::1] means
    cdef double[::1] inverse_root  # 1 / sqrt(count)
    cdef double[::1] inverse_roots  # the same by count, as far as it has been worked out
    cdef int64_t[::1] stamp  # for noticing doubled elements
    cdef int64_t last_stamp

    # This round
    cdef readonly bint is_chosen
    cdef bint is_deciding
    cdef Py_ssize_t[::1] chosen  # the basis to play, ascending; valid while is_chosen
    cdef object chosen_array  # the same memory

    # What the paper counts
    cdef readonly Py_ssize_t oracle_calls
    cdef readonly Py_ssize_t greedy_calls
    cdef readonly Py_ssize_t neighborhood_updates

    # Working space of greedy
    cdef Py_ssize_t[::1] order  # playable elements as last sorted
    cdef Py_ssize_t[::1] scratch
    cdef Py_ssize_t[::1] found

    cdef int choose(self) except -1
    cdef int refuse_if_deciding(self) except -1
    cdef int extend_inverse_roots(self) except -1
    cdef int decide(self) except -1
    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept
    cdef int first_round(self) except -1
    cdef int greedy_on(self, const double[::1] values) except -1
    cdef int run_greedy(self, const Py_ssize_t[::1] order) except -1


cdef inline void take_in(PolicyKernel policy, Py_ssize_t e, double reward) noexcept:
    """Step 5 of docs/maub.md for one element, with the old count."""
    cdef int64_t count = policy.counts[e]
    policy.means[e] = (count * policy.means[e] + reward) / (count + 1)
    policy.counts[e] = count + 1
    # A division and a root take as long as all the rest, hence the table.
    if count + 1 < policy.inverse_roots.shape[0]:
        policy.inverse_root[e] = policy.inverse_roots[count + 1]
    else:
        policy.inverse_root[e] = 1 / sqrt(<double>(count + 1))
    if count == 0:
        policy.unobserved -= policy.is_playable[e]


cdef void sort_elements(Py_ssize_t[::1] elements) noexcept
