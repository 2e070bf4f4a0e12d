from matroid_bandits._core.policies.contract.choosing cimport ChoosingKernel
from matroid_bandits._core.policies.contract.decisions cimport DecisionTable


# Decisions, each a round of its own, and their feedback.
cdef class DecidingKernel(ChoosingKernel):
    cdef readonly DecisionTable decisions
    cdef readonly object selection  # id of what `select` returned, if decisions were made since
    cdef object selection_key  # the elements that were available for it

    # Rewards that are about to be learned, ascending by element, and a whole set with its rewards
    cdef Py_ssize_t[::1] new_elements
    cdef double[::1] new_rewards
    cdef Py_ssize_t[::1] set_elements
    cdef double[::1] set_rewards

    # What a rule implements, if it learns about whole sets; else these methods are not called
    cdef bint learns_sets
    cdef int check_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) except -1
    cdef void learn_set(
        self, const Py_ssize_t[::1] elements, const double[::1] rewards
    ) noexcept
    cdef void shift_pending_set(
        self, const Py_ssize_t[::1] elements, Py_ssize_t plays
    ) noexcept

    # What a rule implements, if it works out beforehand what `learn` takes over
    cdef bint prepares_learning
    cdef int prepare_chosen(self, const double[::1] rewards) except -1

    cdef int allocate_space(self) except -1
    cdef int choose_after_selection(
        self, identifier, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
    cdef int take_back_selection(self, dict selected, bytes key, tuple before) except -1
    cdef object new_decision(self, identifier, const Py_ssize_t[::1] elements)
    cdef void shift_pending(self, Py_ssize_t e, Py_ssize_t plays) noexcept
    cdef int call_hook(self, observe, elements, rewards) except -1
    cdef bint is_new(self, Py_ssize_t row, Py_ssize_t column, double reward) except -1
    cdef Py_ssize_t note_reward(self, Py_ssize_t n, Py_ssize_t e, double reward) except -1
    cdef int check_missing(self, list rows, double reward) except -1
    cdef int learn_row(self, Py_ssize_t row, Py_ssize_t n, observe, int status) except -1
    cdef int close_decision(self, Py_ssize_t row, int status) except -1
    cdef int end_waiting(self, Py_ssize_t row) except -1
    cdef int shift_waiting(self, Py_ssize_t row, Py_ssize_t plays) except -1
