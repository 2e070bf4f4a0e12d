"""Duals: sets that some basis of another matroid avoids."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.matroids.symmetry cimport Representatives


cdef class DualKernel(MatroidKernel):
    """A set is independent if a basis of the other matroid, `inner`, avoids it.

    Parameters
    ----------
    growing, exchanging
        Two kernels of `inner`, used by this kernel alone. If both are the same kernel, it is
        prepared anew whenever its use changes.
    inner_rank
        The rank of `inner`.

    Independence: a basis that avoids the growing set is kept. If an element of this basis is added
    to the set, another free element takes its place in the basis. Exchange: e can replace x in a
    basis if and only if x can replace e in the complement, which is a basis of `inner`.
    """

    cdef MatroidKernel growing
    cdef MatroidKernel exchanging
    cdef bint is_shared  # both are the same
    cdef Py_ssize_t inner_rank
    # How many elements were looked at, for tests: all when a kernel is prepared, and one by a test.
    cdef readonly Py_ssize_t n_steps
    # The growing set, and the basis that avoids it.
    cdef unsigned char[::1] is_taken
    cdef Py_ssize_t[::1] avoiding
    cdef Py_ssize_t n_avoiding  # -1 until there is one
    cdef Py_ssize_t[::1] place  # of an element in it, -1 if it is not there
    cdef bint is_growing_prepared  # for this basis
    # Greedy
    cdef Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] chosen
    cdef unsigned char[::1] is_marked
    # The complement of the prepared basis.
    cdef Py_ssize_t[::1] others
    cdef Py_ssize_t n_others
    cdef Py_ssize_t[::1] place_among_others
    cdef bint is_exchanging_prepared  # for the complement
    # Whether partners are found for the whole complement at once: the first position that each
    # can replace, and the first of the positions that leave.
    cdef bint finds_partners
    cdef Py_ssize_t[::1] partners
    cdef bint are_partners_known
    cdef Py_ssize_t[::1] leaving_partners
    cdef Representatives representatives  # None until a basis is prepared

    def __init__(
        self, MatroidKernel growing, MatroidKernel exchanging, Py_ssize_t inner_rank
    ):
        super().__init__(growing.size)
        self.growing = growing
        self.exchanging = exchanging
        self.is_shared = growing is exchanging
        self.n_kernels = 1 + growing.n_kernels + (0 if self.is_shared else exchanging.n_kernels)
        self.quick_exchange = exchanging.quick_exchange and not self.is_shared
        self.is_python = growing.is_python
        self.grows_slowly = True
        self.finds_partners = exchanging.finds_replacements and not self.is_shared
        self.inner_rank = inner_rank
        self.is_taken = np.zeros(self.size, dtype=np.uint8)
        self.avoiding = np.zeros(inner_rank, dtype=np.intp)
        self.n_avoiding = -1
        self.place = np.full(self.size, -1, dtype=np.intp)
        self.order = np.zeros(self.size, dtype=np.intp)
        self.chosen = np.zeros(inner_rank, dtype=np.intp)
        self.is_marked = np.zeros(self.size, dtype=np.uint8)
        self.others = np.zeros(self.size, dtype=np.intp)
        self.partners = np.zeros(self.size, dtype=np.intp)
        self.leaving_partners = np.zeros(self.size, dtype=np.intp)
        self.place_among_others = np.zeros(self.size, dtype=np.intp)

    def remember(self):
        self.growing.remember()
        self.exchanging.remember()

    cdef object find_symmetry_classes(self):
        return self.exchanging.symmetry_classes()

    cdef void disturb_growing(self) noexcept:
        """Note that `growing` is about to be used for something else than its prepared basis."""
        self.is_growing_prepared = False
        if self.is_shared:
            self.is_exchanging_prepared = False

    # ---- independence ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether the complement spans `inner`."""
        complement = np.delete(np.arange(self.size), np.asarray(elements))
        self.disturb_growing()
        return len(self.growing.greedy_basis(complement, self.inner_rank)) == self.inner_rank

    cdef int clear(self) except -1:
        cdef Py_ssize_t k
        self.is_taken[:] = 0
        # Any basis avoids the empty set, so the basis of the last growing set can be kept.
        if self.n_avoiding < 0:
            self.disturb_growing()
            k = self.growing.greedy(np.arange(self.size), self.inner_rank, self.avoiding)
            self.n_avoiding = k
            for k in range(self.n_avoiding):
                self.place[self.avoiding[k]] = k
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t k = self.place[element]
        cdef Py_ssize_t other
        if k >= 0:
            other = self.replacement(k)
            if other < 0:
                return 0
            self.avoiding[k] = other
            self.place[other] = k
            self.place[element] = -1
            self.is_growing_prepared = False
        self.is_taken[element] = 1
        return 1

    cdef Py_ssize_t replacement(self, Py_ssize_t k) except -2:
        """An element for place k of the basis that avoids the growing set, -1 if there is none."""
        cdef Py_ssize_t e
        if not self.is_growing_prepared:
            self.disturb_growing()
            self.n_steps += self.size
            self.growing.prepare(self.avoiding[: self.n_avoiding])
            self.is_growing_prepared = True
        for e in range(self.size):
            self.n_steps += 1
            if not self.is_taken[e] and self.place[e] < 0 and self.growing.can_replace(k, e):
                return e
        return -1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """Take what greedy on `inner` leaves over when it goes from the worst to the best.

        Elements that are not in `order` come first there, as they must not be taken here.
        """
        cdef Py_ssize_t place = 0
        cdef Py_ssize_t i, e
        self.tested = 0
        if limit == 0:
            return 0
        self.is_marked[:] = 0
        for i in range(order.shape[0]):
            self.is_marked[order[i]] = 1
            self.order[self.size - 1 - i] = order[i]
        for e in range(self.size):
            if not self.is_marked[e]:
                self.order[place] = e
                place += 1
        self.disturb_growing()
        place = self.growing.greedy(self.order, self.inner_rank, self.chosen)
        for i in range(place):
            self.is_marked[self.chosen[i]] = 0
        return self.take_marked(order, limit, self.is_marked, chosen)

    # ---- exchange ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t e
        if self.representatives is None:
            self.representatives = Representatives(self.symmetry_classes())
        self.basis = basis
        self.representatives.prepare(basis)
        for e in range(self.size):
            if not self.representatives.is_inside[e]:
                self.others[n] = e
                self.place_among_others[e] = n
                n += 1
        self.n_others = n
        self.are_partners_known = False
        return self.prepare_exchanging()

    cdef int prepare_exchanging(self) except -1:
        """Prepare `exchanging` for the complement of the prepared basis."""
        if self.is_shared:
            self.is_growing_prepared = False
        self.is_exchanging_prepared = False
        self.n_steps += self.size
        self.exchanging.prepare(self.others[: self.n_others])
        self.is_exchanging_prepared = True
        return 0

    cdef Py_ssize_t place_of(self, Py_ssize_t element) noexcept:
        """The place of an outside element in the complement, or of one symmetric to a member."""
        return self.place_among_others[self.representatives.outside_for(element)]

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        if not self.is_exchanging_prepared:
            self.prepare_exchanging()
        self.n_steps += 1
        return self.exchanging.can_replace(self.place_of(element), self.basis[position])

    # ---- with an `inner` that finds the replacements of its whole basis at once ----

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        if not self.finds_partners:
            return MatroidKernel.partner(self, element)
        if not self.are_partners_known:
            self.n_steps += self.size
            self.exchanging.first_replacements(self.basis, self.partners[: self.n_others])
            self.are_partners_known = True
        return self.partners[self.place_of(element)]

    cdef int mark_leaving(self, const Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t[::1] elements
        MatroidKernel.mark_leaving(self, positions)
        if self.finds_partners:
            elements = np.asarray(self.basis)[np.asarray(positions)]
            self.n_steps += self.size
            self.exchanging.first_replacements(elements, self.leaving_partners[: self.n_others])
        return 0

    cdef bint can_replace_leaving(self, Py_ssize_t element) except -1:
        if not self.finds_partners:
            return MatroidKernel.can_replace_leaving(self, element)
        return self.leaving_partners[self.place_of(element)] >= 0
