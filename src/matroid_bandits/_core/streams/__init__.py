"""Random streams: the rewards of every element, the random numbers of a policy."""
