# What an algorithm may ask a matroid. A kernel is the working state of one run: it owns its scratch
# space and is never shared. Elements are integers 0..size-1; input is trusted.
cdef class MatroidKernel:
    cdef readonly Py_ssize_t size
    # How many elements the last greedy run tested: the paper's count of oracle calls.
    cdef readonly Py_ssize_t tested

    # Whether `can_replace` costs next to nothing and never fails, whatever grew since `prepare`.
    cdef bint quick_exchange
    # Whether questions go to a matroid written in Python, or to one that has a part which is.
    cdef readonly bint is_python
    # Whether such a matroid is asked for a whole circuit at once.
    cdef readonly bint has_circuit
    # Questions of exchange that really went to an oracle, since somebody last set this to 0.
    cdef Py_ssize_t n_calls

    # Independence: a set that starts empty and grows.
    cdef int clear(self) except -1
    cdef int try_add(self, Py_ssize_t element) except -1

    # Exchange: questions about one basis, whose elements are told by their position in it. One of
    # them may be asked about like an element outside, if it has a clone there, which answers.
    cdef const Py_ssize_t[::1] basis
    cdef int prepare(self, const Py_ssize_t[::1] basis) except -1
    cdef bint can_replace(self, Py_ssize_t position, Py_ssize_t element) except -1

    # Built on these; a kernel that knows better overrides them.
    cdef Py_ssize_t partner(self, Py_ssize_t element) except -2
    cdef Py_ssize_t circuit(self, Py_ssize_t element, Py_ssize_t[::1] positions) except -1
    cdef Py_ssize_t greedy(
        self, const Py_ssize_t[::1] order, Py_ssize_t limit, Py_ssize_t[::1] chosen
    ) except -1
