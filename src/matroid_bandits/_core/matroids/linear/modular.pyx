"""Linear matroids over GF(p), and over the rationals by way of several primes."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits.errors import not_a_basis

cdef extern from "portable.h":
    uint64_t high_word "mb_high_word"(uint64_t a, uint64_t b) noexcept


cdef class ModularKernel(MatroidKernel):
    """Vectors modulo several primes, each below 2**31, as `independent_columns` gives them.

    A set is independent if it is independent modulo *some* of the primes. With one prime this is
    GF(p). With primes whose product exceeds every minor of an integer matrix it is the rationals,
    exactly: independent rows have a non-zero minor, which not all of those primes can divide;
    dependent rows are dependent modulo every prime.

    For the growing set the kernel keeps its orthogonal complement. A column is either free or a
    pivot; there are as many pivots as elements in the set. For every free column f there is one
    vector w(f) orthogonal to the set: 1 at f, 0 at the other free columns, and `orthogonal` at the
    pivots. These vectors span the orthogonal complement, so an element depends on the set if and
    only if its product with each of them is 0. That costs O(entries other than 0 * free columns):
    little for sparse vectors, and little once the set is nearly a basis, when greedy makes most of
    its tests.
    """

    # Flat arrays: the compiler would reload the strides of others after every store.
    cdef const uint64_t[::1] primes
    cdef uint64_t[::1] reciprocals  # (2**64 - 1) // prime
    cdef Py_ssize_t n_primes
    cdef Py_ssize_t width
    cdef Py_ssize_t[::1] products_per_reduction
    # Element e modulo prime i has `values` in `columns`, both from `start(i, e)` on.
    cdef const Py_ssize_t[::1] starts
    cdef const Py_ssize_t[::1] columns
    cdef const uint64_t[::1] values
    cdef const int32_t[::1] classes  # of vectors that are multiples of one another
    # The growing set, in every field still alive. The first `free` columns in `order` are free.
    cdef Py_ssize_t free
    cdef unsigned char[::1] alive
    cdef Py_ssize_t[::1] entering  # [prime]: the place in `order` of the next pivot, -1 if none
    cdef Py_ssize_t[::1] order  # [prime, place]: a column
    cdef Py_ssize_t[::1] place_of_column  # [prime, column]
    cdef uint64_t[::1] orthogonal  # [prime, pivot column, place of a free column]
    cdef uint64_t[::1] products  # [prime, place of a free column]
    cdef int64_t run  # how many sets have been grown
    cdef int64_t[::1] spanned  # [class]: the last run whose growing set spanned the class
    # The prepared basis: coordinate k of e is the sum over columns c of e[c] * inverse[k, c].
    cdef unsigned char[::1] usable
    cdef bint all_usable
    cdef uint64_t[::1] inverse  # [prime, position, column]
    cdef Py_ssize_t[::1] pivots  # of the rows of `work`
    cdef uint64_t[::1] work  # [row, column of basis and identity]
    cdef uint64_t[::1] coordinates  # of one element
    cdef Py_ssize_t prepared  # elements of the prepared basis, -1 if there is none
    cdef Py_ssize_t[::1] elements  # they themselves
    cdef Py_ssize_t[::1] place  # of an element among them, -1 if it is not there

    def __init__(
        self,
        const uint64_t[::1] primes,
        Py_ssize_t width,
        const Py_ssize_t[:, ::1] starts,
        const Py_ssize_t[::1] columns,
        const uint64_t[::1] values,
        const int32_t[::1] classes,
    ):
        super().__init__(starts.shape[1] - 1)
        self.quick_exchange = True
        self.primes = primes
        self.reciprocals = np.array([reciprocal_of(p) for p in primes], dtype=np.uint64)
        self.n_primes = k = primes.shape[0]
        self.width = w = width
        self.products_per_reduction = np.array(
            [products_within_64_bits(p) for p in primes], dtype=np.intp
        )
        self.starts = np.asarray(starts).reshape(-1)
        self.columns = columns
        self.values = values
        self.classes = classes
        self.free = w
        self.alive = np.ones(k, dtype=np.uint8)
        self.entering = np.full(k, -1, dtype=np.intp)
        self.order = np.tile(np.arange(w, dtype=np.intp), k)
        self.place_of_column = np.tile(np.arange(w, dtype=np.intp), k)
        self.orthogonal = np.zeros(k * w * w, dtype=np.uint64)
        self.products = np.zeros(k * w, dtype=np.uint64)
        self.spanned = np.full(self.size, -1, dtype=np.int64)
        self.usable = np.zeros(k, dtype=np.uint8)
        self.inverse = np.zeros(k * w * w, dtype=np.uint64)
        self.pivots = np.zeros(w, dtype=np.intp)
        self.work = np.zeros(2 * w * w, dtype=np.uint64)
        self.coordinates = np.zeros(w, dtype=np.uint64)
        self.prepared = -1
        self.elements = np.zeros(w, dtype=np.intp)
        self.place = np.full(self.size, -1, dtype=np.intp)

    cdef object find_symmetry_classes(self):
        """Vectors that are multiples of one another."""
        return np.array(self.classes)

    cdef inline Py_ssize_t start(self, Py_ssize_t i, Py_ssize_t element) noexcept:
        """Where the entries of `element` modulo prime i start."""
        return self.starts[i * (self.size + 1) + element]

    # ---- the growing set ----

    cdef int clear(self) except -1:
        # Without pivots all columns are free; their order does not matter.
        self.free = self.width
        self.alive[:] = 1
        self.run += 1
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i
        cdef bint independent = False
        cdef int32_t class_ = self.classes[element]
        if self.spanned[class_] == self.run:
            return 0
        # The element either depends on the set or joins it below.
        self.spanned[class_] = self.run
        if self.free == 0:
            return 0
        for i in range(self.n_primes):
            self.entering[i] = self.multiply(i, element) if self.alive[i] else -1
            independent = independent or self.entering[i] >= 0
        if not independent:
            return 0
        for i in range(self.n_primes):
            # Dependent here, independent over the rationals: this prime cannot decide about the
            # growing set any more.
            self.alive[i] = self.entering[i] >= 0
            if self.alive[i]:
                self.pivot(i)
        self.free -= 1
        return 1

    cdef Py_ssize_t multiply(self, Py_ssize_t i, Py_ssize_t element) noexcept:
        """Multiply `element` by the vectors orthogonal to the growing set, modulo prime i.

        Return the place of one that is not 0, -1 if there is none.
        """
        cdef uint64_t p = self.primes[i]
        cdef uint64_t reciprocal = self.reciprocals[i]
        cdef uint64_t value
        cdef Py_ssize_t first = i * self.width  # of the products
        cdef Py_ssize_t last = first + self.free
        cdef Py_ssize_t budget = self.products_per_reduction[i]
        cdef Py_ssize_t entering = -1
        cdef Py_ssize_t n, j, place, row
        for j in range(first, last):
            self.products[j] = 0
        for n in range(self.start(i, element), self.start(i, element + 1)):
            if budget == 0:
                for j in range(first, last):
                    self.products[j] = modulo(self.products[j], p, reciprocal)
                budget = self.products_per_reduction[i]
            budget -= 1
            value = self.values[n]
            place = self.place_of_column[first + self.columns[n]]
            if place < self.free:
                self.products[first + place] += value
            else:
                row = (first + self.columns[n]) * self.width - first
                for j in range(first, last):
                    self.products[j] += value * self.orthogonal[row + j]
        for j in range(first, last):
            value = modulo(self.products[j], p, reciprocal)
            self.products[j] = value
            # 1 and -1 are their own inverses.
            if value and (entering < 0 or value == 1 or value == p - 1):
                entering = j - first
        return entering

    cdef int pivot(self, Py_ssize_t i) noexcept:
        """Add the element just multiplied to the growing set.

        The entering one of the orthogonal vectors, w, is removed. Each other vector is made
        orthogonal to the element: (its product with the element / that of w) * w is subtracted.
        """
        cdef uint64_t p = self.primes[i]
        cdef uint64_t reciprocal = self.reciprocals[i]
        cdef Py_ssize_t first = i * self.width
        cdef Py_ssize_t entering = first + self.entering[i]
        cdef Py_ssize_t last = first + self.free - 1  # takes the place of the entering one
        cdef Py_ssize_t column = self.order[entering]
        cdef Py_ssize_t other = self.order[last]
        cdef uint64_t factor = p - invert(self.products[entering], p)
        cdef Py_ssize_t j, place, row
        self.products[entering] = self.products[last]
        for j in range(first, last):
            self.products[j] = modulo(self.products[j] * factor, p, reciprocal)
        for place in range(last + 1, first + self.width):
            row = (first + self.order[place]) * self.width - first
            factor = self.orthogonal[row + entering]
            self.orthogonal[row + entering] = self.orthogonal[row + last]
            if factor == 0:
                continue
            for j in range(first, last):
                self.orthogonal[row + j] = modulo(
                    self.orthogonal[row + j] + factor * self.products[j], p, reciprocal
                )
        row = (first + column) * self.width - first
        for j in range(first, last):
            self.orthogonal[row + j] = self.products[j]
        self.order[entering] = other
        self.order[last] = column
        self.place_of_column[first + other] = entering - first
        self.place_of_column[first + column] = last - first
        return 0

    # ---- the prepared basis ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t i, k
        if basis.shape[0] > self.width:
            raise not_a_basis(basis, self.width)
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
        """Update the inverse from the basis prepared last, if `basis` is that basis in another
        order or with one element exchanged; otherwise return False.
        """
        cdef Py_ssize_t d = basis.shape[0]
        cdef Py_ssize_t w = self.width
        cdef Py_ssize_t gap = -1  # the position of the element that is new
        cdef Py_ssize_t leaving = d * (d - 1) // 2  # the place of the one that is gone
        cdef Py_ssize_t i, k, j, row, place
        cdef uint64_t p, reciprocal, factor
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
                row = (i * w + place) * w
                for j in range(w):
                    self.work[k * w + j] = self.inverse[row + j]
                if gap >= 0:
                    self.coordinates[k] = self.coordinate(i, basis[gap], place)
            if gap >= 0:
                if self.coordinates[gap] == 0:
                    # This prime divides the new determinant: compute everything anew.
                    return False
                factor = invert(self.coordinates[gap], p)
                for j in range(w):
                    self.work[gap * w + j] = modulo(self.work[gap * w + j] * factor, p, reciprocal)
                for k in range(d):
                    if k == gap or self.coordinates[k] == 0:
                        continue
                    factor = p - self.coordinates[k]
                    for j in range(w):
                        self.work[k * w + j] = modulo(
                            self.work[k * w + j] + factor * self.work[gap * w + j], p, reciprocal
                        )
            row = i * w * w
            for j in range(d * w):
                self.inverse[row + j] = self.work[j]
        return True

    cdef bint invert_basis(self, Py_ssize_t i) noexcept:
        """Gauss-Jordan on [basis | identity] modulo prime i; False if the basis is singular."""
        cdef uint64_t p = self.primes[i]
        cdef uint64_t reciprocal = self.reciprocals[i]
        cdef uint64_t factor
        cdef Py_ssize_t d = self.basis.shape[0]
        cdef Py_ssize_t w = self.width
        cdef Py_ssize_t r, other, j, n, pivot, start, target
        for r in range(d):
            start = r * (w + d)
            for j in range(w + d):
                self.work[start + j] = j == w + r
            for n in range(self.start(i, self.basis[r]), self.start(i, self.basis[r] + 1)):
                self.work[start + self.columns[n]] = self.values[n]
        for r in range(d):
            start = r * (w + d)
            pivot = 0
            while pivot < w and self.work[start + pivot] == 0:
                pivot += 1
            if pivot == w:
                return False
            self.pivots[r] = pivot
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
        for j in range(i * w * w, (i * w + d) * w):
            self.inverse[j] = 0
        for r in range(d):
            for j in range(d):
                self.inverse[(i * w + j) * w + self.pivots[r]] = self.work[r * (w + d) + w + j]
        return True

    cdef uint64_t coordinate(self, Py_ssize_t i, Py_ssize_t element, Py_ssize_t k) noexcept:
        """Coordinate k of `element` in the basis, modulo prime i."""
        cdef uint64_t total = 0
        cdef Py_ssize_t budget = self.products_per_reduction[i]
        cdef Py_ssize_t row = (i * self.width + k) * self.width
        cdef Py_ssize_t n
        for n in range(self.start(i, element), self.start(i, element + 1)):
            if budget == 0:
                total = modulo(total, self.primes[i], self.reciprocals[i])
                budget = self.products_per_reduction[i]
            budget -= 1
            total += self.values[n] * self.inverse[row + self.columns[n]]
        return modulo(total, self.primes[i], self.reciprocals[i])

    cdef bint can_replace(self, Py_ssize_t k, Py_ssize_t element) except -1:
        cdef Py_ssize_t i, j
        for i in range(self.n_primes):
            if self.usable[i] and self.coordinate(i, element, k):
                return True
        if self.all_usable:
            return False
        # A prime that divides the determinant of the basis gives no coordinates, but may be the one
        # modulo which the exchanged set is independent: test that set itself.
        self.clear()
        for j in range(self.basis.shape[0]):
            if not self.try_add(element if j == k else self.basis[j]):
                return False
        return True


cdef inline uint64_t modulo(uint64_t x, uint64_t p, uint64_t reciprocal) noexcept:
    """x modulo p without a division (Barrett) or an unpredictable branch.

    reciprocal > 2**64 / p - 2, so the estimated quotient is at most one too small.
    """
    cdef uint64_t rest = x - high_word(x, reciprocal) * p
    return rest - p if rest >= p else rest


cdef uint64_t invert(uint64_t a, uint64_t p) noexcept:
    """The inverse of a modulo the prime p, both below 2**31, by Euclid's algorithm."""
    cdef int32_t rest = <int32_t>p
    cdef int32_t next_rest = <int32_t>a
    # Every rest is its factor times a, modulo p.
    cdef int32_t factor = 0
    cdef int32_t next_factor = 1
    cdef int32_t quotient
    if a == 1 or a == p - 1:
        return a
    while next_rest:
        quotient = rest // next_rest
        rest, next_rest = next_rest, rest - quotient * next_rest
        factor, next_factor = next_factor, factor - quotient * next_factor
    return <uint64_t>(factor + <int64_t>p if factor < 0 else factor)


cdef uint64_t reciprocal_of(uint64_t p) noexcept:
    """The third argument of `modulo`."""
    return <uint64_t>-1 // p


cdef Py_ssize_t products_within_64_bits(uint64_t p) noexcept:
    """How many products of residues may be added to a residue before the sum must be reduced."""
    # 2**64 - p is -p in 64 bits.
    return <Py_ssize_t>min(-p // ((p - 1) * (p - 1)), <uint64_t>2**31)


def independent_columns(const uint64_t[:, :, ::1] residues, const uint64_t[::1] primes):
    """The vectors ``residues[i, e]``, element e modulo ``primes[i]``, as arguments of
    `ModularKernel`.

    Modulo each prime, only linearly independent columns that span the others are kept. A
    combination of rows that is 0 in these is 0 in all columns, so the matroid is the same and the
    width is the rank.

    Returns
    -------
    width : int
        Number of columns kept.
    starts : ndarray of int, by prime and element
        Where the entries of an element start, and those of the element before it end.
    columns, values : ndarray
        The entries that are not 0.
    classes : ndarray of int, by element
        Equal for vectors that are multiples of one another.
    """
    kept = [
        vectors[:, pivot_columns(vectors, p)]
        for vectors, p in zip(np.asarray(residues), primes, strict=True)
    ]
    counts = np.array([np.count_nonzero(rows, axis=1) for rows in kept], dtype=np.intp)
    ends = np.cumsum(counts, dtype=np.intp).reshape(counts.shape)
    starts = np.empty((counts.shape[0], counts.shape[1] + 1), dtype=np.intp)
    starts[:, 1:] = ends
    starts[0, 0] = 0
    starts[1:, 0] = starts[:-1, -1]
    columns = np.concatenate([np.nonzero(rows)[1] for rows in kept]).astype(np.intp)
    values = np.concatenate([rows[rows != 0] for rows in kept])
    scaled = np.concatenate(
        [multiples_with_leading_one(rows, p) for rows, p in zip(kept, primes, strict=True)],
        axis=1,
    )
    _, classes = np.unique(scaled, axis=0, return_inverse=True)
    return (
        max(rows.shape[1] for rows in kept),
        starts,
        columns,
        values,
        classes.reshape(-1).astype(np.int32),
    )


cdef multiples_with_leading_one(const uint64_t[:, :] rows, uint64_t p):
    """Each row scaled so that its first entry other than 0, if there is one, is 1 modulo p."""
    cdef uint64_t[:, ::1] scaled = np.zeros((rows.shape[0], rows.shape[1]), dtype=np.uint64)
    cdef uint64_t reciprocal = reciprocal_of(p)
    cdef Py_ssize_t e, j
    cdef uint64_t factor
    for e in range(rows.shape[0]):
        factor = 0
        for j in range(rows.shape[1]):
            if factor == 0 and rows[e, j]:
                factor = invert(rows[e, j], p)
            scaled[e, j] = modulo(rows[e, j] * factor, p, reciprocal)
    return np.asarray(scaled)


def pivot_columns(const uint64_t[:, ::1] vectors, uint64_t p):
    """Independent columns that span all others modulo p, by Gaussian elimination of the rows."""
    cdef uint64_t reciprocal = reciprocal_of(p)
    cdef Py_ssize_t reduction = products_within_64_bits(p)
    cdef Py_ssize_t width = vectors.shape[1]
    cdef Py_ssize_t rank = 0
    cdef Py_ssize_t e, row, j, budget, pivot
    cdef uint64_t factor
    cdef Py_ssize_t[::1] pivots = np.empty(min(vectors.shape[0], width), dtype=np.intp)
    # One row for each pivot, where it is 1, then one for the vector at hand.
    cdef uint64_t[:, ::1] rows = np.empty((pivots.shape[0] + 1, width), dtype=np.uint64)
    for e in range(vectors.shape[0]):
        if rank == width:
            break
        rows[rank] = vectors[e]
        budget = reduction
        for row in range(rank):
            factor = modulo(rows[rank, pivots[row]], p, reciprocal)
            if factor == 0:
                continue
            factor = p - factor
            if budget == 0:
                for j in range(width):
                    rows[rank, j] = modulo(rows[rank, j], p, reciprocal)
                budget = reduction
            for j in range(width):
                rows[rank, j] += factor * rows[row, j]
            budget -= 1
        pivot = -1
        for j in range(width):
            rows[rank, j] = modulo(rows[rank, j], p, reciprocal)
            if pivot < 0 and rows[rank, j]:
                pivot = j
        if pivot < 0:
            continue
        factor = invert(rows[rank, pivot], p)
        for j in range(width):
            rows[rank, j] = modulo(rows[rank, j] * factor, p, reciprocal)
        pivots[rank] = pivot
        rank += 1
    return np.sort(np.asarray(pivots)[:rank])
