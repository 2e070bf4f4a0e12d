from libc.stdint cimport int32_t

from matroid_bandits._core.policies.faster_cucb.blocks cimport Block, Blocks
from matroid_bandits._core.policies.faster_cucb.rounding cimport Feature

# All elements of a chain with one rounded feature. Lines are numbered; s is the number of one.
cdef struct Line:
    double alpha
    double beta
    double low
    double high
    double crossing  # the lambda at which it overtakes the line above; infinite if never
    int32_t chain
    int32_t above  # the next heavier line; -1 if there is none
    int32_t below  # the next lighter line; if this line is free: the next free one
    int32_t place  # position in the heap
    int32_t proposed  # during a search: the first block on it that was proposed; otherwise -1
    int32_t padding


cdef class KineticOrder(Blocks):
    cdef bint has_chain_per_class
    cdef double scale  # the present lambda
    cdef Line[::1] lines
    cdef int32_t free_line
    cdef int32_t n_lines  # lines with larger numbers were never used
    cdef int32_t[::1] top  # the heaviest line of each chain; -1 if it is empty
    cdef int32_t[::1] bottom  # the lightest line
    cdef int32_t[::1] heap  # lines in use, the one with the smallest crossing on top
    cdef int32_t heap_length

    cdef double weight(self, double alpha, double beta) noexcept
    cdef double weight_of(self, int32_t s) noexcept
    cdef bint has_feature(self, int32_t s, double alpha, double beta) noexcept
    cdef bint still_fits(self, int32_t s, double mean, double inverse_root) noexcept

    cdef void append(self, int32_t e, const Feature *feature) noexcept
    cdef int32_t find_place(self, int32_t s, const Feature *feature, bint down) noexcept
    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept

    cdef int32_t first_proposed(self, int32_t s, int32_t end, bint down) noexcept

    cdef int32_t next_to_overtake(self, double scale) noexcept
    cdef void overtake(self, int32_t s) noexcept
    cdef int32_t rise(self, int32_t s) noexcept
    cdef int32_t new_line(
        self, const Feature *feature, int32_t chain, int32_t above, int32_t below
    ) noexcept
    cdef void discard_if_empty(self, int32_t s) noexcept
    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept
    cdef void predict(self, int32_t s) noexcept
    cdef double crossing_of(self, int32_t s) noexcept
    cdef void sift(self, int32_t i) noexcept


# To find the first of several blocks in the order of lines: propose each, call `first_proposed`,
# withdraw each. Here, because methods of another module are not inlined.

cdef inline void propose(Line *lines, const Block *blocks, int32_t b) noexcept:
    cdef Line *line = &lines[blocks[b].line]
    if line.proposed < 0 or blocks[line.proposed].rank < blocks[b].rank:
        line.proposed = b


cdef inline void withdraw(Line *lines, const Block *blocks, int32_t b) noexcept:
    lines[blocks[b].line].proposed = -1
