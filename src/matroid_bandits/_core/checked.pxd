"""Whether this is the checked build (`make test-checked`): code under ``if CHECKED`` costs nothing
in any other.
"""

cdef extern from *:
    """
    #ifndef MATROID_BANDITS_CHECKED
    #define MATROID_BANDITS_CHECKED 0
    #endif
    """
    const bint CHECKED "MATROID_BANDITS_CHECKED"
