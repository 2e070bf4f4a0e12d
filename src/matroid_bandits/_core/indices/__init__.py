"""Kernels of indices: how optimistic a value is."""
