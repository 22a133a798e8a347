"""Names of features, hashed into rows of one table."""

import itertools
import zlib

ROWS = 97


def row_of(name: str, rows: int = ROWS) -> int:
    """The row of a feature, which is the same in each process."""
    return zlib.crc32(name.encode()) % rows


def crossed(names: list[str]) -> list[str]:
    """The features themselves, and each pair of neighbours."""
    pairs = [f"{left}&{right}" for left, right in itertools.pairwise(names)]
    return names + pairs
