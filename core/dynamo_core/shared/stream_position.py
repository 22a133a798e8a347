"""A place in a stream that is being written, for those who read it in the same process."""

from typing import NamedTuple


class StreamPosition(NamedTuple):
    """A place in a process's stream. Up to it, `lost_records` could not be written.

    `path` is empty where nothing is recorded yet; `offset`, in bytes, is None where the file is gone.
    """

    path: str
    offset: int | None
    lost_records: int


NOWHERE = StreamPosition("", 0, 0)
