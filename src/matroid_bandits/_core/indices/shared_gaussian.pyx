"""One Gaussian for all elements: a confidence width that is drawn anew in every round."""

from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t

from matroid_bandits._core.indices.base cimport IndexKernel, Reach
from matroid_bandits._core.streams.random_stream cimport RandomStream


# Elements that only a larger draw would bring in are out of reach; one round in 300,000 has one.
cdef double LARGEST_DRAW = 4.5

cdef enum:
    MOST_ROOTS = 16384

# 1 / sqrt(count + 1) of small counts.
cdef double[MOST_ROOTS] INVERSE_ROOTS


cdef int fill_inverse_roots() except -1:
    cdef int i
    for i in range(MOST_ROOTS):
        INVERSE_ROOTS[i] = 1 / sqrt(<double>(i + 1))
    return 0


fill_inverse_roots()


cdef class SharedGaussianKernel(IndexKernel):
    """mean + noise * Z * sqrt(ln time) / sqrt(count + 1), with one draw Z a round.

    What a budget is for other indices is the drawn width here.
    """

    cdef readonly double noise
    cdef double width  # noise * Z * sqrt(ln time) of this round
    cdef double width_limit  # that of the largest draw at the last time of `set_reach`

    def __init__(self, str name, double noise, RandomStream random_stream):
        super().__init__(name, -INFINITY, INFINITY, 1)
        self.noise = noise
        self.spread = noise
        self.random_stream = random_stream
        self.shares_draw = True
        self.has_scores = True

    cdef void begin(self, Py_ssize_t time) noexcept:
        self.width = self.noise * self.random_stream.normal() * sqrt(log(<double>time))

    cdef double budget_at(self, Py_ssize_t time) noexcept:
        return self.width

    cdef double value_at(self, Py_ssize_t e, double width) noexcept:
        cdef int64_t count = self.index_counts[e]
        if count < MOST_ROOTS:
            return self.means[e] + width * INVERSE_ROOTS[count]
        return self.means[e] + width * (1 / sqrt(<double>(count + 1)))

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef Py_ssize_t i
        self.begin(time)
        for i in range(elements.shape[0]):
            values[elements[i]] = self.value_at(elements[i], self.width)
        return 0

    cdef double exchange_score(self, Py_ssize_t e, Py_ssize_t x) noexcept:
        cdef double difference = self.value_at(e, self.width) - self.value_at(x, self.width)
        return difference if difference > 0 else -INFINITY

    cdef void set_reach(self, Py_ssize_t until) noexcept:
        self.width_limit = self.noise * LARGEST_DRAW * sqrt(log(<double>until))

    cdef bint is_reach_valid(self) noexcept:
        return self.width <= self.width_limit

    cdef bint is_in_reach(self, Py_ssize_t e, const Reach *reach) noexcept:
        """With a negative width an element loses if its mean and its count are lower."""
        return (
            not self.value_at(e, self.width_limit) < reach.floor
            or self.index_counts[e] > reach.low
        )

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.random_stream)
