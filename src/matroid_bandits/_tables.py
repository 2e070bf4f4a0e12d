"""Tables of text."""

from collections.abc import Container, Sequence

__all__ = ["aligned"]


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = ()) -> list[str]:
    """Lines of a table, aligned to the right but for the columns in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
