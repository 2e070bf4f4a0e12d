"""A cache of exchange tests, for matroids given by a membership oracle.

Which elements of a basis an element can replace (its fundamental circuit) does not depend on any
mean. So every oracle call is made once. Its answer is kept while the basis stays, carried over when
one element of the basis is exchanged, and found again when the basis comes back.
docs/explanation/lean-exchange.md has the proofs.
"""

import numpy as np

from libc.stdint cimport uint64_t

from matroid_bandits._core.matroids.base cimport MatroidKernel

from matroid_bandits.errors import not_a_basis

# Size of the answers kept for former bases.
cdef Py_ssize_t MAX_BYTES = 64 * 2**20


cdef class CachedKernel(MatroidKernel):
    """Calls another kernel for answers that are not cached; `n_calls` counts these calls.

    Answers about the current basis are two bits for each element and each element of the basis:
    whether the answer is known, and whether it is yes. Answers about former bases are kept up to
    64 MB in all, for at least one basis; the least recently used are dropped first.
    """

    cdef MatroidKernel inner
    cdef bint is_inner_prepared  # for the current basis; preparing may cost oracle calls
    cdef Py_ssize_t rank
    cdef Py_ssize_t words
    cdef Py_ssize_t max_tables
    cdef dict tables  # basis (as bytes, ascending) -> (slots, known, yes), last used last
    cdef object key  # of the current basis, None if there is none
    # The current basis: its elements in slots, which stay while `basis` is reordered.
    cdef Py_ssize_t[::1] slots
    cdef uint64_t[:, ::1] known  # [element, word]: bit j of the row is for slot j
    cdef uint64_t[:, ::1] yes
    cdef Py_ssize_t[::1] slot_at  # by position in `basis`
    cdef Py_ssize_t[::1] slot_of  # by element; -1 if it is not in the basis
    cdef Py_ssize_t[::1] positions  # buffer for circuits

    def __init__(self, MatroidKernel inner, Py_ssize_t rank):
        super().__init__(inner.size)
        self.inner = inner
        self.n_kernels = 1 + inner.n_kernels
        self.grows_slowly = inner.grows_slowly
        self.is_python = inner.is_python
        self.has_circuit = inner.has_circuit
        self.rank = rank
        self.words = max(1, (rank + 63) // 64)
        self.max_tables = max(1, MAX_BYTES // max(1, 16 * self.size * self.words))
        self.tables = {}
        self.slot_at = np.zeros(rank, dtype=np.intp)
        self.slot_of = np.full(self.size, -1, dtype=np.intp)
        self.positions = np.zeros(rank, dtype=np.intp)

    # ---- independence: not cached ----

    def is_independent(self, const Py_ssize_t[::1] elements):
        self.is_inner_prepared = False
        return self.inner.is_independent(elements)

    cdef int clear(self) except -1:
        self.is_inner_prepared = False
        return self.inner.clear()

    cdef int try_add(self, Py_ssize_t element) except -1:
        self.is_inner_prepared = False
        return self.inner.try_add(element)

    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1:
        cdef Py_ssize_t taken
        self.is_inner_prepared = False
        taken = self.inner.greedy(order, limit, chosen)
        self.tested = self.inner.tested
        return taken

    # ---- exchange ----

    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1:
        """Prepare for `basis`: the current one in another order, a former one, the current one with
        one element exchanged, or a new one.
        """
        cdef Py_ssize_t k
        if basis.shape[0] != self.rank:
            raise not_a_basis(basis, self.rank)
        self.is_inner_prepared = False
        self.basis = basis
        key = np.sort(basis).tobytes()
        if key != self.key:
            self.switch_to(key)
        for k in range(self.rank):
            self.slot_at[k] = self.slot_of[basis[k]]
        return 0

    cdef int switch_to(self, key) except -1:
        """Store the current answers and load, or infer, those for the basis with this key."""
        cdef Py_ssize_t j
        members = np.frombuffer(key, dtype=np.intp)
        former = self.tables.pop(key, None)
        if self.key is not None:
            entering = np.setdiff1d(members, self.slots, assume_unique=True)
            if former is None and len(entering) == 1:
                (leaving,) = np.setdiff1d(self.slots, members, assume_unique=True).tolist()
                former = self.carried_over(self.slot_of[leaving], entering[0])
            self.tables[self.key] = self.slots.base, self.known.base, self.yes.base
            if len(self.tables) > self.max_tables:
                del self.tables[next(iter(self.tables))]
        if former is None:
            nothing = np.zeros((self.size, self.words), dtype=np.uint64)
            former = np.array(members), nothing, nothing.copy()
        self.slots, self.known, self.yes = former
        self.key = key
        self.slot_of[:] = -1
        for j in range(self.rank):
            self.slot_of[self.slots[j]] = j
        return 0

    cdef object carried_over(self, Py_ssize_t slot, Py_ssize_t entering):
        """The answers that still hold when `entering` replaces x, the element in `slot`.

        Circuit elimination, for e outside both bases. If x is not in the circuit of e, that circuit
        stays as it is. If it is, then an f in exactly one of the circuits of e and `entering` is in
        the new circuit, an f in neither is not, and for an f in both nothing follows. In either
        case e can replace `entering` if and only if it could replace x; and x has the circuit that
        `entering` had.
        """
        slots = np.array(self.slots)
        known = np.array(self.known)
        yes = np.array(self.yes)
        cdef Py_ssize_t x = self.slots[slot]
        cdef uint64_t[:, ::1] new_known = known
        cdef uint64_t[:, ::1] new_yes = yes
        cdef Py_ssize_t word = slot // 64
        cdef uint64_t bit = <uint64_t>1 << (slot % 64)
        cdef uint64_t both
        cdef Py_ssize_t e, w
        for e in range(self.size):
            if self.slot_of[e] >= 0 or e == entering:
                continue
            if self.known[e, word] & bit and not self.yes[e, word] & bit:
                continue
            for w in range(self.words):
                both = self.known[e, w] & self.known[entering, w]
                if self.yes[e, word] & bit:
                    new_known[e, w] = both & ~(self.yes[e, w] & self.yes[entering, w])
                    new_yes[e, w] = new_known[e, w] & (self.yes[e, w] ^ self.yes[entering, w])
                else:
                    # Whether x is in the circuit is not known: keep what holds in both cases.
                    new_known[e, w] = both & ~self.yes[entering, w]
                    new_yes[e, w] = new_known[e, w] & self.yes[e, w]
            # The answer for the slot itself, x before and `entering` now, stays as it is.
            new_known[e, word] = (new_known[e, word] & ~bit) | (self.known[e, word] & bit)
            new_yes[e, word] = (new_yes[e, word] & ~bit) | (self.yes[e, word] & bit)
        for w in range(self.words):
            new_known[x, w] = self.known[entering, w]
            new_yes[x, w] = self.yes[entering, w]
            new_known[entering, w] = 0
            new_yes[entering, w] = 0
        new_known[x, word] |= bit
        new_yes[x, word] |= bit
        slots[slot] = entering
        return slots, known, yes

    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1:
        cdef Py_ssize_t slot = self.slot_at[position]
        cdef Py_ssize_t word = slot // 64
        cdef uint64_t bit = <uint64_t>1 << (slot % 64)
        if not self.known[element, word] & bit:
            self.call_oracle(position, element)
        return (self.yes[element, word] & bit) != 0

    cdef int call_oracle(self, Py_ssize_t position, Py_ssize_t element) except -1:
        """One oracle call, or the whole circuit from a matroid that returns circuits."""
        cdef Py_ssize_t slot = self.slot_at[position]
        cdef Py_ssize_t i, count, w
        cdef bint answer
        if not self.is_inner_prepared:
            self.inner.prepare(self.basis)
            self.is_inner_prepared = True
        if self.has_circuit:
            count = self.inner.circuit(element, self.positions)
            for w in range(self.words):
                self.known[element, w] = ~<uint64_t>0
                self.yes[element, w] = 0
            for i in range(count):
                slot = self.slot_at[self.positions[i]]
                self.yes[element, slot // 64] |= <uint64_t>1 << (slot % 64)
            return 0
        answer = self.inner.can_replace(position, element)
        self.n_calls += 1
        self.note(position, element, answer)
        return 0

    # ---- several answers at once ----

    cdef Py_ssize_t first_replaceable_of(
        self, const Py_ssize_t[::1] positions, Py_ssize_t element
    ) except -2:
        """The first of `positions` that `element` can replace, or -1.

        The basis without some of its elements and with `element` is independent if and only if
        `element` can replace one of these. So one call says whether any of several answers is yes,
        and bisection finds the first.
        """
        cdef Py_ssize_t n = 0  # positions whose answer is not known, before the first that is yes
        cdef Py_ssize_t found = -1
        cdef Py_ssize_t low = 0
        cdef Py_ssize_t high, middle, i
        for i in range(positions.shape[0]):
            if not self.is_known(positions[i], element):
                self.positions[n] = positions[i]
                n += 1
            elif self.can_replace(positions[i], element):
                found = positions[i]
                break
        if n == 0:
            return found
        if n == 1 or self.inner.n_kernels > 1 or self.has_circuit:
            # A call may bring the whole circuit, or be several calls of a part.
            return MatroidKernel.first_replaceable_of(self, positions, element)
        if not self.can_replace_any(0, n, element):
            return found
        high = n
        while high - low > 1:
            middle = (low + high) // 2
            if self.can_replace_any(low, middle, element):
                high = middle
            else:
                low = middle
        # The only one that is left.
        self.note(self.positions[low], element, True)
        return self.positions[low]

    cdef bint can_replace_any(
        self, Py_ssize_t low, Py_ssize_t high, Py_ssize_t element
    ) except -1:
        """Whether `element` can replace any of `self.positions[low:high]`, by one oracle call."""
        cdef Py_ssize_t i
        cdef bint answer
        kept = np.array(self.basis)
        kept[np.asarray(self.positions[low:high])] = -1
        elements = np.append(kept[kept >= 0], element)
        self.is_inner_prepared = False
        answer = self.inner.is_independent(elements)
        self.n_calls += 1
        if not answer or high - low == 1:
            for i in range(low, high):
                self.note(self.positions[i], element, answer)
        return answer

    cdef bint is_known(self, Py_ssize_t position, Py_ssize_t element) noexcept:
        cdef Py_ssize_t slot = self.slot_at[position]
        return (self.known[element, slot // 64] & (<uint64_t>1 << (slot % 64))) != 0

    cdef void note(self, Py_ssize_t position, Py_ssize_t element, bint answer) noexcept:
        """Cache an answer."""
        cdef Py_ssize_t slot = self.slot_at[position]
        cdef uint64_t bit = <uint64_t>1 << (slot % 64)
        self.known[element, slot // 64] |= bit
        if answer:
            self.yes[element, slot // 64] |= bit

    # ---- saving ----

    def state(self):
        """The cached answers, for `restore` of a kernel for the same matroid."""
        if self.key is None:
            return None
        tables = [*self.tables.items(), (self.key, (self.slots, self.known, self.yes))]
        # Copies, since answers are added while a snapshot is being written.
        return [[key, *map(np.array, table)] for key, table in tables]

    def restore(self, state):
        """Load what `state` returned."""
        if state is not None:
            self.check_state(state)
            self.tables = {key: tuple(map(np.array, table)) for key, *table in state}
            self.switch_to(next(reversed(self.tables)))

    def check_state(self, state):
        """Refuse what cannot be cached answers of this matroid. None is fine."""
        tables = [] if state is None else state
        is_right = isinstance(tables, list) and all(
            isinstance(entry, (list, tuple)) and len(entry) == 4 and self.is_table(*entry)
            for entry in tables
        )
        if not is_right or (state is not None and not tables):
            raise ValueError("the cached answers are those of another matroid")

    def is_table(self, key, slots, known, yes):
        """Whether these are a basis as bytes, its elements in any order, and answers."""
        rows = (self.size, self.words)
        kinds = ((slots, np.intp, (self.rank,)), (known, np.uint64, rows), (yes, np.uint64, rows))
        if not isinstance(key, bytes) or len(key) != self.rank * np.dtype(np.intp).itemsize:
            return False
        if not all(
            isinstance(a, np.ndarray) and a.dtype == dtype and a.shape == shape
            for a, dtype, shape in kinds
        ):
            return False
        members = np.frombuffer(key, dtype=np.intp)
        return (
            np.array_equal(np.sort(slots), members)
            and bool((np.diff(members) > 0).all())
            and (self.rank == 0 or 0 <= members[0] <= members[self.rank - 1] < self.size)
        )
