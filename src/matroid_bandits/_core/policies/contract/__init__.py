"""What every kernel of a policy is made of."""
