"""Kernels of matroids: the working state of one run, for the classes of `matroids/`."""
