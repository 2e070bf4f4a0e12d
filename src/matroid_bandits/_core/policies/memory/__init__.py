"""What a policy keeps of its observations, where means change."""
