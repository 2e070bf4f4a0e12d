"""The kernel for matroids written in Python."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits._arguments import integer
from matroid_bandits.errors import MatroidAxiomError


# So many elements are kept in answers, which take about 60 bytes each.
cdef Py_ssize_t MOST_REMEMBERED = 1_000_000


cdef class PythonKernel(MatroidKernel):
    """Calls `_is_independent` of a Python matroid, or its faster methods where it has them.

    The size is read once. Whatever the matroid returns is checked before it is used as an index.
    """

    cdef object matroid
    cdef bint has_greedy
    cdef object growing
    cdef dict answers  # by set; None if they are not kept
    cdef unsigned char[::1] is_marked  # what `_greedy` has returned
    cdef object members  # of the basis, as a frozenset
    cdef dict position  # of each of them

    def __init__(self, matroid, *, bint has_greedy, bint has_circuit):
        super().__init__(integer(matroid.size, f"{type(matroid).__name__}.size", minimum=0))
        self.matroid = matroid
        self.is_python = True
        self.has_greedy = has_greedy
        self.has_circuit = has_circuit
        self.growing = frozenset()
        self.is_marked = np.zeros(self.size if has_greedy else 0, dtype=np.uint8)

    def remember(self):
        if self.answers is None:
            self.answers = {}

    cdef bint call_oracle(self, elements) except -1:
        answer = None if self.answers is None else self.answers.get(elements)
        if answer is not None:
            return answer
        answer = self.matroid._is_independent(elements)
        if answer is True or answer is False or isinstance(answer, np.bool_):
            if (
                self.answers is not None
                and len(self.answers) * (1 + len(elements)) < MOST_REMEMBERED
            ):
                self.answers[elements] = bool(answer)
            return answer
        raise TypeError(
            f"the independence test of {type(self.matroid).__name__} must return True or False, "
            f"got {answer!r} for {sorted(elements)}"
        )

    cdef set elements_from(self, method, answer):
        """The elements that the method called `method` has returned, as a set."""
        try:
            return set(answer)
        except TypeError as error:
            raise TypeError(
                f"{type(self.matroid).__name__}.{method} must return elements, got {answer!r}"
            ) from error

    def is_independent(self, const Py_ssize_t[::1] elements):
        """Whether the set of distinct `elements` is independent, by one oracle call."""
        return self.call_oracle(frozenset(np.asarray(elements).tolist()))

    cdef int clear(self) except -1:
        self.growing = frozenset()
        return 0

    cdef int try_add(self, Py_ssize_t element) except -1:
        larger = self.growing | {element}
        if not self.call_oracle(larger):
            return 0
        self.growing = larger
        return 1

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        if not self.has_greedy:
            return MatroidKernel.greedy(self, order, limit, chosen)
        cdef Py_ssize_t e
        given = tuple(np.asarray(order).tolist())
        taken = self.elements_from("_greedy", self.matroid._greedy(given, limit))
        if len(taken) > limit or not taken.issubset(given):
            raise MatroidAxiomError(
                f"{type(self.matroid).__name__}._greedy returned {taken}: more than {limit} "
                "elements, or some that it was not given"
            )
        self.is_marked[:] = 0
        for e in taken:
            self.is_marked[e] = 1
        return self.take_marked(order, limit, self.is_marked, chosen)

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        self.basis = basis
        members = np.asarray(basis).tolist()
        self.members = frozenset(members)
        self.position = {e: position for position, e in enumerate(members)}
        return 0

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        return self.call_oracle((self.members - {self.basis[position]}) | {element})

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
        """Positions that `element` can replace, by the matroid's own method."""
        members, position = self.members, self.position
        answer = self.matroid._fundamental_circuit(members, element)
        replaceable = self.elements_from("_fundamental_circuit", answer) - {element}
        if not replaceable <= members:
            raise MatroidAxiomError(
                f"{type(self.matroid).__name__}._fundamental_circuit({sorted(members)}, "
                f"{element}) returned {replaceable - members}, not in the basis"
            )
        return {position[x] for x in replaceable}
