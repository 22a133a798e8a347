"""Our records (`our_record.py`) that are written without a compile, and a position in a process's stream.

Every program pays for importing these classes; for those in `records.py`, only a program that imports Dynamo,
or that is run with an option which writes some.
"""

from typing import Any, Literal, NamedTuple

from . import names
from .our_record import OurRecord


class ProbeFailed(OurRecord):
    """A probe that failed with this version of torch; `at` is the innermost line of the error, if known."""

    NAME = names.PROBE_FAILED

    probe: str
    error: str
    at: str | None = None


class Timeline(OurRecord):
    """When we were armed and ready; the times of importing torch are None where it was imported before.

    `armed_ns` is None where we were not armed as Python started, but by the program.
    """

    NAME = names.TIMELINE

    armed_ns: int | None
    torch_began_ns: int | None
    torch_ended_ns: int | None
    ready_ns: int


class Import(OurRecord):
    """The begin and end of the import of a module of the compiler."""

    NAME = names.IMPORTED

    module: str
    began_ns: int
    ended_ns: int


class CaptureDecision(OurRecord):
    """Whether we compile the program ("capture") or only watch it ("observe"), why, and what this depends on.

    With `raises`, an error in the compiler reaches the program, as where that compiles for itself.
    """

    NAME = names.CAPTURE_DECISION

    decision: str
    because: str | None
    policy: str
    backend: str
    fallback_random: bool = False
    raises: bool = False


class CompileBegun(OurRecord):
    """A compile of a frame or a backward begins; `test` is the test of pytest that runs.

    `def_line` is as in FrameTried, which comes when the compile has ended.
    """

    NAME = names.COMPILE_BEGUN

    began_ns: int
    backward: bool = False
    test: str | None = None
    def_line: int | None = None


class CompileResultUnused(OurRecord):
    """What a call of torch.compile returned for `function`, and the program did not use, with the line.

    `why`: never called, or called only under the stance `force_eager`, or first under a TorchDispatchMode;
    the line is that of this call then.
    """

    NAME = names.COMPILE_RESULT_UNUSED

    function: str
    is_module: bool
    why: Literal["never called", "force_eager", "dispatch mode"]
    line: dict[str, Any]


class Optimizer(OurRecord):
    """The program made an optimizer of this class; `file` is the file of its `step`."""

    NAME = names.OPTIMIZER

    name: str
    module: str
    file: str


class GraphReturned(OurRecord):
    """The first call of a graph returned another structure than its outputs: `differs` says in what."""

    NAME = names.GRAPH_RETURNED

    graph: int
    differs: str


class GradientExchange(OurRecord):
    """The parts of the last training step that DistributedDataParallel, around a `module`, has timed.

    `exchange_ns` is from the moment when the first gradients are to be exchanged until all ranks' have come;
    in `average_exchange_ns` are all steps that were timed.
    """

    NAME = names.GRADIENT_EXCHANGE

    module: str
    step: int
    forward_ns: int
    backward_ns: int
    exchange_ns: int
    average_exchange_ns: int


class FrameDeferred(OurRecord):
    """A frame that ran eager: compiling had exceeded the capture budget. Without a name, it is all others."""

    NAME = names.FRAME_DEFERRED

    times: int
    name: str | None = None
    file: str | None = None
    line: int | None = None


class CacheBundleUsed(OurRecord):
    """The program saved a bundle of compile caches, or loaded one.

    `artifacts` counts what is in it by torch's kinds (`inductor`, `autotune`, `aot_autograd`, `pgo`,
    `precompile`); None where torch returned nothing: nothing had been compiled before saving, or the bundle
    could not be loaded.
    """

    NAME = names.CACHE_BUNDLE

    action: Literal["saved", "loaded"]
    bytes: int | None
    artifacts: dict[str, int] | None
    seconds: float


# Records of a process: at its start, with torch imported, and at its end. A field of a wrong type is as if it
# was not recorded. JSON documents contain all fields of the first record, also those of other versions.


class ProcessInfo(OurRecord):
    """A process at its start, the first record of its stream. `began_ns` is the kernel's start time.

    Its job, attempt and rank are from its launcher's environment variables (`launchers.py`). `calls_file` has
    its counters; without one, `calls_not_recorded` says why. A `forked` child repeats its parent's values.
    """

    NAME = names.PROCESS_START

    host: str | None = None
    job: str | None = None
    attempt: list[int] | None = None
    rank: int | None = None
    rank_unsure: int | None = None
    argv: list[str] | None = None
    executable: str | None = None
    python: str | None = None
    torch: str | None = None
    torch_git: str | None = None
    cuda_build: str | None = None
    hip_build: str | None = None
    environment: dict[str, str] | None = None
    forked: bool | None = None
    pid: int | None = None
    ppid: int | None = None
    started_ns: int | None = None
    began_ns: int | None = None
    calls_file: str | None = None
    calls_not_recorded: str | None = None


class ProcessState(OurRecord):
    """The devices in use so far, and the settings of torch's compilers that are not their defaults.

    `bisecting` is what torch's compiler bisector is at, None where it is not active.
    """

    NAME = names.PROCESS_STATE

    devices: list[str] | None = None
    torch_config: dict[str, dict[str, str]] | None = None
    bisecting: str | None = None


class ProcessEnd(OurRecord):
    """The last record of a process: torch's own counters, and the peak memory in bytes, by device.

    Where an exception ended the process, `raised` is the name of its class, and `raised_in` the innermost
    function of the program in its traceback, in `raised_file` at `raised_line`. `refused_by` is what of
    torch around compiled code refused to go on, by its full name, if something did: a function, or
    `saved_tensors` where a backward had freed them. `cpu_ns` is what its
    threads computed since torch was imported, or since it was forked.
    """

    NAME = names.PROCESS_END

    torch_totals: dict[str, int] | None = None
    ended_ns: int | None = None
    peak_memory: dict[str, int] | None = None
    raised: str | None = None
    raised_file: str | None = None
    raised_line: int | None = None
    raised_in: str | None = None
    refused_by: str | None = None
    cpu_ns: int | None = None


class StreamPosition(NamedTuple):
    """A position in the stream that this process writes; `lost_records` before it could not be written.

    `path` is empty where nothing is recorded yet; `offset`, in bytes, is None where the file was removed.
    """

    path: str
    offset: int | None
    lost_records: int


NOWHERE = StreamPosition("", 0, 0)
