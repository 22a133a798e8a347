"""Counts, times and conditions of two runs, compared.

Counts are exact, so that any difference counts. A time has changed only beyond the spread that its repeats
have within each run. Conditions (versions, settings, devices, caches) explain differences and are none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..analysis.summary import Summary, graphs_recorded, summarize
from ..analysis.time.steps import Steps, find_steps
from ..analysis.training import pairs_of, saved_by
from ..analysis.words import cache_name, stable_text
from ..caches.explained import explain_caches
from ..model import Process, Recording, function_of
from .difference import Condition, CountChange, Time, TimeVerdict

# The counts to compare, by the field of `Summary`. Calls are not among them: they depend on the run's length.
COUNTS: Mapping[str, str] = {
    "processes": "processes",
    "frames": "frames",
    "frames_compiled": "frames compiled",
    "whole_graph_frames": "frames of fullgraph=True",
    "frames_fell_back": "frames that ran eager",
    "frames_raised": "errors in the compiler",
    "graphs": "graphs",
    "ops": "ops",
    "distinct_graph_breaks": "graph breaks",
    "graph_breaks": "graph breaks met while compiling",
    "recompiles": "recompiles",
    "guards": "guards",
}
EXIT_CODE = "exit code"
SAVED = "bytes saved for the backward"


def count_changes(
    before: Recording, after: Recording, renames: Mapping[str, str]
) -> tuple[tuple[CountChange, ...], tuple[str, ...]]:
    """The counts that differ, and in sentences, what cannot be compared."""
    was, now = summarize(before), summarize(after)
    known = {name: (getattr(was, field), getattr(now, field)) for field, name in COUNTS.items()}
    endings, saved = (_exit_code(was), _exit_code(now)), (saved_bytes(before), saved_bytes(after))
    changes = [
        CountChange(name, None, one, other)
        for name, (one, other) in {**known, EXIT_CODE: endings, SAVED: saved}.items()
        if one is not None and other is not None and one != other
    ]
    if was.guards != now.guards or was.recompiles != now.recompiles:
        changes += _function_guards(before, after, renames)
    if saved != (None, None):
        known[SAVED] = saved
    return tuple(changes), not_recorded(known)


def not_recorded(known: Mapping[str, tuple[object, object]]) -> tuple[str, ...]:
    """In a sentence for each case: what is not recorded before, after, or on either side."""
    missing: dict[str, list[str]] = {}
    for name, (before, after) in known.items():
        if before is None or after is None:
            where = "on either side" if before is after else "before" if before is None else "after"
            missing.setdefault(where, []).append(name)
    return tuple(f"not recorded {where}: {', '.join(names)}" for where, names in missing.items())


def saved_bytes(recording: Recording) -> int | None:
    """The bytes that forward graphs save for their backward; None where some did not record it.

    A graph from the cache of AOTAutograd has a backward, but no record of what it saves. A graph without a
    backward saves nothing if it is known that no gradients can be requested.
    """
    if not graphs_recorded(recording):
        return None
    total = 0
    for process in recording.processes:
        for graph in process.compiled_graphs:
            pairs = pairs_of(graph, process)
            saved = saved_by(pairs).bytes if pairs else None
            if saved is None and (pairs is None or pairs or graph.trains is not False):
                return None
            total += saved or 0
    return total


def _exit_code(summary: Summary) -> int | None:
    """The exit code as a shell gives it: 128 and the signal's number where a signal ended the program."""
    return summary.exit_code if summary.signal is None else 128 + summary.signal


def _function_guards(
    before: Recording, after: Recording, renames: Mapping[str, str]
) -> Sequence[CountChange]:
    was, now = _guards(before, renames), _guards(after, {})
    return [
        CountChange("guards", function, was[function], now[function])
        for function in was
        if function in now and was[function] != now[function]
    ]


def _guards(recording: Recording, renames: Mapping[str, str]) -> Counter[str]:
    """The number of guards of each function, over all of its cache entries."""
    found: Counter[str] = Counter()
    for process in recording.processes:
        for compile_ in process.compiles:
            if compile_.guards is not None:
                name = function_of(compile_.name)
                found[renames.get(name, name)] += compile_.guards
    return found


STEP, COMPILING, IN_GRAPHS = "a steady step", "compiling", "in compiled graphs"
_LEAST_REPEATS = 4  # on each side; the spread of fewer is not meaningful
# A change must also be this large, since other load on the machine differs between two runs.
_LEAST_CHANGE = 1.05
_ONCE = "measured once on each side: a difference may be chance"
# Conditions that must be the same for times to be compared.
_OF_THE_MACHINE = ("torch", "Python", "devices", "CUDA build", "HIP build")


def times(
    before: Recording, after: Recording, renames: Mapping[str, str], differing: tuple[Condition, ...]
) -> tuple[Time, ...]:
    """The times of both runs, as far as either side recorded them."""
    other_machine = [condition.name for condition in differing if condition.name in _OF_THE_MACHINE]
    was, now = summarize(before), summarize(after)
    found = [*_steps(before, after, renames, other_machine)]
    for name, one, other in (
        (COMPILING, was.compile_time_s, now.compile_time_s),
        (IN_GRAPHS, was.graph_host_seconds, now.graph_host_seconds),
    ):
        if one is not None or other is not None:
            found.append(Time(name, one, other, None, None, "not comparable", _ONCE))
    return tuple(found)


def _steps(
    before: Recording, after: Recording, renames: Mapping[str, str], other_machine: list[str]
) -> Iterator[Time]:
    was, now = _most_steps(before), _most_steps(after)
    if was is None and now is None:
        return
    verdict: TimeVerdict = "not comparable"
    if was is None or now is None:
        why = f"no step repeats {'before' if was is None else 'after'}"
    elif renames.get(name := _function(was), name) != _function(now):
        why = f"a step is another function: {_function(was)} before, {_function(now)} after"
    elif other_machine:
        why = f"not the same: {', '.join(other_machine)}"
    elif min(len(was.blocks), len(now.blocks)) < _LEAST_REPEATS:
        why = "too few repeats"
    else:
        verdict, why = _compare_steps(was, now)
    yield Time(
        STEP,
        None if was is None else was.median,
        None if now is None else now.median,
        None if was is None else was.spread,
        None if now is None else now.spread,
        verdict,
        why,
    )


def _compare_steps(was: Steps, now: Steps) -> tuple[TimeVerdict, str]:
    (fastest, slowest), (now_fastest, now_slowest) = was.spread, now.spread
    if now_fastest > slowest and now.median > _LEAST_CHANGE * was.median:
        return "longer", f"{now.median / was.median:.2f} times as long"
    if now_slowest < fastest and was.median > _LEAST_CHANGE * now.median:
        return "shorter", f"{was.median / now.median:.2f} times as fast"
    return "within the spread", "the two differ by no more than repeats within a run do"


def _most_steps(recording: Recording) -> Steps | None:
    """The steps of the process that made the most of them."""
    found = [steps for process in recording.processes if (steps := find_steps(process)) is not None]
    return max(found, key=lambda steps: steps.steady, default=None)


def _function(steps: Steps) -> str:
    return function_of(steps.graph.frame_name)


# Settings of a run that do not affect what is compiled, or that only name its files.
_OF_THE_RUN = ("autotune_file", "step_frames", "verify_budget", "try_budget")
# Causes of a cache miss that no other part of the comparison names.
_OF_CACHES = ("machine", "threads", "setting", "custom pass", "process group", "unstable", "folder")
_LONGEST = 200  # characters of a value
_VERSIONS = {"torch": "torch", "python": "Python", "cuda_build": "CUDA build", "hip_build": "HIP build"}


def conditions(before: Recording, after: Recording) -> tuple[Condition, ...]:
    """The conditions that differ, as far as both sides recorded them."""
    was, now = _conditions_of(before), _conditions_of(after)
    found = [Condition(name, was[name], now[name]) for name in was if now.get(name, was[name]) != was[name]]
    return (*found, *_torch_settings(before, after), *_cache_keys(before, after))


def _conditions_of(recording: Recording) -> dict[str, str]:
    found: dict[str, str] = {}
    if recording.run is not None and recording.run.dynamo is not None:
        found["dynamo"] = recording.run.dynamo
    first = recording.processes[0] if recording.processes else None
    if first is not None:
        if first.torch_version is not None:
            found["torch"] = first.torch_version
        found |= _versions(first)
        if first.runtime.state.devices is not None:
            found["devices"] = ", ".join(first.runtime.state.devices) or "none"
    settings = recording.settings.recorded
    for name, value in sorted(settings.items()):
        if name not in _OF_THE_RUN:
            found[f"dynamo run: {name}"] = stable_text(_text(value))
    found |= dict(_caches(recording))
    return found


def _versions(process: Process) -> Iterator[tuple[str, str]]:
    recorded = vars(process.info)
    for field, name in _VERSIONS.items():
        if field in recorded and field != "torch":
            yield name, _text(recorded[field])


def _torch_settings(before: Recording, after: Recording) -> Iterator[Condition]:
    """Torch's settings that differ; only values that are not the default are recorded."""
    was, now = _not_default(before), _not_default(after)
    if was is None or now is None:
        return
    for name in dict.fromkeys([*was, *now]):
        if was.get(name) != now.get(name):
            yield Condition(name, was.get(name, "the default"), now.get(name, "the default"))


def _not_default(recording: Recording) -> dict[str, str] | None:
    config = recording.processes[0].runtime.state.torch_config if recording.processes else None
    if config is None:
        return None
    return {
        f"{module}.{name}": stable_text(value)
        for module, values in config.items()
        for name, value in values.items()
    }


def _caches(recording: Recording) -> Iterator[tuple[str, str]]:
    lookups = Counter(
        (lookup.cache, lookup.outcome)
        for process in recording.processes
        for lookup in process.caching.lookups
    )
    for cache in dict.fromkeys(cache for cache, _ in lookups):
        outcomes = [f"{n} {outcome}" for (name, outcome), n in sorted(lookups.items()) if name == cache]
        yield cache_name(cache), ", ".join(outcomes)


def _cache_keys(before: Recording, after: Recording) -> Iterator[Condition]:
    """How the keys of cache misses differ; graphs and inputs are compared elsewhere."""
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
