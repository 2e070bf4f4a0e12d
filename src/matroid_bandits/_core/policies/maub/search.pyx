"""Steps 2 and 4 of docs/explanation/maub.md: is the leader beaten or reordered, and which exchange
is best?

Bounds say which groups cannot matter; only the others are evaluated. docs/explanation/rounds.md
explains the bounds and proves them.
"""

cimport cython

import numpy as np

from libc.math cimport INFINITY, fabs

from matroid_bandits._core.indices.base cimport exchange_index
from matroid_bandits._core.policies.maub.chords cimport (
    ROUNDING,
    set_chord,
    value_at,
    width_at_double_time,
)
from matroid_bandits._core.policies.maub.classes cimport Bucket
from matroid_bandits._core.policies.maub.groups cimport ClassBound, set_cap

cdef enum:
    N_LISTED = 3  # buckets on a new shortlist


@cython.final
cdef class Search(Groups):
    """The groups of a leader, searched for the best exchange."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.bounds = np.zeros(self.rank)

    # ---- a round ----

    cdef Py_ssize_t scan(self, double width, bint test_leader) noexcept:
        """Steps 2 and 4 in two passes over the leader.

        Returns the outside element with the largest positive exchange index (ties: lowest element),
        its group in `found_group`; or NO_EXCHANGE. If the leader is tested: BEATEN if
        some mean is above its partner's, else REORDERED if the leader is no longer in order.
        """
        cdef double best = 0.0
        cdef double mean, root, value, bound, margin, last_mean
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef Py_ssize_t k, x, last
        cdef Group *group
        if self.rank == 0:
            return NO_EXCHANGE
        # Plain pointers: the compiler would load those in `self` again after every store.
        cdef const Py_ssize_t *leader = &self.leader[0]
        cdef const double *means = &self.means[0]
        cdef const double *roots = &self.inverse_root[0]
        cdef double *bounds = &self.bounds[0]
        group = &self.groups[0]
        for k in range(self.rank):
            x = leader[k]
            mean = means[x]
            root = roots[x]
            if group.highest_mean > mean and test_leader:
                # A bound. First renew it at little cost, then find out.
                self.evaluate(k, width)
                if group.highest_mean > mean and self.is_beaten(k, mean):
                    return BEATEN
            bound = (group.cap + width * group.cap_slope) - (mean + width * root)
            bounds[k] = bound if width <= group.rest.until else INFINITY
            group += 1
        leader = &self.ordered[0]
        if test_leader:
            last = leader[0]
            last_mean = means[last]
            for k in range(1, self.rank):
                x = leader[k]
                mean = means[x]
                if mean <= last_mean and (mean < last_mean or x < last):
                    return REORDERED
                last = x
                last_mean = mean
        # The leader is in order: no mean is larger in magnitude than the first or the last.
        margin = ROUNDING * max(fabs(means[leader[0]]), fabs(means[leader[self.rank - 1]]))
        # The last winner first. It often wins again, and then hardly any other group is evaluated,
        # which the processor predicts.
        k = self.found_group
        value = self.exchange_value(k, width, margin, best)
        if value > best:
            best = value
            found = self.groups[k].best
        bounds[k] = -INFINITY
        for k in range(self.rank):
            # A group that is passed over has nothing better, nor anything as good.
            if bounds[k] + margin < best:
                continue
            value = self.exchange_value(k, width, margin, best)
            if value >= best and (value > best or self.groups[k].best < found):
                best = value
                found = self.groups[k].best
                self.found_group = k
        return found

    cdef Py_ssize_t scan_index(
        self,
        IndexKernel index,
        Py_ssize_t time,
        const Py_ssize_t[::1] playable,
        double[::1] values,
    ) except -2:
        """Step 4 with any index, whose values are written to `values`. Returns the same as `scan`
        without a test of the leader.
        """
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value, own
        cdef Py_ssize_t i, k, e
        if index.is_lazy:
            index.evaluate(self.leader, time, values)
            index.begin(time)
        else:
            index.evaluate(playable, time, values)
        for i in range(playable.shape[0]):
            e = playable[i]
            if self.buckets.bucket_of[e] < 0:
                continue
            k = self.class_group[self.symmetry_class[e]]
            own = values[self.leader[k]]
            value = exchange_index(index, values, e, own, best)
            if value > best:
                best = value
                found = e
                self.found_group = k
        return found

    # ---- all exchanges ----

    cdef Py_ssize_t collect(
        self, double width, bint with_ties, Py_ssize_t[::1] elements
    ) noexcept:
        """Write all outside elements whose exchange index is positive to `elements`, in any order,
        and return how many there are; `with_ties`, also those for which it is 0.
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t k, x
        cdef double mean, root, factor, value, margin
        cdef Group *group
        cdef Bucket *bucket
        cdef int32_t c, b
        for k in range(self.rank):
            group = &self.groups[k]
            x = self.leader[k]
            mean = self.means[x]
            root = self.inverse_root[x]
            if width == 0 and group.highest_mean < mean:
                continue
            if group.rest.since <= width <= group.rest.until:
                value = (group.cap + width * group.cap_slope) - (mean + width * root)
                margin = ROUNDING * (fabs(mean) + self.largest)
                if value + margin < 0:
                    continue
            c = group.first_class
            while c >= 0:
                b = self.buckets.first[c]
                while b >= 0:
                    bucket = &self.buckets.buckets[b]
                    factor = width * (bucket.inverse_root - root)
                    value = (bucket.mean - mean) + factor
                    if value > 0 or (with_ties and value == 0):
                        if bucket.length > 1:
                            self.collect_blocks(
                                bucket.root, mean, factor, with_ties, elements, &n
                            )
                        else:
                            elements[n] = bucket.top
                            n += 1
                    b = bucket.next
                c = self.next_class[c]
        return n

    cdef bint collect_blocks(
        self,
        int32_t b,
        double mean,
        double factor,
        bint with_ties,
        Py_ssize_t[::1] elements,
        Py_ssize_t *n,
    ) noexcept:
        """The same for a bucket of several elements, from the best down. Returns whether all that
        were visited were collected.
        """
        cdef double value
        cdef int32_t i
        if b < 0:
            return True
        if not self.collect_blocks(
            self.buckets.nodes[b].higher, mean, factor, with_ties, elements, n
        ):
            return False
        for i in range(self.buckets.nodes[b].length - 1, -1, -1):
            value = (self.buckets.blocks[b].means[i] - mean) + factor
            if value < 0 or (value == 0 and not with_ties):
                return False
            elements[n[0]] = self.buckets.blocks[b].elements[i]
            n[0] += 1
        return self.collect_blocks(
            self.buckets.nodes[b].lower, mean, factor, with_ties, elements, n
        )

    cdef double exchange_value(
        self, Py_ssize_t k, double width, double margin, double best
    ) noexcept:
        """The largest exchange index of group k if it is at least `best`, else any lower number."""
        cdef Group *group = &self.groups[k]
        cdef double mean = self.means[self.leader[k]]
        cdef double root = self.inverse_root[self.leader[k]]
        cdef double value = (group.best_mean - mean) + width * (group.best_root - root)
        cdef double bound = value_at(&group.rest, width) - (mean + width * root) + margin
        if bound >= value and bound >= best:
            self.evaluate(k, width)
            value = (group.best_mean - mean) + width * (group.best_root - root)
        return value

    cdef bint is_beaten(self, Py_ssize_t k, double mean) noexcept:
        """Whether some mean in group k is above `mean`. If not, its highest mean is stored."""
        cdef Group *group = &self.groups[k]
        cdef double highest_mean = -INFINITY
        cdef int32_t c = group.first_class
        cdef int32_t b
        while c >= 0:
            if (
                self.class_bounds[c].chord.until >= 0
                and self.class_bounds[c].highest_mean <= mean
            ):
                highest_mean = max(highest_mean, self.class_bounds[c].highest_mean)
            else:
                b = self.buckets.first[c]
                while b >= 0:
                    if self.buckets.buckets[b].mean > mean:
                        return True
                    highest_mean = max(highest_mean, self.buckets.buckets[b].mean)
                    b = self.buckets.buckets[b].next
            c = self.next_class[c]
        group.highest_mean = highest_mean
        group.unlisted_highest_mean = min(group.unlisted_highest_mean, highest_mean)
        return False

    cdef int32_t best_of_class(self, int32_t c, double threshold) noexcept:
        """The element of class c with the highest mean (ties: lowest element) if that mean is at
        least `threshold`, else -1.
        """
        cdef int32_t e
        if self.buckets.first[c] < 0 or (
            self.class_bounds[c].chord.until >= 0
            and self.class_bounds[c].highest_mean < threshold
        ):
            return -1
        e = self.buckets.best_of_class(c)
        return e if self.means[e] >= threshold else -1

    # ---- a group ----

    cdef void evaluate(self, Py_ssize_t k, double width) noexcept:
        """Find the best exchange of group k, bounds on the others and on its means."""
        if self.groups[k].n_listed >= 0 and self.evaluate_shortlist(k, width):
            return
        self.make_shortlist(k, width)
        if not self.evaluate_shortlist(k, width):
            # More buckets than the shortlist holds are level with the best.
            self.evaluate_all(k, width)

    cdef bint evaluate_shortlist(self, Py_ssize_t k, double width) noexcept:
        """The same from the shortlist alone. False if a bucket not on it may hold the best."""
        cdef Group *group = &self.groups[k]
        cdef double unlisted = value_at(&group.unlisted, width)
        cdef Tally tally
        cdef Py_ssize_t i
        self.begin(&tally, k, width)
        for i in range(group.n_listed):
            self.compare(&tally, self.shortlists[k, i])
        if unlisted > -INFINITY:
            if (
                unlisted + ROUNDING * (fabs(unlisted) + fabs(tally.mean) + self.largest)
                >= tally.best_mean + width * tally.best_root
            ):
                return False
            tally.rest = max(tally.rest, unlisted)
            tally.until = min(tally.until, group.unlisted.until)
            tally.rest_until = max(tally.rest_until, value_at(&group.unlisted, tally.until))
            tally.highest_mean = max(tally.highest_mean, group.unlisted_highest_mean)
        self.conclude(&tally, group)
        group.is_best_listed = True
        return True

    cdef void evaluate_all(self, Py_ssize_t k, double width) noexcept:
        """The same from all buckets."""
        cdef Group *group = &self.groups[k]
        cdef int32_t c = group.first_class
        cdef int32_t b
        cdef Tally tally
        self.begin(&tally, k, width)
        while c >= 0:
            b = self.buckets.first[c]
            while b >= 0:
                self.compare(&tally, b)
                b = self.buckets.buckets[b].next
            c = self.next_class[c]
        self.conclude(&tally, group)

    cdef void make_shortlist(self, Py_ssize_t k, double width) noexcept:
        """List the buckets of group k with the highest indices, with a bound on the others."""
        cdef Group *group = &self.groups[k]
        cdef double[N_LISTED] indices
        cdef double index, threshold
        cdef double until = width_at_double_time(width, self.scale)
        cdef double unlisted = -INFINITY
        cdef double unlisted_until = -INFINITY
        cdef double highest_mean = -INFINITY
        cdef int32_t *shortlist = &self.shortlists[k, 0]
        cdef Bucket *buckets = &self.buckets.buckets[0]
        cdef const int32_t *first = &self.buckets.first[0]
        cdef Py_ssize_t n_listed = 0
        cdef Py_ssize_t i
        cdef int32_t c = group.first_class
        cdef int32_t b, left_out
        cdef ClassBound *known
        while c >= 0:
            b = first[c]
            threshold = indices[N_LISTED - 1] if n_listed == N_LISTED else -INFINITY
            if buckets[b].next >= 0 and threshold > -INFINITY:
                # Several buckets: passed over if none of them can come onto the list.
                known = &self.class_bounds[c]
                if known.chord.until < 0.5 * (width + until):
                    self.bound_class(c, width)
                if self.class_bound(c, width) <= threshold:
                    until = min(until, known.chord.until)
                    unlisted = max(unlisted, self.class_bound(c, width))
                    unlisted_until = max(unlisted_until, self.class_bound(c, until))
                    highest_mean = max(highest_mean, known.highest_mean)
                    c = self.next_class[c]
                    continue
            while b >= 0:
                index = buckets[b].mean + width * buckets[b].inverse_root
                left_out = b
                if n_listed < N_LISTED or index > indices[N_LISTED - 1]:
                    left_out = -1
                    if n_listed < N_LISTED:
                        n_listed += 1
                    else:
                        left_out = shortlist[N_LISTED - 1]
                    i = n_listed - 1
                    while i > 0 and indices[i - 1] < index:
                        indices[i] = indices[i - 1]
                        shortlist[i] = shortlist[i - 1]
                        i -= 1
                    indices[i] = index
                    shortlist[i] = b
                if left_out >= 0:
                    index = buckets[left_out].mean + width * buckets[left_out].inverse_root
                    unlisted = index if index > unlisted else unlisted
                    index = buckets[left_out].mean + until * buckets[left_out].inverse_root
                    unlisted_until = index if index > unlisted_until else unlisted_until
                    index = buckets[left_out].mean
                    highest_mean = index if index > highest_mean else highest_mean
                b = buckets[b].next
            c = self.next_class[c]
        group.n_listed = <int32_t>n_listed
        set_chord(&group.unlisted, width, unlisted, until, unlisted_until)
        group.unlisted_highest_mean = highest_mean

    # ---- a class ----

    cdef void bound_class(self, int32_t c, double width) noexcept:
        """Bounds on all buckets of class c."""
        cdef ClassBound *known = &self.class_bounds[c]
        cdef Bucket *bucket
        cdef double until = width_at_double_time(width, self.scale)
        cdef double index = -INFINITY
        cdef double index_until = -INFINITY
        cdef int32_t b = self.buckets.first[c]
        known.highest_mean = -INFINITY
        while b >= 0:
            bucket = &self.buckets.buckets[b]
            known.highest_mean = max(known.highest_mean, bucket.mean)
            index = max(index, bucket.mean + width * bucket.inverse_root)
            index_until = max(index_until, bucket.mean + until * bucket.inverse_root)
            b = bucket.next
        set_chord(&known.chord, width, index, until, index_until)

    cdef double class_bound(self, int32_t c, double width) noexcept:
        """The bound on the index of class c at a width up to `until`."""
        cdef ClassBound *known = &self.class_bounds[c]
        if width < known.chord.since:
            # The chord from the width 0, where the index is the mean.
            return known.highest_mean + (known.chord.value - known.highest_mean) * (
                width / known.chord.since
            )
        return value_at(&known.chord, width)

    # ---- the best of several buckets ----

    cdef void begin(self, Tally *tally, Py_ssize_t k, double width) noexcept:
        tally.mean = self.means[self.leader[k]]
        tally.root = self.inverse_root[self.leader[k]]
        tally.width = width
        tally.until = width_at_double_time(width, self.scale)
        tally.value = -INFINITY
        tally.best_mean = -INFINITY
        tally.best_root = 0.0
        tally.rest = -INFINITY
        tally.rest_until = -INFINITY
        tally.highest_mean = -INFINITY
        tally.best = -1
        tally.best_bucket = -1

    cdef void compare(self, Tally *tally, int32_t b) noexcept:
        """Compare the best of bucket b with the best so far."""
        cdef Bucket *bucket = &self.buckets.buckets[b]
        cdef double value = (bucket.mean - tally.mean) + tally.width * (
            bucket.inverse_root - tally.root
        )
        cdef int32_t e = bucket.top
        tally.highest_mean = (
            bucket.mean if bucket.mean > tally.highest_mean else tally.highest_mean
        )
        if value >= tally.value and bucket.length > 1:
            e = self.lowest_of_equals(tally, b)
        if value < tally.value or (value == tally.value and e > tally.best):
            self.add_rest(tally, bucket.mean, bucket.inverse_root)
            return
        # The best so far becomes one of the rest.
        if tally.best >= 0:
            self.add_rest(tally, tally.best_mean, tally.best_root)
            self.add_runner_up(tally)
        tally.value = value
        tally.best = e
        tally.best_bucket = b
        tally.best_mean = self.means[e] if bucket.length > 1 else bucket.mean
        tally.best_root = bucket.inverse_root

    cdef int32_t lowest_of_equals(self, Tally *tally, int32_t b) noexcept:
        """The lowest element of bucket b with the exchange index of its top: a lower mean may be
        rounded to the same index.
        """
        cdef Bucket *bucket = &self.buckets.buckets[b]
        cdef double factor = tally.width * (bucket.inverse_root - tally.root)
        cdef double value = (bucket.mean - tally.mean) + factor
        cdef int32_t lowest = bucket.top
        cdef int32_t e = lowest
        while True:
            e = self.buckets.next_below(b, self.means[e])
            if e < 0 or value > (self.means[e] - tally.mean) + factor:
                return lowest
            lowest = min(lowest, e)

    cdef void add_rest(self, Tally *tally, double mean, double root) noexcept:
        """An element that is not the best."""
        cdef double index = mean + tally.width * root
        tally.rest = index if index > tally.rest else tally.rest
        index = mean + tally.until * root
        tally.rest_until = index if index > tally.rest_until else tally.rest_until

    cdef void add_runner_up(self, Tally *tally) noexcept:
        """The other elements in the bucket of the best are bounded by the next of them."""
        cdef Bucket *bucket = &self.buckets.buckets[tally.best_bucket]
        cdef int32_t other = bucket.top
        if bucket.length == 1:
            return
        # Elements with the mean of the bucket's top and a higher number never win.
        if other == tally.best:
            other = self.buckets.next_below(tally.best_bucket, bucket.mean)
        if other >= 0:
            self.add_rest(tally, self.means[other], bucket.inverse_root)

    cdef void conclude(self, Tally *tally, Group *group) noexcept:
        """Store the best exchange and the bounds."""
        cdef double margin = ROUNDING * (fabs(tally.best_mean) + self.largest)
        if tally.best >= 0:
            self.add_runner_up(tally)
        group.best = tally.best
        group.best_mean = tally.best_mean
        group.best_root = tally.best_root
        group.is_best_listed = False
        group.highest_mean = tally.highest_mean
        if tally.rest > -INFINITY:
            tally.rest += margin + ROUNDING * fabs(tally.rest)
            tally.rest_until += margin + ROUNDING * fabs(tally.rest_until)
        set_chord(&group.rest, tally.width, tally.rest, tally.until, tally.rest_until)
        set_cap(group, self.largest)
