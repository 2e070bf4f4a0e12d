from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_type_lock

cdef enum:
    FREE = 0  # no call is running
    HELD = 1  # a call is running
    LENT_TO_RULE = 2  # `_select` or `_observe` is running: it may run greedy, and nothing else
    LENT_TO_LOOP = 3  # a simulation written in Python lets the policy run
    RESERVED = 4  # no call is running, and the next one is that of a thread that waits


# A thread that waits for the guard, in its own stack.
cdef struct Waiter:
    PyThread_type_lock gate  # it waits here
    bint is_open  # whether the gate was opened, and the thread has not passed it yet
    bint was_late  # it passed the gate once, and another thread held the guard
    bint is_next  # the guard is reserved for it
    Waiter *next


# Lets one call at a time change a policy.
cdef class Guard:
    # Other guards of this process, for a fork
    cdef PyObject *older
    cdef PyObject *newer
    cdef unsigned long owner  # the thread whose call is running
    cdef int level
    # Threads that wait, the one that came first in front
    cdef Waiter *first
    cdef Waiter *last

    cdef void forget_other_threads(self) noexcept
    cdef int take(self, bint by_rule) except -1
    cdef int wait(self) except -1
    cdef int wait_in_line(self, Waiter *me) except -1
    cdef void leave_line(self, Waiter *me) noexcept
    cdef void give_back(self, int before) noexcept
    cdef object lend_to_rule(self, function, tuple arguments)
