"""All bases and circuits of a small matroid, and a hash table of sets of elements."""

import numpy as np

from matroid_bandits._core.matroids.base cimport MatroidKernel
from matroid_bandits._core.sorting cimport sort_elements

from matroid_bandits._arguments import distinct_elements
from matroid_bandits.errors import no_partner, too_small

# Limits of lists: 80 MB for the elements of all sets, 80 MB for neighbors.
cdef Py_ssize_t MAX_SETS = 200_000
cdef Py_ssize_t MAX_ELEMENTS = 10_000_000
cdef Py_ssize_t MAX_NEIGHBORS = 20_000_000


cdef uint64_t key_of(uint64_t element) noexcept:
    """A 64-bit hash (the finalizer of SplitMix64)."""
    element = (element + 1) * <uint64_t>0x9E3779B97F4A7C15
    element = (element ^ (element >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    element = (element ^ (element >> 27)) * <uint64_t>0x94D049BB133111EB
    return element ^ (element >> 31)


cdef class Sets:
    """Distinct sets of `rank` elements each, numbered in the order in which they were added."""

    def __init__(self, Py_ssize_t size, Py_ssize_t rank):
        cdef Py_ssize_t e
        self.size = size
        self.rank = rank
        self.element_keys = np.zeros(size, dtype=np.uint64)
        for e in range(size):
            self.element_keys[e] = key_of(e)
        self.members = np.zeros((64, rank), dtype=np.intp)
        self.keys = np.zeros(64, dtype=np.uint64)
        self.fill_slots()

    cdef int fill_slots(self) except -1:
        """Make a table for the capacity of `keys`, at most half full."""
        cdef Py_ssize_t n = 2 * self.keys.shape[0]
        cdef Py_ssize_t k
        self.slots = np.full(n, NONE, dtype=np.int32)
        self.mask = <uint64_t>(n - 1)
        for k in range(self.count):
            self.slots[self.free_slot(self.keys[k])] = <int32_t>k
        return 0

    cdef Py_ssize_t free_slot(self, uint64_t key) noexcept:
        cdef uint64_t slot = key & self.mask
        while self.slots[slot] != NONE:
            slot = (slot + 1) & self.mask
        return <Py_ssize_t>slot

    cdef uint64_t key(self, const Py_ssize_t[::1] elements) noexcept:
        cdef uint64_t key = 0
        cdef Py_ssize_t i
        for i in range(elements.shape[0]):
            key += self.element_keys[elements[i]]
        return key

    cdef bint is_set(self, Py_ssize_t k, const Py_ssize_t[::1] elements) noexcept:
        cdef Py_ssize_t i
        for i in range(self.rank):
            if self.members[k, i] != elements[i]:
                return False
        return True

    cdef Py_ssize_t find(self, const Py_ssize_t[::1] elements, uint64_t key) noexcept:
        """The number of the set of ascending `elements`, whose key is `key`; NONE if it is new."""
        cdef uint64_t slot = key & self.mask
        cdef Py_ssize_t k
        while self.slots[slot] != NONE:
            k = self.slots[slot]
            if self.keys[k] == key and self.is_set(k, elements):
                return k
            slot = (slot + 1) & self.mask
        return NONE

    cdef int add(self, const Py_ssize_t[::1] elements, uint64_t key) except -1:
        """Add a set of ascending elements, if it is new."""
        cdef Py_ssize_t length = self.keys.shape[0]
        cdef Py_ssize_t[:, ::1] members
        cdef uint64_t[::1] keys
        if self.find(elements, key) != NONE:
            return 0
        if self.count == length:
            members = np.zeros((2 * length, self.rank), dtype=np.intp)
            members[:length] = self.members
            keys = np.zeros(2 * length, dtype=np.uint64)
            keys[:length] = self.keys
            self.members = members
            self.keys = keys
            self.fill_slots()
        self.members[self.count] = elements
        self.keys[self.count] = key
        self.slots[self.free_slot(key)] = <int32_t>self.count
        self.count += 1
        return 0


cdef void exchange(
    const Py_ssize_t[::1] elements, Py_ssize_t position, Py_ssize_t e, Py_ssize_t[::1] exchanged
) noexcept:
    """Write `elements` with e in place of the one at `position`, ascending."""
    cdef Py_ssize_t i
    for i in range(elements.shape[0]):
        exchanged[i] = elements[i]
    exchanged[position] = e
    sort_elements(exchanged)


cdef Py_ssize_t max_sets(Py_ssize_t length) noexcept:
    """How many sets of at most `length` elements a list may have."""
    return min(MAX_SETS, MAX_ELEMENTS // max(1, length))


cdef object in_order(Sets sets):
    """The sets, a row each, in lexicographic order."""
    members = np.array(sets.members[: sets.count])
    if sets.rank == 0:
        # There is only one set without elements.
        return members
    # The last key is the primary one.
    return members[np.lexsort(members.T[::-1])]


def bases_of(matroid, caller, advice, *, bint with_neighbors=False):
    """All bases in lexicographic order, a row each, and the number of oracle calls this took.

    All bases are reached from one of them by exchanges. Only calls of a matroid written in Python
    are counted.

    If there are too many bases, or, `with_neighbors`, too many exchanges between them, the message
    says that `caller` lists them and gives its `advice`.
    """
    cdef MatroidKernel oracle = matroid._new_kernel()
    cdef Py_ssize_t size = oracle.size
    cdef Py_ssize_t rank = matroid.rank
    cdef Py_ssize_t limit = max_sets(rank)
    cdef Py_ssize_t[::1] playable = np.setdiff1d(np.arange(size), matroid.loops)
    cdef Py_ssize_t[::1] basis = np.zeros(rank, dtype=np.intp)
    cdef Py_ssize_t[::1] exchanged = np.zeros(rank, dtype=np.intp)
    cdef Py_ssize_t[::1] positions = np.zeros(rank, dtype=np.intp)
    cdef unsigned char[::1] is_inside = np.zeros(size, dtype=np.uint8)
    cdef Sets found = Sets(size, rank)
    cdef Py_ssize_t n_calls = 0
    cdef Py_ssize_t calls_per_circuit = 0
    cdef Py_ssize_t n_exchanges = 0
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t taken, i, j, e, x
    cdef uint64_t key
    taken = oracle.greedy(playable, rank, basis)
    if taken < rank:
        raise too_small(matroid, np.asarray(basis[:taken]).tolist(), rank)
    if oracle.is_python:
        n_calls = oracle.tested if rank > 0 else 0
        calls_per_circuit = 1 if oracle.has_circuit else rank
    sort_elements(basis)
    found.add(basis, found.key(basis))
    while k < found.count:
        basis[:] = found.members[k]
        oracle.prepare(basis)
        is_inside[:] = 0
        for i in range(rank):
            is_inside[basis[i]] = 1
        for i in range(playable.shape[0]):
            e = playable[i]
            if is_inside[e]:
                continue
            taken = oracle.circuit(e, positions)
            n_calls += calls_per_circuit
            if taken == 0:
                raise no_partner(matroid, e, np.asarray(basis).tolist())
            for j in range(taken):
                x = basis[positions[j]]
                key = found.keys[k] - found.element_keys[x] + found.element_keys[e]
                exchange(basis, positions[j], e, exchanged)
                found.add(exchanged, key)
            n_exchanges += taken
            if found.count > limit:
                raise ValueError(
                    f"{caller} lists all bases, {limit:,} at most, and {matroid!r} has more; "
                    f"{advice}"
                )
            if with_neighbors and n_exchanges > MAX_NEIGHBORS:
                raise ValueError(
                    f"{caller} lists the neighbors of every basis, {MAX_NEIGHBORS:,} at most, and "
                    f"the bases of {matroid!r} have more; {advice}"
                )
        k += 1
    return in_order(found), n_calls


def circuits_of(matroid, caller, advice):
    """All circuits, an array each, by length and then in lexicographic order.

    A circuit without one of its elements is part of a basis, and the circuit is then a fundamental
    circuit of this basis. So the fundamental circuits of all bases are all circuits.
    """
    cdef MatroidKernel oracle = matroid._new_kernel()
    cdef Py_ssize_t size = oracle.size
    cdef Py_ssize_t[:, ::1] bases = bases_of(matroid, caller, advice)[0]
    cdef Py_ssize_t rank = bases.shape[1]
    cdef Py_ssize_t limit = max_sets(rank + 1)
    cdef Py_ssize_t[::1] loops = distinct_elements(matroid.loops, size)
    cdef Py_ssize_t[::1] playable = np.setdiff1d(np.arange(size), loops)
    cdef Py_ssize_t[::1] circuit = np.zeros(rank + 1, dtype=np.intp)
    cdef Py_ssize_t[::1] positions = np.zeros(rank, dtype=np.intp)
    cdef unsigned char[::1] is_inside = np.zeros(size, dtype=np.uint8)
    cdef list of_length = [Sets(size, length) for length in range(rank + 2)]
    cdef Sets sets = of_length[1]
    cdef Py_ssize_t n_circuits = loops.shape[0]
    cdef Py_ssize_t count, k, i, j, e
    for i in range(loops.shape[0]):
        sets.add(loops[i : i + 1], sets.key(loops[i : i + 1]))
    for k in range(bases.shape[0]):
        oracle.prepare(bases[k])
        is_inside[:] = 0
        for i in range(rank):
            is_inside[bases[k, i]] = 1
        for i in range(playable.shape[0]):
            e = playable[i]
            if is_inside[e]:
                continue
            count = oracle.circuit(e, positions)
            for j in range(count):
                circuit[j] = bases[k, positions[j]]
            circuit[count] = e
            sort_elements(circuit[: count + 1])
            sets = of_length[count + 1]
            n_circuits -= sets.count
            sets.add(circuit[: count + 1], sets.key(circuit[: count + 1]))
            n_circuits += sets.count
            if n_circuits > limit:
                raise ValueError(
                    f"{caller} lists all circuits, {limit:,} at most, and {matroid!r} has more; "
                    f"{advice}"
                )
    circuits = []
    for sets in of_length[1:]:
        # Copies, so that the caller owns the memory of each.
        circuits += [row.copy() for row in in_order(sets)]
    return circuits
