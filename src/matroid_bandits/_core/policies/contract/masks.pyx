"""Available elements as masks, for the usual kinds of input."""

import numpy as np

# The character of the type of elements.
INTP = np.dtype(np.intp).char


def mask_of(available, Py_ssize_t size, dict number=None):
    """One byte per element, 1 if it is available; None if all are.

    NotImplemented if `available` is neither a list nor an array, or if anything about it is wrong:
    the caller then takes a slower way, which explains what is wrong.

    Parameters
    ----------
    available
        Elements, or labels, if there is a `number`; or an array of one truth value per element.
    size
        Number of elements.
    number
        The number of every label, for a problem with labels.
    """
    cdef unsigned char[::1] flags
    cdef const Py_ssize_t[::1] elements
    cdef const unsigned char[::1] given
    cdef Py_ssize_t n_available = 0
    cdef Py_ssize_t e
    kind = available.dtype.char if type(available) is np.ndarray and available.ndim == 1 else ""
    if kind == "?" and available.shape[0] == size:
        mask = available.astype(np.uint8)
        given = mask
        for e in range(size):
            n_available += given[e]
        return None if n_available == size else mask
    mask = np.zeros(size, dtype=np.uint8)
    flags = mask
    if kind == INTP and available.dtype.isnative and number is None:
        elements = np.ascontiguousarray(available)
        for n_available in range(elements.shape[0]):
            e = elements[n_available]
            if e < 0 or e >= size or flags[e]:
                return NotImplemented
            flags[e] = 1
        n_available = elements.shape[0]
    elif type(available) is list:
        for item in <list>available:
            if type(item) is bool:
                # Perhaps a mask. As a label, it would be found as 0 or 1.
                return NotImplemented
            if number is not None:
                try:
                    item = number.get(item)
                except TypeError:
                    return NotImplemented
            if type(item) is not int or not 0 <= item < size:
                return NotImplemented
            e = item
            if flags[e]:
                return NotImplemented
            flags[e] = 1
            n_available += 1
    else:
        return NotImplemented
    return None if n_available == size else mask
