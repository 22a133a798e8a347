"""Our records of a process as such: at its start, with torch at work, and at its end.

JSON documents hand out all that they say; the fields that the model has are those of the same name there
(`model/described.py`), of the same types.
"""

from . import names
from .our_record import OurRecord


class ProcessStarted(OurRecord):
    """A process as it began, the first record of its stream. `began_ns` is the kernel's word.

    Its job, attempt and rank are what its launcher said (`launchers.py`). `calls_file` has its counters;
    where there is none, `calls_not_recorded` says why. A `forked` child has what its parent was.
    """

    NAME = names.PROCESS_START

    host: str
    job: str | None
    attempt: list[int] | None
    rank: int | None
    rank_unsure: int | None
    argv: list[str]
    executable: str
    python: str
    torch: str
    torch_git: str | None
    cuda_build: str | None
    hip_build: str | None
    environment: dict[str, str]
    forked: bool | None = None
    pid: int | None = None
    ppid: int | None = None
    started_ns: int | None = None
    began_ns: int | None = None
    calls_file: str | None = None
    calls_not_recorded: str | None = None


class ProcessStateNoted(OurRecord):
    """The devices in use so far, and the settings of torch's compilers that are not their defaults."""

    NAME = names.PROCESS_STATE

    devices: list[str] | None
    torch_config: dict[str, dict[str, str]] | None


class ProcessEnded(OurRecord):
    """The last record: torch's own counters, and the most bytes that it has had, by where.

    Where an exception ended it, `raised` is the name of its class, and `raised_in` the innermost function of
    the program's own that it came through, in `raised_file` at `raised_line`.
    """

    NAME = names.PROCESS_END

    torch_totals: dict[str, int]
    ended_ns: int
    peak_memory: dict[str, int]
    raised: str | None = None
    raised_file: str | None = None
    raised_line: int | None = None
    raised_in: str | None = None
