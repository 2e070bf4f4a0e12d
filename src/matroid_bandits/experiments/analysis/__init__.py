"""What the results say: means, intervals, comparisons, times."""
