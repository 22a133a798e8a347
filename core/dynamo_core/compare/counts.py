"""Counts of two runs: exact, so that any difference is one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..analysis.summary import Summary, graphs_recorded, summarize
from ..analysis.training_pairs import pairs_of, saved_by
from ..model import Recording, function_of
from .difference import CountChange

# The counts that are the program's and the compiler's; calls are as many as the program makes.
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
    """The counts that differ, and what cannot be compared: a sentence each."""
    was, now = summarize(before), summarize(after)
    changes = list(_of_the_run(was, now))
    saved = saved_bytes(before), saved_bytes(after)
    if saved[0] is not None and saved[1] is not None and saved[0] != saved[1]:
        changes.append(CountChange(SAVED, None, saved[0], saved[1]))
    if was.guards != now.guards or was.recompiles != now.recompiles:
        changes += _guards_of_functions(before, after, renames)
    known = {name: (getattr(was, field), getattr(now, field)) for field, name in COUNTS.items()}
    if saved != (None, None):
        known[SAVED] = saved
    return tuple(changes), not_recorded(known)


def not_recorded(known: Mapping[str, tuple[object, object]]) -> tuple[str, ...]:
    """What is not recorded on one side or on both, in a line for each of these."""
    missing: dict[str, list[str]] = {}
    for name, (before, after) in known.items():
        if before is None or after is None:
            where = "on either side" if before is after else "before" if before is None else "after"
            missing.setdefault(where, []).append(name)
    return tuple(f"not recorded {where}: {', '.join(names)}" for where, names in missing.items())


def saved_bytes(recording: Recording) -> int | None:
    """What forward graphs save for their backward; None where that was not recorded of some.

    A graph that came from the cache of AOTAutograd has a backward, and no record of what it saves. Of one
    without a backward it is known only that no gradients can be asked for.
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


def _of_the_run(was: Summary, now: Summary) -> Iterator[CountChange]:
    for field, name in COUNTS.items():
        before, after = getattr(was, field), getattr(now, field)
        if before is not None and after is not None and before != after:
            yield CountChange(name, None, before, after)
    endings = _exit_code(was), _exit_code(now)
    if endings[0] is not None and endings[1] is not None and endings[0] != endings[1]:
        yield CountChange(EXIT_CODE, None, endings[0], endings[1])


def _exit_code(summary: Summary) -> int | None:
    """How the program ended, as a shell says it of one that a signal ended."""
    return summary.exit_code if summary.signal is None else 128 + summary.signal


def _guards_of_functions(
    before: Recording, after: Recording, renames: Mapping[str, str]
) -> Sequence[CountChange]:
    was, now = _guards(before, renames), _guards(after, {})
    return [
        CountChange("guards", function, was[function], now[function])
        for function in was
        if function in now and was[function] != now[function]
    ]


def _guards(recording: Recording, renames: Mapping[str, str]) -> Counter[str]:
    """Guards of each function's cache entries, together."""
    found: Counter[str] = Counter()
    for process in recording.processes:
        for compile_ in process.compiles:
            if compile_.guards is not None:
                name = function_of(compile_.name)
                found[renames.get(name, name)] += compile_.guards
    return found
