"""Whether everything that was to be compiled came out as whole graphs: the verdict of `--fullgraph`."""

from ..model import Recording
from ..shared.quick_dataclass import dataclass
from ..shared.settings import FULLGRAPH_FIRST
from .summary import break_identity, breaks_recorded, gave_up, recorded, summarize


@dataclass(frozen=True)
class Audit:
    """What counts in it, over all frames that Dynamo tried and did not skip.

    `breaks` are those that parted graphs and those that were raised as errors; `given_up` are frames that ran
    eager, or raised, for another reason. `unseen` says why the absence of breaks would mean nothing.
    """

    breaks: int
    distinct_breaks: int
    given_up: int
    frames: int
    graphs: int | None
    unseen: str | None

    @property
    def is_clean(self) -> bool:
        """Whether there was something to see, and no break in it."""
        return not (self.unseen or self.breaks or self.given_up)

    @property
    def is_failure(self) -> bool:
        """Whether something was found that a whole graph does not have."""
        return bool(self.breaks or self.given_up)


def audit(recording: Recording) -> Audit:
    """Judge a finished run. What was not recorded, and a run in which nothing was compiled, is no success."""
    graphs = summarize(recording).graphs
    unseen = None
    if not breaks_recorded(recording) or not recorded(recording, "frames"):
        unseen = "graph breaks could not be recorded"
    elif graphs is None:
        unseen = "graphs could not be recorded"
    elif not graphs:
        unseen = "nothing was compiled"
    frames = [frame for process in recording.processes for frame in process.frames]
    raised = [frame.broke for frame in frames if frame.broke is not None]
    breaks = [each for process in recording.processes for each in process.breaks] + raised
    return Audit(
        breaks=len(breaks),
        distinct_breaks=len(set(map(break_identity, breaks))),
        given_up=sum(gave_up(frame) and frame.broke is None for frame in frames),
        frames=sum(gave_up(frame) or frame.outcome == "compiled" for frame in frames),
        graphs=graphs,
        unseen=unseen,
    )


def audited_exit_code(found: Audit, kind: str, exit_code: int | None, failure: int) -> int | None:
    """How the run ends: `failure` instead of the program's own exit code; None where a signal ended it.

    A break that was raised as an error is the reason for whatever code the program ended with. Otherwise the
    program's own failure is the first thing to know.
    """
    if exit_code is None or found.is_clean:
        return exit_code
    is_reason = kind == FULLGRAPH_FIRST and found.is_failure
    return failure if is_reason or exit_code == 0 else exit_code
