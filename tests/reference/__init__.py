"""Textbook versions of the matroids, the policies and the random streams.

Written from the definitions and slow on purpose: every function does the obvious thing, so that
it can be checked by reading. Nothing here imports the package under test, which makes it fit to be
compared with that package, round for round.
"""
