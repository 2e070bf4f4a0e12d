"""Linear matroids: exact over primes, and over the reals with a tolerance."""
