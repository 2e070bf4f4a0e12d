"""The kernel every matroid hands to the algorithms, and the one for matroids written in Python."""

import numpy as np

from matroid_bandits.errors import MatroidAxiomError


cdef class MatroidKernel:
    """Working state of one run on one matroid; subclasses answer the four questions."""

    def __init__(self, Py_ssize_t size):
        self.size = size

    # ---- what a subclass answers ----

    cdef int clear(self) except -1:
        """Make the growing set empty."""
        raise NotImplementedError

    cdef int try_add(self, Py_ssize_t element) except -1:
        """Add `element` to the growing set if that stays independent; return 1 if it was added."""
        raise NotImplementedError

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        """Get ready for questions of exchange with `basis`, which is kept in the order given."""
        raise NotImplementedError

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """Whether the basis with `element` in place of its element at `position` is a basis."""
        raise NotImplementedError

    def clones(self):
        """The class of each element, such that any two of a class may stand in for one another.

        Exchanging two elements of a class leaves the matroid as it is, so outside a basis they can
        replace the same elements. Classes are counted from 0. Where nothing is known, every element
        is a class of its own.
        """
        return np.arange(self.size, dtype=np.int32)

    # ---- built on these ----

    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2:
        """The first position in the basis that `element` can replace, or -1 if there is none."""
        cdef Py_ssize_t position
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                return position
        return -1

    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1:
        """Write all positions that `element` can replace, ascending; return how many."""
        cdef Py_ssize_t position
        cdef Py_ssize_t count = 0
        for position in range(self.basis.shape[0]):
            if self.can_replace(position, element):
                positions[count] = position
                count += 1
        return count

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        """Take elements in `order` while the set stays independent, `limit` at most.

        Write those taken to `chosen`, return how many, and leave in `tested` how many were tested.
        """
        cdef Py_ssize_t taken = 0
        cdef Py_ssize_t i
        self.tested = 0
        if limit == 0:
            return 0
        self.clear()
        for i in range(order.shape[0]):
            self.tested += 1
            if self.try_add(order[i]):
                chosen[taken] = order[i]
                taken += 1
                if taken == limit:
                    break
        return taken

    # ---- the same for Python callers ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether distinct `elements` can be played together."""
        cdef Py_ssize_t i
        self.clear()
        for i in range(elements.shape[0]):
            if not self.try_add(elements[i]):
                return False
        return True

    def greedy_basis(self, const Py_ssize_t[::1] order, Py_ssize_t limit):
        """Elements greedy takes from `order`, in that order, `limit` at most."""
        chosen = np.empty(min(limit, order.shape[0]), dtype=np.intp)
        return chosen[: self.greedy(order, limit, chosen)]

    def first_replaceable(self, const Py_ssize_t[::1] basis, Py_ssize_t element):
        """The first element in the order of `basis` that `element` can replace, -1 if none."""
        self.prepare(basis)
        position = self.partner(element)
        return basis[position] if position >= 0 else -1

    def replaceable(self, const Py_ssize_t[::1] basis, Py_ssize_t element):
        """The elements of `basis` that `element` can replace."""
        positions = np.empty(basis.shape[0], dtype=np.intp)
        self.prepare(basis)
        count = self.circuit(element, positions)
        return np.asarray(basis)[positions[:count]]


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
        self.asks_python = True
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
