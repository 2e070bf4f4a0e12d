"""The folder of a study: what is kept of its runs, and results as tables."""
