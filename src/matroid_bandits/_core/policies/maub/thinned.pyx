"""Step 4 of docs/explanation/maub.md with a Thompson index: draws only for elements that can win.

Every element of the leader has a *floor*, far below its mean. Every class of outside elements has
a *threshold*, usually the floor of its partner. An outside element whose draw is at most the
threshold of its class cannot win, unless the draw of its partner is below the threshold too.
Both events, a draw above the threshold and a draw of the leader below its floor, are rare. One
Poisson process over all elements decides which of them happen in a round; usually none does, and
the leader is played. docs/explanation/thompson.md proves that plays have the distribution of the
plain rule.
"""

cimport cython

import numpy as np

from libc.math cimport INFINITY, isfinite, log, log1p
from libc.string cimport memmove, memset

from matroid_bandits._core.policies.maub.search cimport NO_EXCHANGE

# What `own_status` says about the draw of an element of the leader.
cdef enum:
    NOT_DRAWN = 0
    NEEDED = 1
    DRAWN = 2
    BELOW_FLOOR = 3

# Constants that do not change the distribution of plays, only the time they take.
cdef double NEAR = 0.0  # standard deviations between floor and mean, at least; 0: by the size
cdef double SPAN = 2.0  # by how much more they may be
cdef double MOST_MASS = 0.25
cdef Py_ssize_t MOST_SMALL = 12
cdef double MOST_HAZARD_KEPT = 0.1  # of all classes with needlessly low thresholds
cdef bint is_plain = False


def set_constants(double near=0.0, double span=2.0, double most_mass=0.25, int most_small=12):
    """For tests: the constants of searches that are made from now on."""
    global NEAR, SPAN, MOST_MASS, MOST_SMALL
    NEAR, SPAN, MOST_MASS, MOST_SMALL = near, span, most_mass, most_small


def set_plain(bint plain):
    """For tests: whether policies that are made from now on draw for every element."""
    global is_plain
    is_plain = plain


cdef bint draws_everything() noexcept:
    """Whether a new policy is to draw for every element."""
    return is_plain


@cython.final
cdef class ThinnedSearch:
    """Draws for the leader of a search, and for the outside elements that can win.

    Memory: 53 to 69 bytes per element, and 32 per class.
    """

    def __init__(self, Search search, ThompsonKernel index, playable, all_values):
        super().__init__(search, index, playable, all_values)
        playable = np.asarray(playable)
        self.thompson = index
        self.random_stream = index.random_stream
        self.rank = search.rank
        self.n_classes = search.n_classes
        # A draw below a floor costs up to one draw per element. Less than one round in n has one.
        self.near = NEAR if NEAR > 0 else 1.0
        while NEAR == 0 and index.most_below_floor(self.near) * (len(playable) + 20) > 1:
            self.near += 0.01
        self.far = self.near + SPAN
        self.most_mass = MOST_MASS
        self.most_small = MOST_SMALL
        self.mass_below_floor = index.most_below_floor(self.near)
        self.floor_hazard = -log1p(-self.mass_below_floor)
        classes = np.asarray(search.symmetry_class)
        size, n = len(classes), len(playable)
        order = playable[np.argsort(classes[playable], kind="stable")]
        places = np.full(size, -1, dtype=np.int32)
        places[order] = np.arange(n)
        self.place_of = places
        self.element_at = order.astype(np.int32)
        self.class_begin = np.searchsorted(
            classes[order], np.arange(self.n_classes + 1)
        ).astype(np.int32)
        self.n_large = np.count_nonzero(np.diff(self.class_begin) > self.most_small)
        self.first_leaf = 1
        while self.first_leaf < n:
            self.first_leaf *= 2
        self.hazards = np.zeros(2 * self.first_leaf)
        self.active = np.zeros(n, dtype=np.int32)
        self.scratch = np.zeros(n, dtype=np.int32)
        self.known_leader = np.full(self.rank, -1, dtype=np.intp)
        self.is_in_leader = np.zeros(size, dtype=np.uint8)
        self.floors = np.full(size, -np.inf)
        # No draw is above that of a class which has never had a partner.
        self.thresholds = np.full(self.n_classes, np.inf)
        self.partner = np.full(self.n_classes, -1, dtype=np.intp)
        self.with_floor = np.zeros(self.rank, dtype=np.int32)
        self.raised = np.zeros(self.n_classes, dtype=np.int32)
        self.candidates = np.zeros(n, dtype=np.int32)
        self.candidate_values = np.zeros(n)
        self.own_values = np.zeros(self.rank)
        self.own_status = np.zeros(self.rank, dtype=np.uint8)
        self.exceeded_in = np.zeros(self.n_classes, dtype=np.int64)

    # ---- what the rule calls ----

    cdef Py_ssize_t best(self, Py_ssize_t time) except -2:
        """The outside element whose draw is most above the draw of its partner (ties: lowest
        element), its group in `search.found_group`; NO_EXCHANGE if there is none.
        """
        cdef Py_ssize_t found = NO_EXCHANGE
        cdef double best = 0.0
        cdef double value
        cdef Py_ssize_t i, k, e
        if not self.draw_round(False):
            return NO_EXCHANGE
        for i in range(self.n_candidates):
            e = self.candidates[i]
            k = self.group_of_class(self.search.symmetry_class[e])
            value = self.candidate_values[i] - self.own_values[k]
            if value > best or (value == best and found > e):
                best = value
                found = e
                self.search.found_group = k
        return found

    cdef Py_ssize_t collect(
        self, Py_ssize_t time, Py_ssize_t[::1] elements, double[::1] values
    ) except -1:
        """Write all outside elements whose draw is above the mean of their partner to `elements`,
        in any order, and return how many they are. Their draws, and the means of the leader, are
        written to `values`, by element.

        With several exchanges at once the leader is valued by its means
        (docs/explanation/many-exchanges.md).
        """
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t i, k, e
        if not self.draw_round(True):
            return 0
        for i in range(self.n_candidates):
            e = self.candidates[i]
            k = self.group_of_class(self.search.symmetry_class[e])
            if self.candidate_values[i] > self.own_values[k]:
                elements[n] = e
                values[e] = self.candidate_values[i]
                n += 1
        for k in range(self.rank):
            values[self.search.leader[k]] = self.own_values[k]
        return n

    cdef void observed(self, Py_ssize_t e) noexcept:
        """The statistics of outside element e have changed."""
        if self.is_built:
            self.set_hazard(self.place_of[e])
            self.settle(self.search.symmetry_class[e])

    cdef int regroup(self) except -1:
        """The leader, its order or its partners have changed."""
        cdef Search search = self.search
        cdef Py_ssize_t k, c, x
        cdef Py_ssize_t n_left = 0
        for k in range(self.rank):
            x = self.known_leader[k]
            if x >= 0 and search.buckets.bucket_of[x] >= 0:
                self.is_in_leader[x] = False
                self.floors[x] = -INFINITY
                self.set_hazard(self.place_of[x])
                self.known_leader[n_left] = x
                n_left += 1
        for k in range(self.rank):
            x = search.leader[k]
            if not self.is_in_leader[x]:
                self.is_in_leader[x] = True
                self.floors[x] = self.thompson.new_floor(x, self.near, self.far)
                self.set_hazard(self.place_of[x])
        for c in range(self.n_classes):
            k = self.group_of_class(c)
            x = search.leader[k] if k >= 0 else -1
            if x != self.partner[c]:
                self.partner[c] = x
                self.settle(c)
        for k in range(n_left):
            self.settle(search.symmetry_class[self.known_leader[k]])
        self.known_leader[:] = search.leader
        self.is_changed = True
        self.is_built = True
        return 0

    # ---- a round ----

    cdef bint draw_round(self, bint by_means) noexcept:
        """Draw what can matter in this round. Returns whether there is any candidate.

        Parameters
        ----------
        by_means
            Whether the value of an element of the leader is its mean, and all elements above their
            partners must be among the candidates. Otherwise it is a draw, and that of the best
            exchange is enough.
        """
        cdef double floor_total, total, point
        cdef double best = 0.0
        cdef Py_ssize_t n_classes = self.n_raised
        cdef Py_ssize_t i, k, c, n_before
        self.n_candidates = 0
        self.n_exceeding = 0
        if self.rank == 0:
            return False
        memset(&self.own_status[0], NOT_DRAWN, self.rank)
        self.check_floors()
        n_classes = self.n_raised
        floor_total = 0.0 if by_means else self.n_with_floor * self.floor_hazard
        total = floor_total + self.hazards[1]
        point = self.random_stream.exponential()
        if point >= total and self.n_active == 0 and self.n_raised == 0:
            return False
        self.round_number += 1
        if by_means:
            for k in range(self.rank):
                self.own_values[k] = self.search.means[self.search.leader[k]]
                self.own_status[k] = DRAWN
        self.draw_rare(point, floor_total)
        self.n_exceeding = self.n_candidates
        for i in range(self.n_active):
            k = self.element_at[self.active[i]]
            self.add_candidate(k, self.thompson.draw(k))
        for i in range(self.n_raised):
            k = self.group_of_class(self.raised[i])
            if self.own_status[k] == NOT_DRAWN:
                self.own_status[k] = NEEDED
        # In the order of the leader, which is saved; the numbers of groups are not.
        for i in range(self.rank):
            k = self.search.order[i]
            if self.own_status[k] == NEEDED:
                self.draw_own(k)
            if self.own_status[k] == BELOW_FLOOR:
                n_classes = self.n_classes
        if not by_means:
            best = self.best_margin(0, 0.0)
        # Where the value of a partner is below the threshold, all of the class may matter. For the
        # best exchange not, if one of the class is above the threshold, or if not even a draw at
        # the threshold would be better than what was found.
        for i in range(n_classes):
            c = i if n_classes == self.n_classes else self.raised[i]
            k = self.group_of_class(c)
            if k < 0 or self.own_status[k] < DRAWN:
                continue
            if self.thresholds[c] - self.own_values[k] > best and (
                by_means or self.exceeded_in[c] != self.round_number
            ):
                n_before = self.n_candidates
                self.draw_rest_of_class(c)
                if not by_means:
                    best = self.best_margin(n_before, best)
        return self.n_candidates > 0

    cdef void draw_rare(self, double point, double floor_total) noexcept:
        """Go through the points of the Poisson process on the hazards, the first being `point`.
        Up to `floor_total` they are of draws of the leader below their floors.
        """
        cdef double total = floor_total + self.hazards[1]
        cdef double rest, value
        cdef Py_ssize_t i, k, x
        while point < floor_total:
            i = min(<Py_ssize_t>(point / self.floor_hazard), self.n_with_floor - 1)
            k = self.with_floor[i]
            x = self.search.leader[k]
            if (
                self.random_stream.uniform() * self.mass_below_floor
                < self.thompson.mass_below(x, self.floors[x])
            ):
                value = self.thompson.draw_below(x, self.floors[x])
                if value < INFINITY:
                    self.own_values[k] = value
                    self.own_status[k] = BELOW_FLOOR
            # One point is enough: the next is sought among the elements that follow.
            point = (i + 1) * self.floor_hazard + self.random_stream.exponential()
        while point < total:
            rest = point - floor_total
            i = 1
            while i < self.first_leaf:
                i *= 2
                if rest >= self.hazards[i]:
                    rest -= self.hazards[i]
                    i += 1
            if self.hazards[i] > 0:
                x = self.element_at[i - self.first_leaf]
                value = self.thompson.draw_above(x, self.thresholds[self.search.symmetry_class[x]])
                if value > -INFINITY:
                    self.add_candidate(x, value)
            point += (self.hazards[i] - rest) + self.random_stream.exponential()

    cdef void add_candidate(self, Py_ssize_t e, double value) noexcept:
        """An outside element was drawn; its partner will have to be drawn as well."""
        cdef Py_ssize_t c = self.search.symmetry_class[e]
        cdef Py_ssize_t k = self.group_of_class(c)
        self.candidates[self.n_candidates] = <int32_t>e
        self.candidate_values[self.n_candidates] = value
        self.n_candidates += 1
        if value > self.thresholds[c]:
            self.exceeded_in[c] = self.round_number
        if self.own_status[k] == NOT_DRAWN:
            self.own_status[k] = NEEDED

    cdef void draw_own(self, Py_ssize_t k) noexcept:
        """Draw for the leader's element at k, which is not below its floor, if that is not done."""
        cdef Py_ssize_t x = self.search.leader[k]
        if self.own_status[k] < DRAWN:
            self.own_values[k] = self.thompson.draw_at_least(x, self.floors[x])
            self.own_status[k] = DRAWN

    cdef double best_margin(self, Py_ssize_t first, double best) noexcept:
        """The larger of `best` and the best exchange among the candidates from `first` on."""
        cdef Py_ssize_t i, k
        for i in range(first, self.n_candidates):
            k = self.group_of_class(self.search.symmetry_class[self.candidates[i]])
            best = max(best, self.candidate_values[i] - self.own_values[k])
        return best

    cdef void draw_rest_of_class(self, Py_ssize_t c) noexcept:
        """Draw for the elements of a class that were not drawn: they are below the threshold."""
        cdef Py_ssize_t place, e
        cdef Py_ssize_t next_exceeding = 0
        cdef Py_ssize_t next_active = self.rank_of_place(self.class_begin[c])
        for place in range(self.class_begin[c], self.class_begin[c + 1]):
            e = self.element_at[place]
            if self.search.buckets.bucket_of[e] < 0:
                continue
            if next_active < self.n_active and self.active[next_active] == place:
                next_active += 1
                continue
            while (
                next_exceeding < self.n_exceeding
                and self.place_of[self.candidates[next_exceeding]] < place
            ):
                next_exceeding += 1
            if next_exceeding < self.n_exceeding and self.candidates[next_exceeding] == e:
                continue
            self.add_candidate(e, self.thompson.draw_at_most(e, self.thresholds[c]))

    cdef Py_ssize_t group_of_class(self, Py_ssize_t c) noexcept:
        """The group of class c, -1 if it is in none."""
        return self.search.class_group[c]

    # ---- floors and thresholds ----

    cdef void check_floors(self) noexcept:
        """Replace floors that are too likely to be passed, or needlessly low."""
        cdef const Py_ssize_t *leader = &self.search.leader[0]
        cdef double floor
        cdef Py_ssize_t x
        cdef int32_t c
        cdef Py_ssize_t k = self.thompson.first_unfit(
            leader, 0, self.rank, &self.floors[0], self.near, self.far
        )
        while k < self.rank:
            x = leader[k]
            floor = self.thompson.new_floor(x, self.near, self.far)
            if floor != self.floors[x]:
                self.floors[x] = floor
                self.is_changed = True
                c = self.search.groups[k].first_class
                while c >= 0:
                    self.settle(c)
                    c = self.search.next_class[c]
            k = self.thompson.first_unfit(
                leader, k + 1, self.rank, &self.floors[0], self.near, self.far
            )
        if self.is_changed:
            self.list_changes()

    cdef void list_changes(self) noexcept:
        """List the groups with a floor, in the order of the leader, and the classes with raised
        thresholds.
        """
        cdef Py_ssize_t i, k, c
        self.n_with_floor = 0
        for i in range(self.rank):
            k = self.search.order[i]
            if self.floors[self.search.leader[k]] > -INFINITY:
                self.with_floor[self.n_with_floor] = <int32_t>k
                self.n_with_floor += 1
        self.n_raised = 0
        for c in range(self.n_classes):
            if self.partner[c] >= 0 and self.thresholds[c] > self.floors[self.partner[c]]:
                self.raised[self.n_raised] = <int32_t>c
                self.n_raised += 1
        self.is_changed = False

    cdef void settle(self, Py_ssize_t c) noexcept:
        """Give a class another threshold, if the present one does not suit."""
        cdef double threshold = self.thresholds[c]
        cdef double floor, hazard, usual
        cdef Py_ssize_t n = self.class_begin[c + 1] - self.class_begin[c]
        if self.partner[c] < 0:
            return
        floor = self.floors[self.partner[c]]
        if threshold <= floor:
            if threshold == floor and n <= self.most_small:
                return
            hazard = self.hazard_of_class(c)
            if hazard * self.n_classes <= MOST_HAZARD_KEPT:
                return
            if threshold == floor and hazard <= 2 * self.usual_hazard(n) + 4:
                return
        elif n > self.most_small:
            usual = self.usual_hazard(n)
            if usual - 1.5 <= self.hazard_of_class(c) <= 2 * usual + 4:
                return
        threshold = self.find_threshold(c, floor) if n > self.most_small else floor
        if threshold != self.thresholds[c]:
            self.set_threshold(c, threshold)

    cdef double usual_hazard(self, Py_ssize_t n) noexcept:
        """The hazard of a class of n elements whose threshold is raised.

        With the hazard h, h draws are above the threshold, and with the probability exp(-h) none
        is; then n draws may be necessary, and h = ln n is about best. With other large classes,
        the best exchange is rarely in this one, and fewer are enough.
        """
        return max(1.8, log(<double>n) + 1 - log1p(<double>self.n_large))

    cdef double find_threshold(self, Py_ssize_t c, double floor) noexcept:
        """The floor; or, if too many draws would be above it, a threshold that some exceed."""
        cdef double usual = self.usual_hazard(self.class_begin[c + 1] - self.class_begin[c])
        cdef double least = usual - 0.7
        cdef double most = usual + 1
        cdef double low = INFINITY
        cdef double high = -INFINITY
        cdef double point = self.thresholds[c]
        cdef double hazard, low_hazard, high_hazard, share
        cdef Py_ssize_t place, e, i
        low_hazard = self.hazard_at(c, floor)
        if low_hazard <= most:
            return floor
        for place in range(self.class_begin[c], self.class_begin[c + 1]):
            e = self.element_at[place]
            if self.search.buckets.bucket_of[e] >= 0:
                low = min(low, self.thompson.deviations_from_mean(e, 0.0))
                high = max(high, self.thompson.deviations_from_mean(e, 10.0))
        low = max(low, floor)
        high = min(high, self.thompson.high)
        if not low < high or not isfinite(high):
            return floor
        high_hazard = self.hazard_at(c, high)
        for i in range(60):
            if i > 0 or not low < point < high:
                # The hazard falls about exponentially.
                share = 0.5
                if high_hazard > 0 and low_hazard > high_hazard and i % 3 > 0:
                    share = log(low_hazard / (0.5 * (least + most)))
                    share = min(0.9, max(0.1, share / log(low_hazard / high_hazard)))
                point = low + share * (high - low)
            hazard = self.hazard_at(c, point)
            if least <= hazard <= most:
                return point
            if hazard > most:
                low, low_hazard = point, hazard
            else:
                high, high_hazard = point, hazard
        return high

    cdef void set_threshold(self, Py_ssize_t c, double threshold) noexcept:
        """Give a class a threshold, and its elements new hazards."""
        cdef Py_ssize_t begin = self.class_begin[c]
        cdef Py_ssize_t end = self.class_begin[c + 1]
        cdef Py_ssize_t first = self.rank_of_place(begin)
        cdef Py_ssize_t last = self.rank_of_place(end)
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t place
        cdef double hazard
        self.thresholds[c] = threshold
        self.is_changed = True
        # A class of loops.
        if begin == end:
            return
        for place in range(begin, end):
            hazard = self.hazard_of(self.element_at[place], threshold)
            if hazard < 0:
                self.scratch[n] = <int32_t>place
                n += 1
                hazard = 0.0
            self.hazards[self.first_leaf + place] = hazard
        self.add_up(begin, end)
        memmove(
            &self.active[0] + first + n,
            &self.active[0] + last,
            (self.n_active - last) * sizeof(int32_t),
        )
        memmove(&self.active[0] + first, &self.scratch[0], n * sizeof(int32_t))
        self.n_active += n - (last - first)

    # ---- hazards ----

    cdef double hazard_of(self, Py_ssize_t e, double threshold) noexcept:
        """The hazard of a draw above the threshold; -1 if e is to be active."""
        cdef double mass
        if self.search.buckets.bucket_of[e] < 0:
            return 0.0
        mass = self.thompson.mass_above(e, threshold)
        # Also if it is NaN.
        return -log1p(-mass) if mass <= self.most_mass else -1.0

    cdef double hazard_at(self, Py_ssize_t c, double threshold) noexcept:
        """What `hazard_of_class` would be with another threshold."""
        cdef double most = -log1p(-self.most_mass)
        cdef double total = 0.0
        cdef double hazard
        cdef Py_ssize_t place
        for place in range(self.class_begin[c], self.class_begin[c + 1]):
            hazard = self.hazard_of(self.element_at[place], threshold)
            total += hazard if hazard >= 0 else most
        return total

    cdef double hazard_of_class(self, Py_ssize_t c) noexcept:
        """The hazards of a class; an active element counts with the most that another has."""
        cdef Py_ssize_t begin = self.class_begin[c]
        cdef Py_ssize_t end = self.class_begin[c + 1]
        cdef Py_ssize_t n_active = self.rank_of_place(end) - self.rank_of_place(begin)
        return self.sum_of(begin, end) - n_active * log1p(-self.most_mass)

    cdef double sum_of(self, Py_ssize_t begin, Py_ssize_t end) noexcept:
        """The hazards of some places."""
        cdef double total = 0.0
        begin += self.first_leaf
        end += self.first_leaf
        while begin < end:
            if begin & 1:
                total += self.hazards[begin]
                begin += 1
            if end & 1:
                end -= 1
                total += self.hazards[end]
            begin >>= 1
            end >>= 1
        return total

    cdef void add_up(self, Py_ssize_t begin, Py_ssize_t end) noexcept:
        """Sum up the tree above some places. Sums are made anew: no rounding adds up."""
        cdef Py_ssize_t i
        if begin >= end:
            return
        begin += self.first_leaf
        end += self.first_leaf - 1
        while begin > 1:
            begin >>= 1
            end >>= 1
            for i in range(begin, end + 1):
                self.hazards[i] = self.hazards[2 * i] + self.hazards[2 * i + 1]

    cdef void set_hazard(self, Py_ssize_t place) noexcept:
        """The statistics of an element have changed, or it has left the leader or joined it."""
        cdef Py_ssize_t e = self.element_at[place]
        cdef double hazard = self.hazard_of(e, self.thresholds[self.search.symmetry_class[e]])
        cdef Py_ssize_t i = self.rank_of_place(place)
        cdef bint was_active = i < self.n_active and self.active[i] == place
        if was_active != (hazard < 0):
            if was_active:
                self.n_active -= 1
                memmove(
                    &self.active[0] + i,
                    &self.active[0] + i + 1,
                    (self.n_active - i) * sizeof(int32_t),
                )
            else:
                memmove(
                    &self.active[0] + i + 1,
                    &self.active[0] + i,
                    (self.n_active - i) * sizeof(int32_t),
                )
                self.active[i] = <int32_t>place
                self.n_active += 1
        self.hazards[self.first_leaf + place] = max(hazard, 0.0)
        self.add_up(place, place + 1)

    cdef Py_ssize_t rank_of_place(self, Py_ssize_t place) noexcept:
        """How many active elements have lower places."""
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high = self.n_active
        cdef Py_ssize_t middle
        while low < high:
            middle = (low + high) // 2
            if self.active[middle] < place:
                low = middle + 1
            else:
                high = middle
        return low

    # ---- saving, explanations and tests ----

    def state(self):
        """Floors in the order of the leader, and thresholds by class; None before the first leader.

        """
        if not self.is_built:
            return None
        return {
            "floors": np.asarray(self.floors)[np.asarray(self.search.ordered)],
            "thresholds": np.array(self.thresholds),
        }

    def restore(self, state):
        """Take over what `state` returned, for the present leader; begin afresh if it is None."""
        cdef Py_ssize_t c, k
        if state is None:
            self.regroup()
            return
        leader = np.asarray(self.search.ordered)
        np.asarray(self.known_leader)[:] = leader
        np.asarray(self.is_in_leader)[leader] = True
        np.asarray(self.floors)[leader] = state["floors"]
        for c in range(self.n_classes):
            k = self.group_of_class(c)
            self.partner[c] = self.search.leader[k] if k >= 0 else -1
            self.set_threshold(c, state["thresholds"][c])
        self.is_built = True

    def return_to(self, state):
        """Return to what there was when `state` was called: the leader is that one again, if there
        was one.
        """
        np.asarray(self.is_in_leader)[:] = False
        np.asarray(self.floors)[:] = -np.inf
        np.asarray(self.thresholds)[:] = np.inf
        np.asarray(self.known_leader)[:] = -1
        np.asarray(self.partner)[:] = -1
        np.asarray(self.hazards)[:] = 0.0
        self.n_active = 0
        self.is_built = False
        if state is not None:
            self.restore(state)

    def draws(self):
        """The elements that were drawn in the last round, and their values."""
        drawn = np.asarray(self.own_status) >= DRAWN
        elements = [
            np.asarray(self.candidates[: self.n_candidates], dtype=np.intp),
            np.asarray(self.search.leader)[drawn],
        ]
        values = np.asarray(self.candidate_values[: self.n_candidates])
        return (
            np.concatenate(elements),
            np.concatenate([values, np.asarray(self.own_values)[drawn]]),
        )

    def thresholds_by_element(self):
        """Of outside elements the thresholds of their classes, of the leader the floors, NaN for
        loops.
        """
        found = np.full(self.place_of.shape[0], np.nan)
        order = np.asarray(self.element_at)
        found[order] = np.asarray(self.thresholds)[np.asarray(self.search.symmetry_class)[order]]
        leader = np.asarray(self.search.leader)
        found[leader] = np.asarray(self.floors)[leader]
        return found

    def collected(self):
        """`collect` as a round of its own: the elements, and the values of these and the leader."""
        elements = np.zeros(self.place_of.shape[0], dtype=np.intp)
        values = np.full(self.place_of.shape[0], np.nan)
        n = self.collect(0, elements, values)
        return elements[:n], values
