from matroid_bandits._core.policies.memory.base cimport Memory


# Observations whose weight shrinks with every round.
cdef class Discount(Memory):
    cdef readonly double factor  # of the weights in every round
    cdef Py_ssize_t period  # rounds between two in which weights are rescaled
    # The weight of an observation in the last round that has ended. Weights are not multiplied in
    # every round; instead, those of new observations grow.
    cdef readonly double unit
    cdef double weight  # of the observations that are being added
    cdef Py_ssize_t rescaled_at  # rounds that had ended at the last rescaling
    cdef bint is_overdue  # whether weights were rescaled, and widths do not know of it

    cdef void set_unit(self, double unit) noexcept
    cdef void rescale(self) noexcept
