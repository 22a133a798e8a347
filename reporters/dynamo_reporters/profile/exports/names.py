"""What things are called in every export: torch's compile ids in front."""

from collections.abc import Iterable, Mapping

from dynamo_core.analysis.time.compiles import compile_costs
from dynamo_core.analysis.time.phases import Span
from dynamo_core.analysis.words import compile_label, frame_name
from dynamo_core.model import CompileId, Frame, Graph, Place, Process
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.untrusted import printable

_LONGEST_S = 1e9
INHERITED = "graph of the parent process"
# torch's names for the phase around all of a compile
_OUTERMOST = ("dynamo", "entire_backward_compile")


@dataclass(frozen=True)
class Named:
    """A name, and where in the user's program that is if known."""

    name: str
    place: Place | None


class CompileNames:
    """Names the outermost phases of a process after the compile that each is of."""

    def __init__(self, process: Process) -> None:
        self._frames: Mapping[tuple[CompileId | None, bool], tuple[str | None, Place | None]] = {
            (cost.compile_id, cost.is_backward): (cost.name, cost.place) for cost in compile_costs(process)
        }

    def of(self, tree: Span) -> Named:
        """`compile [0/1] forward`; a phase of no compile has its own name."""
        phase, is_backward = tree.phase, tree.kind.is_backward
        if phase.compile_id is None:
            return Named(phase.name, None)
        name, place = self._frames.get((phase.compile_id, is_backward), (None, None))
        what = "compile" if phase.name in _OUTERMOST else phase.name
        direction = "backward of " if is_backward else ""
        return Named(f"{what} {compile_label(phase.compile_id)} {direction}{frame_name(name)}", place)


def graph_name(graph: Graph, *, is_backward: bool = False) -> str:
    """`graph 3 [0/1]`."""
    name = f"graph {graph.number} {compile_label(graph.compile_id)}"
    return f"backward of {name}" if is_backward else name


def process_name(process: Process) -> str:
    """`rank 1`, `process 4711`, or the name of its stream."""
    if process.rank is not None:
        return f"rank {process.rank}"
    pid = process.info.pid
    return f"process {pid}" if pid is not None else printable(process.stream.name)


def frames_without_phases(process: Process) -> Iterable[Frame]:
    """The frames that were looked at and timed, but of which torch recorded no compile."""
    recorded = {phase.compile_id for phase in process.phases}
    for frame in process.frames:
        is_timed = frame.seconds is not None and 0 <= frame.seconds < _LONGEST_S
        if is_timed and (frame.compile_id is None or frame.compile_id not in recorded):
            yield frame
