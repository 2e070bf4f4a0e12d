"""Greedy on a linear model of features: CombLinUCB and CombLinTS [WKA15].

The coefficients theta have a Gaussian posterior. Instead of its covariance Sigma, the kernel keeps
the root of the precision: R upper triangular with a positive diagonal, R'R = inverse of Sigma, and
the target z = R theta, side by side in one array, the *system*. An observation is one more row of
it, and a QR decomposition makes it triangular again. Sigma = inv(R) inv(R)' is then symmetric and
positive definite by construction, whereas updates of Sigma itself lose both to rounding.

Linear algebra is NumPy's: BLAS and LAPACK.
"""

import numpy as np

from libc.math cimport fabs

from matroid_bandits._core.policies.base cimport PolicyKernel
from matroid_bandits._core.policies.contract.choosing cimport mask_of_key
from matroid_bandits._core.policies.contract.deciding cimport DecidingKernel
from matroid_bandits._core.policies.contract.decisions cimport OPEN, DecisionTable
from matroid_bandits._core.streams.random_stream cimport RandomStream

from matroid_bandits.errors import features_missing, no_features_in_logs

# Products of matrices with so many multiplications stay in the cache and in one thread: several
# threads would wait for each other longer than they compute.
MOST_PRODUCTS = 250_000


cdef class LinearKernel(PolicyKernel):
    """The basis of largest total index, by the features of this round.

    Parameters
    ----------
    matroid : Matroid
    fixed : array or None
        Features by element, for rounds that come without; None if all rounds come with features.
    n_features : int
    noise, prior : float
        Standard deviations of rewards, and of coefficients before anything was observed.
    width : float
        How many standard deviations the index is above the estimate.
    random_stream : RandomStream or None
        If given, the index is the estimate by coefficients that are drawn from the posterior.
    """

    cdef readonly object fixed
    cdef readonly object features  # of this round
    cdef readonly Py_ssize_t n_features
    cdef double noise
    cdef double prior
    cdef double width

    # What was learned
    cdef object system  # R, and in the last column R theta
    cdef object solution  # theta, and the inverse of R; None after learning
    cdef object prepared  # the system after the feedback that is about to be learned, else None

    # This round
    cdef object values
    cdef Py_ssize_t valued  # the round that `values` are for
    cdef object products  # working space for some rows
    cdef object ones
    cdef object offered  # features of the next round, while a selection becomes a decision
    cdef bint is_offered  # whether this call has brought features

    # Features that came with rounds whose feedback has not come
    cdef dict rows  # by id of an open decision: those of its elements, ascending
    cdef object selection_features  # of all elements, for `selection`

    def __init__(
        self,
        matroid,
        fixed,
        Py_ssize_t n_features,
        double noise,
        double prior,
        double width,
        RandomStream random_stream=None,
    ):
        super().__init__(matroid, None, 0)
        self.random_stream = random_stream
        self.feedback.limit_size()
        self.prepares_learning = True
        self.fixed = self.features = fixed
        self.n_features = n_features
        self.noise, self.prior, self.width = noise, prior, width
        self.system = np.zeros((n_features, n_features + 1))
        np.fill_diagonal(self.system, 1 / prior)
        self.solution = self.prepared = None
        self.values = np.zeros(self.size)
        self.valued = -1
        step = max(16, MOST_PRODUCTS // n_features**2)
        self.products = np.zeros((min(step, max(1, self.size)), n_features))
        self.ones = np.ones(n_features)
        self.rows = {}
        self.work = self.size * n_features

    def parameters(self):
        return (
            self.fixed, self.n_features, self.noise, self.prior, self.width, self.random_stream,
        )

    # ---- a round ----

    cdef int decide(self) except -1:
        candidates = np.asarray(self.candidates)
        if self.valued != self.rounds:
            self.evaluate(candidates)
            self.valued = self.rounds
        self.run_greedy(self.sorted_by_value(candidates))
        return self.choose_found()

    cdef object sorted_by_value(self, candidates):
        """Candidates by value, largest first, ties to the lowest element.

        By NumPy's sort. That of the other policies is for an order that hardly changes from round
        to round; here every observation moves every element.
        """
        keys = -self.values[candidates]
        order = np.argsort(keys)
        in_order = keys[order]
        # The stable sort takes twice as long; ties are rare.
        if (np.diff(in_order) == 0).any():
            order = np.argsort(keys, kind="stable")
        return candidates[order]

    cdef int evaluate(self, candidates) except -1:
        """The index of every element that can be played in this round."""
        cdef Py_ssize_t i
        cdef double[::1] draws
        if self.features is None:
            raise features_missing()
        theta, root = self.solved()
        if self.random_stream is not None:
            # [WKA15] Algorithm 1: coefficients from the posterior; inv(R) is a root of Sigma.
            drawn = np.empty(self.n_features)
            draws = drawn
            for i in range(self.n_features):
                draws[i] = self.random_stream.normal()
            theta = theta + root @ drawn
        if 2 * len(candidates) > self.size:
            self.evaluate_rows(self.features, theta, root, self.values)
        else:
            values = np.empty(len(candidates))
            self.evaluate_rows(self.features[candidates], theta, root, values)
            self.values[candidates] = values
        for e in candidates[np.isnan(self.values[candidates])][:1].tolist():
            raise ValueError(
                f"features have no vector for {self.feedback.name(e)!r}, which is available; pass "
                "features=... for all available elements"
            )
        return 0

    cdef int evaluate_rows(self, rows, theta, root, values) except -1:
        """The index by rows of features, written to `values`."""
        cdef Py_ssize_t start
        cdef Py_ssize_t step = len(self.products)
        np.dot(rows, theta, out=values)
        if self.width == 0:
            return 0
        # [WKA15] Algorithm 2: phi'theta + c sqrt(phi' Sigma phi).
        spread = np.empty(len(rows))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            products = self.products[: len(some)]
            np.matmul(some, root, out=products)
            np.multiply(products, products, out=products)
            np.dot(products, self.ones, out=spread[start : start + step])
        np.sqrt(spread, out=spread)
        np.multiply(spread, self.width, out=spread)
        np.add(values, spread, out=values)
        return 0

    cdef object solved(self):
        """Theta, and the inverse of R."""
        if self.solution is None:
            d = self.n_features
            right = np.eye(d, d + 1, 1)
            right[:, 0] = self.system[:, d]
            # R is triangular: LAPACK's elimination leaves it as it is and substitutes backwards.
            both = np.linalg.solve(self.system[:, :d], right)
            self.solution = both[:, 0].copy(), both[:, 1:].copy()
        return self.solution

    cdef void forget_draws(self) noexcept:
        self.valued = -1

    def round_values(self):
        values = np.full(self.size, np.nan)
        if self.valued == self.rounds:
            candidates = np.asarray(self.candidates)
            values[candidates] = self.values[candidates]
        return values

    # ---- features that come with a round ----

    def offer(self, features, bint to_decide):
        """Use `features` in the round of the call that follows; return what `withdraw` needs.

        The caller holds the guard. A round that was decided with other features is decided anew.
        """
        before = [self.features, self.selection_key, None]
        if to_decide and self.is_selected:
            # What was selected becomes a decision with its own features.
            self.offered = features
        elif self.selection is not None and not to_decide:
            if not np.array_equal(features, self.selection_features, equal_nan=True):
                # No key, so that the decision is not what is selected again.
                self.selection_key = None
                self.use(features)
        elif self.features is None or not np.array_equal(
            features, self.features, equal_nan=True
        ):
            if self.is_chosen or self.answers is not None:
                before[2] = self.put_aside()
            self.use(features)
        return before

    cdef int use(self, features) except -1:
        self.features = features
        self.is_offered = True
        self.valued = -1
        return 0

    cdef object put_aside(self):
        """Undo the choice of this round; return it."""
        aside = (
            self.outcome() if self.is_chosen else None,
            self.available_key(),
            self.is_selected,
            self.answers,
        )
        if self.is_chosen:
            self.undo_choice()
        self.answers = None
        self.set_available(None, False)
        return aside

    def withdraw(self, before):
        """Return to how it was before `offer`: the call has failed."""
        self.accept()
        self.features, self.selection_key, aside = before
        self.valued = -1
        if aside is None:
            return
        outcome, key, is_selected, answers = aside
        if outcome is not None:
            self.set_available(mask_of_key(key), True)
            self.mark()
            self.adopt(outcome)
            self.is_selected = is_selected
        self.answers = answers

    def accept(self):
        """The call that features were offered to has ended."""
        self.offered = None
        self.is_offered = False

    def begin_run(self):
        if self.features is not self.fixed:
            self.put_aside()
            self.features = self.fixed
        PolicyKernel.begin_run(self)

    def check_log(self):
        """Refuse rounds of a log, which have no features, unless the fixed ones would be used."""
        if self.fixed is None:
            raise no_features_in_logs(False)
        selected = self.fixed if self.selection is None else self.selection_features
        if self.features is not self.fixed or selected is not self.fixed:
            raise no_features_in_logs(True)

    # ---- features of decisions ----

    cdef object new_decision(self, identifier, const Py_ssize_t[::1] elements):
        features = self.features
        identifier = DecidingKernel.new_decision(self, identifier, elements)
        if features is not self.fixed:
            self.rows[identifier] = np.nan_to_num(features[np.asarray(elements)])
        self.features = self.fixed if self.offered is None else self.offered
        self.offered = None
        return identifier

    cdef int choose_after_selection(
        self, identifier, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        self.selection_features = self.features
        return DecidingKernel.choose_after_selection(
            self, identifier, is_available, allow_smaller, rule
        )

    cdef int take_back_selection(self, dict selected, bytes key, tuple before) except -1:
        features = self.selection_features
        DecidingKernel.take_back_selection(self, selected, key, before)
        self.features = features
        return 0

    cdef int choose_instead_of_decision(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1:
        selection, features = self.selection, self.features
        if not self.is_offered:
            # The features of a selection stay until others come.
            self.features = self.selection_features
            self.valued = -1
        try:
            PolicyKernel.choose_instead_of_decision(self, is_available, allow_smaller, rule)
        except BaseException:
            self.features = features
            raise
        self.rows.pop(selection, None)
        self.selection_features = None
        return 0

    cdef int end_waiting(self, Py_ssize_t row) except -1:
        identifier = self.decisions.ids[row]
        self.rows.pop(identifier, None)
        if identifier == self.selection:
            self.selection_features = None
        return DecidingKernel.end_waiting(self, row)

    cdef object rows_of(self, Py_ssize_t row, const Py_ssize_t[::1] elements):
        """The features that elements of a decision had."""
        kept = self.rows.get(self.decisions.ids[row])
        if kept is None:
            return self.fixed[np.asarray(elements)]
        return kept[[self.decisions.column_of(row, e) for e in elements]]

    # ---- learning ----

    def update(self, const Py_ssize_t[::1] elements, const double[::1] rewards, observe=None):
        with self.guard.hold(), self.guard.lend_to_loop():
            self.feedback.check(elements, rewards)
            ends_round = self.selection is None
            try:
                if elements.shape[0] > 0:
                    features = self.features if ends_round else self.selection_features
                    if features is None:
                        raise features_missing()
                    self.prepare(
                        np.nan_to_num(features[np.asarray(elements)]), elements, rewards
                    )
                PolicyKernel.update(self, elements, rewards, observe)
            finally:
                self.prepared = None
            if ends_round:
                self.features = self.fixed

    cdef int learn_row(self, Py_ssize_t row, Py_ssize_t n, observe, int status) except -1:
        cdef Py_ssize_t first = 0
        # Nothing is learned about dropped elements.
        while first < n and self.new_elements[first] < 0:
            first += 1
        try:
            if first < n:
                elements = self.new_elements[first:n]
                self.prepare(self.rows_of(row, elements), elements, self.new_rewards[first:n])
            return DecidingKernel.learn_row(self, row, n, observe, status)
        finally:
            self.prepared = None

    cdef int prepare(
        self, rows, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1:
        """Compute what `learn` will take over, so that it cannot fail."""
        cdef Py_ssize_t i
        for i in range(rewards.shape[0]):
            if fabs(rewards[i]) > self.feedback.largest:
                raise self.feedback.too_large(self.feedback.described(elements[i]), rewards[i])
        self.prepared = self.extended(rows, np.asarray(rewards))
        return 0

    cdef int prepare_chosen(self, const double[::1] rewards) except -1:
        chosen = self.chosen[: rewards.shape[0]]
        if rewards.shape[0] > 0:
            self.prepare(self.features[np.asarray(chosen)], chosen, rewards)
        return 0

    cdef object extended(self, rows, rewards):
        """The system after observations, one row of features and one reward each."""
        d = self.n_features
        more = np.empty((d + len(rows), d + 1))
        more[:d] = self.system
        np.divide(rows, self.noise, out=more[d:, :d])
        np.divide(rewards, self.noise, out=more[d:, d])
        system = np.linalg.qr(more, mode="r")[:d]
        # Of all roots, the one with a positive diagonal: Cholesky's.
        system[np.diagonal(system) < 0] *= -1
        return system

    cdef int learn(
        self, const Py_ssize_t *elements, const double *rewards, Py_ssize_t n
    ) noexcept:
        PolicyKernel.learn(self, elements, rewards, n)
        self.system, self.prepared = self.prepared, None
        self.solution = None
        return 0

    def merge(self, elements, means, counts, Py_ssize_t rounds, dict index_state):
        """Observations from elsewhere: k rewards with the mean m are, to the posterior, one reward
        sqrt(k) m of an element with the features sqrt(k) phi.
        """
        with self.guard.hold(), self.guard.lend_to_loop():
            if self.fixed is None:
                raise features_missing()
            scale = np.sqrt(np.asarray(counts, dtype=np.float64))
            chosen = np.asarray(elements)
            self.prepare(self.fixed[chosen] * scale[:, np.newaxis], chosen, scale * means)
            system, self.prepared = self.prepared, None
            PolicyKernel.merge(self, elements, means, counts, rounds, index_state)
            self.system = system
            self.solution = None

    # ---- what users read ----

    def theta(self):
        """The coefficients: posterior mean."""
        return self.solved()[0].copy()

    def covariance(self):
        """The posterior covariance of the coefficients."""
        root = self.solved()[1]
        # By one call for a product with its own transpose, which is symmetric to the last bit.
        return root @ root.T

    # ---- saving ----

    def state(self):
        own = self.features is not self.fixed
        selection = self.selection_features
        return PolicyKernel.state(self) | {
            "system": self.system.copy(),
            "features": np.array(self.features) if own else None,
            "selection_features": (
                None if selection is None or selection is self.fixed else np.array(selection)
            ),
            "decided_with": self.decided_with(),
        }

    def decided_with(self):
        """Ids of decisions that have features of their own, and these, one below the other."""
        found = {} if self.omits_decisions else self.rows
        return [list(found), self.stacked(found.values())]

    def stacked(self, matrices):
        """Features of several decisions, one below the other."""
        return np.concatenate([np.zeros((0, self.n_features)), *matrices])

    def open_rows(self):
        """The features of every open decision, by id, as it was made."""
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t row
        found = {}
        for identifier in table.open_ids():
            row = table.find(identifier)
            kept = self.rows.get(identifier)
            if kept is None:
                elements = np.array(table.elements[row, : table.lengths[row]])
                # Dropped elements, of which nothing is learned, have none.
                kept = np.zeros((len(elements), self.n_features))
                kept[elements >= 0] = self.fixed[elements[elements >= 0]]
            found[identifier] = kept
        return found

    def restore(self, state):
        cdef DecisionTable table = self.decisions
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t row
        PolicyKernel.restore(self, state)
        self.system = np.array(state["system"])
        self.solution = None
        self.features = self.fixed if state["features"] is None else state["features"]
        self.selection_features = None
        if self.selection is not None:
            own = state["selection_features"]
            self.selection_features = self.fixed if own is None else own
        identifiers, stacked = state["decided_with"]
        self.rows = {}
        for identifier in identifiers:
            row = table.find(identifier)
            if table.status[row] != OPEN:
                raise ValueError("features are kept for a decision that is closed")
            self.rows[identifier] = np.array(stacked[start : start + table.lengths[row]])
            start += table.lengths[row]
