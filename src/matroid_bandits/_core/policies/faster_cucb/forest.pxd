from libc.stdint cimport int32_t, int64_t


# A vertex of the rooted forest.
cdef struct Vertex:
    int64_t mark  # the search that visited it last
    int32_t parent  # -1 for a root
    int32_t edge  # the element that joins it to its parent
    int32_t first_child  # -1 if there is none
    int32_t previous_child  # of the same parent
    int32_t next_child
    int32_t padding


# A class of parallel edges, from one of its two ends.
cdef struct Arc:
    int32_t symmetry_class
    int32_t target  # the other end


# A search that visits one side of a cut, edge by edge.
cdef struct Search:
    int64_t mark
    int32_t *visited
    int32_t n_visited
    int32_t n_done  # how many of `visited` have been left
    int32_t child  # the next child to visit; -1 if there is none


cdef class Forest:
    cdef const Py_ssize_t[::1] tails
    cdef const Py_ssize_t[::1] heads
    cdef Vertex[::1] vertices
    cdef int32_t[::1] first_arc  # of each vertex; its last one is before that of the next vertex
    cdef Arc[::1] arcs
    cdef int32_t[:, ::1] visited  # vertices, by side of a cut
    cdef int64_t last_mark
    # Results of searches.
    cdef int32_t[::1] path  # elements
    cdef int64_t side_mark  # the mark of the smaller side of the cut
    cdef const int32_t *side  # its vertices
    cdef int32_t n_side
    cdef int32_t n_arcs  # the number of their arcs

    cdef int set_basis(self, const Py_ssize_t[::1] members) except -1
    cdef void exchange(self, int32_t x, int32_t e) noexcept
    cdef Py_ssize_t find_path(self, int32_t e) noexcept
    cdef void find_cut(self, int32_t x) noexcept
    cdef int32_t lower_end(self, int32_t x) noexcept
    cdef void attach(self, int32_t v, int32_t parent, int32_t edge) noexcept
    cdef void detach(self, int32_t v) noexcept
