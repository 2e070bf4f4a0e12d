"""The proportions of observations at which the best basis is settled soonest, by Frank-Wolfe."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, exp, sqrt
from libc.string cimport memcpy

import numpy as np

from matroid_bandits._core.identification.bernoulli cimport common_mean, divergence
from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.sorting cimport sort_descending

# Pairs whose weights are below this do not count.
cdef double NEGLIGIBLE = 1e-13
# The soft minimum is sharpened by the root of the number of steps.
cdef double SHARPNESS = 1.0
# So often the average gradient is tried as a certificate.
cdef int PERIOD = 50
# Orders of elements, and their best bases, are kept up to 64 MB in all.
cdef Py_ssize_t MOST_KEPT = 64 * 2**20


def best_proportions(
    MatroidKernel kernel,
    Py_ssize_t rank,
    const Py_ssize_t[::1] elements,
    const Py_ssize_t[::1] inside,
    const Py_ssize_t[::1] outside,
    const double[::1] means,
    const double[::1] variances,
    *,
    bint is_bernoulli,
    bint by_element,
    double tolerance,
    long long max_steps,
    long long max_tests,
):
    """Maximize the least statistic of all pairs per round, up to a relative `tolerance`.

    Returns a lower and an upper bound on the maximum, and proportions that reach the lower one. The
    statistic of a pair is concave and homogeneous in the proportions, so every gradient of a convex
    combination of pairs bounds the maximum by its best basis.

    A matroid in Python is asked once for what steps have in common, and the computation ends after
    `max_tests` tests of elements that no earlier step has made in the same order.
    """
    cdef Py_ssize_t size = means.shape[0]
    cdef Py_ssize_t n = elements.shape[0]
    cdef Py_ssize_t n_pairs = inside.shape[0]
    cdef Py_ssize_t at_once = 1 if by_element else rank
    cdef double[::1] weights = np.zeros(size)
    cdef double[::1] gradient = np.zeros(size)
    cdef double[::1] total = np.zeros(size)
    cdef double[::1] values = np.zeros(n_pairs)
    cdef double[::1] of_inside = np.zeros(n_pairs)
    cdef double[::1] of_outside = np.zeros(n_pairs)
    cdef double[::1] best = np.zeros(size)
    cdef Py_ssize_t[::1] order = np.array(elements)
    cdef Py_ssize_t[::1] scratch = np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t[::1] chosen = np.zeros(at_once, dtype=np.intp)
    cdef double low = 0.0
    cdef double high = INFINITY
    cdef double least, sharpness, weight, sum_of_weights, bound, step, q, gap, spread
    cdef double total_weight = 0.0
    cdef long long t
    cdef long long n_tests = 0
    cdef dict bases = None
    cdef Py_ssize_t i, k, x, e
    # Sets that contain every element, each equally often.
    cdef Py_ssize_t n_covered = 0
    cdef Py_ssize_t n_sets = 0
    if kernel.is_python:
        kernel.remember()
        bases = {}
    while n_covered < n:
        # The least covered elements first.
        for i in range(n):
            gradient[elements[i]] = -weights[elements[i]]
        _best_value(
            kernel, gradient, order, scratch, at_once, by_element, chosen, bases, &n_tests
        )
        n_sets += 1
        for i in range(at_once):
            n_covered += weights[chosen[i]] == 0
            weights[chosen[i]] += 1
    for i in range(n):
        weights[elements[i]] /= n_sets
    for t in range(1, max_steps + 1):
        least = INFINITY
        for k in range(n_pairs):
            x, e = inside[k], outside[k]
            if is_bernoulli:
                q = common_mean(means[x], weights[x], means[e], weights[e], 0.0)
                of_inside[k] = divergence(means[x], q)
                of_outside[k] = divergence(means[e], q)
            else:
                gap = means[x] - means[e]
                spread = variances[x] / weights[x] + variances[e] / weights[e]
                gap = gap * gap / (2 * spread * spread)
                of_inside[k] = gap * variances[x] / (weights[x] * weights[x])
                of_outside[k] = gap * variances[e] / (weights[e] * weights[e])
            values[k] = weights[x] * of_inside[k] + weights[e] * of_outside[k]
            least = min(least, values[k])
        if least > low:
            low = least
            best[:] = weights
        sharpness = SHARPNESS * sqrt(<double>t) / least
        gradient[:] = 0.0
        sum_of_weights = 0.0
        for k in range(n_pairs):
            weight = exp(-sharpness * (values[k] - least))
            if weight < NEGLIGIBLE:
                continue
            sum_of_weights += weight
            gradient[inside[k]] += weight * of_inside[k]
            gradient[outside[k]] += weight * of_outside[k]
        for i in range(n):
            e = elements[i]
            gradient[e] /= sum_of_weights
            # Later gradients count more.
            total[e] += t * gradient[e]
        total_weight += t
        bound = _best_value(
            kernel, gradient, order, scratch, at_once, by_element, chosen, bases, &n_tests
        )
        high = min(high, bound)
        step = 2.0 / (t + 2)
        for i in range(n):
            weights[elements[i]] *= 1 - step
        for i in range(at_once):
            weights[chosen[i]] += step
        if t % PERIOD == 0:
            bound = _best_value(
                kernel, total, order, scratch, at_once, by_element, chosen, bases, &n_tests
            )
            high = min(high, bound / total_weight)
            PyErr_CheckSignals()
        if high - low <= tolerance * high or n_tests >= max_tests:
            break
    return low, high, np.asarray(best)


cdef double _best_value(
    MatroidKernel kernel,
    const double[::1] values,
    Py_ssize_t[::1] order,
    Py_ssize_t[::1] scratch,
    Py_ssize_t at_once,
    bint by_element,
    Py_ssize_t[::1] chosen,
    dict bases,
    long long *n_tests,
) except? -1:
    """The value of the best basis, or element, which is written to `chosen`."""
    cdef double value = 0.0
    cdef Py_ssize_t i
    sort_descending(values, order, scratch)
    if by_element:
        chosen[0] = order[0]
    elif bases is None:
        kernel.greedy(order, at_once, chosen)
    else:
        n_tests[0] += _cached_greedy(kernel, order, at_once, chosen, bases)
    for i in range(at_once):
        value += values[chosen[i]]
    return value


cdef Py_ssize_t _cached_greedy(
    MatroidKernel kernel,
    const Py_ssize_t[::1] order,
    Py_ssize_t limit,
    Py_ssize_t[::1] chosen,
    dict bases,
) except -1:
    """Greedy, once for each order; returns how many elements were tested."""
    cdef Py_ssize_t n_bytes = limit * sizeof(Py_ssize_t)
    if limit == 0:
        return 0
    key = PyBytes_FromStringAndSize(<const char *>&order[0], order.shape[0] * sizeof(Py_ssize_t))
    basis = bases.get(key)
    if basis is not None:
        memcpy(&chosen[0], PyBytes_AS_STRING(basis), n_bytes)
        return 0
    kernel.greedy(order, limit, chosen)
    # Objects of Python take about 200 bytes more.
    if len(bases) * (len(key) + n_bytes + 200) < MOST_KEPT:
        bases[key] = PyBytes_FromStringAndSize(<const char *>&chosen[0], n_bytes)
    return kernel.tested
