"""Linear matroids over GF(p), and over the rationals by way of several primes."""

import numpy as np

from libc.stdint cimport uint64_t

from matroid_bandits._core.matroid cimport MatroidKernel

cdef extern from *:
    """
    #include <stdint.h>

    static inline uint64_t high_word(uint64_t a, uint64_t b) {
        return (uint64_t)(((unsigned __int128)a * b) >> 64);
    }
    """
    uint64_t high_word(uint64_t a, uint64_t b) noexcept


cdef class ModularKernel(MatroidKernel):
    """Rows ``residues[i, e]`` are element e modulo ``primes[i]``, each prime below 2**31.

    A set is independent if it is independent modulo *some* of the primes. With one prime this is
    GF(p). With primes whose product exceeds every minor of an integer matrix it is the rationals,
    exactly: independent rows have a non-zero minor, which not all of those primes can divide;
    dependent rows are dependent modulo every prime.

    Independence of one element costs O(rank * width) per prime. The sums of products are reduced
    only when the next one could overflow 64 bits (`rows_per_reduction`).
    """

    # Flat arrays: with strides in the way, the compiler would fetch them anew after every store.
    cdef const uint64_t[::1] residues  # [prime, element, column]
    cdef const uint64_t[::1] primes
    cdef uint64_t[::1] reciprocals  # (2**64 - 1) // prime
    cdef Py_ssize_t n_primes
    cdef Py_ssize_t width
    cdef Py_ssize_t max_rank
    cdef Py_ssize_t[::1] rows_per_reduction
    # The growing set: in every field still alive, one echelon row (pivot entry 1) per element.
    cdef Py_ssize_t grown
    cdef unsigned char[::1] alive
    cdef unsigned char[::1] accepted
    cdef uint64_t[::1] rows  # [prime, row, column]
    cdef Py_ssize_t[::1] pivots  # [prime, row]
    cdef uint64_t[::1] residual  # [prime, column]
    # The prepared basis: coordinate k of e is the sum over r of e[pivot r] * inverse[k, r].
    cdef unsigned char[::1] usable
    cdef bint all_usable
    cdef uint64_t[::1] inverse  # [prime, position, row]
    cdef Py_ssize_t[::1] basis_pivots  # [prime, row]
    cdef uint64_t[::1] work  # [row, column of basis and identity]
    cdef uint64_t[::1] coordinates  # of one element
    cdef Py_ssize_t prepared  # elements of the prepared basis, -1 if there is none
    cdef Py_ssize_t[::1] elements  # they themselves
    cdef Py_ssize_t[::1] place  # of an element among them, -1 if it is not there

    def __init__(self, const uint64_t[:, :, ::1] residues, const uint64_t[::1] primes):
        super().__init__(residues.shape[1])
        self.quick_exchange = True
        self.residues = np.asarray(residues).reshape(-1)
        self.primes = primes
        self.reciprocals = np.uint64(2**64 - 1) // np.asarray(primes)
        self.n_primes = k = primes.shape[0]
        self.width = w = residues.shape[2]
        # A rank is at most the smaller side of the matrix.
        self.max_rank = r = min(self.size, w)
        self.rows_per_reduction = np.array(
            [min((2**64 - p) // (p - 1) ** 2, 2**31) for p in np.asarray(primes).tolist()],
            dtype=np.intp,
        )
        self.alive = np.ones(k, dtype=np.uint8)
        self.accepted = np.zeros(k, dtype=np.uint8)
        self.rows = np.zeros(k * r * w, dtype=np.uint64)
        self.pivots = np.zeros(k * r, dtype=np.intp)
        self.residual = np.zeros(k * w, dtype=np.uint64)
        self.usable = np.zeros(k, dtype=np.uint8)
        self.inverse = np.zeros(k * r * r, dtype=np.uint64)
        self.basis_pivots = np.zeros(k * r, dtype=np.intp)
        self.work = np.zeros(r * (w + r), dtype=np.uint64)
        self.coordinates = np.zeros(r, dtype=np.uint64)
        self.prepared = -1
        self.elements = np.zeros(r, dtype=np.intp)
        self.place = np.full(self.size, -1, dtype=np.intp)

    def clones(self):
        """Vectors that are multiples of one another."""
        cdef uint64_t[:, ::1] scaled = np.empty((self.size, self.n_primes * self.width), np.uint64)
        cdef Py_ssize_t e, i, j, source
        cdef uint64_t factor
        for e in range(self.size):
            for i in range(self.n_primes):
                source = (i * self.size + e) * self.width
                factor = 0
                for j in range(self.width):
                    # The first entry that is not 0 becomes 1.
                    if factor == 0 and self.residues[source + j]:
                        factor = invert(self.residues[source + j], self.primes[i])
                    scaled[e, i * self.width + j] = modulo(
                        self.residues[source + j] * factor, self.primes[i], self.reciprocals[i]
                    )
        _, classes = np.unique(np.asarray(scaled), axis=0, return_inverse=True)
        return classes.reshape(-1).astype(np.int32)

    cdef int clear(self) except -1:
        self.grown = 0
        self.alive[:] = 1
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i, j, row, start
        cdef bint independent = False
        cdef uint64_t p, scale
        for i in range(self.n_primes):
            self.accepted[i] = self.alive[i] and self.reduce_row(i, element) >= 0
            independent = independent or self.accepted[i]
        if not independent:
            return 0
        for i in range(self.n_primes):
            # Dependent here, independent over the rationals: this prime has nothing more to say
            # about the growing set.
            self.alive[i] = self.accepted[i]
            if self.alive[i]:
                p = self.primes[i]
                row = i * self.max_rank + self.grown
                start = i * self.width
                scale = invert(self.residual[start + self.pivots[row]], p)
                for j in range(self.width):
                    self.rows[row * self.width + j] = modulo(
                        self.residual[start + j] * scale, p, self.reciprocals[i]
                    )
        self.grown += 1
        return 1

    cdef Py_ssize_t reduce_row(self, Py_ssize_t i, Py_ssize_t element) except -2:
        """Subtract from `element` what the growing set spans; return the next pivot, -1 if none."""
        cdef uint64_t p = self.primes[i]
        cdef uint64_t reciprocal = self.reciprocals[i]
        cdef uint64_t factor
        cdef Py_ssize_t width = self.width
        cdef Py_ssize_t start = i * width  # of the residual
        cdef Py_ssize_t source = (i * self.size + element) * width
        cdef Py_ssize_t budget = self.rows_per_reduction[i]
        cdef Py_ssize_t pivot = -1
        cdef Py_ssize_t row, j
        for j in range(width):
            self.residual[start + j] = self.residues[source + j]
        for row in range(i * self.max_rank, i * self.max_rank + self.grown):
            factor = modulo(self.residual[start + self.pivots[row]], p, reciprocal)
            if factor == 0:
                continue
            factor = p - factor
            if budget == 0:
                for j in range(width):
                    self.residual[start + j] = modulo(self.residual[start + j], p, reciprocal)
                budget = self.rows_per_reduction[i]
            source = row * width
            for j in range(width):
                self.residual[start + j] += factor * self.rows[source + j]
            budget -= 1
        for j in range(width):
            self.residual[start + j] = modulo(self.residual[start + j], p, reciprocal)
            if pivot < 0 and self.residual[start + j]:
                pivot = j
        if pivot >= 0:
            self.pivots[i * self.max_rank + self.grown] = pivot
        return pivot

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t i, k
        self.basis = basis
        if not self.update(basis):
            self.all_usable = True
            for i in range(self.n_primes):
                self.usable[i] = self.invert_basis(i)
                self.all_usable = self.all_usable and self.usable[i]
        for k in range(self.prepared):
            self.place[self.elements[k]] = -1
        self.prepared = basis.shape[0]
        for k in range(self.prepared):
            self.elements[k] = basis[k]
            self.place[basis[k]] = k
        return 0

    cdef bint update(self, const Py_ssize_t[::1] basis) noexcept:
        """From the basis prepared last to one in another order, or with one element exchanged, by
        a pivot; False if it takes more than that.
        """
        cdef Py_ssize_t d = basis.shape[0]
        cdef Py_ssize_t gap = -1  # the position of the element that is new
        cdef Py_ssize_t leaving = d * (d - 1) // 2  # the place of the one that is gone
        cdef Py_ssize_t i, k, r, row, place
        cdef uint64_t p, reciprocal, total, factor
        if self.prepared != d or not self.all_usable:
            return False
        for k in range(d):
            place = self.place[basis[k]]
            if place >= 0:
                leaving -= place
            elif gap >= 0:
                return False
            else:
                gap = k
        for i in range(self.n_primes):
            p = self.primes[i]
            reciprocal = self.reciprocals[i]
            for k in range(d):
                place = leaving if k == gap else self.place[basis[k]]
                row = (i * self.max_rank + place) * self.max_rank
                total = 0
                for r in range(d):
                    self.work[k * d + r] = self.inverse[row + r]
                    if gap >= 0:
                        factor = self.entry(i, basis[gap], r)
                        if factor:
                            total = modulo(
                                total + factor * self.work[k * d + r], p, reciprocal
                            )
                self.coordinates[k] = total
            if gap >= 0:
                if self.coordinates[gap] == 0:
                    # This prime divides the new determinant: all is worked out anew.
                    return False
                factor = invert(self.coordinates[gap], p)
                for r in range(d):
                    self.work[gap * d + r] = modulo(self.work[gap * d + r] * factor, p, reciprocal)
                for k in range(d):
                    if k == gap or self.coordinates[k] == 0:
                        continue
                    factor = p - self.coordinates[k]
                    for r in range(d):
                        self.work[k * d + r] = modulo(
                            self.work[k * d + r] + factor * self.work[gap * d + r], p, reciprocal
                        )
            for k in range(d):
                row = (i * self.max_rank + k) * self.max_rank
                for r in range(d):
                    self.inverse[row + r] = self.work[k * d + r]
        return True

    cdef inline uint64_t entry(self, Py_ssize_t i, Py_ssize_t element, Py_ssize_t r) noexcept:
        """The entry of `element` modulo prime i in the pivot column of row r."""
        return self.residues[
            (i * self.size + element) * self.width + self.basis_pivots[i * self.max_rank + r]
        ]

    cdef bint invert_basis(self, Py_ssize_t i) noexcept:
        """Gauss-Jordan on [basis | identity] modulo prime i; False if the basis is singular."""
        cdef uint64_t p = self.primes[i]
        cdef uint64_t reciprocal = self.reciprocals[i]
        cdef uint64_t factor
        cdef Py_ssize_t d = self.basis.shape[0]
        cdef Py_ssize_t w = self.width
        cdef Py_ssize_t r, other, j, pivot, start, target
        for r in range(d):
            start = r * (w + d)
            for j in range(w):
                self.work[start + j] = self.residues[(i * self.size + self.basis[r]) * w + j]
            for j in range(d):
                self.work[start + w + j] = r == j
        for r in range(d):
            start = r * (w + d)
            pivot = 0
            while pivot < w and self.work[start + pivot] == 0:
                pivot += 1
            if pivot == w:
                return False
            self.basis_pivots[i * self.max_rank + r] = pivot
            factor = invert(self.work[start + pivot], p)
            for j in range(w + d):
                self.work[start + j] = modulo(self.work[start + j] * factor, p, reciprocal)
            for other in range(d):
                target = other * (w + d)
                factor = self.work[target + pivot]
                if other == r or factor == 0:
                    continue
                factor = p - factor
                for j in range(w + d):
                    self.work[target + j] = modulo(
                        self.work[target + j] + factor * self.work[start + j], p, reciprocal
                    )
        for r in range(d):
            for j in range(d):
                self.inverse[(i * self.max_rank + j) * self.max_rank + r] = (
                    self.work[r * (w + d) + w + j]
                )
        return True

    cdef bint has_coordinate(self, Py_ssize_t i, Py_ssize_t element, Py_ssize_t k) noexcept:
        """Whether coordinate k of `element` in the basis is not 0 modulo prime i."""
        cdef uint64_t p = self.primes[i]
        cdef uint64_t total = 0
        cdef uint64_t entry
        cdef Py_ssize_t coefficients = (i * self.max_rank + k) * self.max_rank
        cdef Py_ssize_t r
        for r in range(self.basis.shape[0]):
            entry = self.entry(i, element, r)
            if entry:
                total = modulo(
                    total + entry * self.inverse[coefficients + r], p, self.reciprocals[i]
                )
        return total != 0

    cdef bint can_replace(self, Py_ssize_t k, Py_ssize_t element) except -1:
        cdef Py_ssize_t i, j
        for i in range(self.n_primes):
            if self.usable[i] and self.has_coordinate(i, element, k):
                return True
        if self.all_usable:
            return False
        # Some prime divides the basis' own determinant and has no coordinates to offer, yet it may
        # be the one that shows the exchanged set independent: test that set itself.
        self.clear()
        for j in range(self.basis.shape[0]):
            if not self.try_add(element if j == k else self.basis[j]):
                return False
        return True


cdef inline uint64_t modulo(uint64_t x, uint64_t p, uint64_t reciprocal) noexcept:
    """x modulo p without a division (Barrett): the quotient guessed is at most two too small."""
    cdef uint64_t rest = x - high_word(x, reciprocal) * p
    while rest >= p:
        rest -= p
    return rest


cdef uint64_t invert(uint64_t a, uint64_t p) noexcept:
    """The inverse of a modulo the prime p, as a**(p - 2)."""
    cdef uint64_t result = 1
    cdef uint64_t exponent = p - 2
    if a == 1 or a == p - 1:
        return a
    while exponent:
        if exponent & 1:
            result = result * a % p
        a = a * a % p
        exponent >>= 1
    return result
