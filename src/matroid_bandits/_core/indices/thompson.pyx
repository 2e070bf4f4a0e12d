"""Thompson sampling: the value of an element is a draw from the posterior of its mean.

Posteriors have log-concave densities f. So the tangent of log f at a threshold is above log f
everywhere, and the exponential function of the tangent is an *envelope* of f. Draws beyond the
threshold are made from the envelope: a point appears with the probability of the envelope's mass
beyond the threshold, is placed by it, and is accepted with the probability f / envelope. No tail
probability of f is needed.
"""

from libc.math cimport INFINITY, M_PI, exp, expm1, fabs, isfinite, lgamma, log, log1p, sqrt
from libc.stdint cimport int64_t

import numpy as np

from matroid_bandits._core.streams.random_stream cimport RandomStream


cdef class ThompsonKernel(IndexKernel):
    """What the search for exchanges needs of a posterior."""

    cdef double draw(self, Py_ssize_t e) noexcept:
        """A draw."""
        return 0.0

    cdef double draw_at_least(self, Py_ssize_t e, double floor) noexcept:
        """A draw given that it is at least `floor`, which is likely."""
        cdef double value = self.draw(e)
        while value < floor:
            value = self.draw(e)
        return value

    cdef double draw_at_most(self, Py_ssize_t e, double threshold) noexcept:
        """A draw given that it is at most `threshold`, which is likely."""
        cdef double value = self.draw(e)
        while value > threshold:
            value = self.draw(e)
        return value

    cdef double mass_above(self, Py_ssize_t e, double threshold) noexcept:
        """The mass of the envelope above `threshold`; INFINITY or NaN if it is of no use."""
        return INFINITY

    cdef double draw_above(self, Py_ssize_t e, double threshold) noexcept:
        """A point of the envelope above `threshold`; -INFINITY if it is not accepted."""
        return -INFINITY

    cdef double mass_below(self, Py_ssize_t e, double floor) noexcept:
        """The mass of the envelope below `floor`."""
        return INFINITY

    cdef double draw_below(self, Py_ssize_t e, double floor) noexcept:
        """A point of the envelope below `floor`; INFINITY if it is not accepted."""
        return INFINITY

    cdef double deviations_from_mean(self, Py_ssize_t e, double deviations) noexcept:
        """So many standard deviations above the mean."""
        return 0.0

    cdef bint is_fit(self, Py_ssize_t e, double floor, double near, double far) noexcept:
        """Whether e may keep its floor.

        It may if the envelope's mass below it is certainly at most `most_below_floor(near)`, and
        if it is at most `far` standard deviations below the mean. An element without a floor has
        -INFINITY.
        """
        return True

    cdef Py_ssize_t first_unfit(
        self,
        const Py_ssize_t *elements,
        Py_ssize_t first,
        Py_ssize_t n,
        const double *floors,
        double near,
        double far,
    ) noexcept:
        """The first place from `first` on in `elements` whose floor is not fit; n if there is none.

        """
        return n

    cdef double most_below_floor(self, double near) noexcept:
        """A bound on the mass of an envelope below a floor."""
        return 1.0

    cdef double new_floor(self, Py_ssize_t e, double near, double far) noexcept:
        """A floor between `near` and `far`; -INFINITY if there is none."""
        cdef double share = 0.3
        cdef double floor
        while share < 1:
            floor = self.deviations_from_mean(e, -(near + share * (far - near)))
            if isfinite(floor) and self.is_fit(e, floor, near, far):
                return floor
            share += 0.3
        return -INFINITY


# ---- Beta ----

cdef double[16] STIRLING_ERRORS  # of 1 to 15


cdef double stirling_error(double z) noexcept:
    """ln Gamma(z) minus Stirling's formula (z - 1/2) ln z - z + ln(2 pi) / 2, for z >= 1."""
    cdef double r
    if z < 16:
        if z == <int>z and STIRLING_ERRORS[<int>z] != 0:
            return STIRLING_ERRORS[<int>z]
        return lgamma(z) - ((z - 0.5) * log(z) - z + 0.5 * log(2 * M_PI))
    r = 1 / (z * z)
    return (1 / 12.0 - r * (1 / 360.0 - r * (1 / 1260.0 - r / 1680.0))) / z


cdef int fill_stirling_errors() except -1:
    cdef int i
    for i in range(1, 16):
        STIRLING_ERRORS[i] = stirling_error(i)
    return 0


fill_stirling_errors()


cdef double beta_mass(double a, double b, double t, double u) noexcept:
    """The mass of the envelope of Beta(a, b) from t to 1, where u = 1 - t."""
    cdef double n = a + b
    cdef double mean = a / n
    cdef double log_density, slope, rise, width
    if t <= mean:
        # A log-concave distribution has at least the mass 1/e above its mean.
        return INFINITY
    if u <= 0:
        return 0.0
    # By Stirling's formula: differences of ln Gamma would lose digits.
    log_density = (
        a * log1p((t - mean) / mean)
        + b * log1p(-(t - mean) * n / b)
        + 0.5 * log(a * b / (2 * M_PI * n))
        - log(t * u)
        + (stirling_error(n) - stirling_error(a) - stirling_error(b))
    )
    slope = (a - 1) / t - (b - 1) / u
    rise = slope * u
    width = expm1(rise) / slope if fabs(rise) > 1e-9 else u
    return exp(log_density) * width


cdef double beta_point(RandomStream stream, double a, double b, double t, double u) noexcept:
    """How far above t a point of this envelope is; -1 if it is not accepted."""
    cdef double slope = (a - 1) / t - (b - 1) / u
    cdef double rise = slope * u
    cdef double share = stream.uniform()
    cdef double distance = share * u
    cdef double loss
    if fabs(rise) > 1e-9:
        distance = log1p(share * expm1(rise)) / slope
    if distance >= u:
        return -1.0
    loss = slope * distance - (a - 1) * log1p(distance / t) - (b - 1) * log1p(-distance / u)
    return distance if stream.exponential() >= loss else -1.0


cdef class BetaKernel(ThompsonKernel):
    """A draw from Beta(1 + successes, 1 + failures); a reward between 0 and 1 tosses a coin."""

    def __init__(self, str name, RandomStream random_stream):
        super().__init__(name, 0.0, 1.0, 0)
        self.needs_rewards = True
        self.random_stream = random_stream
        self.tallies = None

    cdef int attach(
        self,
        const int64_t[::1] counts,
        const double[::1] means,
        const int64_t[::1] index_counts,
        const double[::1] inverse_root,
    ) except -1:
        IndexKernel.attach(self, counts, means, index_counts, inverse_root)
        if self.tallies is None:
            self.tallies = np.ones((counts.shape[0], 2))
        return 0

    cdef void observe(self, Py_ssize_t e, double reward) noexcept:
        cdef bint success = reward == 1 or (reward > 0 and self.random_stream.uniform() < reward)
        self.tallies[e, not success] += self.weight
        self.credit = success

    cdef void unobserve(
        self, Py_ssize_t e, double reward, unsigned char credit, double new_mean
    ) noexcept:
        self.tallies[e, not credit] -= 1

    cdef void forget(self, Py_ssize_t e) noexcept:
        self.tallies[e, 0] = self.tallies[e, 1] = 1.0

    cdef void rescale(self, double factor) noexcept:
        cdef Py_ssize_t e
        for e in range(self.tallies.shape[0]):
            self.tallies[e, 0] = 1 + (self.tallies[e, 0] - 1) * factor
            self.tallies[e, 1] = 1 + (self.tallies[e, 1] - 1) * factor

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef double a, b
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            find_posterior(self, e, &a, &b)
            values[e] = self.random_stream.beta(a, b)
        return 0

    cdef double draw(self, Py_ssize_t e) noexcept:
        cdef double a, b
        find_posterior(self, e, &a, &b)
        return self.random_stream.beta(a, b)

    cdef double mass_above(self, Py_ssize_t e, double threshold) noexcept:
        cdef double a, b
        find_posterior(self, e, &a, &b)
        return beta_mass(a, b, threshold, 1 - threshold)

    cdef double draw_above(self, Py_ssize_t e, double threshold) noexcept:
        cdef double a, b, distance
        find_posterior(self, e, &a, &b)
        distance = beta_point(self.random_stream, a, b, threshold, 1 - threshold)
        return threshold + distance if distance >= 0 else -INFINITY

    cdef double mass_below(self, Py_ssize_t e, double floor) noexcept:
        cdef double a, b
        find_posterior(self, e, &a, &b)
        return beta_mass(b, a, 1 - floor, floor)

    cdef double draw_below(self, Py_ssize_t e, double floor) noexcept:
        cdef double a, b, distance
        find_posterior(self, e, &a, &b)
        distance = beta_point(self.random_stream, b, a, 1 - floor, floor)
        return floor - distance if distance >= 0 else INFINITY

    cdef double deviations_from_mean(self, Py_ssize_t e, double deviations) noexcept:
        cdef double a, b, n, value
        find_posterior(self, e, &a, &b)
        n = a + b
        value = a / n + deviations * sqrt(a * b / (n + 1)) / n
        return value if 0 < value < 1 else INFINITY if value > 0 else -INFINITY

    cdef double most_below_floor(self, double near) noexcept:
        return exp(-0.5 * near * near)

    cdef bint is_fit(self, Py_ssize_t e, double floor, double near, double far) noexcept:
        """By Chernoff's bound; docs/explanation/thompson.md."""
        cdef double a, b, n, mean, gap, slope, point, middle
        find_posterior(self, e, &a, &b)
        n = a + b
        mean = a / n
        gap = mean - max(floor, 0.0)
        if gap * gap * (n + 1) * n * n > far * far * a * b:
            return False
        if floor <= 0:
            return True
        slope = (a - 1) / floor - (b - 1) / (1 - floor)
        if not slope > 0:
            return False
        point = floor + 1 / slope
        middle = (2 * point + mean) / 3
        # The density must rise from the floor to `point`, which is below the mean.
        return (
            point < mean
            and (a - 1) * (1 - point) >= (b - 1) * point
            and n * (mean - point) * (mean - point) >= near * near * middle * (1 - middle)
        )

    cdef Py_ssize_t first_unfit(
        self,
        const Py_ssize_t *elements,
        Py_ssize_t first,
        Py_ssize_t n,
        const double *floors,
        double near,
        double far,
    ) noexcept:
        cdef Py_ssize_t k
        for k in range(first, n):
            if not BetaKernel.is_fit(self, elements[k], floors[elements[k]], near, far):
                return k
        return n

    def state(self):
        return {"tallies": np.array(self.tallies)}

    def restore(self, state):
        np.asarray(self.tallies)[:] = state["tallies"]

    def merge(self, elements, means, counts, state):
        if "tallies" in state:
            added = state["tallies"] - 1
        else:
            added = np.stack([means * counts, (1 - means) * counts], axis=1)
        np.asarray(self.tallies)[elements] += added

    def __reduce__(self):
        return type(self), (self.name, self.random_stream)


# ---- normal ----


cdef class GaussianKernel(ThompsonKernel):
    """A draw from the normal distribution around the mean."""

    def __init__(self, str name, double noise, RandomStream random_stream):
        super().__init__(name, -INFINITY, INFINITY, 1)
        self.noise = noise
        self.random_stream = random_stream

    cdef int evaluate(
        self, const Py_ssize_t[::1] elements, Py_ssize_t time, double[::1] values
    ) except -1:
        cdef Py_ssize_t i, e
        for i in range(elements.shape[0]):
            e = elements[i]
            values[e] = (
                self.means[e]
                + self.noise
                * (self.width_unit * self.inverse_root[e])
                * self.random_stream.normal()
            )
        return 0

    cdef double draw(self, Py_ssize_t e) noexcept:
        return self.means[e] + self.noise * self.inverse_root[e] * self.random_stream.normal()

    cdef double mass_above(self, Py_ssize_t e, double threshold) noexcept:
        return normal_mass(threshold - self.means[e], self.noise * self.inverse_root[e])

    cdef double draw_above(self, Py_ssize_t e, double threshold) noexcept:
        return threshold + normal_point(
            self.random_stream, threshold - self.means[e], self.noise * self.inverse_root[e]
        )

    cdef double mass_below(self, Py_ssize_t e, double floor) noexcept:
        return normal_mass(self.means[e] - floor, self.noise * self.inverse_root[e])

    cdef double draw_below(self, Py_ssize_t e, double floor) noexcept:
        return floor - normal_point(
            self.random_stream, self.means[e] - floor, self.noise * self.inverse_root[e]
        )

    cdef double deviations_from_mean(self, Py_ssize_t e, double deviations) noexcept:
        return self.means[e] + deviations * (self.noise * self.inverse_root[e])

    cdef double most_below_floor(self, double near) noexcept:
        return normal_mass(near, 1.0)

    cdef bint is_fit(self, Py_ssize_t e, double floor, double near, double far) noexcept:
        cdef double deviation = self.noise * self.inverse_root[e]
        return near * deviation <= self.means[e] - floor <= far * deviation

    cdef Py_ssize_t first_unfit(
        self,
        const Py_ssize_t *elements,
        Py_ssize_t first,
        Py_ssize_t n,
        const double *floors,
        double near,
        double far,
    ) noexcept:
        cdef Py_ssize_t k
        for k in range(first, n):
            if not GaussianKernel.is_fit(self, elements[k], floors[elements[k]], near, far):
                return k
        return n

    def __reduce__(self):
        return type(self), (self.name, self.noise, self.random_stream)


cdef double normal_mass(double distance, double deviation) noexcept:
    """The mass of the envelope of a normal density beyond a point so far from the mean."""
    cdef double z
    if deviation == 0:
        return 0.0 if distance >= 0 else INFINITY
    z = distance / deviation
    # Nearer to the mean the mass is above 1/4.
    return exp(-0.5 * z * z) / (z * sqrt(2 * M_PI)) if z > 0.5 else INFINITY


cdef double normal_point(RandomStream stream, double distance, double deviation) noexcept:
    """How far beyond that point a point of this envelope is; -INFINITY if it is not accepted."""
    # In standard deviations.
    cdef double further = stream.exponential() * (deviation / distance)
    if stream.exponential() < 0.5 * further * further:
        return -INFINITY
    return further * deviation
