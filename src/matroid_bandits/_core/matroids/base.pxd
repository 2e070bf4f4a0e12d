# What algorithms need of a matroid. A kernel is the working state of one run: it owns its
# buffers and is never shared. Elements are integers 0..size-1; input is not checked.
cdef class MatroidKernel:
    cdef readonly Py_ssize_t size
    # How many kernels this one consists of, itself included.
    cdef readonly Py_ssize_t n_kernels
    # How many elements the last greedy run tested: the paper's count of oracle calls.
    cdef readonly Py_ssize_t tested

    # Whether `can_replace` is cheap, cannot fail, and stays valid while a set grows afterwards.
    cdef bint quick_exchange
    # Whether the matroid, or a part of it, is written in Python.
    cdef readonly bint is_python
    # Whether such a matroid returns a whole circuit at once.
    cdef readonly bint has_circuit
    # Exchange tests that called the membership oracle, since a caller last set this to 0.
    cdef Py_ssize_t n_calls
    cdef object symmetry_class  # by element, None until it is needed

    # Independence: a set that starts empty and grows.
    cdef int clear(self) except -1
    cdef int try_add(self, Py_ssize_t element) except -1
    # Whether adding one element may take as long as `greedy` on all of them.
    cdef bint grows_slowly

    # Exchange with one basis, whose elements are given by their position in it. An element of the
    # basis may be passed as `element` if a symmetric element is outside the basis, and is treated
    # like that one.
    cdef const Py_ssize_t[::1] basis
    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1
    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1

    # Built on these; overridden where there is a faster way.
    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2
    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1
    # Whether `circuit_in_any_order` takes no more steps than the circuit is long.
    cdef bint lists_circuits
    cdef Py_ssize_t circuit_in_any_order(
        self, Py_ssize_t element, Py_ssize_t *positions
    ) noexcept
    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1
    cdef object find_symmetry_classes(self)
    cdef Py_ssize_t first_replaceable_of(
        self, const Py_ssize_t[::1] positions, Py_ssize_t element
    ) except -2

    # The circuits of many elements, looked at together. Whether this takes no more steps than the
    # matroid has elements, more or less.
    cdef bint finds_replacements
    cdef int first_replacements(
        self, const Py_ssize_t[::1] elements, Py_ssize_t[::1] found
    ) except -1

    # Circuits that contain one of several elements of the basis, which are about to leave it.
    cdef const Py_ssize_t[::1] leaving
    cdef int mark_leaving(self, const Py_ssize_t[::1] positions) except -1
    cdef bint can_replace_leaving(self, Py_ssize_t element) except -1

    # For a `greedy` that has found its elements in another way.
    cdef Py_ssize_t take_marked(
        self,
        const Py_ssize_t[::1] order,
        Py_ssize_t limit,
        const unsigned char[::1] is_marked,
        Py_ssize_t[::1] chosen,
    ) noexcept
