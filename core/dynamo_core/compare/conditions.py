"""What two runs ran under: versions, settings, devices, caches. It explains differences and is none."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..analysis.caches.explained import explain_caches
from ..analysis.lasting_text import without_what_passes
from ..analysis.words import cache_name
from ..model import Process, Recording
from .difference import Condition

# Settings of a run that say nothing of what is compiled, or where its files are.
_OF_THE_RUN = ("autotune_file", "step_frames")
# Causes of a look-up that found nothing which no other part of the comparison names.
_OF_CACHES = ("machine", "threads", "setting", "custom pass", "process group", "unstable", "folder")
_LONGEST = 200  # characters of a value
_VERSIONS = {"torch": "torch", "python": "Python", "cuda_build": "CUDA build", "hip_build": "HIP build"}


def conditions(before: Recording, after: Recording) -> tuple[Condition, ...]:
    """Those that differ, as far as both sides recorded them."""
    was, now = _of(before), _of(after)
    found = [Condition(name, was[name], now[name]) for name in was if now.get(name, was[name]) != was[name]]
    return (*found, *_torch_settings(before, after), *_cache_keys(before, after))


def _of(recording: Recording) -> dict[str, str]:
    found: dict[str, str] = {}
    if recording.run is not None and recording.run.dynamo is not None:
        found["dynamo"] = recording.run.dynamo
    first = recording.processes[0] if recording.processes else None
    if first is not None:
        if first.torch_version is not None:
            found["torch"] = first.torch_version
        found |= _versions(first)
        if first.state.devices is not None:
            found["devices"] = ", ".join(first.state.devices) or "none"
    settings = recording.settings.recorded
    for name, value in sorted(settings.items()):
        if name not in _OF_THE_RUN:
            found[f"dynamo run: {name}"] = without_what_passes(_text(value))
    found |= dict(_caches(recording))
    return found


def _versions(process: Process) -> Iterator[tuple[str, str]]:
    recorded = process.info.recorded
    for field, name in _VERSIONS.items():
        if field in recorded and field != "torch":
            yield name, _text(recorded[field])


def _torch_settings(before: Recording, after: Recording) -> Iterator[Condition]:
    """Settings of torch's; only those that are not the defaults are recorded."""
    was, now = _not_default(before), _not_default(after)
    if was is None or now is None:
        return
    for name in dict.fromkeys([*was, *now]):
        if was.get(name) != now.get(name):
            yield Condition(name, was.get(name, "the default"), now.get(name, "the default"))


def _not_default(recording: Recording) -> dict[str, str] | None:
    config = recording.processes[0].state.torch_config if recording.processes else None
    if config is None:
        return None
    return {
        f"{module}.{name}": without_what_passes(value)
        for module, values in config.items()
        for name, value in values.items()
    }


def _caches(recording: Recording) -> Iterator[tuple[str, str]]:
    looked_up = Counter(
        (lookup.cache, lookup.outcome) for process in recording.processes for lookup in process.cache_lookups
    )
    for cache in dict.fromkeys(cache for cache, _ in looked_up):
        outcomes = [f"{n} {outcome}" for (of, outcome), n in sorted(looked_up.items()) if of == cache]
        yield cache_name(cache), ", ".join(outcomes)


def _cache_keys(before: Recording, after: Recording) -> Iterator[Condition]:
    """What the keys of compiles that found nothing differ in; graphs and inputs are compared elsewhere."""
    reasons = explain_caches(after, [before]).reasons
    causes = {cause.part or cause.kind: cause for reason in reasons for cause in reason.causes}
    for part, cause in causes.items():
        if cause.kind in _OF_CACHES and (cause.before is not None or cause.after is not None):
            name = "cache folder" if cause.kind == "folder" else f"cache key: {part}"
            unstable = " (unstable)" if cause.kind == "unstable" else ""
            yield Condition(name + unstable, _shortened(cause.before), _shortened(cause.after))


def _shortened(value: str | None) -> str:
    return "none" if value is None else value if len(value) <= _LONGEST else value[:_LONGEST] + "…"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    return "none" if value is None else str(value)
