"""Benchmarks: one module per question; ``make bench`` runs all of them."""
