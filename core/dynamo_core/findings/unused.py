"""Findings: what torch.compile returned and nothing called, and hooks that compiled code leaves out."""

from collections.abc import Iterator

from ..analysis.figures import Figures
from ..analysis.words import number, place
from ..model import HooksLeftOut, Process, Recording, UnusedCompile
from ..remedies.rules import Advice, edit, setting
from .build import remedies
from .finding import Draft, Evidence

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


# Finding: hooks that compiled code leaves out.


_HOOKS = "torch._dynamo.config.skip_nnmodule_hook_guards"
_PUT_ON_EARLIER = Advice(
    "put the hooks on before the first call of what is compiled; or, where they are needed for a while, "
    "call the module that was passed to `torch.compile` (`compiled._orig_mod`) as long as they are on: it "
    "runs eager, with the same parameters, and calls them."
)
_GUARD_ON_HOOKS = setting(
    f"set `{_HOOKS} = False` before the first compiled call: torch then compiles again where hooks come "
    "or go, and compiles them as well.",
    _HOOKS,
    "False",
    "a compile, and graph breaks where torch cannot trace what the hooks do",
)


def hooks_left_out(figures: Figures) -> Iterator[Draft]:
    """One for each line that puts on hooks."""
    for process in figures.recording.processes:
        for left_out in process.hooks_left_out:
            yield _of_hooks(process, left_out)


def _of_hooks(process: Process, left_out: HooksLeftOut) -> Draft:
    what = f"the {left_out.what}" if left_out.hooks == 1 else f"{left_out.hooks} {left_out.what}s"
    graphs = ", ".join(map(str, left_out.graphs[:3])) + (" and others" if left_out.graphs[3:] else "")
    before = f"graph {graphs} was" if len(left_out.graphs) == 1 else f"graphs {graphs} were"
    compile_ids = [each.compile_id for each in process.graphs if each.number in left_out.graphs]
    return Draft(
        "hook not called",
        key=(left_out.what,),
        title=f"compiled code does not call {what} put on {', '.join(left_out.classes[:3])} at "
        f"{place(left_out.line.place)}: left out {number(left_out.left_out, 'time')}",
        cause=f"{before} compiled before, and torch's guards do not ask for hooks: the call goes on without "
        "them",
        processes=(process,),
        place=left_out.line.place,
        function=left_out.line.function,
        source=left_out.line.text,
        evidence=Evidence(tuple(str(each) for each in compile_ids if each is not None), left_out.graphs),
        remedies=remedies("hook not called", [_PUT_ON_EARLIER, _GUARD_ON_HOOKS]),
    )
