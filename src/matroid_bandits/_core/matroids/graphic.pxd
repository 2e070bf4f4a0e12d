from libc.stdint cimport int32_t

from matroid_bandits._core.matroids.base cimport MatroidKernel


# Forests of a graph.
cdef class GraphicKernel(MatroidKernel):
    cdef const Py_ssize_t[::1] tails
    cdef const Py_ssize_t[::1] heads
    cdef int32_t[::1] ends  # the same, side by side: of edge e at 2 e and 2 e + 1
    cdef Py_ssize_t n_vertices
    # Components: label, size by label, and the members of each as a ring.
    cdef int32_t[::1] label
    cdef int32_t[::1] weight
    cdef int32_t[::1] ring
    # The forest of the basis: adjacency lists, then parent, edge to it (its position), depth.
    cdef int32_t[::1] first_arc
    cdef int32_t[::1] next_arc
    cdef int32_t[::1] arc_target
    cdef int32_t[::1] parent
    cdef int32_t[::1] parent_edge
    cdef int32_t[::1] depth
    cdef int32_t[::1] queue
    # Subtrees as intervals: the number of a vertex in depth-first order, and the size of its
    # subtree.
    cdef int32_t[::1] entered
    cdef int32_t[::1] below
    cdef int32_t[::1] child  # of a position: the lower end of its edge
    # The forest once more, linked by size: the vertex that a vertex is linked to, the position of
    # the edge that did it (-1 for a root), and the size of what hangs below.
    cdef bint is_linked  # whether this was done for the present basis
    cdef int32_t[::1] link
    cdef int32_t[::1] link_edge
    cdef int32_t[::1] linked
    # The end of the edges above a vertex for which a replacement has been found.
    cdef int32_t[::1] above
    # Components of the forest without the edges that leave.
    cdef int32_t[::1] part
    cdef unsigned char[::1] is_leaving  # by position; all 0 between calls

    cdef Py_ssize_t improve(
        self,
        const double *values,
        const Py_ssize_t *basis,
        Py_ssize_t rank,
        const Py_ssize_t *others,
        Py_ssize_t n_others,
        Py_ssize_t *taken,
        Py_ssize_t *came,
        Py_ssize_t *went,
    ) noexcept
    cdef void link_by_size(self) noexcept
