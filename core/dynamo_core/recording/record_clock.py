"""When records were written, in nanoseconds since the epoch.

A record's first line has the local time of day, without a year or a zone. The first record of a process of
ours has that moment by the epoch's clock as well; the others follow from it, to tenths of a millisecond.
"""

from datetime import datetime, timedelta

from .records import Record

_ANY_LEAP_YEAR = 2000  # the first line names none
_WITH_MICROSECONDS = len("1120 19:08:30.938000")
_HALF_A_YEAR = timedelta(days=183)


class RecordClock:
    """The moments of a process's records, once `start` has seen one whose moment is known."""

    def __init__(self) -> None:
        self._start: tuple[datetime, int] | None = None

    def start(self, record: Record, at_ns: int | None) -> None:
        """Note that `record` was written at this moment."""
        written = _written(record)
        if written is not None and at_ns is not None:
            self._start = written, at_ns

    def moment(self, record: Record) -> int | None:
        """When a record was written; None where that cannot be known, as in a plain trace."""
        written = _written(record)
        if written is None or self._start is None:
            return None
        first, at_ns = self._start
        since = written - first
        if since < -_HALF_A_YEAR:  # the year ended in between
            since += timedelta(days=366)
        return at_ns + since // timedelta(microseconds=1) * 1000


def _written(record: Record) -> datetime | None:
    time = record.time[:_WITH_MICROSECONDS].ljust(_WITH_MICROSECONDS, "0")
    try:
        return datetime.fromisoformat(f"{_ANY_LEAP_YEAR}-{time[:2]}-{time[2:4]} {time[5:]}")
    except ValueError:  # a stranger's
        return None
