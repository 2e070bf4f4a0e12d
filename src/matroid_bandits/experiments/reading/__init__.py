"""A study from its file: what is run."""
