"""FasterCUCB [TOA24]: a best basis by rounded weights, kept up to date by single exchanges."""

from libc.math cimport log, sqrt
from libc.stdint cimport int32_t

import numpy as np

from matroid_bandits._core.policies.faster_cucb.blocks cimport INSIDE, OUTSIDE
from matroid_bandits._core.policies.faster_cucb.kinetic cimport KineticOrder
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.faster_cucb.rounding cimport Feature, Rounding

from matroid_bandits._core.matroids.partition import PartitionKernel


cdef class FasterCUCBKernel(PolicyKernel):
    """Keeps a basis of largest rounded weight, by single exchanges, and plays it.

    `learn` notes the elements whose feature may have changed; `decide` moves them one by one. After
    each step the basis is a best one for the order at that moment. So if the oracle raises an error
    in between, the next call continues from there. Letters are those of docs/faster-cucb.md.
    """

    cdef readonly double eps
    cdef const int32_t[::1] symmetry_class
    cdef Rounding rounding
    cdef KineticOrder kinetic
    cdef bint has_basis
    cdef Py_ssize_t[::1] members  # of the basis, by position
    cdef Py_ssize_t[::1] ascending  # the same, sorted
    cdef int32_t[::1] position_of  # of an element of the basis
    # What `oracle` was last prepared for: the members, up to exchanges within symmetry classes.
    cdef Py_ssize_t[::1] prepared
    cdef bint is_prepared
    cdef int32_t[::1] changed  # elements whose feature may have changed
    cdef Py_ssize_t n_changed
    cdef unsigned char[::1] is_changed

    def __init__(self, matroid, double eps, bint counts_pending=False):
        super().__init__(matroid, None, 1, counts_pending)
        self.eps = eps
        self.work = self.rank
        self.remember_answers()
        symmetry_class = self.oracle.symmetry_classes()
        n_classes = int(symmetry_class.max(initial=-1)) + 1
        self.symmetry_class = symmetry_class
        self.use_symmetry(symmetry_class, n_classes)
        self.rounding = Rounding(eps)
        # No circuit has elements of two groups of a partition.
        has_groups = isinstance(self.oracle, PartitionKernel)
        self.kinetic = KineticOrder(symmetry_class, n_classes, has_groups)
        self.members = np.zeros(self.rank, dtype=np.intp)
        self.ascending = np.zeros(self.rank, dtype=np.intp)
        self.position_of = np.zeros(self.size, dtype=np.int32)
        self.prepared = np.zeros(self.rank, dtype=np.intp)
        self.changed = np.zeros(self.size, dtype=np.int32)
        self.is_changed = np.zeros(self.size, dtype=np.uint8)

    # ---- a round ----

    cdef int learn(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        cdef Py_ssize_t i
        PolicyKernel.learn(self, elements, rewards, n)
        for i in range(n):
            self.note_change(elements[i])
        return 0

    cdef void set_width(self, Py_ssize_t e) noexcept:
        PolicyKernel.set_width(self, e)
        self.note_change(e)

    cdef inline void note_change(self, Py_ssize_t e) noexcept:
        """The statistics of e have changed: its feature may have changed, too."""
        cdef int32_t s = self.kinetic.line_of(<int32_t>e)
        if s < 0 or self.is_changed[e]:
            return
        # With pending plays, counts may also fall, which `still_fits` does not notice.
        if self.counts_pending or not self.kinetic.still_fits(
            s, self.means[e], self.inverse_root[e]
        ):
            self.is_changed[e] = True
            self.changed[self.n_changed] = <int32_t>e
            self.n_changed += 1

    cdef int decide(self) except -1:
        cdef double width
        if self.rank == 0:
            return 0
        if self.n_initial > 0:
            return self.initial_round()
        # lambda_t, with t the number of this round.
        width = sqrt(1.5 * log(<double>(self.rounds + 1)))
        if self.is_restricted:
            # Not from the basis that is kept, which stays as it is.
            self.run_greedy(self.elements_by_weight(width))
            return self.choose_found()
        if not self.has_basis:
            self.find_basis(width)
        else:
            # The oracle may have been prepared for another basis since.
            self.is_prepared = self.is_prepared and self.oracle.quick_exchange
            try:
                self.apply_changes()
                self.widen(width)
            finally:
                self.oracle_calls += self.oracle.n_calls
                self.oracle.n_calls = 0
        self.chosen[:] = self.ascending
        return 0

    cdef object elements_by_weight(self, double width):
        """The elements that can be played, the largest rounded weight first."""
        cdef Py_ssize_t n = self.candidates.shape[0]
        cdef double[::1] alpha = np.empty(n)
        cdef double[::1] beta = np.empty(n)
        cdef Feature feature
        cdef Py_ssize_t i, e
        for i in range(n):
            e = self.candidates[i]
            feature = self.rounding.feature(self.means[e], self.inverse_root[e])
            alpha[i] = feature.alpha
            beta[i] = feature.beta
        candidates = np.asarray(self.candidates)
        weights = np.asarray(alpha) + width * np.asarray(beta)
        # Line by line: of equal weights, those of one feature and class stand together.
        keys = np.asarray(self.symmetry_class)[candidates], beta, alpha, -weights
        return candidates[np.lexsort(keys)]

    cdef int find_basis(self, double width) except -1:
        """Put all elements on lines, and find a best basis by greedy in their order."""
        cdef KineticOrder kinetic = self.kinetic
        cdef Py_ssize_t[::1] elements = self.elements_by_weight(width)
        cdef Feature feature
        cdef Py_ssize_t i, e
        self.run_greedy(elements)
        try:
            kinetic.scale = width
            for i in range(elements.shape[0]):
                e = elements[i]
                feature = self.rounding.feature(self.means[e], self.inverse_root[e])
                kinetic.reserve()
                kinetic.append(<int32_t>e, &feature)
            for i in range(self.rank):
                kinetic.reserve()
                kinetic.change_side(<int32_t>self.found[i])
        except BaseException:
            kinetic.clear()
            raise
        self.members[:] = self.found
        self.update_from_members()
        self.has_basis = True
        return 0

    cdef int update_from_members(self) except -1:
        """Update what follows from the members of the basis."""
        cdef Py_ssize_t k
        np.asarray(self.ascending)[:] = np.sort(self.members)
        for k in range(self.rank):
            self.position_of[self.members[k]] = <int32_t>k
        self.is_prepared = False
        return 0

    # ---- features change ----

    cdef int apply_changes(self) except -1:
        while self.n_changed > 0:
            self.move_to_feature(self.changed[self.n_changed - 1])
            self.n_changed -= 1
            self.is_changed[self.changed[self.n_changed]] = False
        return 0

    cdef int move_to_feature(self, int32_t e) except -1:
        """Move e to the line of its present feature, and repair the basis by one exchange."""
        cdef KineticOrder kinetic = self.kinetic
        cdef int32_t s = kinetic.line_of(e)
        cdef Feature feature = self.rounding.feature(self.means[e], self.inverse_root[e])
        cdef bint inside = kinetic.side[e] == INSIDE
        cdef int32_t other = -1
        cdef int32_t end
        cdef bint down
        if kinetic.has_feature(s, feature.alpha, feature.beta):
            return 0  # the feature has changed and changed back
        kinetic.reserve()
        down = kinetic.weight(feature.alpha, feature.beta) < kinetic.weight_of(s)
        end = kinetic.find_place(s, &feature, down)
        if inside == down:
            # An element of the basis that falls is replaced by the heaviest element that can
            # replace it. One outside that rises replaces the lightest element that it can.
            while other < 0 and s != end:
                other = self.partner_on(s, e)
                s = kinetic.lines[s].below if down else kinetic.lines[s].above
        kinetic.move(e, &feature, end, down)
        if other >= 0:
            if inside:
                self.exchange(e, other)
            else:
                self.exchange(other, e)
        return 0

    # ---- lambda grows ----

    cdef int widen(self, double width) except -1:
        """Advance to a larger lambda, crossing by crossing."""
        cdef KineticOrder kinetic = self.kinetic
        cdef int32_t lower, upper
        while True:
            lower = kinetic.next_to_overtake(width)
            if lower < 0:
                return 0
            upper = kinetic.lines[lower].above
            if kinetic.has(lower, OUTSIDE) and kinetic.has(upper, INSIDE):
                self.overtake_one_by_one(lower, upper)
            else:
                kinetic.overtake(lower)

    cdef int overtake_one_by_one(self, int32_t lower, int32_t upper) except -1:
        """Let line `lower` overtake `upper` where elements outside the basis pass elements in it.

        First those of `lower` that are in the basis pass, then the others, each with its exchange.
        """
        cdef KineticOrder kinetic = self.kinetic
        cdef int32_t target = -1
        cdef int32_t block, e, x
        while kinetic.has(lower, OUTSIDE):
            block = kinetic.of_line[lower, OUTSIDE]
            e = kinetic.blocks[block].first
            x = self.partner_on(upper, e)
            kinetic.reserve()
            if target < 0:
                target = kinetic.rise(lower)
            if x < 0:
                kinetic.detach_block(block, OUTSIDE)
                kinetic.attach_block(block, target, OUTSIDE)
            else:
                self.exchange(x, e)
                kinetic.remove(e)
                kinetic.insert(target, e)
        kinetic.discard_if_empty(lower)
        return 0

    # ---- exchange ----

    cdef int32_t partner_on(self, int32_t s, int32_t e) except -2:
        """An element of line s, on the other side of the basis, that can be exchanged with e; -1
        if there is none.
        """
        cdef KineticOrder kinetic = self.kinetic
        cdef bint inside = kinetic.side[e] == INSIDE
        cdef int32_t block = kinetic.of_line[s, OUTSIDE if inside else INSIDE]
        cdef int32_t other
        while block >= 0:
            # One element answers for the whole block: they are symmetric.
            other = kinetic.blocks[block].first
            if self.can_replace(e, other) if inside else self.can_replace(other, e):
                return other
            block = kinetic.blocks[block].next_of_line
        return -1

    cdef bint can_replace(self, int32_t x, int32_t e) except -1:
        """Whether e, outside the basis, can replace x, which is in it."""
        if self.symmetry_class[x] == self.symmetry_class[e]:
            return True
        if not self.is_prepared:
            self.prepared[:] = self.members
            self.oracle.prepare(self.prepared)
            self.is_prepared = True
        return self.oracle.can_replace(self.position_of[x], e)

    cdef void exchange(self, int32_t x, int32_t e) noexcept:
        """Replace x, which is in the basis, by e."""
        cdef Py_ssize_t k = self.position_of[x]
        self.members[k] = e
        self.position_of[e] = <int32_t>k
        self.kinetic.change_side(x)
        self.kinetic.change_side(e)
        if self.symmetry_class[x] != self.symmetry_class[e] or not self.oracle.quick_exchange:
            self.is_prepared = False
        # e goes to the place of x, and from there to its own.
        k = place_of(self.ascending, x)
        while k + 1 < self.rank and self.ascending[k + 1] < e:
            self.ascending[k] = self.ascending[k + 1]
            k += 1
        while k > 0 and self.ascending[k - 1] > e:
            self.ascending[k] = self.ascending[k - 1]
            k -= 1
        self.ascending[k] = e

    # ---- saving ----

    def state(self):
        return super().state() | self.kinetic.state() | {
            "has_basis": self.has_basis,
            "members": np.array(self.members),
            "changed": np.array(self.changed[: self.n_changed]),
        }

    def parameters(self):
        return self.eps, self.counts_pending

    def restore(self, state):
        super().restore(state)
        self.kinetic.restore(state)
        self.has_basis = state["has_basis"]
        np.asarray(self.members)[:] = state["members"]
        self.n_changed = len(state["changed"])
        np.asarray(self.changed)[: self.n_changed] = state["changed"]
        np.asarray(self.is_changed)[state["changed"]] = True
        if self.has_basis:
            self.update_from_members()


cdef Py_ssize_t place_of(const Py_ssize_t[::1] ascending, Py_ssize_t e) noexcept:
    """The position of e."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = ascending.shape[0] - 1
    cdef Py_ssize_t middle
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < e:
            low = middle + 1
        else:
            high = middle
    return low
