from matroid_bandits._core.streams.means cimport MeansKernel
from matroid_bandits._core.streams.rewards cimport Streams


# Rewards of one run whose means change.
cdef class ChangingRewards(Streams):
    cdef readonly MeansKernel means
