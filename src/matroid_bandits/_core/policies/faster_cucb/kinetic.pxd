from libc.stdint cimport int32_t

from matroid_bandits._core.policies.faster_cucb.boxes cimport Boxes
from matroid_bandits._core.policies.faster_cucb.rounding cimport Feature

# One rounded feature in a chain, and who has it.
cdef struct Shelf:
    double alpha
    double beta
    double low
    double high
    double crossing  # the lambda at which it overtakes the shelf above it; infinite if never
    int32_t chain
    int32_t above  # the next heavier shelf, -1 if there is none
    int32_t below  # the next lighter one; of a shelf not in use, the next not in use
    int32_t place  # in the heap of crossings


cdef class KineticOrder(Boxes):
    cdef bint has_chain_per_class
    cdef double scale  # the lambda that the order is for
    cdef Shelf[::1] shelves
    cdef int32_t free_shelf
    cdef int32_t n_shelves  # from here on none has ever been used
    cdef int32_t[::1] top  # of each chain
    cdef int32_t[::1] bottom
    cdef int32_t[::1] heap  # shelves in use, the next to overtake on top
    cdef int32_t heap_length

    cdef double weight(self, double alpha, double beta) noexcept
    cdef double weight_of(self, int32_t s) noexcept
    cdef bint suits(self, int32_t s, double alpha, double beta) noexcept
    cdef bint holds(self, int32_t s, double mean, double inverse_root) noexcept

    cdef void append(self, int32_t e, const Feature *feature) noexcept
    cdef int32_t seek(self, int32_t s, const Feature *feature, bint down) noexcept
    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept

    cdef int32_t next_to_overtake(self, double scale) noexcept
    cdef void overtake(self, int32_t s) noexcept
    cdef int32_t rise(self, int32_t s) noexcept
    cdef int32_t new_shelf(
        self, const Feature *feature, int32_t chain, int32_t above, int32_t below
    ) noexcept
    cdef void discard_if_empty(self, int32_t s) noexcept
    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept
    cdef void predict(self, int32_t s) noexcept
    cdef void sift(self, int32_t i) noexcept
