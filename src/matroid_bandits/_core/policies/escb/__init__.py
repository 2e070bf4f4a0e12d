"""ESCB: the rule with exchanges, the sweep over prices."""
