"""What all indices share, and the simplest: the mean and a multiple of 1 / sqrt(count)."""

cimport cython
from libc.math cimport INFINITY, isnan, log, sqrt

import numpy as np

from matroid_bandits._arguments import real_array

# Tables of confidence widths end here: 8 MB.
cdef Py_ssize_t MOST_WIDTHS = 2**20

# By noise and constant, as far as any policy has needed them; never changed, only replaced by
# longer ones. A logarithm a round would be a tenth of it.
known_widths = {}


cdef double[::1] widths_up_to(Py_ssize_t length, double noise, double constant):
    """noise * sqrt(constant * ln t) by t, a table at least so long."""
    cdef double[::1] table = known_widths.get((noise, constant), np.zeros(0))
    cdef Py_ssize_t i
    if table.shape[0] < length:
        table = np.zeros(length)
        for i in range(1, length):
            table[i] = noise * sqrt(constant * log(<double>i))
        # A few are shared, such as the paper's; whoever tries a thousand levels does without.
        if len(known_widths) < 8 or (noise, constant) in known_widths:
            known_widths[noise, constant] = table
    return table


cdef class IndexKernel:
    """An index at work for one policy."""

    def __init__(self, str name, double low=-INFINITY, double high=INFINITY, Py_ssize_t least=1):
        self.name = name
        self.low = low
        self.high = high
        self.least = least

    cdef int attach(
        self, const int64_t[::1] counts, const double[::1] means, const double[::1] inverse_root
    ) except -1:
        """Look at the statistics of a policy, from now on."""
        self.counts = counts
        self.means = means
        self.inverse_root = inverse_root
        return 0

    cdef void observe(self, Py_ssize_t e, double reward) noexcept:
        """A reward is about to be taken in: count and mean are still those without it."""

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        """Write the value of each of `elements` to `values`, which goes by element."""
        raise NotImplementedError

    cdef void begin(self, Py_ssize_t time) noexcept:
        """From now on `value_above` is about this time."""

    cdef double value_above(self, Py_ssize_t e, double least) noexcept:
        """The value of e if it is above `least`; else anything that is not."""
        return -INFINITY


@cython.final
cdef class UCBKernel(IndexKernel):
    """Means with a confidence width for noise of a known level."""

    def __init__(self, str name, double noise, double constant):
        super().__init__(name)
        self.noise = noise
        self.constant = constant
        self.widths = widths_up_to(128, noise, constant)

    cdef double work_out_width(self, Py_ssize_t time) except -1:
        """A width that the table does not have; it has more from then on."""
        if self.widths.shape[0] < MOST_WIDTHS:
            self.widths = widths_up_to(2 * self.widths.shape[0], self.noise, self.constant)
        return self.noise * sqrt(self.constant * log(<double>time))

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double width = width_of(self, time)
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = self.means[e] + width * self.inverse_root[e]
        return 0

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.constant)


cdef class PythonIndexKernel(IndexKernel):
    """An index written in Python."""

    cdef object index

    def __init__(self, index):
        super().__init__(type(index).__name__, index.low, index.high, index.least)
        self.index = index

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double[::1] found
        cdef Py_ssize_t i
        array = np.asarray(elements)
        answer = self.index.values(
            np.asarray(self.means)[array], np.asarray(self.counts)[array], int(time)
        )
        found = real_array(answer, f"values of {self.name}")
        if found.shape[0] != elements.shape[0]:
            raise ValueError(
                f"{self.name} gave {found.shape[0]} values for {elements.shape[0]} elements"
            )
        for i in range(elements.shape[0]):
            if isnan(found[i]):
                raise ValueError(
                    f"{self.name} gave element {elements[i]} the value NaN in round {time}"
                )
            values[elements[i]] = found[i]
        return 0

    def __reduce__(self):
        return type(self), (self.index,)
