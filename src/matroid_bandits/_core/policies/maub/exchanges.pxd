from matroid_bandits._core.matroids.base cimport MatroidKernel


# Several exchanges at once: the best basis of a basis and some other elements.
cdef class Exchanges:
    cdef MatroidKernel oracle
    cdef Py_ssize_t rank
    cdef Py_ssize_t[::1] order  # of the basis, the highest value first, as last sorted
    cdef Py_ssize_t[::1] scratch
    cdef Py_ssize_t[::1] merged  # working space for greedy: the basis and other elements
    cdef unsigned char[::1] is_gone  # by position in the basis; all 0 between calls
    cdef Py_ssize_t[::1] positions  # working space for circuits
    cdef Py_ssize_t[::1] present  # the basis that the oracle is prepared for
    cdef Py_ssize_t[::1] position_of  # in it, by element
    # What was found: elements that come and elements that go, as many.
    cdef Py_ssize_t[::1] came
    cdef Py_ssize_t[::1] went
    cdef Py_ssize_t n

    cdef void begin(self, const Py_ssize_t[::1] ascending) noexcept
    cdef int find(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1
    cdef bint find_by_circuits(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1
    cdef Py_ssize_t find_by_greedy(
        self, const double[::1] values, const Py_ssize_t[::1] candidates
    ) except -1
    cdef bint find_by_tests(
        self,
        const Py_ssize_t[::1] basis,
        const double[::1] values,
        const Py_ssize_t[::1] candidates,
    ) except -1
    cdef Py_ssize_t prepare_exchanges(self, Py_ssize_t n_prepared) except -1
    cdef void put_in_order(
        self, const double[::1] values, Py_ssize_t k, Py_ssize_t e
    ) noexcept
    cdef Py_ssize_t greedy_on_both(
        self, const double[::1] values, const Py_ssize_t[::1] candidates, Py_ssize_t[::1] chosen
    ) except -1
    cdef void write(self, const Py_ssize_t[::1] members, Py_ssize_t[::1] basis) noexcept
