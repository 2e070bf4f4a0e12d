"""Step 4 of docs/explanation/maub.md by bounds, with an index that is not a line in a width:
kl-UCB, UCB-V, or the index for Gaussian rewards.

The value of an element is a function of its statistics and of the budget, which grows with time.
Lines lie above it for budgets in an interval. Few elements have a line that leaves open whether
they are the best: only their values are computed. docs/explanation/other-indices.md explains the
bounds and proves them.
"""

cimport cython

import numpy as np

from libc.math cimport INFINITY, fabs

from matroid_bandits._core.checked cimport CHECKED
from matroid_bandits._core.indices.base cimport IndexKernel
from matroid_bandits._core.policies.maub.search cimport NO_EXCHANGE, Search

cdef enum:
    MOST_INTERVALS = 6  # those used last are kept: 21 bytes per element each


cdef inline double value_in(const Line *line, double share) noexcept:
    """The value of a line at a share of its interval."""
    cdef double rise = line.last - line.first
    # NaN if both are infinite.
    return line.first + rise * share if rise > 0 else line.first


cdef inline void raise_line(Line *line, const Line *other) noexcept:
    """Raise a line above another."""
    line.first = other.first if other.first > line.first else line.first
    line.last = other.last if other.last > line.last else line.last


cdef inline void clear_line(Line *line) noexcept:
    """The bound of an empty set."""
    line.first = -INFINITY
    line.last = -INFINITY


cdef class Interval:
    """Lines above the values of all outside elements, and what they come to in trees."""

    def __init__(self, double since, double until, Py_ssize_t size, Py_ssize_t n_nodes):
        self.since = since
        self.until = until
        # One more, so that there is a first even if there are none.
        self.lines = np.empty(size + 1, dtype=LINE)
        self.nodes = np.empty(n_nodes + 1, dtype=BOUNDS)


@cython.final
cdef class BoundedSearch(IndexSearch):
    """The same exchanges as `FullSearch` finds, with few values.

    Every class has a tree with a bound in every node, on the values of the elements below it. Every
    group has a bound on its classes. A round compares the bound of each group with a lower bound on
    the partner's value, and looks closer only where they overlap.
    """

    def __init__(
        self,
        Search search,
        IndexKernel index,
        const Py_ssize_t[::1] playable,
        double[::1] all_values,
    ):
        cdef Py_ssize_t n_nodes = 0
        cdef Py_ssize_t c, level_size
        super().__init__(search, index, playable, all_values)
        classes = np.asarray(search.symmetry_class)
        size = len(classes)
        # Loops have the class -1, and come first.
        order = np.argsort(classes, kind="stable").astype(np.int32)
        self.element_at = order
        self.place_of = np.empty(size, dtype=np.int32)
        np.asarray(self.place_of)[order] = np.arange(size, dtype=np.int32)
        self.class_start = np.searchsorted(
            classes[order], np.arange(search.n_classes + 1)
        ).astype(np.int32)
        self.node_start = np.zeros(search.n_classes + 1, dtype=np.int32)
        for c in range(search.n_classes):
            level_size = self.class_start[c + 1] - self.class_start[c]
            while level_size > 1:
                level_size = (level_size + FAN_OUT - 1) // FAN_OUT
                n_nodes += level_size
            self.node_start[c + 1] = <int32_t>n_nodes
        self.groups = np.zeros(search.rank, dtype=BOUNDS)
        self.intervals = {}
        # A power of 2. A new beginning is cheaper than to go through more changes than that.
        self.changed = np.zeros(1 << max(6, int(size).bit_length() - 3), dtype=np.int32)
        self.last_change = np.zeros(size, dtype=np.int64)
        self.members = np.zeros(0, dtype=np.intp)
        self.is_member = np.zeros(size, dtype=np.uint8)
        self.needed = np.zeros(search.rank, dtype=np.intp)
        self.needed_elements = np.zeros(search.rank, dtype=np.intp)
        self.lower = np.zeros(search.rank)
        self.bounds = np.zeros(search.rank)

    # ---- what changes ----

    cdef void observed(self, Py_ssize_t e) noexcept:
        self.changed[self.n_changed & (self.changed.shape[0] - 1)] = <int32_t>e
        self.last_change[e] = self.n_changed
        self.n_changed += 1

    cdef int regroup(self) except -1:
        cdef Py_ssize_t k, e
        # Elements that have left the leader, and those that have come into it.
        for k in range(self.members.shape[0]):
            e = self.members[k]
            if self.search.buckets.bucket_of[e] >= 0:
                self.is_member[e] = False
                self.observed(e)
        if self.members.shape[0] == 0:
            self.members = np.zeros(self.search.rank, dtype=np.intp)
        for k in range(self.search.rank):
            e = self.search.leader[k]
            self.members[k] = e
            if not self.is_member[e]:
                self.is_member[e] = True
                self.observed(e)
            self.groups[k].is_known = False
        return 0

    cdef void apply_changes(self) noexcept:
        """Renew the lines of all elements that have changed since the last search."""
        cdef Py_ssize_t mask = self.changed.shape[0] - 1
        cdef int64_t i
        cdef int32_t e
        if self.n_changed - self.interval.n_seen > mask:
            self.build()
            return
        for i in range(self.interval.n_seen, self.n_changed):
            e = self.changed[i & mask]
            # If it has changed again, it comes later.
            if self.last_change[e] == i:
                self.renew(e)
        self.interval.n_seen = self.n_changed

    cdef void renew(self, Py_ssize_t e) noexcept:
        """New bounds for an element, and for what it belongs to."""
        cdef Search search = self.search
        cdef Py_ssize_t place = self.place_of[e]
        cdef Py_ssize_t c = search.symmetry_class[e]
        cdef Line *line = &self.lines[place]
        cdef Bounds *group
        if search.buckets.bucket_of[e] < 0:
            clear_line(line)
            self.update_path(e)
            return
        self.index.line(e, self.budget, self.interval.since, self.interval.until, line)
        self.update_path(e)
        group = &self.groups[search.class_group[c]]
        if not group.is_known:
            return
        if group.best != e:
            self.raise_by_line(group, line)
        elif self.class_start[c + 1] - self.class_start[c] == 1:
            # The rest has not changed.
            group.top = line[0]
        else:
            # Elements that were like it are not covered any more.
            group.is_known = False

    # ---- intervals ----

    cdef int begin(self, Py_ssize_t time) except -1:
        """Before a search: bounds for the present budget and the present statistics."""
        self.budget = self.index.budget_at(time)
        if self.interval is None or not (
            self.interval.since <= self.budget <= self.interval.until
        ):
            self.set_interval()
        self.share = (self.budget - self.interval.since) / (
            self.interval.until - self.interval.since
        )
        if not self.span_since <= self.budget <= self.span_until:
            self.set_span(time)
        self.span_share = (self.budget - self.span_since) / (self.span_until - self.span_since)
        if self.interval.n_seen != self.n_changed:
            self.apply_changes()
        return 0

    cdef int set_interval(self) except -1:
        """Choose the interval that contains the budget."""
        cdef double since = 0.0
        cdef double until = 1.0
        cdef Py_ssize_t number = 0
        cdef Py_ssize_t k
        cdef Interval interval, other
        while self.budget > until:
            since = until
            until *= self.index.interval_ratio
            number += 1
        interval = self.intervals.get(number)
        if interval is None:
            if len(self.intervals) == MOST_INTERVALS:
                oldest = -1
                for key, other in self.intervals.items():
                    if interval is None or other.last_use < interval.last_use:
                        interval = other
                        oldest = key
                del self.intervals[oldest]
                interval.since = since
                interval.until = until
            else:
                interval = Interval(
                    since,
                    until,
                    self.element_at.shape[0],
                    self.node_start[self.search.n_classes],
                )
            interval.n_seen = -self.changed.shape[0] - 1  # nothing
            self.intervals[number] = interval
        interval.last_use = self.n_changed
        self.interval = interval
        self.lines = &interval.lines[0]
        self.nodes = &interval.nodes[0]
        self.span_until = -1.0
        for k in range(self.search.rank):
            self.groups[k].is_known = False
        return 0

    cdef void set_span(self, Py_ssize_t time) noexcept:
        """Begin a span at the present budget. It lasts so long that to renew the bounds of all
        groups and nodes once costs little per round.
        """
        cdef double length = self.interval.until - self.interval.since
        self.span += 1
        self.span_since = self.budget
        self.span_until = self.index.budget_after(
            time, max(time // 64, self.element_at.shape[0] // 128, 1)
        )
        if not self.span_since < self.span_until <= self.interval.until:
            self.span_until = self.interval.until
        if not self.span_since < self.span_until:
            # The end of the interval.
            self.span_since = self.interval.since
        self.first_share = (self.span_since - self.interval.since) / length
        self.last_share = (self.span_until - self.interval.since) / length

    cdef void build(self) noexcept:
        """New bounds for all elements."""
        cdef double since = self.interval.since
        cdef double until = self.interval.until
        cdef double middle = 0.5 * (since + until)
        cdef const int32_t *bucket_of = &self.search.buckets.bucket_of[0]
        cdef Py_ssize_t i, j, k, c, e, size, start, child
        cdef Py_ssize_t last = -1  # the place of the last element outside the leader
        for i in range(self.element_at.shape[0]):
            e = self.element_at[i]
            if bucket_of[e] < 0:
                clear_line(&self.lines[i])
                continue
            # Many elements may have the same few statistics.
            if last >= 0 and self.index.are_alike(e, self.element_at[last]):
                self.lines[i] = self.lines[last]
            else:
                self.index.line(e, middle, since, until, &self.lines[i])
            last = i
        for c in range(self.search.n_classes):
            start = self.class_start[c]
            size = self.class_start[c + 1] - start
            j = self.node_start[c]
            child = -1
            while size > 1:
                k = j  # the first node of this level
                for i in range(0, size, FAN_OUT):
                    if child < 0:
                        self.sum_up_lines(
                            &self.nodes[j], start + i, start + min(size, i + FAN_OUT)
                        )
                    else:
                        self.sum_up_nodes(
                            &self.nodes[j], &self.nodes[child + i], min(size - i, FAN_OUT)
                        )
                    j += 1
                child = k
                size = j - k
        for k in range(self.search.rank):
            self.groups[k].is_known = False
        self.interval.n_seen = self.n_changed

    # ---- trees ----

    cdef void update_path(self, Py_ssize_t e) noexcept:
        """The line of an element has changed: new bounds for the nodes above it."""
        cdef Py_ssize_t c = self.search.symmetry_class[e]
        cdef Py_ssize_t start = self.class_start[c]
        cdef Py_ssize_t size = self.class_start[c + 1] - start
        cdef Py_ssize_t node = self.node_start[c]
        cdef Py_ssize_t i = (self.place_of[e] - start) // FAN_OUT
        cdef Py_ssize_t child
        if size == 1:
            return
        self.sum_up_lines(
            &self.nodes[node + i],
            start + i * FAN_OUT,
            start + min(size, (i + 1) * FAN_OUT),
        )
        size = (size + FAN_OUT - 1) // FAN_OUT
        while size > 1:
            child = node
            node += size
            i //= FAN_OUT
            self.sum_up_nodes(
                &self.nodes[node + i],
                &self.nodes[child + i * FAN_OUT],
                min(size - i * FAN_OUT, FAN_OUT),
            )
            size = (size + FAN_OUT - 1) // FAN_OUT

    cdef void clear(self, Bounds *bounds) noexcept:
        """The bounds of an empty set."""
        bounds.best = -1
        bounds.span = self.span
        bounds.is_known = True
        clear_line(&bounds.top)
        clear_line(&bounds.rest)
        clear_line(&bounds.span_rest)

    cdef void raise_by_line(self, Bounds *bounds, const Line *line) noexcept:
        """Add an element with this line to the rest."""
        cdef double value
        raise_line(&bounds.rest, line)
        if bounds.span == self.span:
            value = value_in(line, self.first_share)
            if value > bounds.span_rest.first:
                bounds.span_rest.first = value
            value = value_in(line, self.last_share)
            if value > bounds.span_rest.last:
                bounds.span_rest.last = value

    cdef void raise_by_rest(self, Bounds *bounds, const Bounds *other) noexcept:
        """Add the rest of some other elements to the rest."""
        if other.span == self.span:
            raise_line(&bounds.rest, &other.rest)
            raise_line(&bounds.span_rest, &other.span_rest)
        else:
            self.raise_by_line(bounds, &other.rest)

    cdef double rest_of(self, const Bounds *bounds) noexcept:
        """The bound on the rest at the present budget."""
        if bounds.span == self.span:
            return value_in(&bounds.span_rest, self.span_share)
        return value_in(&bounds.rest, self.share)

    cdef double bound_of(self, const Bounds *bounds) noexcept:
        """The bound on all elements at the present budget."""
        return max(value_in(&bounds.top, self.share), self.rest_of(bounds))

    cdef void sum_up_lines(self, Bounds *node, Py_ssize_t start, Py_ssize_t end) noexcept:
        """The bounds of a node, from lines."""
        cdef const Line *lines = self.lines
        cdef const int32_t *element_at = &self.element_at[0]
        cdef double height
        cdef double highest = -INFINITY
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t i, first
        self.clear(node)
        for i in range(start, end):
            height = value_in(&lines[i], self.share)
            if height > highest:
                highest = height
                best = i
        if best < 0:
            return
        node.top = lines[best]
        # Of several that are alike, the first wins every tie; the lowest of their lines holds for
        # all of them.
        first = best
        for i in range(start, end):
            if i == best or lines[i].last == -INFINITY:
                continue
            if not self.index.are_alike(element_at[i], element_at[best]):
                self.raise_by_line(node, &lines[i])
                continue
            first = min(first, i)
            height = value_in(&lines[i], self.share)
            if height < highest:
                highest = height
                node.top = lines[i]
        node.best = element_at[first]

    cdef void sum_up_nodes(self, Bounds *node, Bounds *child, Py_ssize_t n) noexcept:
        """The bounds of a node, from its children."""
        cdef double height
        cdef double highest = -INFINITY
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t i, first
        self.clear(node)
        for i in range(n):
            height = value_in(&child[i].top, self.share)
            if height > highest:
                highest = height
                best = i
        if best < 0:
            return
        node.top = child[best].top
        first = best
        for i in range(n):
            if child[i].best < 0:
                continue
            self.raise_by_rest(node, &child[i])
            if i == best:
                continue
            if not self.index.are_alike(child[i].best, child[best].best):
                self.raise_by_line(node, &child[i].top)
                continue
            first = min(first, i)
            height = value_in(&child[i].top, self.share)
            if height < highest:
                highest = height
                node.top = child[i].top
        node.best = child[first].best

    cdef void sum_up_group(self, Py_ssize_t k) noexcept:
        """The bounds of a group, from its classes."""
        cdef Search search = self.search
        cdef Bounds *group = &self.groups[k]
        cdef double height
        cdef double highest = -INFINITY
        cdef const Line *line
        cdef const Bounds *root
        cdef int32_t c = search.groups[k].first_class
        cdef int32_t start, best
        self.clear(group)
        while c >= 0:
            start = self.class_start[c]
            if self.class_start[c + 1] - start == 1:
                best = self.element_at[start]
                line = &self.lines[start]
            else:
                root = &self.nodes[self.node_start[c + 1] - 1]
                best = root.best
                line = &root.top
                self.raise_by_rest(group, root)
            height = value_in(line, self.share)
            if height > highest:
                if group.best >= 0:
                    self.raise_by_line(group, &group.top)
                highest = height
                group.top = line[0]
                group.best = best
            else:
                self.raise_by_line(group, line)
            c = search.next_class[c]

    # ---- a round ----

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        cdef Py_ssize_t n, i, first
        if self.search.rank == 0:
            return NO_EXCHANGE
        self.begin(time)
        self.found = NO_EXCHANGE
        self.best_value = 0.0
        self.is_collecting = False
        n = self.find_needed()
        if n > 0:
            # The most promising one first: the others may then be excluded.
            first = 0
            for i in range(1, n):
                if self.bounds[i] > self.bounds[first]:
                    first = i
            self.evaluate_group(self.needed[first])
            for i in range(n):
                if i != first and not self.bounds[i] < self.best_value:
                    self.evaluate_group(self.needed[i])
            if self.found >= 0:
                self.search.found_group = self.found_group
        if CHECKED:
            self.verify(time, self.found)
        return self.found

    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1:
        cdef Py_ssize_t n, i, k
        if self.search.rank == 0 or elements.shape[0] == 0:
            return 0
        self.begin(time)
        self.found = NO_EXCHANGE
        self.best_value = 0.0
        self.is_collecting = True
        self.n_collected = 0
        self.collected = &elements[0]
        self.collected_values = &values[0]
        n = self.find_needed()
        for i in range(n):
            self.evaluate_group(self.needed[i])
        for k in range(self.search.rank):
            self.collected_values[self.search.leader[k]] = self.index.value_at(
                self.search.leader[k], self.budget
            )
        np.asarray(elements)[: self.n_collected].sort()
        return self.n_collected

    cdef Py_ssize_t find_needed(self) noexcept:
        """Write the positions whose groups may have an exchange with a positive index to `needed`,
        and to `bounds` a bound on it. Returns how many they are.
        """
        cdef double slack = self.index.slack
        cdef double relative_slack = self.index.relative_slack
        cdef double ceiling = self.index.ceiling
        cdef const double *means = &self.search.means[0]
        cdef const Py_ssize_t *leader = &self.search.leader[0]
        cdef Py_ssize_t *needed = &self.needed[0]
        cdef Py_ssize_t *elements = &self.needed_elements[0]
        cdef double *bounds = &self.bounds[0]
        cdef const double *lower = &self.lower[0]
        cdef Bounds *groups = &self.groups[0]
        cdef double bound, mean
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, k, n_open
        for k in range(self.search.rank):
            if not groups[k].is_known:
                self.sum_up_group(k)
            if groups[k].best < 0:
                continue
            bound = self.bound_of(&groups[k])
            mean = means[leader[k]]
            bound = (bound if bound < ceiling else ceiling) + slack
            bound += relative_slack * (fabs(bound) + fabs(mean))
            # A value is never below the mean. If that is the ceiling, no value is above it.
            if bound < mean or mean >= ceiling:
                continue
            needed[n] = k
            elements[n] = leader[k]
            bounds[n] = bound
            n += 1
        if n == 0:
            return 0
        self.index.lower_bounds(elements, n, self.budget, &self.lower[0])
        n_open = n
        n = 0
        for i in range(n_open):
            k = needed[i]
            if bounds[i] < lower[i] - relative_slack * fabs(lower[i]):
                continue
            if groups[k].span != self.span:
                # Bounds for this span are more exact.
                self.sum_up_group(k)
                bound = self.bound_of(&groups[k])
                bound = (bound if bound < ceiling else ceiling) + slack
                bounds[i] = bound + relative_slack * (fabs(bound) + fabs(means[leader[k]]))
            bound = bounds[i] - lower[i] + relative_slack * fabs(lower[i])
            if not bound < 0:
                needed[n] = k
                bounds[n] = bound + slack
                n += 1
        return n

    cdef void set_cut(self) noexcept:
        """The value below which an element of the group cannot be the best."""
        self.cut = (
            self.own
            + self.best_value
            - self.index.slack
            - self.index.relative_slack * (fabs(self.own) + self.best_value)
        )

    cdef void compare(self, Py_ssize_t e, double value) noexcept:
        """Compare an exchange with the best so far."""
        cdef double difference = value - self.own
        if self.is_collecting:
            if difference > 0:
                self.collected[self.n_collected] = e
                self.collected_values[e] = value
                self.n_collected += 1
        elif difference > self.best_value or (
            difference == self.best_value and e < self.found
        ):
            self.best_value = difference
            self.found = e
            self.set_cut()

    cdef bint is_excluded(self) noexcept:
        """Whether even the largest possible value does not win."""
        cdef double difference = self.index.ceiling - self.own
        return difference < self.best_value or (
            difference == self.best_value and self.found == NO_EXCHANGE
        )

    cdef void evaluate_group(self, Py_ssize_t k) noexcept:
        """Compare all exchanges of a group that may win."""
        cdef Search search = self.search
        cdef Bounds *group = &self.groups[k]
        cdef Py_ssize_t found = self.found
        cdef const Bounds *root
        cdef int32_t c, start, place
        self.own = self.index.value_at(search.leader[k], self.budget)
        if self.is_excluded():
            return
        self.set_cut()
        self.last_place = -1
        if group.best >= 0 and not self.is_collecting:
            place = self.place_of[group.best]
            self.evaluate(place)
            group.top = self.lines[place]
        if self.is_collecting or not self.rest_of(group) < self.cut:
            c = search.groups[k].first_class
            while c >= 0:
                start = self.class_start[c]
                if self.class_start[c + 1] - start == 1:
                    if (
                        self.element_at[start] != group.best or self.is_collecting
                    ) and not value_in(&self.lines[start], self.share) < self.cut:
                        self.evaluate(start)
                else:
                    root = &self.nodes[self.node_start[c + 1] - 1]
                    if not self.bound_of(root) < self.cut:
                        self.search_class(c)
                c = search.next_class[c]
            self.sum_up_group(k)
        if self.found != found:
            self.found_group = k

    cdef void evaluate(self, Py_ssize_t place) noexcept:
        """Compare an element, and draw its line anew."""
        cdef Py_ssize_t e = self.element_at[place]
        cdef Py_ssize_t last = self.last_place
        # An element of the leader.
        if self.search.buckets.bucket_of[e] < 0:
            return
        # Many elements may have the same few statistics.
        if last >= 0 and self.index.are_alike(e, self.element_at[last]):
            self.lines[place] = self.lines[last]
        else:
            self.last_value = self.index.line(
                e, self.budget, self.interval.since, self.interval.until, &self.lines[place]
            )
            self.last_place = place
        self.compare(e, self.last_value)

    cdef void search_class(self, Py_ssize_t c) noexcept:
        """Compare all exchanges of a class of several elements that may win."""
        cdef Py_ssize_t level = 0
        self.level_start[0] = self.class_start[c]
        self.level_size[0] = self.class_start[c + 1] - self.class_start[c]
        self.level_start[1] = self.node_start[c]
        self.level_size[1] = (self.level_size[0] + FAN_OUT - 1) // FAN_OUT
        level = 1
        while self.level_size[level] > 1:
            self.level_start[level + 1] = self.level_start[level] + self.level_size[level]
            self.level_size[level + 1] = (self.level_size[level] + FAN_OUT - 1) // FAN_OUT
            level += 1
        self.search_node(level, 0)

    cdef void search_node(self, Py_ssize_t level, Py_ssize_t i) noexcept:
        cdef Bounds *node = &self.nodes[self.level_start[level] + i]
        cdef Py_ssize_t start = i * FAN_OUT
        cdef Py_ssize_t end = min(self.level_size[level - 1], start + FAN_OUT)
        cdef Bounds *children
        cdef double bound
        cdef double highest = -INFINITY
        cdef Py_ssize_t first = start
        cdef Py_ssize_t j
        if level == 1:
            self.search_lines(
                node, self.level_start[0] + start, self.level_start[0] + end
            )
            return
        children = &self.nodes[self.level_start[level - 1]]
        for j in range(start, end):
            bound = self.bound_of(&children[j])
            if bound > highest:
                highest = bound
                first = j
        self.search_node(level - 1, first)
        for j in range(start, end):
            if j == first or self.bound_of(&children[j]) < self.cut:
                continue
            # All that is like the element found so far loses against it.
            if (
                not self.is_collecting
                and self.rest_of(&children[j]) < self.cut
                and self.found >= 0
                and self.found < children[j].best
                and self.index.are_alike(self.found, children[j].best)
                and self.search.symmetry_class[self.found]
                == self.search.symmetry_class[children[j].best]
            ):
                continue
            self.search_node(level - 1, j)
        self.sum_up_nodes(node, &children[start], end - start)

    cdef void search_lines(self, Bounds *node, Py_ssize_t start, Py_ssize_t end) noexcept:
        cdef Py_ssize_t best = node.best
        cdef Py_ssize_t i, e
        if best >= 0:
            i = self.place_of[best]
            if not value_in(&self.lines[i], self.share) < self.cut:
                self.evaluate(i)
        for i in range(start, end):
            e = self.element_at[i]
            if e == best or value_in(&self.lines[i], self.share) < self.cut:
                continue
            if e > best >= 0 and not self.is_collecting and self.index.are_alike(e, best):
                continue
            self.evaluate(i)
        self.sum_up_lines(node, start, end)

    # ---- the checked build ----

    cdef int verify(self, Py_ssize_t time, Py_ssize_t found) except -1:
        """Raise AssertionError unless `found` is what a plain scan finds and all bounds hold."""
        cdef Search search = self.search
        cdef Py_ssize_t expected = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value, own, slack, lower
        cdef Py_ssize_t group = -1
        cdef Py_ssize_t i, e, k, x
        for i in range(self.playable.shape[0]):
            e = self.playable[i]
            if search.buckets.bucket_of[e] < 0:
                continue
            k = search.class_group[search.symmetry_class[e]]
            x = search.leader[k]
            value = self.index.value_at(e, self.budget)
            own = self.index.value_at(x, self.budget)
            if value - own > best:
                best = value - own
                expected = e
                group = k
            self.index.lower_bounds(&x, 1, self.budget, &lower)
            slack = self.index.slack + self.index.relative_slack * fabs(own)
            expect("lower bound of the partner", x, lower, own + slack)
            expect("mean of the partner", x, search.means[x], own + slack)
            slack = self.index.slack + self.index.relative_slack * fabs(value)
            expect("ceiling", e, value, self.index.ceiling)
            self.verify_bounds(e, k, value, slack)
        if found != expected or (found >= 0 and search.found_group != group):
            raise AssertionError(
                f"found {found} in {search.found_group} instead of {expected} in {group}"
            )
        return 0

    cdef int verify_bounds(
        self, Py_ssize_t e, Py_ssize_t k, double value, double slack
    ) except -1:
        """All bounds that cover the outside element e, which is in group k."""
        cdef Bounds *group = &self.groups[k]
        cdef Py_ssize_t c = self.search.symmetry_class[e]
        cdef Py_ssize_t i = self.place_of[e] - self.class_start[c]
        cdef Py_ssize_t size = self.class_start[c + 1] - self.class_start[c]
        cdef Py_ssize_t start = self.node_start[c]
        cdef Bounds *node
        if not group.is_known:
            raise AssertionError(f"no bounds for the group at {k}")
        expect("line", e, value, value_in(&self.lines[self.place_of[e]], self.share) + slack)
        expect("group", e, value, self.bound_of(group) + slack)
        if not self.is_covered(e, group.best):
            expect("rest of the group", e, value, self.rest_of(group) + slack)
        while size > 1:
            i //= FAN_OUT
            size = (size + FAN_OUT - 1) // FAN_OUT
            node = &self.nodes[start + i]
            start += size
            expect("node", e, value, self.bound_of(node) + slack)
            if not self.is_covered(e, node.best):
                expect("rest of a node", e, value, self.rest_of(node) + slack)
        return 0

    cdef bint is_covered(self, Py_ssize_t e, Py_ssize_t best) noexcept:
        """Whether e is `best`, or of its class, like it and after it."""
        return e == best or (
            e > best >= 0
            and self.search.symmetry_class[e] == self.search.symmetry_class[best]
            and self.index.are_alike(e, best)
        )


cdef int expect(str name, Py_ssize_t e, double value, double bound) except -1:
    if value > bound:
        raise AssertionError(f"{name}: element {e} has {value!r}, above the bound {bound!r}")
    return 0


LINE = np.dtype([("first", "f8"), ("last", "f8")], align=True)
BOUNDS = np.dtype(
    [
        ("top", LINE),
        ("rest", LINE),
        ("span_rest", LINE),
        ("span", "i8"),
        ("best", "i4"),
        ("is_known", "i4"),
    ],
    align=True,
)
