"""Checks of the feedback that a policy receives."""

import warnings

import numpy as np

from libc.math cimport INFINITY, fabs, isfinite

from matroid_bandits._arguments import not_an_element
from matroid_bandits.errors import out_of_range, reward_too_large

# A reward this many times the assumed noise away from the mean shows that the noise is larger.
cdef double MOST_DEVIATIONS = 100.0
# Where rewards are multiplied, by weights or by each other, larger ones could overflow.
cdef double LARGEST_REWARD = 1e100


cdef class Feedback:
    """Refuses feedback that is wrong, in the user's words; changes nothing.

    Parameters
    ----------
    counts, means
        The statistics of the policy, by element.
    """

    def __init__(self, const int64_t[::1] counts, const double[::1] means):
        self.size = counts.shape[0]
        self.counts = counts
        self.means = means
        self.stamp = np.zeros(self.size, dtype=np.int64)
        self.assumed_noise = INFINITY
        self.largest = INFINITY
        self.drop([])
        self.limit("the policy", -INFINITY, INFINITY)

    def limit(self, str owner, double low, double high):
        """Accept rewards from `low` to `high` only; `owner` needs that."""
        self.owner = owner
        self.low = low
        self.high = high
        self.is_bounded = low > -INFINITY or high < INFINITY

    def limit_size(self):
        """Refuse rewards that could overflow when they are multiplied."""
        self.largest = LARGEST_REWARD

    def use_units(self, tuple labels, bint are_costs, double pivot):
        """In messages, use the labels, if there are any, and costs, if rewards are `pivot - cost`.

        """
        self.labels = labels
        self.are_costs = are_costs
        self.pivot = pivot

    def settings(self):
        """What `set_up` of another one needs to refuse and to say the same."""
        return (
            self.owner,
            self.low,
            self.high,
            self.labels,
            self.are_costs,
            self.pivot,
            self.assumed_noise,
        )

    def set_up(self, str owner, double low, double high, tuple labels, bint are_costs,
               double pivot, double assumed_noise):
        """Take over the `settings` of another one."""
        self.limit(owner, low, high)
        self.use_units(labels, are_costs, pivot)
        self.assume_noise(assumed_noise)

    def drop(self, list labels):
        """These labels are those of dropped elements: numbers -1, -2, ..."""
        self.former = list(labels)
        self.former_number = {label: -1 - k for k, label in enumerate(labels)}

    def assume_noise(self, double noise):
        """Warn, once, if rewards are spread out much more than `noise`, a default."""
        self.assumed_noise = noise

    def hold_warnings(self):
        """Keep a warning until `held_warning`: raised as an error, it would end a long call."""
        self.holds_warnings = True

    def held_warning(self):
        """The warning that was kept, or None; from now on warnings are issued again."""
        held, self.held = self.held, None
        self.holds_warnings = False
        return held

    cdef int check(self, const Py_ssize_t[::1] elements, const double[::1] rewards) except -1:
        """Refuse feedback if anything about it is wrong."""
        cdef Py_ssize_t i, e
        if elements.shape[0] != rewards.shape[0]:
            raise ValueError(
                f"one {self.kind()} per element is needed, got {elements.shape[0]} elements "
                f"and {rewards.shape[0]} {self.kind()}s"
            )
        self.last_stamp += 1
        for i in range(elements.shape[0]):
            e = elements[i]
            if e < 0 or e >= self.size:
                raise not_an_element(e, self.size)
            if self.stamp[e] == self.last_stamp:
                raise ValueError(
                    f"{self.described(e)} is given twice; each has at most one {self.kind()} a "
                    "round"
                )
            self.stamp[e] = self.last_stamp
            self.check_reward(e, rewards[i])
        return 0

    cdef int check_reward(self, Py_ssize_t e, double reward) except -1:
        """Refuse a reward that cannot be learned from."""
        cdef double given = self.in_user_units(reward)
        if not isfinite(reward):
            raise ValueError(
                f"the {self.kind()} of {self.described(e)} is {given}; it must be finite"
            )
        self.check_range(e, reward)
        if fabs(reward) > self.largest:
            raise self.too_large(self.described(e), reward)
        if e < 0:
            return 0
        if not isfinite(updated_mean(self.counts[e], self.means[e], reward)):
            raise self.overflow(e, reward)
        if fabs(reward - self.means[e]) > MOST_DEVIATIONS * self.assumed_noise and self.counts[e]:
            self.warn_of_noise(e, reward)
        return 0

    cdef int warn_of_noise(self, Py_ssize_t e, double reward) except -1:
        message = (
            f"{self.described(e)} had a mean of {self.in_user_units(self.means[e]):.6g} and now "
            f"{self.in_user_units(reward):.6g}, but the policy assumes a noise of "
            f"{self.assumed_noise:g}, its default; pass noise=..., the standard deviation of the "
            "rewards"
        )
        self.assumed_noise = INFINITY
        if self.holds_warnings:
            self.held = message
        else:
            warnings.warn(message, stacklevel=2)
        return 0

    cdef object overflow(self, Py_ssize_t e, double reward):
        """The error for a reward that the mean of an element cannot take."""
        return ValueError(
            f"the {self.kind()} {self.in_user_units(reward)} of {self.described(e)} is too large: "
            "its mean overflows"
        )

    cdef int check_default(self, double reward) except -1:
        """Refuse a reward for whatever is missing that the policy is not for."""
        cdef double given = self.in_user_units(reward)
        if not isfinite(reward):
            raise ValueError(f"the {self.kind()} of missing elements is {given}; it must be finite")
        if self.is_bounded and not self.low <= reward <= self.high:
            raise out_of_range(
                self.owner, self.kind(), "missing elements", given, (self.low, self.high)
            )
        if fabs(reward) > self.largest:
            raise self.too_large("missing elements", reward)
        return 0

    cdef object too_large(self, str what, double reward):
        return reward_too_large(self.kind(), what, self.in_user_units(reward), self.largest)

    cdef int check_range(self, Py_ssize_t e, double reward) except -1:
        """Refuse a reward that the policy is not for."""
        if self.is_bounded and not self.low <= reward <= self.high:
            raise out_of_range(
                self.owner,
                self.kind(),
                self.described(e),
                self.in_user_units(reward),
                (self.low, self.high),
            )
        return 0

    cdef object name(self, Py_ssize_t e):
        if e < 0 or e >= self.size:
            return self.former[-1 - e] if -1 - len(self.former) < e < 0 else e
        return e if self.labels is None else self.labels[e]

    cdef str described(self, Py_ssize_t e):
        name = self.name(e)
        return f"element {name}" if self.labels is None else repr(name)

    cdef str kind(self):
        return "cost" if self.are_costs else "reward"

    cdef double in_user_units(self, double reward) noexcept:
        return self.pivot - reward if self.are_costs else reward
