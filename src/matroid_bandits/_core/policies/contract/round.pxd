from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.policies.contract.feedback cimport Feedback, updated_mean
from matroid_bandits._core.policies.contract.guard cimport Guard
from matroid_bandits._core.policies.contract.initial_rounds cimport InitialRounds
from matroid_bandits._core.policies.memory.base cimport Memory
from matroid_bandits._core.streams.random_stream cimport RandomStream


# Statistics of the elements, and one round: what is available, and what greedy finds.
cdef class RoundKernel:
    cdef readonly object matroid
    cdef readonly Guard guard
    cdef readonly Feedback feedback
    cdef MatroidKernel oracle
    cdef bint is_oracle_used  # for greedy, outside of `decide`: it may have to be prepared again
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t rank
    cdef Py_ssize_t work  # steps of a usual round, roughly
    cdef Py_ssize_t[::1] playable  # elements that are no loops, ascending
    cdef unsigned char[::1] is_playable

    # How optimistic the policy is about an element; None for a policy without an index.
    cdef readonly IndexKernel index
    cdef bint notifies_index  # whether the index keeps more than counts and means
    cdef RandomStream random_stream  # of the rule or of its index; None if nothing is drawn

    # Statistics
    cdef readonly Py_ssize_t rounds  # rounds before this one
    cdef readonly Py_ssize_t min_count  # observations of every element before it decides by them
    cdef readonly Py_ssize_t n_undersampled  # playable elements with fewer
    cdef int64_t[::1] counts
    cdef double[::1] means
    cdef int64_t[::1] pending  # plays whose reward has not come
    cdef Py_ssize_t n_pending  # in all
    cdef readonly bint counts_pending  # whether a pending play narrows an index like an observation
    cdef int64_t[::1] index_counts  # counts, or counts + pending if pending plays count
    cdef double[::1] inverse_root  # 1 / sqrt(index_counts)
    cdef double[::1] inverse_roots  # the same by count, as far as it has been worked out

    # Which observations are used, if not all (docs/howto/change.md); else None
    cdef readonly Memory memory
    # The round of the observations that are being learned; 0 for the present one.
    cdef Py_ssize_t learned_round
    cdef readonly bint is_forced  # whether this round was decided to observe a certain element
    # By element: means after a number of observations that is a power of two, the last two such
    # numbers. NaN if they are not known. `drift` compares them with the present mean.
    cdef double[:, ::1] earlier_means

    # This round
    cdef readonly bint is_chosen  # whether the set to play is known
    cdef bint is_decided  # whether the kernel's own rule has decided
    cdef Py_ssize_t[::1] chosen  # the set to play, ascending, in the first `round_rank` places
    cdef object chosen_array  # the same memory
    cdef Py_ssize_t round_rank  # its size: the rank, or less if too few elements are available
    cdef Py_ssize_t marked  # the last round whose start was marked
    cdef Py_ssize_t[3] calls_before  # the counters at the mark

    # Available elements of this round
    cdef readonly bint is_restricted  # whether some are not available
    cdef bint allow_smaller  # whether a set smaller than a basis may be played
    cdef unsigned char[::1] is_available
    cdef const Py_ssize_t[::1] candidates  # elements that can be played, ascending
    cdef Py_ssize_t n_initial  # those of them with fewer than `min_count` observations
    cdef readonly bint is_initial  # whether this round was decided as an initial one
    cdef Py_ssize_t[::1] candidate_space  # working space
    cdef Py_ssize_t[::1] candidate_order
    cdef MatroidKernel smaller_oracle  # for rounds of a smaller rank; None until it is needed

    # What the paper counts
    cdef readonly Py_ssize_t oracle_calls
    cdef readonly Py_ssize_t greedy_calls
    cdef readonly Py_ssize_t neighborhood_updates

    cdef InitialRounds initial_rounds  # for initial rounds by symmetry class

    # Working space of greedy
    cdef Py_ssize_t[::1] order  # playable elements as last sorted
    cdef Py_ssize_t[::1] scratch
    cdef Py_ssize_t[::1] found
    cdef unsigned char[::1] is_first  # elements that come before all others

    # What a rule implements
    cdef int decide(self) except -1
    cdef int reserve(self, Py_ssize_t n) except -1
    # Not by memoryviews, whose copies take a tenth of a short round.
    cdef int learn(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept
    cdef void forget_draws(self) noexcept
    cdef void set_width(self, Py_ssize_t e) noexcept
    cdef void set_statistics(self, Py_ssize_t e, int64_t count, double mean) noexcept

    # Where means change
    cdef int reserve_round(self, Py_ssize_t n) except -1
    cdef void learn_remembered(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept
    cdef void forget_old(self) noexcept
    cdef void set_remembered(self, Py_ssize_t e) noexcept
    cdef int begin_round(self) except -1
    cdef int forget_changed(self) except -1
    cdef int forget_all(self) except -1
    cdef Py_ssize_t round_time(self) noexcept
    cdef Py_ssize_t index_time(self, Py_ssize_t time) noexcept
    cdef Py_ssize_t write_forgotten(self, Py_ssize_t[::1] elements) except -1
    cdef bint force_round(self) except -1
    cdef int greedy_after(self, Py_ssize_t n_first) except -1
    cdef const Py_ssize_t[::1] by_mean(self)

    # A round
    cdef int choose(self, rule) except -1
    cdef int decide_here(self) except -1
    cdef int ask(self, rule) except -1
    cdef int mark(self) except -1

    # Available elements
    cdef int set_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1
    cdef bint is_for(self, const unsigned char[::1] is_available) noexcept
    cdef bytes available_key(self)
    cdef int find_round_rank(self) except -1
    cdef int refuse_if_smaller(self) except -1
    cdef int refuse_smaller(self, found) except -1
    cdef object completion(self, found)
    cdef MatroidKernel round_oracle(self)

    cdef int remember_answers(self) except -1
    cdef int attach_index(self) except -1
    cdef int count_undersampled(self) except -1
    cdef int extend_inverse_roots(self) except -1
    cdef int use_symmetry(
        self, const int32_t[::1] symmetry_class, Py_ssize_t n_classes
    ) except -1
    cdef void notify_index(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept
    cdef int initial_round(self) except -1
    cdef int greedy_on(self, const double[::1] values) except -1
    cdef int greedy_on_available(self, const double[::1] values) except -1
    cdef int run_greedy(self, const Py_ssize_t[::1] order) except -1
    cdef Py_ssize_t take_smaller(
        self, const Py_ssize_t[::1] order, Py_ssize_t taken
    ) except -1
    cdef int choose_found(self) except -1


# The statistics as plain pointers, for loops over elements: the compiler would fetch those in the
# kernel anew after every store.
cdef struct Statistics:
    int64_t *counts
    double *means
    double *inverse_root
    const int64_t *pending  # NULL if pending plays do not count
    int64_t *index_counts
    const double *inverse_roots
    Py_ssize_t n_inverse_roots
    double *earlier_means  # two for each element; NULL if they are not kept


cdef inline Statistics statistics_of(RoundKernel policy) noexcept:
    cdef Statistics statistics
    statistics.counts = &policy.counts[0]
    statistics.means = &policy.means[0]
    statistics.inverse_root = &policy.inverse_root[0]
    statistics.pending = &policy.pending[0] if policy.counts_pending else NULL
    statistics.index_counts = &policy.index_counts[0]
    statistics.inverse_roots = &policy.inverse_roots[0]
    statistics.n_inverse_roots = policy.inverse_roots.shape[0]
    statistics.earlier_means = &policy.earlier_means[0, 0]
    return statistics


cdef inline int64_t observe(Statistics *statistics, Py_ssize_t e, double reward) noexcept:
    """Step 5 of docs/explanation/maub.md for one element; return its new count."""
    cdef int64_t count = statistics.counts[e]
    cdef int64_t index_count = count + 1
    statistics.means[e] = updated_mean(count, statistics.means[e], reward)
    statistics.counts[e] = count + 1
    if (count + 1) & count == 0 and statistics.earlier_means != NULL:
        # A power of two.
        statistics.earlier_means[2 * e] = statistics.earlier_means[2 * e + 1]
        statistics.earlier_means[2 * e + 1] = statistics.means[e]
    if statistics.pending != NULL:
        index_count += statistics.pending[e]
        statistics.index_counts[e] = index_count
    # A division and a root take as long as all the rest, hence the table.
    if index_count < statistics.n_inverse_roots:
        statistics.inverse_root[e] = statistics.inverse_roots[index_count]
    else:
        statistics.inverse_root[e] = 1 / sqrt(<double>index_count)
    return count + 1
