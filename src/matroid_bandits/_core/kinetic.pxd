from libc.stdint cimport int32_t

from matroid_bandits._core.rounding cimport Feature

# Sides of a basis.
cdef enum:
    OUTSIDE = 0
    INSIDE = 1


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
    int32_t[2] boxes  # its first box with elements outside the basis, and inside


# Elements of one class, on one side of the basis, on one shelf.
cdef struct Box:
    int32_t shelf
    int32_t first  # the element that has been here longest
    int32_t last
    int32_t before  # its neighbours of the same side on the shelf
    int32_t after  # of a box not in use, the next not in use
    int32_t sooner  # its neighbours of the same class and side
    int32_t later


cdef class KineticOrder:
    cdef const int32_t[::1] class_of
    cdef bint has_chain_per_class
    cdef double scale  # the lambda that the order is for
    cdef Shelf[::1] shelves
    cdef int32_t free_shelf
    cdef int32_t n_shelves  # from here on none has ever been used
    cdef Box[::1] boxes
    cdef int32_t free_box
    cdef int32_t n_boxes  # from here on none has ever been used
    cdef int32_t[::1] top  # of each chain
    cdef int32_t[::1] bottom
    cdef int32_t[:, ::1] first_box  # of each class and side
    cdef int32_t[::1] box_of  # of each element, -1 if it is in none
    cdef int32_t[::1] before  # its neighbours in its box
    cdef int32_t[::1] after
    cdef unsigned char[::1] side  # OUTSIDE or INSIDE
    cdef int32_t[::1] heap  # shelves in use, the next to overtake on top
    cdef int32_t heap_length

    cdef int32_t shelf_of(self, int32_t e) noexcept
    cdef double weight(self, double alpha, double beta) noexcept
    cdef double weight_of(self, int32_t s) noexcept
    cdef bint suits(self, int32_t s, double alpha, double beta) noexcept
    cdef bint holds(self, int32_t s, double mean, double inverse_root) noexcept

    cdef void clear(self) noexcept
    cdef int reserve(self) except -1
    cdef void append(self, int32_t e, const Feature *feature) noexcept
    cdef int32_t seek(self, int32_t s, const Feature *feature, bint down) noexcept
    cdef void move(self, int32_t e, const Feature *feature, int32_t end, bint down) noexcept
    cdef void change_side(self, int32_t e) noexcept

    cdef int32_t next_to_overtake(self, double scale) noexcept
    cdef void overtake(self, int32_t s) noexcept
    cdef int32_t rise(self, int32_t s) noexcept
    cdef void put_box(self, int32_t b, int32_t s, int side) noexcept
    cdef void take_box(self, int32_t b, int side) noexcept

    cdef void put(self, int32_t s, int32_t e) noexcept
    cdef void take(self, int32_t e) noexcept
    cdef int32_t box_for(self, int32_t s, int32_t e) noexcept
    cdef int32_t new_shelf(
        self, const Feature *feature, int32_t chain, int32_t above, int32_t below
    ) noexcept
    cdef void discard_if_empty(self, int32_t s) noexcept
    cdef void join(self, int32_t chain, int32_t above, int32_t below) noexcept
    cdef void predict(self, int32_t s) noexcept
    cdef void sift(self, int32_t i) noexcept

    cdef object arrays(self)
