"""The index UCB: the mean and a multiple of 1 / sqrt(count)."""

cimport cython
from libc.math cimport log, sqrt

import numpy as np

from matroid_bandits._core.indices.base cimport IndexKernel

# Tables of confidence widths end here: 8 MB.
cdef Py_ssize_t MOST_WIDTHS = 2**20

# By noise and constant, shared by all policies. Tables are never changed, only replaced by longer
# ones. Without them a logarithm would take a tenth of a round.
known_widths = {}


cdef double[::1] widths_up_to(Py_ssize_t length, double noise, double constant):
    """A table of noise * sqrt(constant * ln t) by t, with at least `length` entries."""
    cdef double[::1] table = known_widths.get((noise, constant), np.zeros(0))
    cdef Py_ssize_t i
    if table.shape[0] < length:
        table = np.zeros(length)
        for i in range(1, length):
            table[i] = noise * sqrt(constant * log(<double>i))
        # At most eight are kept, so that trying many noise levels does not fill the memory.
        if len(known_widths) < 8 or (noise, constant) in known_widths:
            known_widths[noise, constant] = table
    return table


@cython.final
cdef class UCBKernel(IndexKernel):
    """The mean plus a confidence width, for noise of a known level."""

    def __init__(self, str name, double noise, double constant):
        super().__init__(name)
        self.noise = noise
        self.constant = constant
        self.widths = widths_up_to(128, noise, constant)

    cdef double compute_width(self, Py_ssize_t time) except -1:
        """Compute a width that is not in the table, and double the table."""
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
