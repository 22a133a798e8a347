"""What a run changed or kept at the user's wish: `--override`, `--config`, eager's semantics, capture limits.

Each as blocks of `dynamo explain`, as lines at the end of a run, and as JSON.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Annotated

from dynamo_core.analysis.words import compile_label, first_line, frame_name, number, place
from dynamo_core.model import (
    AppliedOverride,
    ChangedSetting,
    Compile,
    Place,
    Process,
    Recording,
    SemanticDifference,
)
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.overrides import parse_override
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Bullets, Heading, Paragraph


def override_lines(recording: Recording) -> list[str]:
    """One for each call or compile in which something was replaced, and for each override that found none."""
    lines = list(dict.fromkeys(_applied(each.override) for each in _overrides_in(recording)))
    lines += [f"{override}: found {_what_for(override)}" for override in unmatched_overrides(recording)]
    lines += dict.fromkeys(_changed(each.setting) for each in _settings_in(recording))
    return lines + [f"{text}: torch never loaded that module" for text in _settings_not_met(recording)]


def unmatched_overrides(recording: Recording) -> list[str]:
    """Overrides that replaced nothing in any process."""
    met = {text for each in _overrides_in(recording) for text in each.override.overrides}
    return [text for text in recording.settings.override or () if text not in met]


def _settings_not_met(recording: Recording) -> list[str]:
    met = {each.setting.change for each in _settings_in(recording)}
    return [text for text in recording.settings.config or () if text not in met]


@dataclass(frozen=True)
class OverrideOfProcess:
    """Arguments that were replaced in a call of torch.compile, or the backend of a compile."""

    process: Process
    override: AppliedOverride = field(metadata=INLINE)


@dataclass(frozen=True)
class SettingOfProcess:
    """What became of a --config."""

    process: Process
    setting: ChangedSetting = field(metadata=INLINE)


@dataclass(frozen=True)
class Overrides:
    """What was replaced, and what found nothing to replace."""

    applied: list[OverrideOfProcess]
    unmatched: Annotated[list[str], "overrides that replaced nothing"]
    settings: Annotated[list[SettingOfProcess], "what --config set, or why it did not"]


def overrides_of(recording: Recording) -> Overrides:
    """The overrides, as the JSON document has them."""
    unmatched = unmatched_overrides(recording) + _settings_not_met(recording)
    return Overrides(_overrides_in(recording), unmatched, _settings_in(recording))


def _overrides_in(recording: Recording) -> list[OverrideOfProcess]:
    return [OverrideOfProcess(p, each) for p in recording.processes for each in p.interventions.overrides]


def _settings_in(recording: Recording) -> list[SettingOfProcess]:
    return [
        SettingOfProcess(p, each) for p in recording.processes for each in p.interventions.changed_settings
    ]


def _applied(each: AppliedOverride) -> str:
    changes = ", ".join(f"{argument} {was} → {now}" for argument, was, now in each.replaced)
    if each.compile_id is not None:
        where = f"compile {compile_label(each.compile_id)} of {frame_name(each.of)} ({place(each.place)})"
    else:
        where = f"torch.compile of {each.of or 'something'} at {place(each.place)}"
    times = f" ({number(each.times, 'time')})" if each.times > 1 else ""
    return f"{where}: {changes or 'nothing to replace, it has these arguments'}{times}"


def _changed(each: ChangedSetting) -> str:
    if each.problem is not None:
        return f"{each.change}: not set, {each.problem}"
    return f"{each.change.partition('=')[0].removesuffix('+')}: {each.was} → {each.now}"


def _what_for(override: str) -> str:
    try:
        frame = parse_override(override).frame
    except ValueError:  # a stranger's recording
        return "nothing to replace"
    if frame is None:
        nothing = "no call of torch.compile in the program's own code"
        is_of_backend = override.startswith("backend=")
        return f"{nothing}; for what dynamo run compiles it is `--{override}`" if is_of_backend else nothing
    return f"no compile [{frame}]" if "/" in frame else f"no compile of frame {frame}"


# What torch.compile would change in this program: where its semantics are not eager's, and how we fared.


_NAMES_SHOWN = 4
_OF_MODULE = re.compile(r"\._(?:modules|parameters|buffers)\['(\w{1,100})'\]")

# What torch.compile does, of each kind that is recorded (core/dynamo_core/capture/eager_semantics).
_WORDS = {
    "second_backward": "backward runs a second time through what one forward computed; torch.compile raises "
    "an error: its graph frees all at once what eager frees part by part",
    "double_backward": "gradients of gradients are asked for; the backward of torch.compile has none: it "
    "raises an error, or zeros come out",
    "inner_gradient": "a gradient is asked for (a hook, retain_grad, torch.autograd.grad) of a result from "
    "which another result was computed; torch.compile leaves out what flows through the other",
    "caught_exception": "the program handles what an operation raises (`try`, `with`), not what a compiled "
    "graph raises, since that is called ahead of it",
    "assertion": "an assertion on a tensor; torch.compile raises RuntimeError, eager AssertionError",
    "deterministic": "torch.use_deterministic_algorithms is on; compiled code lacks its errors",
    "subclass": "it is given a tensor subclass, which compiled code does not call for each operation",
    "in_place": "an input that requires gradients is changed in place; a second or double backward through "
    "it raises an error under torch.compile",
    "overwritten": "it changes an input in place that its compiled backward reads again: the gradients of "
    "torch.compile are wrong",
    "own_parameters": "the graph holds parameters of its own, so it could not be run again in eager",
    "other_inputs": "AOTAutograd replaced inputs of the graph, so it could not be run again in eager",
}

_FARED = {
    "eager": "Here eager's result was kept.",
    "compiled": "The program got what torch.compile gives.",
    "expected": "",
}


def semantics_section(recording: Recording) -> Iterator[Block]:
    """The section of `dynamo explain`."""
    lines = list(dict.fromkeys(_lines(recording)))
    if lines:
        yield Heading(
            "What torch.compile would change" if _is_kept(recording) else "What torch.compile changes"
        )
        yield Bullets(lines)
        if _is_kept(recording):
            yield Paragraph("`dynamo run --semantics compiled` gives this program torch.compile's semantics.")


def semantics_line(recording: Recording) -> str | None:
    """The line at the end of a run."""
    count = len(set(_lines(recording)))
    if not count:
        return None
    kept = "eager's semantics were kept" if _is_kept(recording) else "`dynamo explain --all` says how"
    return f"torch.compile differs from eager in {number(count, 'place')} of this program; {kept}"


@dataclass(frozen=True)
class Semantics:
    """Where torch.compile does not do what eager does."""

    process: Process
    difference: SemanticDifference = field(metadata=INLINE)


def semantics_of(recording: Recording) -> list[Semantics]:
    """Where torch.compile does not do what eager does, each with its place where that is known."""
    return [
        Semantics(process, replace(each, place=_place_of(each, compiles)))
        for process in recording.processes
        for compiles in [_compiles(process)]
        for each in process.interventions.semantic_differences
    ]


def _is_kept(recording: Recording) -> bool:
    return any(each.difference.answered == "eager" for each in semantics_of(recording))


def _lines(recording: Recording) -> Iterator[str]:
    for process in recording.processes:
        compiles = _compiles(process)
        for each in process.interventions.semantic_differences:
            where = f"{place(_place_of(each, compiles))}{_frame(each, compiles)}"
            yield f"{where}: {_sentence(each)}. {_FARED[each.answered]}".strip()


def _sentence(each: SemanticDifference) -> str:
    if each.kind == "unused_output":
        return (
            f"no loss used {_some(each.outputs)}; torch.compile gives "
            f"{_some(tuple(map(_name, each.inputs)))} gradients of zeros where eager gives None, and an "
            "optimizer with weight decay or momentum then changes them"
        )
    if each.kind == "exception":
        eagers = "eager computes a result" if each.eager is None else f"eager raises {first_line(each.eager)}"
        return f"compiled code raises {first_line(each.compiled)}, where {eagers}"
    return _WORDS.get(each.kind, each.kind)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown + (f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else "")


def _name(source: str) -> str:
    """`self.head.weight` of `L['self']._modules['head']._parameters['weight']`."""
    return _OF_MODULE.sub(r".\1", source.replace("L['self']", "self"))


def _place_of(each: SemanticDifference, compiles: Mapping[int | None, Compile]) -> Place | None:
    if each.place is not None:
        return each.place
    compiled = compiles.get(each.graph)
    return None if compiled is None else compiled.place


def _frame(each: SemanticDifference, compiles: Mapping[int | None, Compile]) -> str:
    compiled = compiles.get(each.graph)
    return "" if compiled is None else f", graph {each.graph} of {frame_name(compiled.name, compiled.method)}"


def _compiles(process: Process) -> dict[int | None, Compile]:
    """The compile that each graph is of, by the graph's number."""
    entire = process.entire
    if not process.interventions.semantic_differences:
        return {}
    first = {each.compile_id: each for each in reversed(entire.compiles)}
    graphs = reversed(entire.graphs)
    return {graph.number: first[graph.compile_id] for graph in graphs if graph.compile_id in first}


# Frames that run eager so that capture does not cost more than it may.


def limit_lines(recording: Recording) -> list[str]:
    """A line for each frame that was given up at a limit, which is a finding as well, or has waited."""
    fallbacks = dict.fromkeys(
        f"{frame_name(frame.name, frame.method)} at {place(frame.place)} runs eager: {frame.reason}"
        for process in recording.processes
        for frame in process.frames
        if frame.limit is not None
    )
    return [*fallbacks, *deferred_lines(recording)]


def not_tried_lines(recording: Recording) -> list[str]:
    """A line for each reason why `--try` could try nothing on frames, with how many there were."""
    frames: dict[str, set[Place]] = {}
    for process in recording.processes:
        for tried in process.interventions.tried_changes:
            if tried.before.why is not None:
                frames.setdefault(tried.before.why, set()).add(tried.place)
    return [f"changes for {number(len(places), 'frame')}: {why}" for why, places in frames.items()]


def deferred_lines(recording: Recording) -> list[str]:
    """A line for each frame that has waited, with what to set."""
    return [
        f"{frame_name(frame.name)} at {place(frame.place)} ran eager {number(frame.times, 'time')}, as "
        f"compiling had taken, or would take, more CPU time than the program itself{_budget(recording)}"
        for process in recording.processes
        for frame in process.interventions.deferred
    ]


def _budget(recording: Recording) -> str:
    budget = recording.settings.capture_budget
    return "" if budget is None else f" and {budget:g} s (--capture-budget {budget:g})"
