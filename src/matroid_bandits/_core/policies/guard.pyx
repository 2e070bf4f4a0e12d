"""One call at a time: keeps a second thread, and calls from inside a call, out of a policy."""

from cpython.pythread cimport PyThread_get_thread_ident


cdef class Guard:
    """Held while a call changes a policy. It is never waited for: a second call is refused.

    A matroid, an index or an environment written in Python may let another thread run, or call
    the policy itself. Nothing here releases the interpreter's lock, so `take` is atomic.
    """

    cdef int take(self, bint by_rule) except -1:
        """Hold the guard; return what `give_back` needs. `by_rule`: for greedy in `_select`."""
        cdef long me = PyThread_get_thread_ident()
        cdef int before = self.level
        if before == FREE or (
            self.owner == me
            and (before == LENT_TO_LOOP or (before == LENT_TO_RULE and by_rule))
        ):
            self.owner = me
            self.level = HELD
            return before
        raise RuntimeError(
            "this policy is deciding right now, in another thread or further up in this one; "
            "use one policy per thread, or a lock"
        )

    cdef void give_back(self, int before) noexcept:
        self.level = before

    def hold(self):
        """A context in which every other call is refused."""
        return Hold(self, HELD)

    def lend_to_rule(self):
        """A context inside `hold` in which this thread may run greedy, and nothing else."""
        return Hold(self, LENT_TO_RULE)

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
