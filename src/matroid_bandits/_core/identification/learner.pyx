"""What a run of identification knows: counts, means, the best basis, and all exchanges with it."""

from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.identification.bernoulli cimport common_mean, divergence
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.sorting cimport is_better, sort_elements


cdef class Learner:
    """Counts, means, the best basis by the means, and the likelihood ratios of its exchanges.

    Parameters
    ----------
    exchanges, player : MatroidKernel
        Two kernels of one matroid: for circuits, and for the sets that are played.
    is_loop : numpy.ndarray
        By element.
    is_bernoulli : bool
        Whether rewards are from 0 to 1; otherwise they are Gaussian.
    noise : float
        Their standard deviation, if they are Gaussian.
    eps : float
        How much better another basis may be by one exchange.
    delta : float
    is_proven : bool
        Whether the threshold is the proven one; otherwise it is the customary one.
    base_level : float
        The part of the proven threshold that does not change.
    """

    def __init__(
        self,
        MatroidKernel exchanges,
        MatroidKernel player,
        Py_ssize_t rank,
        is_loop,
        *,
        bint is_bernoulli,
        double noise,
        double eps,
        double delta,
        bint is_proven,
        double base_level,
    ):
        self.exchanges = exchanges
        self.player = player
        self.size = exchanges.size
        self.rank = rank
        self.is_bernoulli = is_bernoulli
        self.noise = noise
        self.eps = eps
        self.delta = delta
        self.is_proven = is_proven
        self.base_level = base_level
        self.is_loop = is_loop.astype(np.uint8)
        self.is_chosen = np.zeros(self.size, dtype=np.uint8)
        elements = np.flatnonzero(~is_loop)
        self.n_elements = self.n_unobserved = len(elements)
        self.counts = np.zeros(self.size, dtype=np.int64)
        self.means = np.zeros(self.size)
        self.inverse = np.zeros(self.size)
        self.root = np.zeros(self.size)
        self.penalty = np.zeros(self.size)
        following = np.full(self.size, -1, dtype=np.intp)
        before = np.full(self.size, -1, dtype=np.intp)
        following[elements[:-1]] = elements[1:]
        before[elements[1:]] = elements[:-1]
        self.next = following
        self.previous = before
        self.first = elements[0] if len(elements) else -1
        self.last_of_count = np.full(64, -1, dtype=np.intp)
        # Not elements[-1]: kernels have no negative indices, and from NumPy 2.5 on Cython applies
        # this to arrays without a type, too.
        self.last_of_count[0] = elements[len(elements) - 1] if len(elements) else -1
        n_outside = len(elements) - rank
        self.n_outside = n_outside
        self.basis = np.zeros(rank, dtype=np.intp)
        self.position = np.full(self.size, -1, dtype=np.intp)
        self.outside = np.zeros(n_outside, dtype=np.intp)
        self.starts = np.zeros(n_outside + 1, dtype=np.intp)
        self.other_outside = np.zeros(n_outside, dtype=np.intp)
        self.other_starts = np.zeros(n_outside + 1, dtype=np.intp)
        self.positions = np.zeros(16, dtype=np.intp)
        self.other_positions = np.zeros(16, dtype=np.intp)
        self.row = np.zeros(rank, dtype=np.intp)
        self.own_means = np.zeros(rank)
        self.own_inverse = np.zeros(rank)
        self.own_penalty = np.zeros(rank)
        self.ratios = np.zeros(16)
        self.statistic = self.margin = 0.0 if n_outside else INFINITY
        self.hardest_inside = self.hardest_outside = -1

    # ---- thresholds ----

    cdef double level(self) noexcept:
        """What the margin of a pair must exceed: its statistic without penalties."""
        if self.is_proven:
            return self.base_level
        return log(1 + log(<double>max(self.rounds, 1))) - log(self.delta)

    cdef double highest_threshold(self) noexcept:
        """The largest threshold that a pair can have by now."""
        cdef double t = <double>max(self.rounds, 1)
        if not self.is_proven:
            return self.level()
        if self.is_bernoulli:
            return self.base_level + 6 * log(1 + log(t))
        return self.base_level + 4 * log(4 + log(t))

    # ---- learning ----

    cdef int learn(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards, Py_ssize_t n
    ) except -1:
        """Learn the rewards of `n` elements, ascending, and end the round."""
        cdef Py_ssize_t i, e
        cdef int64_t count
        self.rounds += 1
        for i in range(n):
            e = elements[i]
            count = self.counts[e]
            self.means[e] = (count * self.means[e] + rewards[i]) / (count + 1)
            self.counts[e] = count + 1
            self.inverse[e] = 1.0 / (count + 1)
            self.root[e] = sqrt(self.inverse[e])
            if self.is_proven:
                if self.is_bernoulli:
                    self.penalty[e] = 3 * log(1 + log(<double>(count + 1)))
                else:
                    self.penalty[e] = 2 * log(4 + log(<double>(count + 1)))
            if count == 0:
                self.n_unobserved -= 1
            self.move_back(e)
        return 0

    cdef int move_back(self, Py_ssize_t e) except -1:
        """Move an element, whose count has risen by one, behind all others with this count."""
        cdef Py_ssize_t count = self.counts[e]
        cdef Py_ssize_t before = self.previous[e]
        cdef Py_ssize_t after = self.next[e]
        cdef Py_ssize_t place
        if count >= self.last_of_count.shape[0]:
            old = np.asarray(self.last_of_count)
            self.last_of_count = np.concatenate([old, np.full(len(old), -1, dtype=np.intp)])
        # The last one with the count before, without this one.
        if self.last_of_count[count - 1] == e:
            has_more = before >= 0 and self.counts[before] == count - 1
            self.last_of_count[count - 1] = before if has_more else -1
            place = before
        else:
            place = self.last_of_count[count - 1]
        if self.last_of_count[count] >= 0:
            place = self.last_of_count[count]
        self.last_of_count[count] = e
        if place == before or place == e:
            # It is in its place.
            return 0
        # Take it out ...
        if before >= 0:
            self.next[before] = after
        else:
            self.first = after
        if after >= 0:
            self.previous[after] = before
        # ... and put it behind `place`.
        after = self.next[place]
        self.next[place] = e
        self.previous[e] = place
        self.next[e] = after
        if after >= 0:
            self.previous[after] = e
        return 0

    cdef Py_ssize_t complete(
        self,
        const Py_ssize_t[::1] wanted,
        Py_ssize_t n_wanted,
        Py_ssize_t limit,
        Py_ssize_t[::1] chosen,
    ) except -1:
        """Choose an independent set of `limit` elements: greedy on those wanted, in this order, and
        then on all others, the least observed first. Write it to `chosen`, ascending.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e
        self.player.clear()
        for i in range(n_wanted):
            if n == limit:
                break
            if self.player.try_add(wanted[i]):
                self.is_chosen[wanted[i]] = 1
                chosen[n] = wanted[i]
                n += 1
        e = self.first
        while n < limit and e >= 0:
            # What was refused above is refused again: the set only grows.
            if not self.is_chosen[e] and self.player.try_add(e):
                self.is_chosen[e] = 1
                chosen[n] = e
                n += 1
            e = self.next[e]
        for i in range(n):
            self.is_chosen[chosen[i]] = 0
        sort_elements(chosen[:n])
        return n

    # ---- the best basis and its exchanges ----

    cdef int evaluate(self) except -1:
        """Find the best basis by the means, and the statistic of every exchange."""
        cdef Py_ssize_t i, k, p, worst
        if not self.has_basis:
            self.find_basis()
        while True:
            i = self.scan()
            if i < 0:
                return 0
            # Any exchange that improves the basis leads on to the best one.
            worst = self.positions[self.starts[i]]
            for k in range(self.starts[i], self.starts[i + 1]):
                p = self.positions[k]
                if is_better(
                    self.own_means[worst], self.basis[worst], self.own_means[p], self.basis[p]
                ):
                    worst = p
            self.exchange(worst, self.outside[i])

    cdef int find_basis(self) except -1:
        """Greedy on the means, and all circuits."""
        means = np.asarray(self.means)
        is_loop = np.asarray(self.is_loop)
        order = np.argsort(-means, kind="stable").astype(np.intp)
        order = np.ascontiguousarray(order[is_loop[order] == 0])
        chosen = np.zeros(self.rank, dtype=np.intp)
        cdef Py_ssize_t n = self.exchanges.greedy(order, self.rank, chosen)
        cdef Py_ssize_t i
        if n < self.rank:
            raise ValueError("the matroid has no basis of its rank: its answers contradict it")
        self.basis = np.sort(chosen)
        for i in range(self.rank):
            self.position[self.basis[i]] = i
        is_outside = (is_loop == 0) & (np.asarray(self.position) < 0)
        self.outside = np.flatnonzero(is_outside)
        self.list_pairs()
        self.has_basis = True
        return 0

    cdef int list_pairs(self) except -1:
        """All circuits."""
        cdef Py_ssize_t i, j, count
        self.exchanges.prepare(self.basis)
        self.n_pairs = 0
        for i in range(self.n_outside):
            self.starts[i] = self.n_pairs
            count = self.exchanges.circuit(self.outside[i], self.row)
            self.reserve(self.n_pairs + count)
            for j in range(count):
                self.positions[self.n_pairs + j] = self.row[j]
            self.n_pairs += count
        self.starts[self.n_outside] = self.n_pairs
        return 0

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Make room for so many pairs."""
        if n > self.positions.shape[0]:
            more = np.zeros(n, dtype=np.intp)
            self.positions = np.concatenate([self.positions, more])
            self.other_positions = np.concatenate([self.other_positions, more])
            self.ratios = np.zeros(self.positions.shape[0])
        return 0

    cdef int exchange(self, Py_ssize_t position, Py_ssize_t e) except -1:
        """Put `e` in the place of the element at `position`.

        Circuits without that element stay as they are; only the others are computed.
        """
        cdef Py_ssize_t x = self.basis[position]
        cdef Py_ssize_t i, k, count, start, length, other
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t n_pairs = 0
        cdef bint contains
        cdef bint is_placed = False
        self.basis[position] = e
        self.position[e] = position
        self.position[x] = -1
        self.exchanges.prepare(self.basis)
        for i in range(self.n_outside + 1):
            # Ascending, with x in the place where it belongs, and without e.
            if not is_placed and (i == self.n_outside or self.outside[i] > x):
                is_placed = True
                self.other_outside[n] = x
                self.other_starts[n] = n_pairs
                count = self.exchanges.circuit(x, self.row)
                self.reserve(n_pairs + count)
                for k in range(count):
                    self.other_positions[n_pairs + k] = self.row[k]
                n_pairs += count
                n += 1
            if i == self.n_outside:
                break
            other = self.outside[i]
            if other == e:
                continue
            start = self.starts[i]
            length = self.starts[i + 1] - start
            self.reserve(n_pairs + max(length, self.rank))
            contains = False
            for k in range(length):
                self.other_positions[n_pairs + k] = self.positions[start + k]
                contains |= self.positions[start + k] == position
            if contains:
                length = self.exchanges.circuit(other, self.other_positions[n_pairs:])
            self.other_outside[n] = other
            self.other_starts[n] = n_pairs
            n_pairs += length
            n += 1
        self.other_starts[n] = n_pairs
        self.n_pairs = n_pairs
        self.outside, self.other_outside = self.other_outside, self.outside
        self.starts, self.other_starts = self.other_starts, self.starts
        self.positions, self.other_positions = self.other_positions, self.positions
        return 0

    cdef Py_ssize_t scan(self) noexcept:
        """Compute the statistics of all pairs.

        Returns -1, or the place of an element outside with which an exchange improves the basis.
        """
        cdef Py_ssize_t i, k, e, x, p
        cdef double mean, inverse, penalty, gap, ratio, margin
        cdef double scale = 2 * self.noise * self.noise
        cdef double eps = self.eps
        cdef double least = INFINITY
        cdef double least_margin = INFINITY
        cdef Py_ssize_t hardest_inside = -1
        cdef Py_ssize_t hardest_outside = -1
        if self.n_pairs == 0:
            return -1
        # Plain pointers: every pair is looked at in every round.
        cdef double *own_means = &self.own_means[0]
        cdef double *own_inverse = &self.own_inverse[0]
        cdef double *own_penalty = &self.own_penalty[0]
        cdef double *ratios = &self.ratios[0]
        cdef const double *means = &self.means[0]
        cdef const double *inverses = &self.inverse[0]
        cdef const double *penalties = &self.penalty[0]
        cdef const Py_ssize_t *basis = &self.basis[0]
        cdef const Py_ssize_t *outside = &self.outside[0]
        cdef const Py_ssize_t *starts = &self.starts[0]
        cdef const Py_ssize_t *positions = &self.positions[0]
        for p in range(self.rank):
            x = basis[p]
            own_means[p] = means[x]
            own_inverse[p] = inverses[x]
            own_penalty[p] = penalties[x]
        for i in range(self.n_outside):
            e = outside[i]
            mean = means[e]
            inverse = inverses[e]
            penalty = penalties[e]
            for k in range(starts[i], starts[i + 1]):
                p = positions[k]
                gap = own_means[p] - mean
                if gap <= 0 and is_better(mean, e, own_means[p], basis[p]):
                    return i
                if self.is_bernoulli:
                    ratio = self.ratio(basis[p], e)
                else:
                    gap += eps
                    ratio = gap * gap / (scale * (own_inverse[p] + inverse))
                ratios[k] = ratio
                if ratio < least:
                    least = ratio
                margin = ratio - own_penalty[p] - penalty
                if margin < least_margin or (
                    margin == least_margin and e == hardest_outside and basis[p] < hardest_inside
                ):
                    least_margin = margin
                    hardest_inside = basis[p]
                    hardest_outside = e
        self.statistic = least
        self.margin = least_margin
        self.hardest_inside = hardest_inside
        self.hardest_outside = hardest_outside
        return -1

    cdef double ratio(self, Py_ssize_t x, Py_ssize_t e) noexcept:
        """The statistic of a pair, for Bernoulli rewards."""
        if self.eps == 0 and self.means[x] == self.means[e]:
            # The common mean may be rounded to another one.
            return 0.0
        cdef double n_x = <double>self.counts[x]
        cdef double n_e = <double>self.counts[e]
        cdef double a = common_mean(self.means[x], n_x, self.means[e], n_e, self.eps)
        return n_x * divergence(self.means[x], a) + n_e * divergence(self.means[e], a + self.eps)

    # ---- for Python ----

    def counts_copy(self):
        """How often each element was observed."""
        return np.array(self.counts)

    def means_copy(self):
        """The mean of each element, 0 if it was never observed."""
        return np.array(self.means)

    def basis_copy(self):
        """The best basis by the means, ascending."""
        return np.sort(self.basis)

    def threshold(self):
        """What the statistic of the hardest pair must exceed."""
        if self.hardest_inside < 0:
            return self.level()
        return (
            self.level()
            + self.penalty[self.hardest_inside]
            + self.penalty[self.hardest_outside]
        )

    def pairs_copy(self):
        """Pairs: elements inside, elements outside, statistics."""
        starts = np.asarray(self.starts)
        outside = np.repeat(np.asarray(self.outside), np.diff(starts))
        places = np.asarray(self.positions)[: self.n_pairs]
        return np.asarray(self.basis)[places], outside, np.array(self.ratios)[: self.n_pairs]
