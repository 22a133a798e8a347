"""What `--override` and `--config` replaced, and what they found nothing to replace in."""

from typing import Annotated

from dynamo_core.analysis.words import compile_label, frame_name, number, place
from dynamo_core.model import AppliedOverride, ChangedSetting, CompileId, Place, Process, Recording
from dynamo_core.shared.declared import AtLeast
from dynamo_core.shared.overrides import parse_override
from dynamo_core.shared.quick_dataclass import dataclass


def override_lines(recording: Recording) -> list[str]:
    """One for each call or compile in which something was replaced, and for each override that found none."""
    applied = [_applied(each) for process in recording.processes for each in process.overrides]
    lines = list(dict.fromkeys(applied))
    lines += [f"{override}: found {_what_for(override)}" for override in unmatched_overrides(recording)]
    changed = [_changed(each) for process in recording.processes for each in process.changed_settings]
    lines += dict.fromkeys(changed)
    return lines + [f"{text}: torch never loaded that module" for text in _settings_not_met(recording)]


def unmatched_overrides(recording: Recording) -> list[str]:
    """Overrides that replaced nothing in any process."""
    met = {text for process in recording.processes for each in process.overrides for text in each.overrides}
    return [text for text in recording.settings.override or () if text not in met]


def _settings_not_met(recording: Recording) -> list[str]:
    met = {each.change for process in recording.processes for each in process.changed_settings}
    return [text for text in recording.settings.config or () if text not in met]


@dataclass(frozen=True)
class ReplacedArgument:
    """An argument of torch.compile, in words."""

    argument: str
    was: str
    now: str


@dataclass(frozen=True)
class OverrideMet:
    """Arguments that were replaced in a call of torch.compile, or the backend of a compile."""

    process: Process
    overrides: Annotated[list[str], "as given; empty where --fullgraph alone asked for it"]
    of: Annotated[str | None, "the function or module that was compiled"]
    place: Annotated[Place | None, "of the call of torch.compile, or of the frame"]
    compile_id: Annotated[CompileId | None, "null for a call of torch.compile"]
    replaced: list[ReplacedArgument]
    times: Annotated[int, AtLeast(1)]


@dataclass(frozen=True)
class SettingChanged:
    """What became of a --config."""

    process: Process
    change: Annotated[str, "as --config has it"]
    was: str | None
    now: str | None
    problem: Annotated[str | None, "why it was not set; null where it was"]


@dataclass(frozen=True)
class Overrides:
    """What was replaced, and what found nothing to replace."""

    applied: list[OverrideMet]
    unmatched: Annotated[list[str], "overrides that replaced nothing"]
    settings: Annotated[list[SettingChanged], "what --config set, or why it did not"]


def overrides_of(recording: Recording) -> Overrides:
    """The overrides, as the JSON document has them."""
    processes = recording.processes
    return Overrides(
        applied=[_met(each, process) for process in processes for each in process.overrides],
        unmatched=unmatched_overrides(recording) + _settings_not_met(recording),
        settings=[
            SettingChanged(process, each.change, each.was, each.now, each.problem)
            for process in processes
            for each in process.changed_settings
        ],
    )


def _met(each: AppliedOverride, process: Process) -> OverrideMet:
    return OverrideMet(
        process=process,
        overrides=list(each.overrides),
        of=each.of,
        place=each.place,
        compile_id=each.compile_id,
        replaced=[ReplacedArgument(*change) for change in each.replaced],
        times=each.times,
    )


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
        return "no call of torch.compile in the program's own code"
    return f"no compile [{frame}]" if "/" in frame else f"no compile of frame {frame}"
