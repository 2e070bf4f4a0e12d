"""The random numbers of one policy, the same that NumPy's generator gives, drawn without Python."""

from cpython.pycapsule cimport PyCapsule_GetPointer

from matroid_bandits._streams import POLICIES

cdef extern from "numpy/random/distributions.h":
    double random_standard_normal(bitgen_t *bitgen_state) noexcept
    double random_beta(bitgen_t *bitgen_state, double a, double b) noexcept


cdef class RandomStream:
    """The stream of ``numpy.random.default_rng([POLICIES, seed])`` (docs/random-numbers.md)."""

    def __init__(self, seed):
        # Imported here: `import matroid_bandits` must not load numpy.random.
        from numpy.random import PCG64

        self.seed = seed
        self.generator = PCG64([POLICIES, seed])
        self.bits = <bitgen_t *>PyCapsule_GetPointer(self.generator.capsule, "BitGenerator")

    cdef double uniform(self) noexcept:
        return self.bits.next_double(self.bits.state)

    cdef double normal(self) noexcept:
        return random_standard_normal(self.bits)

    cdef double beta(self, double a, double b) noexcept:
        return random_beta(self.bits, a, b)

    def __reduce__(self):
        return type(self), (self.seed,), self.generator.state

    def __setstate__(self, state):
        self.generator.state = state
