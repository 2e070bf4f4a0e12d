cdef enum:
    FREE = 0  # no call is running
    HELD = 1  # a call is running, and every other one is refused
    LENT_TO_RULE = 2  # `_select` is running: it may run greedy, and nothing else
    LENT_TO_LOOP = 3  # a simulation written in Python lets the policy run


# Lets one call at a time change a policy.
cdef class Guard:
    cdef long owner  # the thread whose call is running
    cdef int level

    cdef int take(self, bint by_rule) except -1
    cdef void give_back(self, int before) noexcept
