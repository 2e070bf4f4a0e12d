"""One Gaussian for all elements: a confidence width that is drawn anew in every round."""

from libc.math cimport INFINITY, log, sqrt

from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef class SharedGaussianKernel(IndexKernel):
    """mean + noise * Z * sqrt(ln time) / sqrt(count + 1), with one draw Z for each `evaluate`."""

    cdef readonly double noise

    def __init__(self, str name, double noise, RandomStream random_stream):
        super().__init__(name, -INFINITY, INFINITY, 1)
        self.noise = noise
        self.random_stream = random_stream
        self.shares_draw = True

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double width = self.noise * self.random_stream.normal() * sqrt(log(<double>time))
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = self.means[e] + width * (1 / sqrt(<double>(self.index_counts[e] + 1)))
        return 0

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.random_stream)
