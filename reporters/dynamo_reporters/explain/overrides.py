"""What `--override` and `--config` replaced, and what they found nothing to replace in."""

from typing import Any

from dynamo_core.analysis.words import compile_label, frame_name, number, place
from dynamo_core.model import AppliedOverride, ChangedSetting, Recording
from dynamo_core.shared.overrides import parse_override

from ..documents import json_value
from ..report import id_value, place_value, process_value


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


def overrides_value(recording: Recording) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "applied": [
            {
                "process": process_value(process),
                "overrides": list(each.overrides),
                "of": each.of,
                "place": place_value(each.place),
                "compile_id": id_value(each.compile_id),
                "replaced": [change._asdict() for change in each.replaced],
                "times": each.times,
            }
            for process in recording.processes
            for each in process.overrides
        ],
        "unmatched": unmatched_overrides(recording) + _settings_not_met(recording),
        "settings": [
            {"process": process_value(process), **json_value(each)}
            for process in recording.processes
            for each in process.changed_settings
        ],
    }


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
