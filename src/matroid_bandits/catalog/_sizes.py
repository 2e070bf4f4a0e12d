"""A limit for matroids by name: a short name may mean a huge matroid."""

__all__ = ["check_size"]

# Enough for the complete graph on 2,000 vertices.
_MOST = 2_000_000


def check_size(name: str, number: int, *, what: str = "elements") -> None:
    """Refuse a matroid that is too large, before anything of it is made."""
    if number > _MOST:
        raise ValueError(
            f"{name} has more than {_MOST:,} {what}, too many for a matroid by name; choose "
            "smaller numbers"
        )
