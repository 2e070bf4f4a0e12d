"""One call at a time: other threads wait, and calls from inside a call are refused."""

import os

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
    PyThread_type_lock,
)

cdef extern from "pythread.h" nogil:
    # 0 if the time is over, 1 if the lock was acquired, 2 if a signal came.
    int PyThread_acquire_lock_timed(
        PyThread_type_lock lock, long long microseconds, int can_be_interrupted
    )

# Waiting has no limit; this is how often a thread looks by itself whether it is its turn.
cdef long long MICROSECONDS = 1_000_000

# The guard that was made last of those that exist; `older` leads to the others. References in C:
# weak ones would run code in Python, and lose Ctrl-C, wherever a policy is dropped.
cdef PyObject *newest = NULL


cdef class Guard:
    """Held while a call uses a policy.

    A second thread waits until the guard is free. A call from inside a call, by a matroid, an
    index, an environment or a rule written in Python, is refused: waiting would never end.

    All fields are read and written with the interpreter's lock held, and nothing between two of
    these statements releases it. So taking a free guard needs no other lock.
    """

    def __cinit__(self):
        global newest
        self.older = newest
        self.newer = NULL
        if newest != NULL:
            (<Guard>newest).newer = <PyObject *>self
        newest = <PyObject *>self

    def __dealloc__(self):
        global newest
        if self.newer == NULL:
            newest = self.older
        else:
            (<Guard>self.newer).older = self.older
        if self.older != NULL:
            (<Guard>self.older).newer = self.newer

    cdef void forget_other_threads(self) noexcept:
        """Only the thread that forked is in this process. Its own call goes on; others never end.

        """
        self.first = self.last = NULL
        if self.level == RESERVED or self.owner != PyThread_get_thread_ident():
            self.level = FREE

    cdef int take(self, bint by_rule) except -1:
        """Hold the guard; return what `give_back` needs. `by_rule`: for greedy in `_select`."""
        cdef unsigned long me = PyThread_get_thread_ident()
        cdef int before = self.level
        if before != FREE:
            if before == RESERVED or self.owner != me:
                self.wait()
                before = FREE
            elif not (before == LENT_TO_LOOP or (before == LENT_TO_RULE and by_rule)):
                raise RuntimeError(
                    "this policy is deciding right now, further up in this thread: a matroid, an "
                    "index, an environment or a rule must not call the policy that calls it"
                )
        self.owner = me
        self.level = HELD
        return before

    cdef int wait(self) except -1:
        """Wait until the guard is free, or reserved for this thread."""
        cdef Waiter me
        me.gate = PyThread_allocate_lock()
        if me.gate == NULL:
            raise MemoryError("no lock could be allocated")
        PyThread_acquire_lock(me.gate, 1)
        me.is_open = me.was_late = me.is_next = False
        me.next = NULL
        if self.last == NULL:
            self.first = &me
        else:
            self.last.next = &me
        self.last = &me
        try:
            return self.wait_in_line(&me)
        except BaseException:
            if me.is_next:
                self.give_back(FREE)
            raise
        finally:
            if not me.is_next:
                self.leave_line(&me)
            if not me.is_open:
                PyThread_release_lock(me.gate)
            PyThread_free_lock(me.gate)

    cdef int wait_in_line(self, Waiter *me) except -1:
        cdef int status
        cdef PyThread_type_lock gate = me.gate
        while True:
            with nogil:
                status = PyThread_acquire_lock_timed(gate, MICROSECONDS, 1)
            if status == 1:
                me.is_open = False
            if me.is_next or self.level == FREE:
                return 0
            me.was_late = me.was_late or status == 1
            PyErr_CheckSignals()

    cdef void leave_line(self, Waiter *me) noexcept:
        """Remove a thread from those that wait; after a fork it is not among them."""
        cdef Waiter *before = NULL
        cdef Waiter *one = self.first
        while one != me and one != NULL:
            before = one
            one = one.next
        if one == NULL:
            return
        if before == NULL:
            self.first = me.next
        else:
            before.next = me.next
        if self.last == me:
            self.last = before

    cdef void give_back(self, int before) noexcept:
        """End what `take` began. If a thread waits, it is woken.

        A thread that was woken before, and came too late, gets the guard reserved: otherwise, one
        that calls again and again could keep it out.
        """
        cdef Waiter *first = self.first
        self.level = before
        if before != FREE or first == NULL:
            return
        if first.was_late:
            self.leave_line(first)
            first.is_next = True
            self.level = RESERVED
        if not first.is_open:
            first.is_open = True
            PyThread_release_lock(first.gate)

    cdef object lend_to_rule(self, function, tuple arguments):
        """Call a function written in Python that may run greedy, and nothing else."""
        self.level = LENT_TO_RULE
        try:
            return function(*arguments)
        finally:
            self.level = HELD

    def hold(self):
        """A context in which other threads wait and other calls are refused."""
        return Hold(self, HELD)

    def lend_to_loop(self):
        """A context inside `hold` in which this thread may call the policy."""
        return Hold(self, LENT_TO_LOOP)


cdef class Hold:
    """A context in which a guard is held, or lent."""

    cdef Guard guard
    cdef int level
    cdef int before

    def __init__(self, Guard guard, int level):
        self.guard = guard
        self.level = level

    def __enter__(self):
        if self.level == HELD:
            self.before = self.guard.take(False)
        else:
            self.before = self.guard.level
            self.guard.level = self.level
        return self

    def __exit__(self, *error):
        self.guard.give_back(self.before)


def forget_other_threads():
    """A fork has made this process."""
    cdef PyObject *guard = newest
    while guard != NULL:
        (<Guard>guard).forget_other_threads()
        guard = (<Guard>guard).older


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_other_threads)
