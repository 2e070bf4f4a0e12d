"""The kernel for matroids written in Python."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits.errors import MatroidAxiomError


cdef class PythonKernel(MatroidKernel):
    """Asks a Python matroid: its ``_is_independent``, or the faster routes where it has them."""

    cdef object matroid
    cdef bint has_greedy
    cdef object growing
    cdef object members  # of the basis, as a frozenset
    cdef dict position  # of each of them

    def __init__(self, matroid, *, bint has_greedy, bint has_circuit):
        super().__init__(matroid.size)
        self.matroid = matroid
        self.is_python = True
        self.has_greedy = has_greedy
        self.has_circuit = has_circuit
        self.growing = frozenset()

    cdef bint ask(self, elements) except -1:
        answer = self.matroid._is_independent(elements)
        if answer is True or answer is False or isinstance(answer, np.bool_):
            return answer
        raise TypeError(
            f"the independence test of {type(self.matroid).__name__} must answer True or False, "
            f"got {answer!r} for {sorted(elements)}"
        )

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether distinct `elements` can be played together: one question."""
        return self.ask(frozenset(np.asarray(elements).tolist()))

    cdef int clear(self) except -1:
        self.growing = frozenset()
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        larger = self.growing | {element}
        if not self.ask(larger):
            return 0
        self.growing = larger
        return 1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        if not self.has_greedy:
            return MatroidKernel.greedy(self, order, limit, chosen)
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t i
        wanted = set(self.matroid._greedy(tuple(np.asarray(order).tolist()), limit))
        self.tested = 0
        for i in range(order.shape[0]):
            if taken == limit:
                break
            self.tested += 1
            if order[i] in wanted:
                chosen[taken] = order[i]
                taken += 1
        if taken != len(wanted):
            raise MatroidAxiomError(
                f"{type(self.matroid).__name__}._greedy returned {sorted(wanted)}: "
                f"more than {limit} elements, or some that were not offered"
            )
        return taken

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        self.basis = basis
        members = np.asarray(basis).tolist()
        self.members = frozenset(members)
        self.position = {e: position for position, e in enumerate(members)}
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        return self.ask((self.members - {self.basis[position]}) | {element})

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        if self.has_circuit:
            return min(self.circuit_positions(element), default=-1)
        return MatroidKernel.partner(self, element)

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        cdef Py_ssize_t count = 0
        if not self.has_circuit:
            return MatroidKernel.circuit(self, element, positions)
        for position in sorted(self.circuit_positions(element)):
            positions[count] = position
            count += 1
        return count

    cdef object circuit_positions(self, Py_ssize_t element):
        """Positions that `element` can replace, as the matroid itself says."""
        replaceable = set(self.matroid._fundamental_circuit(self.members, element)) - {element}
        if not replaceable <= self.members:
            raise MatroidAxiomError(
                f"{type(self.matroid).__name__}._fundamental_circuit({sorted(self.members)}, "
                f"{element}) returned {sorted(replaceable - self.members)}, not in the basis"
            )
        return {self.position[x] for x in replaceable}
