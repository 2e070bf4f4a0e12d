"""Is it fast? One module per question; ``make bench`` answers them all."""
