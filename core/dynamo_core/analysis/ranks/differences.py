"""In what the ranks differ: each subject compared in the order in which it happened, up to the first."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ...model import Graph, Node, Process, function_of
from ...shared.launchers import OF_A_RANK
from ...shared.records import CachesInUse
from ..summary import breaks_recorded_in, recompiles_recorded_in
from ..words import cache_name, compile_label, first_line, frame_name, graph_frame, number, without_numbers
from .collectives import SharedCalls, collectives_of, is_as_far, place_in_program, tensors_in_words
from .members import NOTHING, Difference, Step, Subject, ordinal, sides

Ranks = Mapping[int, Process]


def differences(ranks: Ranks, calls: Mapping[int, SharedCalls]) -> tuple[Difference, ...]:
    """One for each subject in which the ranks differ, what may be the cause of the others first.

    The calls that they make together say which rank, of those that did not end, is only behind.
    """
    has_graphs = all(tells(process, "graphs") for process in ranks.values())
    collectives = collective_difference(ranks) if has_graphs else None
    found = [
        *_settings(ranks),
        *_first(ranks, "graph breaks", "graph break", _breaks, calls),
        *_first(ranks, "recompiles", "recompile", _recompiles, calls),
        *([collectives] if collectives else []),
        *(_graphs(ranks) if has_graphs else ()),
        *(_with_folders(each, ranks) for each in _first(ranks, "caches", "look-up in a cache", _lookups)),
    ]
    return tuple(found)


def tells(process: Process, subject: Subject) -> bool:
    """Whether a rank that has none of these had none: else it is not compared with the others."""
    if subject == "graph breaks":
        return breaks_recorded_in(process)
    if subject == "recompiles":
        return recompiles_recorded_in(process)
    return subject not in ("graphs", "collectives") or "graphs" not in process.failed_probes


def _settings(ranks: Ranks) -> Iterator[Difference]:
    """Versions, variables of the environment and settings of torch's, as far as each rank recorded them."""
    described = {rank: _described(process) for rank, process in ranks.items() if process.is_ours}
    for name in dict.fromkeys(name for settings in described.values() for name in settings):
        values = {rank: settings.get(name, "not set") for rank, settings in described.items()}
        if len(set(values.values())) > 1:
            title = f"{name} is not the same on all ranks"
            yield Difference("settings", title, sides({r: Step(v, v) for r, v in values.items()}))


def _described(process: Process) -> dict[str, str]:
    found = {
        "torch's version": str(process.torch_version),
        "Python's version": str(process.info.python),
    }
    for name, value in sorted((process.info.environment or {}).items()):
        if name not in OF_A_RANK:
            found[name] = value
    for module, values in (process.state.torch_config or {}).items():
        found |= {f"{module}.{name}": value for name, value in values.items()}
    return found


def _first(
    ranks: Ranks,
    subject: Subject,
    one: str,
    steps: Callable[[Process], Iterable[Step]],
    calls: Mapping[int, SharedCalls] | None = None,
) -> Iterator[Difference]:
    if not all(tells(process, subject) for process in ranks.values()):
        return
    sequences = {rank: list(steps(process)) for rank, process in ranks.items()}
    at = _first_unlike(ranks, sequences, calls)
    if at is not None:
        title = f"the {ordinal(at)} {one} is not the same on all ranks"
        yield Difference(subject, title, sides(_all_at(sequences, at)))


def _first_unlike(
    ranks: Ranks,
    sequences: Mapping[int, Sequence[Step]],
    calls: Mapping[int, SharedCalls] | None = None,
) -> int | None:
    """The first index at which two ranks differ; a rank that has not ended may only be behind."""
    for at in range(max(map(len, sequences.values()), default=0)):
        came = {rank: steps[at] for rank, steps in sequences.items() if at < len(steps)}
        there = {step.key for step in came.values()}
        if len(there) > 1 or any(
            ranks[rank].end is not None or (calls is not None and _is_past(rank, came, calls))
            for rank in sequences
            if rank not in came
        ):
            return at
    return None


def _is_past(rank: int, came: Mapping[int, Step], calls: Mapping[int, SharedCalls]) -> bool:
    """Whether a rank has gone on to something behind a step that others made, and did not make it."""
    return any(
        step.at_ns is not None and is_as_far(calls[rank], calls[other], step.at_ns)
        for other, step in came.items()
    )


def _at(steps: Sequence[Step], at: int) -> Step:
    return steps[at] if at < len(steps) else NOTHING


def _breaks(process: Process) -> Iterator[Step]:
    for each in process.breaks:
        yield Step((each.place, each.kind), first_line(each.reason), each.place, at_ns=each.at_ns)


def _recompiles(process: Process) -> Iterator[Step]:
    ended = {frame.compile_id: frame.ended_ns for frame in process.frames}
    for each in process.recompiles:
        reason = first_line((each.recompile_reason or "").strip())
        what = f"{frame_name(each.name)} was compiled again: {reason}"
        key = function_of(each.name), each.place, without_numbers(reason)
        yield Step(key, what, each.place, at_ns=ended.get(each.compile_id))


def _lookups(process: Process) -> Iterator[Step]:
    for each in process.cache_lookups:
        what = f"{cache_name(each.cache)}: {each.outcome}, for {compile_label(each.compile_id)}"
        yield Step((each.cache, each.outcome), what)


def _with_folders(difference: Difference, ranks: Ranks) -> Difference:
    """The look-ups with where the caches are, unless all ranks began with the same one."""
    # Of one that has changed its folders it is not known where it looked.
    began = {rank: process.caches[0] for rank, process in ranks.items() if len(process.caches) == 1}
    if len({(use.folder, use.held_graphs) for use in began.values()}) < 2:
        return difference
    told = []
    for side in difference.sides:
        uses = [began[rank] for rank in side.ranks if rank in began]
        if len(uses) == len(side.ranks) and side.what != NOTHING.what:
            stands_for_others = any(ranks[rank].alike for rank in side.ranks)
            side = replace(side, what=side.what + _where(uses, stands_for_others))
        told.append(side)
    return replace(difference, sides=tuple(told))


def _where(uses: Sequence[CachesInUse], stands_for_others: bool) -> str:
    """Alike ranks have caches that held graphs or not alike, but in folders of their own."""
    folders = {use.folder for use in uses}
    told = folders.pop() if len(folders) == 1 else number(len(folders), "folder")
    where = "" if stands_for_others else f", in {told}"
    if all(use.held_graphs is False for use in uses):
        where += f", {'which' if where else 'in a cache that'} held no graph before"
    return where


def collective_difference(ranks: Ranks) -> Difference | None:
    """The first collective of a group that its ranks do not all call, or not with the same sizes."""
    groups: dict[str, dict[int, list[Step]]] = {}
    for rank, process in ranks.items():
        for graph in process.graphs:
            for each in collectives_of(graph) or ():
                step = Step(each.key, str(each), each.place, graph.number)
                groups.setdefault(each.call.group, {}).setdefault(rank, []).append(step)
    for group, sequences in groups.items():
        at = _first_unlike(ranks, sequences)
        if at is not None:
            one = f"collective of group {group} that was compiled"
            title = f"the {ordinal(at)} {one} is not the same on all ranks"
            return Difference("collectives", title, sides(_all_at(sequences, at)))
    return None


def _graphs(ranks: Ranks) -> Iterator[Difference]:
    """The first graph that is not the same; where its nodes are known, the first op of it."""
    sequences = {rank: [_graph_step(graph) for graph in process.graphs] for rank, process in ranks.items()}
    at = _first_unlike(ranks, sequences)
    if at is None:
        return
    inner = {rank: _node_steps(ranks[rank].graphs[at]) for rank in ranks if at < len(sequences[rank])}
    where = _first_unlike(ranks, inner) if len(inner) == len(ranks) else None
    if where is not None:
        nodes = [process.graphs[at].nodes or () for process in ranks.values()]
        title = f"{_node_in_words(nodes, where)} of graph {at + 1} is not the same on all ranks"
        yield Difference("graphs", title, sides(_all_at(inner, where)))
        return
    title = f"graph {at + 1} is not the same on all ranks"
    yield Difference("graphs", title, sides(_all_at(sequences, at)))


def _node_in_words(graphs: Sequence[Sequence[Node]], at: int) -> str:
    """Which one it is, as people count: inputs and ops each from 1."""
    kinds = {nodes[at].op for nodes in graphs if at < len(nodes)}
    if kinds == {"placeholder"}:
        return f"the {ordinal(at)} input"
    if kinds == {"output"}:
        return "the output"
    before = min(sum(node.op.startswith("call_") for node in nodes[:at]) for nodes in graphs)
    return f"the {ordinal(before)} op"


def _graph_step(graph: Graph) -> Step:
    """Constants and numbers of devices may be a rank's own: two graphs are the same if their ops are."""
    what = f"graph {graph.number} {compile_label(graph.compile_id)} of {graph_frame(graph)}"
    what += "" if graph.ops is None else f", {number(graph.ops, 'op')}"
    computes: object = graph.ops if graph.code is None else without_numbers(graph.code)
    if graph.nodes is not None:
        computes = tuple(step.key for step in _node_steps(graph))
    return Step((graph.frame_name, graph.frame_place, computes), what, graph.frame_place, graph.number)


def _node_steps(graph: Graph) -> list[Step]:
    nodes = graph.nodes or ()
    return [
        Step(
            (node.op, node.target if node.op.startswith("call_") else "", tensors_in_words(node)),
            f"{node.target} {tensors_in_words(node)}".strip(),
            place_in_program(nodes, at),
            graph.number,
        )
        for at, node in enumerate(nodes)
    ]


def _all_at(sequences: Mapping[int, Sequence[Step]], at: int) -> dict[int, Step]:
    return {rank: _at(steps, at) for rank, steps in sequences.items()}
