from matroid_bandits._core.policies.contract.round cimport RoundKernel


cdef object mask_of_key(bytes key)


# The set of a round, for whichever elements are available.
cdef class ChoosingKernel(RoundKernel):
    cdef readonly bint is_selected  # whether `select` has returned the set of this round
    cdef dict answers  # for other sets of available elements in this round; None without any
    cdef object known_values  # index values of an answer that was kept, else None

    # Propensities of the set of this round
    cdef Py_ssize_t n_draws  # how many draws they are estimated by; 0 if nobody wants them
    cdef object n_drawn  # how many of them have each element, once they are made; else None

    # What a rule implements, if it keeps a time
    cdef int shift_time(self, Py_ssize_t rounds) except -1
    # The same, if deciding a second time in a round is another decision
    cdef int decide_again(self) except -1

    cdef int draw_again(self) except -1

    cdef inline void end_round(self) noexcept:
        """The next round begins."""
        self.rounds += 1
        self.is_chosen = False
        self.is_decided = False
        self.is_selected = False
        if self.memory is not None:
            self.forget_old()
        if self.answers is not None:
            self.answers = None
        if self.known_values is not None:
            self.known_values = None
        if self.is_restricted:
            self.is_restricted = False
            self.candidates = self.playable
            self.round_rank = self.rank

    cdef int choose_for(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
    cdef int choose_instead(
        self, const unsigned char[::1] is_available, bint allow_smaller, rule
    ) except -1
    cdef int note_answer(self, bytes key, dict outcome) except -1
    cdef int undo_choice(self) except -1
    cdef int undo_decision(self) except -1
    cdef int drop_peek(self) except -1
    cdef int check_available(
        self, const unsigned char[::1] is_available, bint allow_smaller
    ) except -1
    cdef int refuse_if_deciding(self) except -1
