"""The leader of MAUB, found by exchanges from the one before (docs/lean-exchange.md).

Fundamental circuits that are known are used again, instead of greedy from scratch and Algorithm 2.
"""

import numpy as np

from matroid_bandits._core.policies.maub.search cimport Search, comes_after
from matroid_bandits._core.sorting cimport comes_before, sort_descending

from matroid_bandits.errors import no_end


cdef class LeanLeader(Leader):
    """The same leaders and partners as `PublishedLeader`, with few oracle calls."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.next_slot = np.zeros(self.rank, dtype=np.int32)
        self.candidates = np.zeros(self.search.n_classes, dtype=np.intp)
        self.scratch = np.zeros(self.search.n_classes, dtype=np.intp)

    # ---- step 2 ----

    cdef bint needs_greedy(self) noexcept:
        return not self.exists

    cdef int improve(self) except -1:
        cdef bint same_circuits
        self.n_exchanged = 0
        try:
            same_circuits = self.improve_by_exchanges()
            if not same_circuits:
                self.find_partners()
        except BaseException:
            self.undo_exchanges()
            raise
        self.install()
        if same_circuits:
            self.replace_within_classes()
            self.sort_leader()
        else:
            self.install_groups()
        return 0

    cdef Py_ssize_t reorder(self) except -1:
        if not self.oracle.quick_exchange:
            return Leader.reorder(self)
        self.prepare_again()
        self.sort_leader()
        return 0

    cdef int prepare_again(self) except -1:
        """After a failure: prepare the oracle for the present leader."""
        if not self.is_prepared:
            self.prepare_for(self.search.leader)
            self.search.number_slots()
            self.is_prepared = True
        return 0

    # ---- a better basis ----

    cdef bint improve_by_exchanges(self) except -1:
        """Write the best basis to `next_order`, by exchanges each of which is an improvement.

        Returns whether all circuits are as before, as when all exchanges were within classes.
        """
        cdef Search search = self.search
        cdef bint same_circuits = self.oracle.quick_exchange
        cdef Py_ssize_t i, k, e, x, count
        self.prepare_again()
        if self.oracle.quick_exchange:
            self.sort_leader()
        for k in range(self.rank):
            self.next_order[k] = search.leader[k]
            self.next_slot[k] = search.groups[k].slot
            self.sift_down(k)
        count = self.find_candidates()
        # From the best down, every candidate is considered once, and none that comes in leaves
        # again (docs/lean-exchange.md).
        i = 0
        while i < count:
            e = self.candidates[i]
            k = self.weakest_replaceable(e)
            if k < 0:
                i += 1
                continue
            if self.n_exchanged == self.rank:
                raise no_end(self.matroid, np.asarray(self.members).tolist())
            x = self.next_order[k]
            self.came[self.n_exchanged] = e
            self.went[self.n_exchanged] = x
            self.n_exchanged += 1
            search.remove(e)
            search.insert(x)
            self.next_order[k] = e
            while k + 1 < self.rank and comes_before(self.means, e, self.next_order[k + 1]):
                self.next_order[k] = self.next_order[k + 1]
                self.next_order[k + 1] = e
                self.next_slot[k], self.next_slot[k + 1] = self.next_slot[k + 1], self.next_slot[k]
                k += 1
            if search.symmetry_class[e] != search.symmetry_class[x]:
                same_circuits = False
                self.prepare_for(self.next_order)
                for k in range(self.rank):
                    self.next_slot[k] = <int32_t>k
            # The next best of its class takes its place in the queue.
            e = search.buckets.best_of_class(search.symmetry_class[e])
            if e < 0:
                i += 1
                continue
            k = i
            while k + 1 < count and comes_before(self.means, self.candidates[k + 1], e):
                self.candidates[k] = self.candidates[k + 1]
                k += 1
            self.candidates[k] = e
        return same_circuits

    cdef void sift_down(self, Py_ssize_t k) noexcept:
        """One step of an insertion sort of `next_order`, the worst first in greedy's order."""
        cdef Py_ssize_t e = self.next_order[k]
        cdef int32_t slot = self.next_slot[k]
        while k > 0 and comes_before(self.means, self.next_order[k - 1], e):
            self.next_order[k] = self.next_order[k - 1]
            self.next_slot[k] = self.next_slot[k - 1]
            k -= 1
        self.next_order[k] = e
        self.next_slot[k] = slot

    cdef Py_ssize_t find_candidates(self) noexcept:
        """The best element of every class that may beat its partner, the best first."""
        cdef Search search = self.search
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t k, c, e
        cdef double mean
        if self.oracle.quick_exchange:
            for k in range(self.rank):
                mean = self.means[search.leader[k]]
                if search.groups[k].highest_mean < mean:
                    continue
                c = search.groups[k].first_class
                while c >= 0:
                    e = search.best_of_class(<int32_t>c, mean)
                    if e >= 0:
                        self.candidates[count] = e
                        count += 1
                    c = search.next_class[c]
        else:
            for c in range(search.n_classes):
                if search.class_slot[c] < 0:
                    continue
                e = search.buckets.best_of_class(c)
                if comes_before(self.means, e, self.next_order[0]):
                    self.candidates[count] = e
                    count += 1
        sort_descending(self.means, self.candidates[:count], self.scratch[:count])
        return count

    cdef Py_ssize_t weakest_replaceable(self, Py_ssize_t e) except -2:
        """The position in `next_order` of the weakest element that e can replace, if e is better;
        or -1.
        """
        cdef Py_ssize_t k
        for k in range(self.rank):
            if not comes_before(self.means, e, self.next_order[k]):
                break
            if self.oracle.can_replace(self.next_slot[k], e):
                return k
        return -1

    cdef void replace_within_classes(self) noexcept:
        """Elements were exchanged within classes: groups stay, their order may change."""
        cdef Search search = self.search
        cdef Py_ssize_t i, k
        for k in range(self.rank):
            search.leader[search.position_of_slot[self.next_slot[k]]] = self.next_order[k]
        for i in range(self.n_exchanged):
            k = search.position_of_slot[search.class_slot[search.symmetry_class[self.came[i]]]]
            if search.groups[k].best == self.came[i]:
                search.remove_best(k)
        search.forget_indices()

    # ---- the order of the leader ----

    cdef int sort_leader(self) except -1:
        """Sort the leader by (mean, element), swapping neighbors, and keep partners right."""
        cdef Py_ssize_t i, k
        for i in range(1, self.rank):
            k = i
            while k > 0 and comes_after(
                self.means, self.search.leader[k - 1], self.search.leader[k]
            ):
                k -= 1
                self.transpose(k)
        return 0

    cdef int transpose(self, Py_ssize_t k) except -1:
        """Swap positions k and k + 1. The elements whose partner was at k and that can replace the
        other element have that partner now; no other partner changes (docs/rounds.md).
        """
        cdef Search search = self.search
        cdef int32_t *place
        cdef int32_t c
        search.swap_positions(k)
        place = &search.groups[k + 1].first_class
        c = place[0]
        if c >= 0 and search.next_class[c] < 0 and search.groups[k].first_class < 0:
            # One group has a single class, the other is empty: the class may move with its bounds.
            if self.oracle.can_replace(search.groups[k].slot, search.any_element(c)):
                search.move_only_class(k + 1, k)
            return 0
        while place[0] >= 0:
            c = place[0]
            if self.oracle.can_replace(search.groups[k].slot, search.any_element(c)):
                place[0] = search.next_class[c]
                search.move_class(c, k + 1, k)
            else:
                place = &search.next_class[c]
        return 0
