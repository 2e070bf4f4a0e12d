# Bounds on the largest index of several elements, as chords (docs/rounds.md).
from libc.math cimport INFINITY, M_LN2, sqrt

# A bound on the index mean + width * root of several elements, from the width `since` to `until`.
# The largest index is a convex function of the width, so it lies below the chord between any two of
# its points.
cdef struct Bound:
    double least  # at the width `since`
    double slope
    double since
    double until


cdef inline double value_at(const Bound *bound, double width) noexcept:
    """What a bound says at a width; below `since`, that at `since`, which is no lower."""
    if width > bound.until:
        return INFINITY
    if width > bound.since:
        return bound.least + (width - bound.since) * bound.slope
    return bound.least


cdef inline double slope_between(
    double since, double least, double until, double least_until
) noexcept:
    """The slope of a bound from (since, least) to (until, least_until): from 0 to 1.

    No index rises faster than its width, because no root 1 / sqrt(count) is above 1. So the slope 1
    always gives a bound, and a steeper chord is never needed: its interval is so short that the
    rounding of its ends decides (`until` may be `since`, or the next number above it).
    """
    cdef double rise = least_until - least
    cdef double run = until - since
    # False for an empty set, where `rise` is no number.
    if rise > 0:
        return rise / run if rise < run else 1.0
    return 0.0


cdef inline void set_chord(
    Bound *bound, double since, double least, double until, double least_until
) noexcept:
    """The chord between the points (since, least) and (until, least_until)."""
    bound.since = since
    bound.until = until
    bound.least = least
    bound.slope = slope_between(since, least, until, least_until)


cdef inline double later(double width, double scale) noexcept:
    """The width when the leader will have led for twice as long: scale * sqrt(2 ln 2l) where it is
    scale * sqrt(2 ln l). At least `width`, whatever the scale: squares of a tiny one are 0.
    """
    return max(width, sqrt(width * width + 2 * M_LN2 * scale * scale))
