"""Our records (`our_record.py`) whose writers are there from the engine's start, compiles or none.

Each program that is run pays for these classes; for those in `records.py`, one that imports Dynamo does, or
that is run with an option which writes some.
"""

from typing import Literal, NamedTuple

from . import names
from .our_record import OurRecord


class ProbeFailed(OurRecord):
    """A probe does not work with this torch; `at` is the innermost line of the error, if it is known."""

    NAME = names.PROBE_FAILED

    probe: str
    error: str
    at: str | None = None


class TimelineKnown(OurRecord):
    """When we came, and that we are ready; torch's own is None where it was imported before."""

    NAME = names.TIMELINE

    armed_ns: int
    torch_began_ns: int | None
    torch_ended_ns: int | None
    ready_ns: int


class ModuleImported(OurRecord):
    """How long a module of the compiler's took to import."""

    NAME = names.IMPORTED

    module: str
    began_ns: int
    ended_ns: int


class CaptureDecided(OurRecord):
    """Whether the program is captured or only observed, and why; the settings that matter to it."""

    NAME = names.CAPTURE_DECISION

    decision: str
    because: str | None
    policy: str
    backend: str
    fallback_random: bool = False
    raises: bool = False


class CompileBegun(OurRecord):
    """A compile begins: of a frame, or of a backward; in a process of pytest, while this test ran.

    `def_line` is as in FrameTried, which comes when the compile has ended.
    """

    NAME = names.COMPILE_BEGUN

    began_ns: int
    backward: bool = False
    test: str | None = None
    def_line: int | None = None


class OptimizerMade(OurRecord):
    """The program made an optimizer of this class; `file` is where its `step` is written."""

    NAME = names.OPTIMIZER

    name: str
    module: str
    file: str


class FrameDeferred(OurRecord):
    """A frame ran eager as compiling had taken too long by then; without a name: frames that are not told."""

    NAME = names.FRAME_DEFERRED

    times: int
    name: str | None = None
    file: str | None = None
    line: int | None = None


class CacheBundleUsed(OurRecord):
    """The program saved a bundle of compile caches, or loaded one.

    `artifacts` counts what is in it by torch's kinds (`inductor`, `autotune`, `aot_autograd`, `pgo`,
    `precompile`); None where torch gave nothing back: of a bundle that was to be saved nothing had been
    compiled, one that was to be loaded could not be read.
    """

    NAME = names.CACHE_BUNDLE

    action: Literal["saved", "loaded"]
    bytes: int | None
    artifacts: dict[str, int] | None
    seconds: float


# Our records of a process as such: at its start, with torch at work, and at its end.
#
# JSON documents hand out all that they say; the fields that the model has are those of the same name there
# (`model/described.py`), of the same types.


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


# A place in a stream that is being written, for those who read it in the same process.


class StreamPosition(NamedTuple):
    """A place in a process's stream. Up to it, `lost_records` could not be written.

    `path` is empty where nothing is recorded yet; `offset`, in bytes, is None where the file is gone.
    """

    path: str
    offset: int | None
    lost_records: int


NOWHERE = StreamPosition("", 0, 0)
