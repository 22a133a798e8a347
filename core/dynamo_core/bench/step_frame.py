"""The frame with which a step of a program begins, found in a run in which Dynamo compiled it."""

from ..analysis.own_calls import OwnCalls
from ..analysis.time.steps import find_steps
from ..model import CompileId, Graph, Place, Process, resumed_function
from ..shared.quick_dataclass import dataclass
from ..shared.settings import StepFrame

_OF_DYNAMO = "/torch/_dynamo/"  # the function through which modules of torch's are compiled


@dataclass(frozen=True)
class Step:
    """The function whose call begins a step, and the frames that stand for it, compiled or not.

    Where it is torch's or another library's, `called_at` is the program's line that calls it.
    """

    name: str
    place: Place
    frames: tuple[StepFrame, ...]
    called_at: Place | None = None

    @property
    def is_of_dynamo(self) -> bool:
        """Whether it is known only as a frame of Dynamo's own, which eager does not have."""
        return any(_OF_DYNAMO in file for file, _, _ in self.frames)


def find_step(process: Process, wanted: str | None = None) -> Step | None:
    """The step of a process, as `find_steps` finds it; None where nothing repeats."""
    steps = find_steps(process, wanted)
    if steps is None or steps.graph.frame_name is None or steps.graph.frame_place is None:
        return None
    graph = steps.graph
    name, place = steps.graph.frame_name, steps.graph.frame_place
    own = _frame_of(process, name, place)
    if resumed_function(name) is None:
        call = OwnCalls(process).of(graph.compile_id, place)
        if call is not None and graph.method is not None and _OF_DYNAMO in place.file:
            at_its_call = (call.place.file, call.place.line, graph.method)
            return Step(graph.method, place, (at_its_call,), call.place)
        return Step(name, place, (own,), None if call is None else call.place)
    origin = _origin(process.entire, name)
    if origin is None:
        return None
    name, place = origin
    frame = _frame_of(process, name, place)
    # A function that breaks before its first operation has no graph: compiled, its rest stands for it.
    has_graph = any(_is_of(other, name, place) for other in process.entire.graphs if other is not graph)
    return Step(name, place, (frame,) if has_graph else (frame, own))


def _is_of(graph: Graph, name: str, place: Place) -> bool:
    return (graph.frame_name, graph.frame_place) == (name, place)


def _frame_of(process: Process, name: str, place: Place) -> StepFrame:
    """As its code says it: a decorated function begins with the first of its decorators."""
    first = process.entire.first_lines.get(place, place)
    return first.file, first.line, name


def _origin(process: Process, name: str) -> tuple[str, Place] | None:
    """The function of the program that a resume function is the rest of."""
    makers = {made.code_name: made.made_by for made in process.resume_functions}
    compiled = {compile_.compile_id: compile_ for compile_ in process.compiles if compile_.is_forward}
    seen: set[CompileId | None] = set()
    while resumed_function(name) is not None:
        made_by = makers.get(name)
        compile_ = compiled.get(made_by)
        if made_by in seen or compile_ is None or compile_.name is None or compile_.place is None:
            return None
        seen.add(made_by)
        name, place = compile_.name, compile_.place
    return name, place
