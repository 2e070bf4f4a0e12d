"""Direct sums: matroids side by side, each on elements of its own."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel


cdef class DirectSumKernel(MatroidKernel):
    """The elements of the first of `parts`, then those of the second, and so on.

    Every test is done by the part of the element. Greedy runs once on each part, as a part may have
    a faster way than one element after another.
    """

    cdef list parts
    cdef Py_ssize_t n_parts
    cdef Py_ssize_t[::1] ranks
    cdef Py_ssize_t[::1] starts  # the first element of each part
    cdef Py_ssize_t[::1] part_of
    cdef Py_ssize_t[::1] cursor  # by part
    # Greedy: `order` sorted by part. The elements of part i start at `bounds[i]`.
    cdef Py_ssize_t[::1] bounds
    cdef Py_ssize_t[::1] sorted_order
    cdef Py_ssize_t[::1] chosen
    cdef unsigned char[::1] is_marked
    # The prepared basis, likewise.
    cdef Py_ssize_t[::1] basis_bounds
    cdef Py_ssize_t[::1] sorted_basis
    cdef Py_ssize_t[::1] position_of  # by place in `sorted_basis`: the position in the basis
    cdef Py_ssize_t[::1] part_at  # by position
    cdef Py_ssize_t[::1] position_in_part  # by position

    def __init__(self, list parts, ranks):
        sizes = [part.size for part in parts]
        super().__init__(sum(sizes))
        self.parts = parts
        self.n_parts = len(parts)
        self.n_kernels = 1 + sum([part.n_kernels for part in parts])
        self.quick_exchange = all([(<MatroidKernel>part).quick_exchange for part in parts])
        self.is_python = any([part.is_python for part in parts])
        self.grows_slowly = any([(<MatroidKernel>part).grows_slowly for part in parts])
        self.has_circuit = all([part.has_circuit for part in parts if part.is_python])
        self.ranks = np.array(ranks, dtype=np.intp)
        self.starts = np.cumsum(sizes) - sizes
        self.part_of = np.repeat(np.arange(self.n_parts), sizes)
        self.cursor = np.zeros(self.n_parts, dtype=np.intp)
        self.bounds = np.zeros(self.n_parts + 1, dtype=np.intp)
        self.sorted_order = np.zeros(self.size, dtype=np.intp)
        self.chosen = np.zeros(self.size, dtype=np.intp)
        self.is_marked = np.zeros(self.size, dtype=np.uint8)
        self.basis_bounds = np.zeros(self.n_parts + 1, dtype=np.intp)
        self.sorted_basis = np.zeros(self.size, dtype=np.intp)
        self.position_of = np.zeros(self.size, dtype=np.intp)
        self.part_at = np.zeros(self.size, dtype=np.intp)
        self.position_in_part = np.zeros(self.size, dtype=np.intp)

    cdef inline MatroidKernel part(self, Py_ssize_t i):
        return <MatroidKernel>self.parts[i]

    def remember(self):
        for part in self.parts:
            part.remember()

    cdef object find_symmetry_classes(self):
        """Elements that are symmetric in their part."""
        classes = []
        n_classes = 0
        for part in self.parts:
            of_part = part.symmetry_classes()
            classes.append(of_part + n_classes)
            n_classes += of_part.max(initial=-1) + 1
        return np.concatenate(classes).astype(np.int32)

    # ---- independence ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        members = np.asarray(elements)
        of_part = np.asarray(self.part_of)[members]
        for i, part in enumerate(self.parts):
            if not part.is_independent(members[of_part == i] - self.starts[i]):
                return False
        return True

    cdef int clear(self) except -1:
        cdef Py_ssize_t i
        for i in range(self.n_parts):
            self.part(i).clear()
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        cdef Py_ssize_t i = self.part_of[element]
        return self.part(i).try_add(element - self.starts[i])

    cdef void sort_by_part(
        self,
        const Py_ssize_t[::1] elements,
        Py_ssize_t[::1] bounds,
        Py_ssize_t[::1] sorted_elements,
    ) noexcept:
        """Write the elements part by part, numbered as in the part; keep their order in a part."""
        cdef Py_ssize_t i, k
        bounds[:] = 0
        for k in range(elements.shape[0]):
            bounds[self.part_of[elements[k]] + 1] += 1
        for i in range(self.n_parts):
            bounds[i + 1] += bounds[i]
            self.cursor[i] = bounds[i]
        for k in range(elements.shape[0]):
            i = self.part_of[elements[k]]
            sorted_elements[self.cursor[i]] = elements[k] - self.starts[i]
            self.cursor[i] += 1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        cdef Py_ssize_t taken, i, k, first, end
        self.tested = 0
        if limit == 0:
            return 0
        self.sort_by_part(order, self.bounds, self.sorted_order)
        self.is_marked[:] = 0
        for i in range(self.n_parts):
            first = self.bounds[i]
            end = self.bounds[i + 1]
            if first == end:
                continue
            taken = self.part(i).greedy(
                self.sorted_order[first:end],
                min(limit, self.ranks[i]),
                self.chosen[first:end],
            )
            for k in range(first, first + taken):
                self.is_marked[self.starts[i] + self.chosen[k]] = 1
        return self.take_marked(order, limit, self.is_marked, chosen)

    # ---- exchange ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        cdef Py_ssize_t i, k
        self.basis = basis
        self.sort_by_part(basis, self.basis_bounds, self.sorted_basis)
        for i in range(self.n_parts):
            self.cursor[i] = self.basis_bounds[i]
        for k in range(basis.shape[0]):
            i = self.part_of[basis[k]]
            self.part_at[k] = i
            self.position_in_part[k] = self.cursor[i] - self.basis_bounds[i]
            self.position_of[self.cursor[i]] = k
            self.cursor[i] += 1
        for i in range(self.n_parts):
            self.part(i).prepare(
                self.sorted_basis[self.basis_bounds[i] : self.basis_bounds[i + 1]]
            )
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        cdef Py_ssize_t i = self.part_of[element]
        return self.part_at[position] == i and self.part(i).can_replace(
            self.position_in_part[position], element - self.starts[i]
        )

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        cdef Py_ssize_t i = self.part_of[element]
        cdef Py_ssize_t position = self.part(i).partner(element - self.starts[i])
        return self.position_of[self.basis_bounds[i] + position] if position >= 0 else -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t i = self.part_of[element]
        cdef Py_ssize_t count = self.part(i).circuit(element - self.starts[i], positions)
        cdef Py_ssize_t k
        for k in range(count):
            positions[k] = self.position_of[self.basis_bounds[i] + positions[k]]
        return count
