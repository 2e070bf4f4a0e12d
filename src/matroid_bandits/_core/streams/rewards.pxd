# Rewards of one run: the k-th draw of an element depends on (seed, element, k) alone.
cdef class RewardKernel:
    cdef readonly Py_ssize_t size
    cdef int draw_into(self, const Py_ssize_t[::1] elements, double[::1] rewards) except -1
