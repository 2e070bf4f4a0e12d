"""A sampling rule that is written in Python."""

import numpy as np

from matroid_bandits._core.identification.rule cimport RuleKernel


cdef class PythonRule(RuleKernel):
    """Asks a function for the elements that are wanted.

    Parameters
    ----------
    ask : callable
        Is called with the learner, and returns distinct elements, checked.
    """

    cdef object ask

    def __init__(self, ask):
        super().__init__()
        self.ask = ask

    cdef Py_ssize_t choose(self) except -1:
        elements = self.ask(self.learner)
        np.asarray(self.wanted)[: len(elements)] = elements
        return len(elements)
