"""Identification of the best basis: what is known, sampling rules, the loop."""
