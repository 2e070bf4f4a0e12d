"""Runs what is missing of a study, here or on many machines."""
