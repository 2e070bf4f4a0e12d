"""Kernels of policies: statistics and the rule, for the classes of `policies/`."""
