"""OSUB: the rule on the graph of bases."""
