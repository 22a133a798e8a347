"""Our records (`our_record.py`) whose writers are there from the engine's start, compiles or none.

Each program that is run pays for these classes; for those in `records.py`, one that imports Dynamo does, or
that is run with an option which writes some.
"""

from typing import Literal

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


class FramePutOff(OurRecord):
    """A frame ran eager as compiling had taken too long by then; without a name: frames that are not told."""

    NAME = names.PUT_OFF

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
