"""Compositions: matroids derived from other matroids."""
