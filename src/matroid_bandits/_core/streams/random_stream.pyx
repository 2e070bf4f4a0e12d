"""The random numbers of one policy, the same that NumPy's generator gives, drawn without Python."""

from cpython.pycapsule cimport PyCapsule_GetPointer

from matroid_bandits._streams import POLICIES

cdef extern from "numpy/random/distributions.h":
    double random_standard_normal(bitgen_t *bitgen_state) noexcept
    double random_standard_exponential(bitgen_t *bitgen_state) noexcept
    double random_beta(bitgen_t *bitgen_state, double a, double b) noexcept


cdef class RandomStream:
    """The stream of ``numpy.random.default_rng([POLICIES, seed])``
    (docs/reference/random-numbers.md)."""

    def __init__(self, seed):
        # Imported here: `import matroid_bandits` must not load numpy.random.
        from numpy.random import PCG64

        self.seed = seed
        self.generator = PCG64([POLICIES, seed])
        self.bits = <bitgen_t *>PyCapsule_GetPointer(self.generator.capsule, "BitGenerator")
        self.words = self.find_words()
        self.mark()

    cdef double uniform(self) noexcept:
        return self.bits.next_double(self.bits.state)

    cdef double normal(self) noexcept:
        return random_standard_normal(self.bits)

    cdef double exponential(self) noexcept:
        return random_standard_exponential(self.bits)

    cdef double beta(self, double a, double b) noexcept:
        return random_beta(self.bits, a, b)

    # ---- going back ----

    cdef uint64_t *find_words(self) except? NULL:
        """Where NumPy keeps the position, NULL if it is not where it has been since NumPy 1.17."""
        cdef uint64_t *words = (<uint64_t **>self.bits.state)[0]
        position = self.generator.state["state"]["state"]
        halves = {position >> 64, position & (2**64 - 1)}
        return words if {words[0], words[1]} == halves else NULL

    cdef int mark(self) except -1:
        """Note the position for `rewind`. Every round does, hence without Python."""
        if self.words != NULL:
            self.marked[0] = self.words[0]
            self.marked[1] = self.words[1]
        else:
            self.marked_state = self.generator.state
        return 0

    cdef int rewind(self) except -1:
        """Go back to the mark: the same numbers are drawn again."""
        if self.words != NULL:
            self.words[0] = self.marked[0]
            self.words[1] = self.marked[1]
        elif self.marked_state is not None:
            self.generator.state = self.marked_state
        return 0

    def position(self):
        """The position: what `set_position` needs to go on from here."""
        return self.generator.state["state"]["state"]

    def set_position(self, position):
        """Go on from `position`."""
        state = self.generator.state
        state["state"]["state"] = position
        self.generator.state = state

    def marked_position(self):
        """The position at the mark."""
        now = self.position()
        self.rewind()
        marked = self.position()
        self.set_position(now)
        return marked

    def set_mark(self, position):
        """Set the mark to `position`."""
        now = self.position()
        self.set_position(position)
        self.mark()
        self.set_position(now)

    def __reduce__(self):
        return type(self), (self.seed,), (self.marked_position(), self.position())

    def __setstate__(self, state):
        marked, now = state
        self.set_mark(marked)
        self.set_position(now)
