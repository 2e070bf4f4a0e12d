"""The leader of MAUB, found by exchanges from the one before (docs/explanation/lean-exchange.md).

Fundamental circuits that are known are used again, instead of greedy from scratch and Algorithm 2.
"""

import numpy as np

from matroid_bandits._core.policies.maub.exchanges cimport Exchanges
from matroid_bandits._core.policies.maub.search cimport Search, comes_after
from matroid_bandits._core.sorting cimport comes_before, sort_ascending, sort_descending

from matroid_bandits._core.matroids.cached import CachedKernel
from matroid_bandits.errors import no_end

cdef enum:
    # So many swaps of neighbors per element of the leader take as long as finding all partners.
    MANY_SWAPS = 6


cdef class LeanLeader(Leader):
    """The same leaders and partners as `PublishedLeader`, with few oracle calls."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        size = self.means.shape[0]
        self.next_position = np.zeros(self.rank, dtype=np.int32)
        self.group_of = np.zeros(size, dtype=np.int32)
        self.first_gone = np.full(self.search.n_classes, -1, dtype=np.int32)
        self.next_gone = np.zeros(self.rank, dtype=np.int32)
        self.leaving = np.zeros(self.rank, dtype=np.intp)
        self.candidates = np.zeros(size, dtype=np.intp)
        self.changed = np.zeros(self.search.n_classes, dtype=np.intp)
        self.scratch = np.zeros(size, dtype=np.intp)

    # ---- step 2 ----

    cdef bint needs_greedy(self) noexcept:
        return not self.exists

    cdef int improve(self) except -1:
        if self.oracle.quick_exchange:
            return self.improve_at_once()
        self.n_exchanged = 0
        try:
            self.improve_by_tests()
            self.find_partners()
        except BaseException:
            self.undo_exchanges()
            raise
        self.install()
        self.install_groups()
        return 0

    cdef Py_ssize_t reorder(self) except -1:
        if not self.oracle.quick_exchange:
            return Leader.reorder(self)
        self.prepare_again()
        self.sort_leader()
        return 0

    cdef void install_groups(self) noexcept:
        cdef Py_ssize_t k
        Leader.install_groups(self)
        for k in range(self.rank):
            self.group_of[self.search.leader[k]] = <int32_t>k

    cdef int prepare_again(self) except -1:
        """Prepare the oracle for the present leader, if it was prepared for another basis."""
        if not self.is_prepared:
            self.prepare_in_order()
            self.is_prepared = True
        return 0

    cdef int prepare_in_order(self) except -1:
        """Prepare the oracle for the leader in its order."""
        cdef Py_ssize_t i
        self.prepare_for(self.search.ordered)
        for i in range(self.rank):
            self.position[self.search.order[i]] = <int32_t>i
        return 0

    # ---- step 4 ----

    cdef Py_ssize_t write_best_basis(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] basis
    ) except -1:
        self.prepare_again()
        self.begin_joint()
        if isinstance(self.oracle, CachedKernel):
            # The order becomes that of the basis found. If the oracle fails, anything may be.
            self.is_joint_old = True
            self.is_prepared = False
            self.is_prepared = not self.joint.find_by_tests(self.prepared, values, candidates)
        else:
            self.joint.find(self.prepared, values, candidates)
            self.is_prepared = self.oracle.quick_exchange
        self.joint.write(self.members, basis)
        return 0

    # ---- a better basis, with a kernel that answers quickly: it cannot fail ----

    cdef int improve_at_once(self) except -1:
        """The best basis of the leader and all elements that are better than their partners."""
        cdef Search search = self.search
        cdef Exchanges exchanges = self.joint
        cdef Py_ssize_t i, n_symmetric
        self.prepare_again()
        self.sort_leader()
        cdef Py_ssize_t n = self.collect_better()
        sort_descending(self.means, self.candidates[:n], self.scratch[:n])
        exchanges.begin(search.ordered)
        exchanges.find(self.prepared, self.means, self.candidates[:n])
        for i in range(exchanges.n):
            search.remove(exchanges.came[i])
            search.insert(exchanges.went[i])
        search.lower_widths()
        exchanges.write(self.members, self.next_order)
        self.members[:] = self.next_order
        self.known_key = None
        self.is_joint_old = True
        n_symmetric = self.replace_symmetric()
        self.sort_leader()
        if n_symmetric < exchanges.n:
            self.replace_others(n_symmetric)
        return 0

    cdef Py_ssize_t collect_better(self) except -1:
        """Write all outside elements whose mean is at least that of their partner to `candidates`;
        return how many there are.
        """
        return self.search.collect(0.0, True, self.candidates)

    cdef Py_ssize_t replace_symmetric(self) except -1:
        """Put elements that come into the groups of symmetric elements that go: all circuits stay
        the same. Returns how many; the others are then the last of `came` and `went`.
        """
        cdef Search search = self.search
        cdef Exchanges exchanges = self.joint
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, e
        cdef int32_t c, j
        cdef int32_t k
        for i in range(exchanges.n):
            c = search.symmetry_class[exchanges.went[i]]
            self.next_gone[i] = self.first_gone[c]
            self.first_gone[c] = <int32_t>i
        for i in range(exchanges.n):
            e = exchanges.came[i]
            c = search.symmetry_class[e]
            k = search.class_group[c]
            if k >= 0 and search.groups[k].best == e:
                search.remove_best(k)
            if k >= 0 and search.buckets.first[c] < 0:
                search.unlink_class(c)
                search.class_group[c] = -1
            j = self.first_gone[c]
            if j >= 0:
                self.first_gone[c] = self.next_gone[j]
                self.put_into_group(e, self.group_of[exchanges.went[j]])
                exchanges.went[j] = -1
                exchanges.came[i] = exchanges.came[n]
                n += 1
        # Those that are left, at the end.
        j = <int32_t>(exchanges.n - 1)
        for i in range(exchanges.n - 1, -1, -1):
            e = exchanges.went[i]
            if e >= 0:
                self.first_gone[search.symmetry_class[e]] = -1
                exchanges.went[j] = e
                j -= 1
        for i in range(self.rank):
            search.ordered[i] = search.leader[search.order[i]]
        return n

    cdef void put_into_group(self, Py_ssize_t e, Py_ssize_t k) noexcept:
        """Make e the element of the leader in group k."""
        self.search.leader[k] = e
        self.group_of[e] = <int32_t>k
        self.prepared[self.position[k]] = e

    cdef int replace_others(self, Py_ssize_t first) except -1:
        """Exchange the other elements. Circuits change if they contain an element that goes."""
        cdef Search search = self.search
        cdef Exchanges exchanges = self.joint
        cdef Py_ssize_t i, n
        cdef int32_t c
        for i in range(first, exchanges.n):
            self.leaving[i] = self.position[self.group_of[exchanges.went[i]]]
        self.oracle.mark_leaving(self.leaving[first : exchanges.n])
        n = 0
        for c in range(<int32_t>search.n_classes):
            if search.buckets.first[c] >= 0 and (
                search.class_group[c] < 0
                or self.oracle.can_replace_leaving(search.any_element(c))
            ):
                self.changed[n] = c
                n += 1
        for i in range(first, exchanges.n):
            self.begin_group(exchanges.came[i], self.group_of[exchanges.went[i]])
        for i in range(self.rank):
            search.ordered[i] = search.leader[search.order[i]]
        # The order of all others is right, and so are the partners in circuits that stay.
        sort_ascending(self.means, search.ordered, self.scratch[: self.rank])
        for i in range(self.rank):
            search.order[i] = self.group_of[search.ordered[i]]
        self.prepare_in_order()
        self.is_prepared = True
        return self.find_groups(self.changed[:n])

    cdef void begin_group(self, Py_ssize_t e, Py_ssize_t k) noexcept:
        """Make e the element of the leader in group k, where it replaces another than a symmetric
        one.
        """
        self.put_into_group(e, k)

    cdef int find_groups(self, const Py_ssize_t[::1] classes) except -1:
        """Put these classes into the groups of their partners. The oracle is prepared in order."""
        cdef Py_ssize_t i
        for i in range(classes.shape[0]):
            self.find_group(<int32_t>classes[i])
        return 0

    cdef int find_group(self, int32_t c) except -1:
        """Put class c into the group of its partner. The oracle is prepared in order."""
        cdef Search search = self.search
        cdef Py_ssize_t partner = self.oracle.partner(search.any_element(c))
        cdef Py_ssize_t k = search.order[partner]
        if search.class_group[c] < 0:
            search.enter_class(c, k)
        elif search.class_group[c] != k:
            search.move_class(c, k)
        return 0

    # ---- the order of the leader, with such a kernel ----

    cdef int sort_leader(self) except -1:
        """Sort the leader by (mean, element), swapping neighbors, and keep partners right."""
        cdef const Py_ssize_t[::1] ordered = self.search.ordered
        cdef Py_ssize_t i, k
        # Rounds that follow each other change about as much.
        if self.n_swapped > MANY_SWAPS * self.rank:
            return self.sort_at_once()
        self.n_swapped = 0
        self.n_retested = 0
        for i in range(1, self.rank):
            k = i
            while k > 0 and comes_after(self.means, ordered[k - 1], ordered[k]):
                k -= 1
                self.transpose(k)
                # An element at which many circuits begin may pass many others.
                if self.n_retested > 2 * MANY_SWAPS * (self.rank + self.search.n_classes):
                    return self.sort_at_once()
            self.n_swapped += i - k
            if self.n_swapped > 2 * MANY_SWAPS * self.rank:
                return self.sort_at_once()
        return 0

    cdef int transpose(self, Py_ssize_t i) except -1:
        """Swap the elements at i and i + 1 in the order. Elements whose partner was the one at i
        and that can replace the other have that partner now; no other partner changes
        (docs/explanation/rounds.md).
        """
        cdef Search search = self.search
        cdef int32_t old = search.order[i]
        cdef int32_t new = search.order[i + 1]
        cdef int32_t c, following
        search.order[i] = new
        search.order[i + 1] = old
        search.ordered[i], search.ordered[i + 1] = search.ordered[i + 1], search.ordered[i]
        c = search.groups[old].first_class
        if c < 0:
            return 0
        if search.next_class[c] < 0 and search.groups[new].first_class < 0:
            # One group has a single class, the other is empty: the class may move with its bounds.
            if self.oracle.can_replace(self.position[new], search.any_element(c)):
                search.move_only_class(old, new)
            return 0
        while c >= 0:
            following = search.next_class[c]
            self.n_retested += 1
            if self.oracle.can_replace(self.position[new], search.any_element(c)):
                search.move_class(c, new)
            c = following
        return 0

    cdef int sort_at_once(self) except -1:
        """The same where much has changed: sort, and find all partners again."""
        cdef Search search = self.search
        cdef Py_ssize_t i
        cdef int32_t c
        self.n_swapped = sort_ascending(self.means, search.ordered, self.scratch[: self.rank])
        for i in range(self.rank):
            search.order[i] = self.group_of[search.ordered[i]]
        self.prepare_in_order()
        for c in range(<int32_t>search.n_classes):
            if search.class_group[c] >= 0:
                self.find_group(c)
        return 0

    # ---- a better basis, with an oracle whose answers are dear ----

    cdef int improve_by_tests(self) except -1:
        """Write the best basis to `next_order`, by exchanges each of which is an improvement."""
        cdef Search search = self.search
        cdef Py_ssize_t i, k, e, x, count
        self.prepare_again()
        for k in range(self.rank):
            self.next_order[k] = search.ordered[k]
            self.next_position[k] = self.position[search.order[k]]
            self.sift_down(k)
        count = self.find_candidates()
        # From the best down, every candidate is considered once, and none that comes in leaves
        # again (docs/explanation/lean-exchange.md).
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
                self.next_position[k], self.next_position[k + 1] = (
                    self.next_position[k + 1],
                    self.next_position[k],
                )
                k += 1
            if search.symmetry_class[e] != search.symmetry_class[x]:
                self.prepare_for(self.next_order)
                for k in range(self.rank):
                    self.next_position[k] = <int32_t>k
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
        return 0

    cdef void sift_down(self, Py_ssize_t k) noexcept:
        """One step of an insertion sort of `next_order`, the worst first in greedy's order."""
        cdef Py_ssize_t e = self.next_order[k]
        cdef int32_t position = self.next_position[k]
        while k > 0 and comes_before(self.means, self.next_order[k - 1], e):
            self.next_order[k] = self.next_order[k - 1]
            self.next_position[k] = self.next_position[k - 1]
            k -= 1
        self.next_order[k] = e
        self.next_position[k] = position

    cdef Py_ssize_t find_candidates(self) noexcept:
        """The best element of every class that may come in, the best first."""
        cdef Search search = self.search
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t c, e
        for c in range(search.n_classes):
            if search.class_group[c] < 0:
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
            if self.oracle.can_replace(self.next_position[k], e):
                return k
        return -1
