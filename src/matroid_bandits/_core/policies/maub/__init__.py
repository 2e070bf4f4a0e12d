"""MAUB: the rule, its leader, and the search for the best exchange."""
