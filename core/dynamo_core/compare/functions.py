"""Functions as two runs have them: what goes on behind a break is the same one, and so is a renamed one."""

from collections.abc import Iterable, Mapping

from ..model import Recording, function_of


def renamed(before: Recording, after: Recording) -> dict[str, str]:
    """The new names of functions that only `before` has: those whose graphs are the same, and no other's."""
    was, now = _graphs_by_function(before), _graphs_by_function(after)
    gone = _by_graphs(was, was.keys() - now.keys())
    fresh = _by_graphs(now, now.keys() - was.keys())
    return {gone[graphs]: fresh[graphs] for graphs in gone.keys() & fresh.keys()}


def _graphs_by_function(recording: Recording) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for process in recording.processes:
        for graph in process.compiled_graphs:
            if graph.key is not None:
                found.setdefault(function_of(graph.frame_name), []).append(graph.key)
    return found


def _by_graphs(of: Mapping[str, list[str]], names: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Functions by their graphs, without those that share theirs with another one."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        found.setdefault(tuple(sorted(of[name])), []).append(name)
    return {graphs: same[0] for graphs, same in found.items() if len(same) == 1}
