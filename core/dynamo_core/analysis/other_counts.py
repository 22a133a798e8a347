"""Why a captured program's counts may differ from those of `torch.compile` of its modules."""

from collections import Counter
from collections.abc import Iterator

from ..model import GraphBreak, Process, Recording
from ..model.ids import resumed_function
from ..shared.settings import SEMANTICS_EAGER
from .source_lines import is_library, is_of_torch_or_python
from .summary import fell_back, never_tried
from .words import number

_DISTRIBUTION = "torch/distributions/distribution.py"


def why_counts_differ(recording: Recording) -> str:
    """A sentence on what capture did otherwise in this run; empty where nothing of that was recorded."""
    captured = [each for each in recording.processes if _policy(each)]
    reasons = [*_left_eager(captured), *_functions(captured), *_library_calls(captured)]
    if recording.settings.semantics == SEMANTICS_EAGER and any(map(_is_validated, captured)):
        reasons.append("torch.distributions checks its arguments, as in eager")
    return f"Counts may differ from torch.compile of its modules: {'; '.join(reasons)}." if reasons else ""


def _policy(process: Process) -> str | None:
    """What was captured in a process; None where the program compiles for itself."""
    decisions = process.interventions.captures
    return decisions[-1].policy if decisions and decisions[-1].decision == "capture" else None


def captured_before(process: Process) -> frozenset[str]:
    """The ids of what was captured before the program turned out to compile for itself; empty if it did not.

    Of these compiles the program knows nothing without us.
    """
    decisions = process.interventions.captures
    if len(decisions) < 2 or decisions[-1].decision != "observe":
        return frozenset()
    return frozenset(str(each.compile_id) for each in process.frames if each.compiled_by is None)


def _left_eager(captured: list[Process]) -> Iterator[str]:
    limits = Counter(frame.limit for process in captured for frame in process.frames if frame.limit)
    limits["--capture-budget"] += sum(len(never_tried(process)) for process in captured)
    for option, frames in (+limits).items():
        yield f"{number(frames, 'frame')} left eager by {option}"
    partly = sum(len(process.interventions.deferred) - len(never_tried(process)) for process in captured)
    if partly:
        yield f"{number(partly, 'frame')} not compiled for some calls, by --capture-budget"


def _functions(captured: list[Process]) -> Iterator[str]:
    """The program's own functions, where it has modules as well."""
    compiled = {
        (frame.name, frame.place, frame.method)
        for process in captured
        for frame in process.frames
        if frame.outcome == "compiled" and not resumed_function(frame.name)
    }
    functions = sum(not _is_forward(name) for name, _, _ in compiled)
    if functions and any(method or _is_forward(name) for name, _, method in compiled):
        yield f"{number(functions, 'function')} captured besides forward methods"


def _library_calls(captured: list[Process]) -> Iterator[str]:
    if any(_policy(process) != "all" and _has_library_calls(process) for process in captured):
        yield "library functions behind a graph break or fallback run eager (--capture all compiles them)"


def _has_library_calls(process: Process) -> bool:
    """Whether functions of libraries that a frame calls, and that are no forward, run eager by themselves."""
    return any(map(fell_back, process.frames)) or any(map(_is_in_library_call, process.breaks))


def _is_in_library_call(graph_break: GraphBreak) -> bool:
    return any(
        is_library(each.place) and not is_of_torch_or_python(each.place) and not _is_forward(each.function)
        for each in graph_break.stack[1:]
    )


def _is_forward(name: str) -> bool:
    return name.rpartition(".")[2] == "forward"


def _is_validated(process: Process) -> bool:
    return any(each.place and each.place.file.endswith(_DISTRIBUTION) for each in process.breaks)
