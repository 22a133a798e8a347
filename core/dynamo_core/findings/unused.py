"""Findings: what torch.compile returned, and the program never called as compiled code."""

from collections.abc import Iterator

from ..analysis.figures import Figures
from ..analysis.words import place
from ..model import Process, Recording, UnusedCompile
from ..remedies.rules import Advice, edit
from .build import remedies
from .finding import Draft

_ALWAYS_EAGER = "every call was made under the stance `force_eager`, which runs plain Python"
_NOT_ALWAYS = Advice("set the stance `force_eager` only around calls that are to run eager.")
_UNDER_A_MODE = (
    "its first call was made under a mode that sees every operation (a `TorchDispatchMode`, as "
    "`FlopCounterMode` is one), where torch compiles nothing; what it skipped there runs eager ever after"
)
_NOT_UNDER_IT = Advice(
    "under the mode call what is not compiled: what was passed to `torch.compile`, or, after "
    "`model.compile()`, `model.forward`. It runs eager there in any case; the other is then compiled in its "
    "first call without the mode."
)
_OF_A_FUNCTION = "torch.compile leaves the function as it was, and returns another one, which nothing called"
_OF_A_MODULE = (
    "torch.compile compiles the call of a module (`model(x)`): its other methods, its parts one by one, and "
    "the module that was passed to `torch.compile` run eager"
)
_CALL_IT = Advice("call what `torch.compile` returned, in place of what was passed to it.")
_OF_THE_NAMES = "the names in its `state_dict` have no `_orig_mod.` in front"
_IN_PLACE = edit(
    "compile the module in place, `model.compile()` for `model = torch.compile(model)`: every call of it "
    "then runs compiled, those in its own methods as well. Where the program calls methods that do not call "
    "it, or call `forward`, compile each of these by itself: for a method `generate`, `model.generate = "
    "torch.compile(model.generate)`.",
    "compiled in place",
    _OF_THE_NAMES,
)
_METHODS = edit(
    "compile the methods that the program calls, in place of the module: for a method `generate`, "
    "`model.generate = torch.compile(model.generate)`.",
    "called methods compiled",
    _OF_THE_NAMES,
)


def unused_compiles(figures: Figures) -> Iterator[Draft]:
    """One for each call of torch.compile whose result was never called, or only as plain Python."""
    used = {
        frame.compiled_by.place
        for process in figures.recording.processes
        for frame in process.frames
        if frame.compiled_by is not None and frame.outcome == "compiled"
    }
    for process in figures.recording.processes:
        for unused in process.unused_compiles if _came_to_its_end(figures.recording, process) else ():
            if unused.line.place not in used:
                yield _draft(process, unused)


def _came_to_its_end(recording: Recording, process: Process) -> bool:
    """Whether nothing says that the program ended before it came as far as a call."""
    is_raised = process.runtime.end is not None and process.runtime.end.raised is not None
    return not is_raised and (recording.run is None or not recording.run.exit_code)


def _draft(process: Process, unused: UnusedCompile) -> Draft:
    if unused.why == "dispatch mode":
        what, cause, advice = "runs eager since its call there", _UNDER_A_MODE, [_NOT_UNDER_IT]
    elif unused.why == "force_eager":
        what, cause, advice = "never ran compiled", _ALWAYS_EAGER, [_NOT_ALWAYS]
    else:
        what = "was never called"
        of_a_module, of_a_function = (_OF_A_MODULE, [_IN_PLACE, _METHODS]), (_OF_A_FUNCTION, [_CALL_IT])
        cause, advice = of_a_module if unused.is_module else of_a_function
    return Draft(
        "never called",
        key=(unused.function, unused.why),
        title=f"what torch.compile made of {unused.function} at {place(unused.line.place)} {what}",
        cause=cause,
        processes=(process,),
        place=unused.line.place,
        function=unused.line.function,
        source=unused.line.text,
        remedies=remedies("never called", advice),
    )
