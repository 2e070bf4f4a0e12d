"""FasterCUCB [TOA24]: a best basis by rounded weights, kept up to date by single exchanges."""

from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from matroid_bandits._core.policies.faster_cucb.blocks cimport INSIDE, OUTSIDE, Block
from matroid_bandits._core.policies.faster_cucb.forest cimport Arc, Forest, Vertex
from matroid_bandits._core.policies.faster_cucb.kinetic cimport (
    KineticOrder, Line, propose, withdraw
)
from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.faster_cucb.rounding cimport Feature, Rounding

from matroid_bandits._core.matroids.graphic import GraphicKernel
from matroid_bandits._core.matroids.partition import PartitionKernel


cdef class FasterCUCBKernel(PolicyKernel):
    """Keeps a basis of largest rounded weight, by single exchanges, and plays it.

    `learn` notes the elements whose feature may have changed; `decide` moves them one by one. After
    each step the basis is a best one for the order at that moment. So if the oracle raises an error
    in between, the next call continues from there. Letters are those of
    docs/explanation/faster-cucb.md.
    """

    cdef readonly double eps
    cdef const int32_t[::1] symmetry_class
    cdef Rounding rounding
    cdef KineticOrder kinetic
    cdef Forest forest  # of the basis, for a graph; None for other matroids
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
        if isinstance(self.oracle, GraphicKernel):
            self.forest = Forest(
                len(matroid._vertices), matroid._tails, matroid._heads, symmetry_class
            )
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
            self.members[:] = self.found
            self.update_from_members()
        except BaseException:
            kinetic.clear()
            raise
        self.has_basis = True
        return 0

    cdef int update_from_members(self) except -1:
        """Update what follows from the members of the basis."""
        cdef Py_ssize_t k
        np.asarray(self.ascending)[:] = np.sort(self.members)
        for k in range(self.rank):
            self.position_of[self.members[k]] = <int32_t>k
        self.is_prepared = False
        if self.forest is not None:
            self.forest.set_basis(self.members)
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
            other = self.first_partner(e, s, end, down)
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
            x = self.first_partner(e, upper, kinetic.lines[upper].above, False)
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

    cdef int32_t first_partner(self, int32_t e, int32_t s, int32_t end, bint down) except -2:
        """The first element, from line s, inclusive, to `end`, exclusive, that can be exchanged
        with e; -1 if there is none.
        """
        cdef int32_t other
        if self.forest is not None:
            if self.kinetic.side[e] == INSIDE:
                return self.first_across_cut(e, s, end, down)
            return self.first_on_path(e, s, end, down)
        while s != end:
            other = self.partner_on(s, e)
            if other >= 0:
                return other
            s = self.kinetic.lines[s].below if down else self.kinetic.lines[s].above
        return -1

    cdef int32_t first_on_path(self, int32_t e, int32_t s, int32_t end, bint down) noexcept:
        """`first_partner` of an edge outside the forest: on the path between its ends."""
        cdef KineticOrder kinetic = self.kinetic
        cdef Line *lines = &kinetic.lines[0]
        cdef const Block *blocks = &kinetic.blocks[0]
        cdef const int32_t *block_of = &kinetic.block_of[0]
        cdef Py_ssize_t n = self.forest.find_path(e)
        cdef const int32_t *path = &self.forest.path[0]
        cdef Py_ssize_t i
        cdef int32_t block
        for i in range(n):
            propose(lines, blocks, block_of[path[i]])
        block = kinetic.first_proposed(s, end, down)
        for i in range(n):
            withdraw(lines, blocks, block_of[path[i]])
        return blocks[block].first if block >= 0 else -1

    cdef int32_t first_across_cut(self, int32_t x, int32_t s, int32_t end, bint down) noexcept:
        """`first_partner` of an edge of the forest: between the two trees that remain without it.

        There are two ways to find it: test the edges on the lines in their order, or read all edges
        of the smaller tree. The first is tried for as long as the second would take.
        """
        cdef KineticOrder kinetic = self.kinetic
        cdef Forest forest = self.forest
        cdef const Vertex *vertices = &forest.vertices[0]
        cdef int64_t n_tests, mark
        cdef int32_t block, other
        forest.find_cut(x)
        mark = forest.side_mark
        # A class has this many blocks on average. Each is read twice.
        n_tests = 2 * forest.n_arcs * (1 + kinetic.n_used // kinetic.of_class.shape[0])
        while s != end:
            block = kinetic.of_line[s, OUTSIDE]
            while block >= 0:
                if n_tests == 0:
                    return self.first_of_cut(s, end, down)
                n_tests -= 1
                other = kinetic.blocks[block].first
                if (vertices[forest.tails[other]].mark == mark) != (
                    vertices[forest.heads[other]].mark == mark
                ):
                    return other
                block = kinetic.blocks[block].next_of_line
            s = kinetic.lines[s].below if down else kinetic.lines[s].above
        return -1

    cdef int32_t first_of_cut(self, int32_t s, int32_t end, bint down) noexcept:
        """The same by the edges of the smaller tree, after `find_cut`."""
        cdef KineticOrder kinetic = self.kinetic
        cdef Forest forest = self.forest
        cdef Line *lines = &kinetic.lines[0]
        cdef const Block *blocks = &kinetic.blocks[0]
        cdef int32_t block = -1
        cdef int32_t i, k, b, v
        cdef bint withdraws
        cdef const Arc *arc
        for withdraws in range(2):
            if withdraws:
                block = kinetic.first_proposed(s, end, down)
            for i in range(forest.n_side):
                v = forest.side[i]
                for k in range(forest.first_arc[v], forest.first_arc[v + 1]):
                    arc = &forest.arcs[k]
                    if forest.vertices[arc.target].mark == forest.side_mark:
                        continue
                    b = kinetic.of_class[arc.symmetry_class, OUTSIDE]
                    while b >= 0:
                        if withdraws:
                            withdraw(lines, blocks, b)
                        else:
                            propose(lines, blocks, b)
                        b = blocks[b].next_of_class
        return blocks[block].first if block >= 0 else -1

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
        if self.forest is not None:
            self.forest.exchange(x, e)
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
