"""The differences between ranks: for each subject, the first event or setting that is not the same on all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...model import CompileId, Graph, Node, Process, StackFrame, function_of
from ...recording.guards import parse_guard_failure
from ...shared.failed_guard import without_stack_names
from ...shared.launchers import OF_A_RANK
from ...shared.records import CachesInUse
from ..recompile_causes import causes_of
from ..recompile_lines import line_of_recompile
from ..recompiles import frames_recompiled
from ..summary import breaks_recorded_in, recompiles_recorded_in
from ..words import cache_name, compile_label, first_line, frame_name, graph_frame, number, without_numbers
from .collectives import SharedCalls, collectives_of, has_passed, place_in_program, tensors_in_words
from .members import NOTHING, Difference, Step, Subject, ordinal, sides

Ranks = Mapping[int, Process]


def differences(ranks: Ranks, calls: Mapping[int, SharedCalls]) -> tuple[Difference, ...]:
    """The first difference of each subject, possible causes before what may follow from them.

    The shared calls show which of the ranks that have not ended are only behind the others.
    """
    has_graphs = all(is_recorded(process, "graphs") for process in ranks.values())
    collectives = collective_difference(ranks) if has_graphs else None
    breaks = list(_first(ranks, "graph breaks", "graph break", _breaks, calls))
    recompiles = list(_first(ranks, "recompiles", "recompile", _recompiles, calls))
    # A frame that is compiled again meets its breaks once more.
    is_met_again = bool(breaks and recompiles) and _are_of_recompiles(ranks, calls)
    graphs = list(_graphs(ranks)) if has_graphs else []
    # What a frame holds that is compiled for the first time follows from no recompile.
    is_of_first = (
        collectives is None and (is_met_again or not breaks) and _is_of_first_compiles(ranks, graphs)
    )
    found = [
        *_settings(ranks),
        *(graphs if is_of_first else ()),
        *(recompiles + breaks if is_met_again else breaks + recompiles),
        *([collectives] if collectives else []),
        *(() if is_of_first else graphs),
        *(_with_folders(each, ranks) for each in _first(ranks, "caches", "look-up in a cache", _lookups)),
    ]
    return tuple(found)


def is_recorded(process: Process, subject: Subject) -> bool:
    """Whether a subject was recorded on a rank; if not, that nothing is there says nothing."""
    if subject == "graph breaks":
        return breaks_recorded_in(process)
    if subject == "recompiles":
        return recompiles_recorded_in(process)
    return subject not in ("graphs", "collectives") or "graphs" not in process.health.failed_probes


def _settings(ranks: Ranks) -> Iterator[Difference]:
    """The versions, environment variables and torch settings in which ranks that recorded them differ."""
    recorded = {rank: _recorded_settings(process) for rank, process in ranks.items() if process.is_ours}
    for name in dict.fromkeys(name for settings in recorded.values() for name in settings):
        values = {rank: settings.get(name, "not set") for rank, settings in recorded.items()}
        if len(set(values.values())) > 1:
            title = f"{name} is not the same on all ranks"
            yield Difference("settings", title, sides({r: Step(v, v) for r, v in values.items()}))


def _recorded_settings(process: Process) -> dict[str, str]:
    found = {
        "torch's version": str(process.torch_version),
        "Python's version": str(process.info.python),
    }
    for name, value in sorted((process.info.environment or {}).items()):
        if name not in OF_A_RANK:
            found[name] = value
    for module, values in (process.runtime.state.torch_config or {}).items():
        found |= {f"{module}.{name}": value for name, value in values.items()}
    return found


def _first(
    ranks: Ranks,
    subject: Subject,
    one: str,
    steps: Callable[[Process], Iterable[Step]],
    calls: Mapping[int, SharedCalls] | None = None,
) -> Iterator[Difference]:
    if not all(is_recorded(process, subject) for process in ranks.values()):
        return
    sequences = {rank: list(steps(process)) for rank, process in ranks.items()}
    index = _first_difference(ranks, sequences, calls)
    if index is not None:
        title = f"the {ordinal(index)} {one} is not the same on all ranks"
        yield Difference(subject, title, sides(_steps_at(sequences, index)))


def _first_difference(
    ranks: Ranks,
    sequences: Mapping[int, Sequence[Step]],
    calls: Mapping[int, SharedCalls] | None = None,
) -> int | None:
    """The first index at which two ranks differ; a rank that has not ended may only be behind."""
    for index in range(max(map(len, sequences.values()), default=0)):
        made = {rank: steps[index] for rank, steps in sequences.items() if index < len(steps)}
        keys = {step.key for step in made.values()}
        if len(keys) > 1 or any(
            ranks[rank].runtime.end is not None or (calls is not None and _has_skipped(rank, made, calls))
            for rank in sequences
            if rank not in made
        ):
            return index
    return None


def _has_skipped(rank: int, made: Mapping[int, Step], calls: Mapping[int, SharedCalls]) -> bool:
    """Whether a rank has made a shared call that others made only after the step that this rank lacks."""
    return any(
        step.at_ns is not None and has_passed(calls[rank], calls[other], step.at_ns)
        for other, step in made.items()
    )


def _steps_at(sequences: Mapping[int, Sequence[Step]], index: int) -> dict[int, Step]:
    return {rank: steps[index] if index < len(steps) else NOTHING for rank, steps in sequences.items()}


def _breaks(process: Process) -> Iterator[Step]:
    for each in process.breaks:
        yield Step((each.place, each.kind), first_line(each.reason), each.place, at_ns=each.at_ns)


def _recompiles(process: Process) -> Iterator[Step]:
    ended = {frame.compile_id: frame.ended_ns for frame in process.frames}
    lines = dict(_lines_of_recompiles(process))
    for each in process.recompiles:
        reason = without_stack_names(first_line((each.recompile_reason or "").strip()))
        failed = parse_guard_failure(reason).check
        what = f"{frame_name(each.name, each.method)} was recompiled, as this did not hold: {failed}"
        key = function_of(each.name), each.place, without_numbers(reason)
        line = lines.get(each.compile_id)
        at = each.place if line is None else line.place
        yield Step(key, what, at, at_ns=ended.get(each.compile_id))


def _lines_of_recompiles(process: Process) -> Iterator[tuple[CompileId | None, StackFrame | None]]:
    """The line of each recompile, as `dynamo recompiles` names it."""
    for frame in frames_recompiled([process]):
        for cause in causes_of(frame):
            for compile_, failure in cause.met:
                yield compile_.compile_id, line_of_recompile(frame, failure, cause.where)


def _are_of_recompiles(ranks: Ranks, calls: Mapping[int, SharedCalls]) -> bool:
    """Whether the first breaks that are not the same on all ranks were met in recompiles alone."""
    index = _first_difference(ranks, {rank: list(_breaks(each)) for rank, each in ranks.items()}, calls)
    met = [each.breaks[index] for each in ranks.values() if index is not None and index < len(each.breaks)]
    return all(each.compile_id is not None and (each.compile_id.compile or 0) > 0 for each in met)


def _lookups(process: Process) -> Iterator[Step]:
    for each in process.caching.lookups:
        what = f"{cache_name(each.cache)}: {each.outcome}, for {compile_label(each.compile_id)}"
        yield Step((each.cache, each.outcome), what)


def _with_folders(difference: Difference, ranks: Ranks) -> Difference:
    """Add the cache folders to a difference of look-ups, unless all ranks began with the same folder."""
    # A rank that has changed its cache folders is left out: which of them a look-up used is not known.
    in_use = {rank: process.caching.in_use for rank, process in ranks.items()}
    began = {rank: used[0] for rank, used in in_use.items() if len(used) == 1}
    if len({(use.folder, use.held_graphs) for use in began.values()}) < 2:
        return difference
    with_folders = []
    for side in difference.sides:
        uses = [began[rank] for rank in side.ranks if rank in began]
        if len(uses) == len(side.ranks) and side.what != NOTHING.what:
            stands_for_others = any(ranks[rank].alike for rank in side.ranks)
            side = replace(side, what=side.what + _folders_in_words(uses, stands_for_others))
        with_folders.append(side)
    return replace(difference, sides=tuple(with_folders))


def _folders_in_words(uses: Sequence[CachesInUse], stands_for_others: bool) -> str:
    """The cache folders, left out for ranks with equivalents, which have folders of their own.

    Whether a cache held graphs before is the same for all equivalent ranks.
    """
    folders = {use.folder for use in uses}
    names = folders.pop() if len(folders) == 1 else number(len(folders), "folder")
    where = "" if stands_for_others else f", in {names}"
    if all(use.held_graphs is False for use in uses):
        where += f", {'which' if where else 'in a cache that'} held no graph before"
    return where


def collective_difference(ranks: Ranks) -> Difference | None:
    """The first collective of a group that its ranks do not all call, or not with the same sizes.

    A frame that a rank compiled again with the same collectives calls what the others call.
    """
    groups: dict[str, dict[int, list[Step]]] = {}
    for rank, process in ranks.items():
        known: set[tuple[object, ...]] = set()
        for graph in process.graphs:
            collectives = collectives_of(graph) or []
            frame = None if graph.compile_id is None else graph.compile_id.frame
            version = frame, tuple(each.key for each in collectives)
            if frame is not None and version in known:
                continue
            known.add(version)
            for collective in collectives:
                step = Step(collective.key, str(collective), collective.place, graph.number)
                groups.setdefault(collective.call.group, {}).setdefault(rank, []).append(step)
    for group, sequences in groups.items():
        index = _first_difference(ranks, sequences)
        if index is not None:
            one = f"collective of group {group} that was compiled"
            title = f"the {ordinal(index)} {one} is not the same on all ranks"
            return Difference("collectives", title, sides(_steps_at(sequences, index)))
    return None


def _graphs(ranks: Ranks) -> Iterator[Difference]:
    """The first graph that is not the same on all ranks, or its first different op where nodes are known."""
    sequences = {rank: [_graph_step(graph) for graph in process.graphs] for rank, process in ranks.items()}
    index = _first_difference(ranks, sequences)
    if index is None:
        return
    inner = {rank: _node_steps(ranks[rank].graphs[index]) for rank in ranks if index < len(sequences[rank])}
    node_index = _first_difference(ranks, inner) if len(inner) == len(ranks) else None
    if node_index is not None:
        nodes = [process.graphs[index].nodes or () for process in ranks.values()]
        title = f"{_node_in_words(nodes, node_index)} of graph {index + 1} is not the same on all ranks"
        yield Difference("graphs", title, sides(_steps_at(inner, node_index)))
        return
    title = f"graph {index + 1} is not the same on all ranks"
    yield Difference("graphs", title, sides(_steps_at(sequences, index)))


def _is_of_first_compiles(ranks: Ranks, differences: Sequence[Difference]) -> bool:
    """Whether the graphs that differ are of frames that were compiled for the first time, on all ranks."""
    numbers = [(rank, side.graph) for each in differences for side in each.sides for rank in side.ranks]
    compiles = [
        None if graph is None else ranks[rank].graphs[graph - 1].compile_id for rank, graph in numbers
    ]
    return bool(compiles) and all(each is not None and each.compile == 0 for each in compiles)


def _node_in_words(graphs: Sequence[Sequence[Node]], index: int) -> str:
    """The node at an index of all graphs, as `the 2nd op`: inputs and ops are each counted from 1."""
    kinds = {nodes[index].op for nodes in graphs if index < len(nodes)}
    if kinds == {"placeholder"}:
        return f"the {ordinal(index)} input"
    if "placeholder" in kinds:
        return "the number of inputs"
    if kinds == {"output"}:
        return "the output"
    before = min(sum(node.op.startswith("call_") for node in nodes[:index]) for nodes in graphs)
    return f"the {ordinal(before)} op"


def _graph_step(graph: Graph) -> Step:
    """A graph as a step; its key has the ops only, as constants and device numbers may differ by rank."""
    what = f"graph {graph.number} {compile_label(graph.compile_id)} of {graph_frame(graph)}"
    what += "" if graph.ops is None else f", {number(graph.ops, 'op')}"
    content: object = graph.ops if graph.code is None else without_numbers(graph.code)
    if graph.nodes is not None:
        content = tuple(step.key for step in _node_steps(graph))
    return Step((graph.frame_name, graph.frame_place, content), what, graph.frame_place, graph.number)


def _node_steps(graph: Graph) -> list[Step]:
    nodes = graph.nodes or ()
    return [
        Step(
            (node.op, node.target if node.op.startswith("call_") else "", tensors_in_words(node)),
            f"{node.target} {tensors_in_words(node)}".strip(),
            place_in_program(nodes, index),
            graph.number,
        )
        for index, node in enumerate(nodes)
    ]
