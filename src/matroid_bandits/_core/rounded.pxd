from libc.stdint cimport int32_t

# Sides of a basis, for the two lists of a shelf.
cdef enum:
    OUTSIDE = 0
    INSIDE = 1


# A rounded feature, and the means that are rounded to it as long as beta stays.
cdef struct Feature:
    double alpha  # the mean, rounded
    double beta  # 1 / sqrt(count), rounded down
    double low  # means from here
    double high  # to below here


# All elements of one class with one rounded feature. Shelves of a chain are linked from the
# heaviest to the lightest.
cdef struct Shelf:
    double alpha  # the feature, field by field
    double beta
    double low
    double high
    double crossing  # the lambda at which it overtakes the shelf above it; infinite if never
    int32_t kind  # the class of its elements
    int32_t chain
    int32_t above  # the next heavier shelf, -1 if there is none
    int32_t below  # the next lighter one; of a shelf not in use, the next not in use
    int32_t place  # in the heap of crossings
    int32_t[2] first  # its elements outside and inside the basis: who has waited longest
    int32_t[2] last


cdef class RoundedOrder:
    # The grid
    cdef double mean_step
    cdef double log_mean_step
    cdef double root_step
    cdef double log_root_step
    cdef double negligible  # a mean below this share of beta is rounded to 0
    # The order at lambda = scale
    cdef double scale
    cdef Shelf[::1] shelves
    cdef int32_t free_shelf
    cdef int32_t n_shelves  # from here on none has ever been used
    cdef int32_t[::1] top  # of each chain
    cdef int32_t[::1] bottom
    cdef int32_t[::1] shelf_of  # of each element, -1 if it is on none
    cdef int32_t[::1] before  # its neighbours in its list
    cdef int32_t[::1] after
    cdef unsigned char[::1] side  # OUTSIDE or INSIDE
    cdef int32_t[::1] heap  # shelves in use, the next to overtake on top
    cdef int32_t heap_length

    cdef Feature rounded(self, double mean, double inverse_root) noexcept
    cdef double weight(self, double alpha, double beta) noexcept
    cdef double weight_of(self, int32_t s) noexcept
    cdef bint suits(self, int32_t s, const Feature *feature, int32_t kind) noexcept
    cdef bint holds(self, int32_t s, double mean, double inverse_root) noexcept

    cdef void clear(self) noexcept
    cdef int reserve(self) except -1
    cdef void append(self, int32_t e, const Feature *f, int32_t kind, int32_t chain) noexcept
    cdef int32_t seek(self, int32_t e, const Feature *feature, bint down) noexcept
    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept
    cdef void switch(self, int32_t e) noexcept

    cdef int32_t next_to_overtake(self, double scale) noexcept
    cdef void overtake(self, int32_t s) noexcept

    cdef void push(self, int32_t s, int32_t e) noexcept
    cdef void drop(self, int32_t e) noexcept
    cdef int32_t new_shelf(
        self, const Feature *feature, int32_t kind, int32_t chain, int32_t above, int32_t below
    ) noexcept
    cdef void discard(self, int32_t s) noexcept
    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept
    cdef void predict(self, int32_t s) noexcept
    cdef void sift(self, int32_t i) noexcept
