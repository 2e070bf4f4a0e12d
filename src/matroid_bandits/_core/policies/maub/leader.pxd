from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int32_t
from libc.string cimport memcmp

from matroid_bandits._core.checked cimport CHECKED
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.policies.maub.exchanges cimport Exchanges
from matroid_bandits._core.policies.maub.search cimport Search
from matroid_bandits._core.policies.maub.verify cimport verify
from matroid_bandits._core.policies.contract.round cimport Statistics
from matroid_bandits._core.policies.contract.round cimport observe as update_statistics


# The leader: its elements, and the outside elements grouped by partner.
cdef class Leader:
    cdef object matroid  # for messages
    cdef MatroidKernel oracle
    cdef Py_ssize_t rank
    cdef Py_ssize_t n_outside
    cdef const double[::1] means
    cdef Search search
    cdef readonly bint exists
    # Whether groups are not those of the partners, which are found when they are needed.
    cdef bint finds_partners_late
    cdef Py_ssize_t[::1] members  # ascending
    cdef object known_key  # the same as a key of dictionaries, None until it is needed
    # The basis that `oracle` was last prepared for, and the position in it of the element of every
    # group.
    cdef Py_ssize_t[::1] prepared
    cdef int32_t[::1] position
    cdef bint is_prepared  # whether that is the leader
    # The next leader while it is found: if the oracle raises, the present one is unchanged.
    cdef Py_ssize_t[::1] next_order
    cdef Py_ssize_t[::1] sorting_space
    cdef int32_t[::1] next_partner  # of each class: a position in `prepared`
    cdef Py_ssize_t[::1] came  # elements exchanged so far
    cdef Py_ssize_t[::1] went
    cdef Py_ssize_t n_exchanged
    # Several exchanges at once, by means for a new leader or by indices for a round; the order of
    # the leader in it may be an old one.
    cdef Exchanges joint
    cdef bint is_joint_old

    cdef inline bint has_key(self, bytes key) noexcept:
        """Whether `key` is the leader, as a key of dictionaries."""
        return (
            self.exists
            and len(key) == self.rank * <Py_ssize_t>sizeof(Py_ssize_t)
            and (
                self.rank == 0
                or memcmp(PyBytes_AS_STRING(key), &self.members[0], len(key)) == 0
            )
        )

    # Step 2
    cdef bint needs_greedy(self) noexcept
    cdef Py_ssize_t replace(
        self, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] order
    ) except -1
    cdef int improve(self) except -1
    cdef Py_ssize_t reorder(self) except -1

    # Steps 2 and 4
    cdef inline Py_ssize_t scan(self, double width) except -4:
        """The best exchange as `best_exchange` returns it; or BEATEN, or REORDERED."""
        cdef Py_ssize_t found
        if self.finds_partners_late:
            return self.scan_late(width, True)
        found = self.search.scan(width, True)
        if CHECKED:
            verify(self.search, found, width, True)
        return found

    cdef inline Py_ssize_t best_exchange(self, double width) except -4:
        """The element of the best exchange by the index UCB, or NO_EXCHANGE."""
        cdef Py_ssize_t found
        if self.finds_partners_late:
            return self.scan_late(width, False)
        found = self.search.scan(width, False)
        if CHECKED:
            verify(self.search, found, width, False)
        return found

    cdef Py_ssize_t scan_late(self, double width, bint test_leader) except -4
    cdef Py_ssize_t collect(
        self, double width, Py_ssize_t[::1] elements, double[::1] differences
    ) except -1
    cdef object partner_groups(self)
    cdef void write_exchange(self, Py_ssize_t e, Py_ssize_t[::1] basis) noexcept
    cdef Py_ssize_t write_best_basis(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] basis
    ) except -1

    cdef void begin_joint(self) noexcept

    # Step 5
    cdef inline const int32_t *buckets(self) noexcept:
        """By element: -1 if it is not an outside element."""
        return &self.search.buckets.bucket_of[0]

    cdef inline void observe(
        self, Statistics *statistics, Py_ssize_t e, double reward
    ) noexcept:
        """A reward of an outside element."""
        cdef bint is_alone = False
        if statistics.pending == NULL:
            is_alone = self.search.begin_change(e)
        else:
            # The count of the index may stay: a pending play has become an observation.
            self.search.remove(e)
        update_statistics(statistics, e, reward)
        self.search.end_change(e, is_alone)

    cdef inline void begin_change(self, Py_ssize_t e) noexcept:
        """Before the width of an outside element changes."""
        self.search.remove(e)

    cdef inline void end_change(self, Py_ssize_t e) noexcept:
        """After the width of an outside element has changed."""
        self.search.end_change(e, False)

    cdef inline int reserve(self, Py_ssize_t n) except -1:
        """Allocate what observing n elements may need: it cannot fail."""
        return self.search.buckets.reserve(n)

    # Parts of step 2
    cdef int first_outside(
        self, const Py_ssize_t[::1] basis, const Py_ssize_t[::1] order
    ) except -1
    cdef void exchange(self, const Py_ssize_t[::1] basis) noexcept
    cdef void undo_exchanges(self) noexcept
    cdef int prepare_for(self, const Py_ssize_t[::1] basis) except -1
    cdef int find_partners(self) except -1
    cdef Py_ssize_t n_tests(self) noexcept
    cdef void install(self) noexcept
    cdef void install_groups(self) noexcept


cdef class PublishedLeader(Leader):
    pass
