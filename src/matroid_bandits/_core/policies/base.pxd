from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.policies.guard cimport Guard
from matroid_bandits._core.policies.initial_rounds cimport InitialRounds
from matroid_bandits._core.streams.random_stream cimport RandomStream


# What all policies share: statistics of the elements, this round's basis, the counters.
cdef class PolicyKernel:
    cdef readonly object matroid
    cdef readonly Guard guard  # shared with kernels made by `for_matroid`
    cdef MatroidKernel oracle
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t rank
    cdef Py_ssize_t work  # steps of a usual round, roughly
    cdef Py_ssize_t[::1] playable  # elements that are no loops, ascending
    cdef unsigned char[::1] is_playable

    # How optimistic the policy is about an element; None for a policy without an index.
    cdef readonly IndexKernel index
    cdef bint notifies_index  # whether the index keeps more than counts and means
    cdef RandomStream random_stream  # of the rule or of its index; None if nothing is drawn

    # Rewards must lie between these.
    cdef double low
    cdef double high
    cdef readonly bint is_bounded

    # What the user calls elements and rewards, for messages.
    cdef tuple labels  # None: elements are called by their numbers
    cdef bint are_costs
    cdef double pivot  # a cost c is the reward pivot - c
    cdef double assumed_noise  # a default that large rewards contradict; infinite if there is none

    # Statistics
    cdef readonly Py_ssize_t rounds  # rounds ended
    cdef readonly Py_ssize_t min_count  # observations of every element before it decides by them
    cdef readonly Py_ssize_t n_undersampled  # playable elements with fewer
    cdef int64_t[::1] counts
    cdef double[::1] means
    cdef double[::1] inverse_root  # 1 / sqrt(count)
    cdef double[::1] inverse_roots  # the same by count, as far as it has been worked out
    cdef int64_t[::1] stamp  # for noticing doubled elements
    cdef int64_t last_stamp

    # This round
    cdef readonly bint is_chosen
    cdef Py_ssize_t[::1] chosen  # the basis to play, ascending; valid while is_chosen
    cdef object chosen_array  # the same memory
    cdef Py_ssize_t marked  # the last round whose start was marked
    cdef Py_ssize_t decided  # the last round in which `decide` ran
    cdef Py_ssize_t[3] calls_before  # the counters at the mark
    cdef dict retracted  # what `decide` changed, while that is undone; else None
    cdef readonly dict selected  # the outcome of another kernel that is to be played; else None

    # What the paper counts
    cdef readonly Py_ssize_t oracle_calls
    cdef readonly Py_ssize_t greedy_calls
    cdef readonly Py_ssize_t neighborhood_updates

    cdef InitialRounds initial_rounds  # for initial rounds by symmetry class

    # Working space of greedy
    cdef Py_ssize_t[::1] order  # playable elements as last sorted
    cdef Py_ssize_t[::1] scratch
    cdef Py_ssize_t[::1] found

    cdef int remember_answers(self) except -1
    cdef int attach_index(self) except -1
    cdef int count_undersampled(self) except -1
    cdef int choose(self) except -1
    cdef int decide_with_draws(self) except -1
    cdef int mark(self) except -1
    cdef void forget_draws(self) noexcept
    cdef void shift_time(self, Py_ssize_t rounds) noexcept
    cdef int retract(self) except -1
    cdef int reapply(self) except -1
    cdef int settle_outcome(self) except -1
    cdef int refuse_if_deciding(self) except -1
    cdef str described(self, Py_ssize_t e)
    cdef double in_user_units(self, double reward) noexcept
    cdef int check_feedback(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1
    cdef int check_reward(self, Py_ssize_t e, double reward) except -1
    cdef int extend_inverse_roots(self) except -1
    cdef int decide(self) except -1
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int learn(self, const Py_ssize_t[::1] elements, const double[::1] rewards) noexcept
    cdef int check_range(self, Py_ssize_t e, double reward) except -1
    cdef int use_symmetry(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes
    ) except -1
    cdef void notify_index(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept
    cdef int initial_round(self) except -1
    cdef int refuse_if_too_small(self, Py_ssize_t taken) except -1
    cdef int choose_found(self) except -1
    cdef int greedy_on(self, const double[::1] values) except -1
    cdef int run_greedy(self, const Py_ssize_t[::1] order) except -1


# The statistics as plain pointers, for loops over elements: the compiler would fetch those in the
# kernel anew after every store.
cdef struct Statistics:
    int64_t *counts
    double *means
    double *inverse_root
    const double *inverse_roots
    Py_ssize_t n_inverse_roots


cdef inline Statistics statistics_of(PolicyKernel policy) noexcept:
    cdef Statistics statistics
    statistics.counts = &policy.counts[0]
    statistics.means = &policy.means[0]
    statistics.inverse_root = &policy.inverse_root[0]
    statistics.inverse_roots = &policy.inverse_roots[0]
    statistics.n_inverse_roots = policy.inverse_roots.shape[0]
    return statistics


cdef inline double updated_mean(int64_t count, double mean, double reward) noexcept:
    """The mean after one more reward."""
    return (count * mean + reward) / (count + 1)


cdef inline int64_t observe(Statistics *statistics, Py_ssize_t e, double reward) noexcept:
    """Step 5 of docs/maub.md for one element; return its new count."""
    cdef int64_t count = statistics.counts[e]
    statistics.means[e] = updated_mean(count, statistics.means[e], reward)
    statistics.counts[e] = count + 1
    # A division and a root take as long as all the rest, hence the table.
    if count + 1 < statistics.n_inverse_roots:
        statistics.inverse_root[e] = statistics.inverse_roots[count + 1]
    else:
        statistics.inverse_root[e] = 1 / sqrt(<double>(count + 1))
    return count + 1
