"""Compare the result of a search and all its bounds with the truth, in the checked build.

Everything is computed from the definitions, with a look at every outside element.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t

from matroid_bandits._core.policies.maub.chords cimport ROUNDING, value_at
from matroid_bandits._core.policies.maub.classes cimport Bucket
from matroid_bandits._core.policies.maub.groups cimport Group
from matroid_bandits._core.policies.maub.search cimport (
    BEATEN,
    NO_EXCHANGE,
    REORDERED,
    comes_after,
)


cdef int verify(Search search, Py_ssize_t found, double width, bint is_tested) except -1:
    """Raise AssertionError unless `found` is what `search.scan(width, is_tested)` must return and
    every bound holds.
    """
    cdef Py_ssize_t expected = NO_EXCHANGE
    cdef Py_ssize_t e, x
    cdef Py_ssize_t group = -1
    cdef double best = 0.0
    cdef double value
    cdef int32_t k
    cdef bint is_beaten = False
    for e in range(search.symmetry_class.shape[0]):
        if search.buckets.bucket_of[e] < 0:
            continue
        verify_bucket(search, e)
        k = search.class_group[search.symmetry_class[e]]
        x = search.leader[k]
        is_beaten = is_beaten or search.means[e] > search.means[x]
        # [DG25] step 4, with operations in the order of docs/explanation/maub.md.
        value = (search.means[e] - search.means[x]) + width * (
            search.inverse_root[e] - search.inverse_root[x]
        )
        if value > best:
            best = value
            expected = e
            group = k
        verify_bounds(search, e, k, width)
    if is_tested and is_beaten:
        expected = BEATEN
    elif is_tested and is_reordered(search):
        expected = REORDERED
    if found != expected:
        raise AssertionError(f"scan found {found} instead of {expected} at the width {width}")
    if found >= 0 and search.found_group != group:
        raise AssertionError(
            f"the partner of {found} is that of group {group}, not {search.found_group}"
        )
    return 0


cdef bint is_reordered(Search search) noexcept:
    cdef Py_ssize_t k
    for k in range(search.rank - 1):
        if comes_after(search.means, search.ordered[k], search.ordered[k + 1]):
            return True
    return False


cdef int verify_bucket(Search search, Py_ssize_t e) except -1:
    """The bucket of e has the count of e, and e is not better than its top."""
    cdef Bucket *bucket = &search.buckets.buckets[search.buckets.bucket_of[e]]
    if bucket.count != search.counts[e] or bucket.inverse_root != search.inverse_root[e]:
        raise AssertionError(
            f"element {e}, observed {search.counts[e]} times, is in the bucket {bucket.count}"
        )
    if bucket.mean != search.means[bucket.top] or search.means[e] > bucket.mean:
        raise AssertionError(
            f"bucket of {e}: mean {search.means[e]}, top {bucket.top} with {bucket.mean}"
        )
    return 0


cdef int verify_bounds(Search search, Py_ssize_t e, Py_ssize_t k, double width) except -1:
    """All bounds that cover the outside element e, which is in group k."""
    cdef Group *group = &search.groups[k]
    cdef Py_ssize_t c = search.symmetry_class[e]
    cdef double mean = search.means[e]
    cdef double index = mean + width * search.inverse_root[e]
    # Bounds that are compared with a margin may be that much too low.
    cdef double margin = ROUNDING * (
        fabs(index) + fabs(search.means[search.leader[k]]) + search.largest
    )
    cdef bint is_listed = False
    cdef Py_ssize_t i
    expect("highest mean of the group", e, mean, group.highest_mean)
    if width <= group.rest.until:
        if width < group.rest.since:
            raise AssertionError(
                f"a bound from the width {group.rest.since} on is used at {width}"
            )
        expect("index of the group", e, index, group.cap + width * group.cap_slope)
        # Elements with the statistics of the best and a higher number never win.
        if e != group.best and not (
            e > group.best
            and mean == group.best_mean
            and search.buckets.bucket_of[e] == search.buckets.bucket_of[group.best]
        ):
            expect("index of the rest", e, index, value_at(&group.rest, width))
    if group.best == e and (
        group.best_mean != mean or group.best_root != search.inverse_root[e]
    ):
        raise AssertionError(
            f"best of group {k}: element {e} has the mean {mean}, not {group.best_mean}"
        )
    if group.n_listed >= 0:
        for i in range(group.n_listed):
            if search.shortlists[k, i] == search.buckets.bucket_of[e]:
                is_listed = True
        if not is_listed:
            expect("highest mean not listed", e, mean, group.unlisted_highest_mean)
            expect("index not listed", e, index, value_at(&group.unlisted, width) + margin)
    if search.class_bounds[c].chord.until >= 0:
        expect("highest mean of the class", e, mean, search.class_bounds[c].highest_mean)
        expect("index of the class", e, index, search.class_bound(<int32_t>c, width) + margin)
    return 0


cdef int expect(str name, Py_ssize_t e, double value, double bound) except -1:
    if not value <= bound:
        raise AssertionError(f"{name}: element {e} has {value!r}, above the bound {bound!r}")
    return 0
