"""The spanning forest of a graph, updated by single exchanges.

`GraphicKernel` prepares for a basis as a whole, O(V), and then answers single tests. Here an
exchange changes one path. The circuit of an element outside the basis is a path. The elements that
can replace one inside leave the smaller of the two trees that remain without it. Both are found
in about the time that it takes to read them.
"""

import numpy as np


cdef class Forest:
    """A rooted forest, with lists of children.

    Memory: 48 bytes per vertex, 16 per class of parallel edges.
    """

    def __init__(
        self,
        Py_ssize_t n_vertices,
        const Py_ssize_t[::1] tails,
        const Py_ssize_t[::1] heads,
        const int32_t[::1] symmetry_class,
    ):
        self.tails = tails
        self.heads = heads
        self.vertices = np.zeros(n_vertices, dtype=VERTEX)
        self.visited = np.zeros((2, n_vertices), dtype=np.int32)
        self.path = np.zeros(n_vertices, dtype=np.int32)
        # One edge of each class, from either end, sorted by that end; loops are in no basis.
        classes, edges = np.unique(symmetry_class, return_index=True)
        ends = np.stack([np.asarray(tails)[edges], np.asarray(heads)[edges]])
        is_loop = ends[0] == ends[1]
        classes, ends = classes[~is_loop], ends[:, ~is_loop]
        sources = ends.ravel()
        order = np.argsort(sources, kind="stable")
        arcs = np.zeros(len(order), dtype=ARC)
        arcs["symmetry_class"] = np.tile(classes, 2)[order]
        arcs["target"] = ends[::-1].ravel()[order]
        self.arcs = arcs
        first_arc = np.zeros(n_vertices + 1, dtype=np.int32)
        first_arc[1:] = np.cumsum(np.bincount(sources, minlength=n_vertices))
        self.first_arc = first_arc

    # ---- the basis ----

    cdef int set_basis(self, const Py_ssize_t[::1] members) except -1:
        """Build the forest of a basis."""
        cdef Py_ssize_t n_vertices = self.vertices.shape[0]
        cdef Py_ssize_t n = members.shape[0]
        cdef int32_t[::1] first = np.full(n_vertices, -1, dtype=np.int32)
        cdef int32_t[::1] following = np.empty(2 * n, dtype=np.int32)
        cdef int32_t[::1] queue = self.visited[0]
        cdef int32_t n_queued, v, w, k
        cdef Py_ssize_t i, root, e
        # The edges at a vertex, as a list; 2 * i and 2 * i + 1 are the two ends of edge i.
        for i in range(n):
            e = members[i]
            following[2 * i] = first[self.tails[e]]
            first[self.tails[e]] = <int32_t>(2 * i)
            following[2 * i + 1] = first[self.heads[e]]
            first[self.heads[e]] = <int32_t>(2 * i + 1)
        self.last_mark += 1
        for root in range(n_vertices):
            self.vertices[root].parent = -1
            self.vertices[root].edge = -1
            self.vertices[root].first_child = -1
        for root in range(n_vertices):
            if self.vertices[root].mark == self.last_mark:
                continue
            self.vertices[root].mark = self.last_mark
            queue[0] = <int32_t>root
            n_queued = 1
            i = 0
            while i < n_queued:
                v = queue[i]
                i += 1
                k = first[v]
                while k >= 0:
                    e = members[k // 2]
                    w = <int32_t>(self.heads[e] if k % 2 == 0 else self.tails[e])
                    if self.vertices[w].mark != self.last_mark:
                        self.vertices[w].mark = self.last_mark
                        self.attach(w, v, <int32_t>e)
                        queue[n_queued] = w
                        n_queued += 1
                    k = following[k]
        return 0

    cdef void exchange(self, int32_t x, int32_t e) noexcept:
        """Replace x, which is in the basis, by e, which can replace it."""
        cdef int32_t cut = self.lower_end(x)
        cdef int32_t v = <int32_t>self.tails[e]
        cdef int32_t parent = <int32_t>self.heads[e]
        cdef int32_t above, edge
        # One end of e is below x, and from there the way to x is turned round. Both ways up are
        # tried at a time: that of the other end may be long.
        cdef int32_t u = v
        cdef int32_t w = parent
        while u != cut and w != cut:
            if u >= 0:
                u = self.vertices[u].parent
            if w >= 0:
                w = self.vertices[w].parent
        if w == cut:
            v, parent = parent, v
        while True:
            above = self.vertices[v].parent
            edge = self.vertices[v].edge
            self.detach(v)
            self.attach(v, parent, e)
            if v == cut:
                return
            parent = v
            v = above
            e = edge

    cdef int32_t lower_end(self, int32_t x) noexcept:
        """The end of an element of the basis that is the child of the other."""
        cdef int32_t v = <int32_t>self.tails[x]
        return v if self.vertices[v].edge == x else <int32_t>self.heads[x]

    cdef void attach(self, int32_t v, int32_t parent, int32_t edge) noexcept:
        """Make a root the child of another vertex."""
        cdef Vertex *vertices = &self.vertices[0]
        cdef int32_t following = vertices[parent].first_child
        vertices[v].parent = parent
        vertices[v].edge = edge
        vertices[v].previous_child = -1
        vertices[v].next_child = following
        if following >= 0:
            vertices[following].previous_child = v
        vertices[parent].first_child = v

    cdef void detach(self, int32_t v) noexcept:
        """Remove a vertex from the children of its parent."""
        cdef Vertex *vertices = &self.vertices[0]
        cdef int32_t previous = vertices[v].previous_child
        cdef int32_t following = vertices[v].next_child
        if previous >= 0:
            vertices[previous].next_child = following
        else:
            vertices[vertices[v].parent].first_child = following
        if following >= 0:
            vertices[following].previous_child = previous

    # ---- exchanges ----

    cdef Py_ssize_t find_path(self, int32_t e) noexcept:
        """Write the elements that e, outside the basis, can replace to `path`; return how many.

        Both ends climb, one step each in turn, until one comes to where the other was. This takes
        no depths, which an exchange would change in a whole subtree.
        """
        cdef Vertex *vertices = &self.vertices[0]
        cdef int64_t mark = self.last_mark + 1
        cdef int32_t tail = <int32_t>self.tails[e]
        cdef int32_t head = <int32_t>self.heads[e]
        cdef int32_t u = tail
        cdef int32_t v = head
        cdef int32_t meeting = -1
        cdef Py_ssize_t n = 0
        self.last_mark += 2
        while u >= 0 or v >= 0:
            if u >= 0:
                if vertices[u].mark == mark + 1:
                    meeting = u
                    break
                vertices[u].mark = mark
                u = vertices[u].parent
            if v >= 0:
                if vertices[v].mark == mark:
                    meeting = v
                    break
                vertices[v].mark = mark + 1
                v = vertices[v].parent
        if meeting < 0:
            return 0
        while tail != meeting:
            self.path[n] = vertices[tail].edge
            n += 1
            tail = vertices[tail].parent
        while head != meeting:
            self.path[n] = vertices[head].edge
            n += 1
            head = vertices[head].parent
        return n

    cdef void find_cut(self, int32_t x) noexcept:
        """Find the smaller of the two trees that remain without x, an element of the basis.

        Two searches start from its ends and take turns. The one that ends first has visited the
        smaller tree.
        """
        cdef Vertex *vertices = &self.vertices[0]
        cdef int32_t lower = self.lower_end(x)
        cdef int64_t first_mark = self.last_mark + 1
        cdef Search below, above
        cdef Search *smaller
        cdef int32_t i
        start(&below, vertices, lower, first_mark, &self.visited[0, 0])
        start(&above, vertices, vertices[lower].parent, first_mark + 1, &self.visited[1, 0])
        self.last_mark += 2
        while True:
            if not advance(&below, vertices, first_mark):
                smaller = &below
                break
            if not advance(&above, vertices, first_mark):
                smaller = &above
                break
        self.side_mark = smaller.mark
        self.side = smaller.visited
        self.n_side = smaller.n_visited
        self.n_arcs = 0
        for i in range(self.n_side):
            self.n_arcs += self.first_arc[self.side[i] + 1] - self.first_arc[self.side[i]]


cdef inline void start(
    Search *search, Vertex *vertices, int32_t v, int64_t mark, int32_t *visited
) noexcept:
    """Begin a search at v."""
    search.mark = mark
    search.visited = visited
    search.n_visited = 0
    search.n_done = 0
    search.child = -1
    visit(search, vertices, v)


cdef inline void visit(Search *search, Vertex *vertices, int32_t v) noexcept:
    vertices[v].mark = search.mark
    search.visited[search.n_visited] = v
    search.n_visited += 1


cdef inline bint advance(Search *search, Vertex *vertices, int64_t first_mark) noexcept:
    """Follow one more edge of the forest; return False if there is none.

    Marks from `first_mark` on are those of the two searches.
    """
    cdef int32_t v
    if search.child >= 0:
        v = search.child
        search.child = vertices[v].next_child
    elif search.n_done < search.n_visited:
        v = search.visited[search.n_done]
        search.n_done += 1
        search.child = vertices[v].first_child
        v = vertices[v].parent
    else:
        return False
    if v >= 0 and vertices[v].mark < first_mark:
        visit(search, vertices, v)
    return True


VERTEX = np.dtype(
    [
        ("mark", "i8"),
        ("parent", "i4"),
        ("edge", "i4"),
        ("first_child", "i4"),
        ("previous_child", "i4"),
        ("next_child", "i4"),
        ("padding", "i4"),
    ]
)
ARC = np.dtype([("symmetry_class", "i4"), ("target", "i4")])
