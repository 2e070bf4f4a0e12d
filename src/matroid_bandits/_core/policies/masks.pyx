"""Available elements as masks, for the usual kinds of input."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from libc.string cimport memset

import numpy as np


def mask_of(available, Py_ssize_t size, dict number=None):
    """One byte per element, 1 if it is available.

    None if `available` is neither a list nor an array of integers, or if anything about it is
    wrong: the caller then takes a slower way, which explains what is wrong.

    Parameters
    ----------
    available
        Elements; labels, if there is a `number`.
    size
        Number of elements.
    number
        The number of every label, for a problem with labels.
    """
    cdef unsigned char *flags
    cdef const Py_ssize_t[::1] elements
    cdef Py_ssize_t i, e
    mask = PyByteArray_FromStringAndSize(NULL, size)
    flags = <unsigned char *>PyByteArray_AS_STRING(mask)
    memset(flags, 0, size)
    if type(available) is np.ndarray:
        if number is not None or available.dtype != np.intp or available.ndim != 1:
            return None
        elements = np.ascontiguousarray(available)
        for i in range(elements.shape[0]):
            e = elements[i]
            if e < 0 or e >= size or flags[e]:
                return None
            flags[e] = 1
    elif type(available) is list:
        for item in <list>available:
            if number is not None:
                try:
                    item = number.get(item)
                except TypeError:
                    return None
            if type(item) is not int or not 0 <= item < size:
                return None
            e = item
            if flags[e]:
                return None
            flags[e] = 1
    else:
        return None
    return np.frombuffer(mask, dtype=np.uint8)
