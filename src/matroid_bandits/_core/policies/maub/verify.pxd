from matroid_bandits._core.policies.maub.search cimport Search


cdef int verify(Search search, Py_ssize_t found, double width, bint is_tested) except -1
