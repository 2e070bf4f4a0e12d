"""FasterCUCB: the rule, rounded features, the kinetic order."""
