from cpython.pythread cimport PyThread_type_lock

cdef enum:
    FREE = 0  # no call is running
    HELD = 1  # a call is running
    LENT_TO_RULE = 2  # `_select` or `_observe` is running: it may run greedy, and nothing else
    LENT_TO_LOOP = 3  # a simulation written in Python lets the policy run


# Lets one call at a time change a policy.
cdef class Guard:
    cdef unsigned long owner  # the thread whose call is running
    cdef int level
    cdef Py_ssize_t n_waiting  # threads that wait for their turn
    cdef PyThread_type_lock gate  # they wait here
    cdef bint is_open  # whether the gate lets one of them through

    cdef int take(self, bint by_rule) except -1
    cdef int wait(self) except -1
    cdef void give_back(self, int before) noexcept
    cdef object lend_to_rule(self, function, tuple arguments)
