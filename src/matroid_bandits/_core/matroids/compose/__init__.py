"""Matroids made of matroids."""
