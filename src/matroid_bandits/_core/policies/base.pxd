from matroid_bandits._core.policies.decisions cimport DecisionTable
from matroid_bandits._core.policies.round cimport RoundKernel


# A policy: rounds, one after the other or with feedback that comes later.
cdef class PolicyKernel(RoundKernel):
    cdef readonly DecisionTable decisions

    # Rewards that are about to be learned, ascending by element, and a whole set with its rewards
    cdef Py_ssize_t[::1] new_elements
    cdef double[::1] new_rewards
    cdef Py_ssize_t[::1] set_elements
    cdef double[::1] set_rewards

    # What `select` returned
    cdef readonly bint is_selected  # whether it is the set of this round
    cdef readonly object selection  # its id, if decisions were made since; else None
    cdef object selection_key  # the elements that were available for it
    cdef dict answers  # for other sets of available elements in this round; None without any
    cdef object known_values  # index values of an answer that was kept, else None

    # What a rule implements
    cdef int shift_time(self, Py_ssize_t rounds) except -1
    cdef int check_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1
    cdef void learn_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept
    cdef void shift_pending_set(
        self, const Py_ssize_t[::1] elements, Py_ssize_t plays
    ) noexcept

    cdef inline void end_round(self) noexcept:
        """The next round begins."""
        self.rounds += 1
        self.is_chosen = False
        self.is_decided = False
        self.is_selected = False
        self.answers = None
        self.known_values = None
        if self.is_restricted:
            self.is_restricted = False
            self.candidates = self.playable

    cdef int choose_for(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
    cdef int withdraw(self) except -1
    cdef int undo_decision(self) except -1
    cdef int drop_look(self) except -1
    cdef int check_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1
    cdef int choose_after_selection(
        self, identifier, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
    cdef int take_back_selection(self, dict selected, bytes key, tuple before) except -1
    cdef object new_decision(self, identifier)
    cdef void shift_pending(self, Py_ssize_t e, Py_ssize_t plays) noexcept
    cdef int call_hook(self, observe, elements, rewards) except -1
    cdef bint is_new(self, Py_ssize_t row, Py_ssize_t column, double reward) except -1
    cdef Py_ssize_t note_reward(self, Py_ssize_t n, Py_ssize_t e, double reward) except -1
    cdef int learn_row(self, Py_ssize_t row, Py_ssize_t n, observe, int status) except -1
    cdef int close_decision(self, Py_ssize_t row, int status) except -1
    cdef int refuse_if_deciding(self) except -1
