from libc.stdint cimport int32_t

# Sides of a basis.
cdef enum:
    OUTSIDE = 0
    INSIDE = 1


# Elements of one class, on one side of the basis, on one shelf.
cdef struct Box:
    int32_t shelf
    int32_t first  # the element that has been here longest
    int32_t last
    int32_t before  # its neighbours of the same side on the shelf
    int32_t after  # of a box not in use, the next not in use
    int32_t sooner  # its neighbours of the same class and side
    int32_t later


cdef class Boxes:
    cdef const int32_t[::1] symmetry_class
    cdef Box[::1] boxes
    cdef int32_t free_box
    cdef int32_t n_boxes  # from here on none has ever been used
    cdef int32_t[:, ::1] on_shelf  # the first box of a shelf and side, -1 if there is none
    cdef int32_t[:, ::1] of_class  # the first box of a class and side
    cdef int32_t[::1] box_of  # of each element, -1 if it is in none
    cdef int32_t[::1] before  # its neighbours in its box
    cdef int32_t[::1] after
    cdef unsigned char[::1] side  # OUTSIDE or INSIDE

    cdef void clear(self) noexcept
    cdef int reserve(self) except -1
    cdef int32_t shelf_of(self, int32_t e) noexcept
    cdef bint has(self, int32_t s, int side) noexcept
    cdef void change_side(self, int32_t e) noexcept
    cdef void put(self, int32_t s, int32_t e) noexcept
    cdef void take(self, int32_t e) noexcept
    cdef int32_t box_for(self, int32_t s, int32_t e) noexcept
    cdef void put_box(self, int32_t b, int32_t s, int side) noexcept
    cdef void take_box(self, int32_t b, int side) noexcept
    cdef object arrays(self)


cdef object with_room(values)
