"""Upper bounds on the largest index of several elements, as lines (docs/explanation/rounds.md)."""

from libc.math cimport INFINITY, M_LN2, sqrt

cdef extern from *:
    """
    /* Bounds and the indices they bound are rounded differently. Each takes fewer than 20
       operations with a relative error of 2**-53; this is several times as much. */
    #define ROUNDING 1e-14
    /* The `until` of a chord that does not hold at any width. */
    #define NEVER -1.0
    """
    const double ROUNDING
    const double NEVER

# The largest index mean + width * root of several elements is a convex function of the width. From
# the width `since` to `until` it is at most value + (width - since) * slope.
cdef struct Chord:
    double value
    double slope
    double since
    double until


cdef inline double slope_between(
    double since, double value, double until, double value_until
) noexcept:
    """The slope of a bound from (since, value) to (until, value_until): from 0 to 1.

    No index rises faster than its width, because no root 1 / sqrt(count) is above 1. So the slope 1
    always gives a bound. A steeper chord would be inexact: its interval may be as short as the
    distance of two neighboring numbers, or empty.
    """
    cdef double rise = value_until - value
    cdef double run = until - since
    # NaN for an empty set, whose values are -inf: the slope is 0.
    if rise > 0:
        return rise / run if rise < run else 1.0
    return 0.0


cdef inline void set_chord(
    Chord *chord, double since, double value, double until, double value_until
) noexcept:
    """The chord between the points (since, value) and (until, value_until)."""
    chord.since = since
    chord.until = until
    chord.value = value
    chord.slope = slope_between(since, value, until, value_until)


cdef inline double value_at(const Chord *chord, double width) noexcept:
    """The bound at a width: below `since` that at `since`, as indices grow with the width; above
    `until` there is none.
    """
    if width > chord.until:
        return INFINITY
    if width > chord.since:
        return chord.value + (width - chord.since) * chord.slope
    return chord.value


cdef inline double value_at_end(const Chord *chord) noexcept:
    """The bound at `until`."""
    return chord.value + (chord.until - chord.since) * chord.slope


cdef inline double width_at_double_time(double width, double scale) noexcept:
    """scale * sqrt(2 ln 2l) where `width` is scale * sqrt(2 ln l): the width when the leader will
    have led for twice as long. At least `width`, even if the square of the scale is 0.
    """
    return max(width, sqrt(width * width + 2 * M_LN2 * scale * scale))
