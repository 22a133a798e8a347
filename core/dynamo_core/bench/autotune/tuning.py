"""Tune the distinct graphs of a recording: measure unknown ones, and store each result at once."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from ...analysis.graphs.nodes import place_in, value_text
from ...analysis.graphs.program import generated_program
from ...analysis.summary import by_compile
from ...model import Graph, Process, Recording, Symbol
from ...shared import winners
from ...shared.backend_choice import parse_choice
from ...shared.conversion import from_fields
from ...shared.errors import NothingSelected
from ...shared.quick_dataclass import dataclass
from ...shared.winners import Conditions, Tuned, device_words, size_class
from .rounds import EAGER, Bench, GraphProgram, NotRunnable, decide

# The candidates where the user names none, from the simplest.
CANDIDATES = (EAGER, "inductor", "ofi", "inductor:max-autotune")
# The candidates where there is a GPU.
CANDIDATES_ON_CUDA = (*CANDIDATES, "cudagraphs", "inductor:reduce-overhead")


@dataclass(frozen=True)
class GraphToTune:
    """A distinct graph. `kinds` are its inputs' types of devices, `sizes` the classes of its symbolic sizes.

    `program` is None where it could not be written; `problem` says why.
    """

    key: str
    program: GraphProgram | None
    problem: str | None
    sizes: tuple[str, ...]
    kinds: frozenset[str]
    ops: int | None
    from_: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """The result of one graph. `tuned` is None where it could not be measured; `problem` says why.

    If `tuned` has no winner, the rounds did not decide, and the file still has `stored`. `is_new` says
    whether it was measured now; `host` on which machine of a cluster.
    """

    graph: GraphToTune
    tuned: Tuned | None
    problem: str | None = None
    is_new: bool = False
    stored: Tuned | None = None
    host: str | None = None


# Gets the graph's number (from 1), how many there are, and a few words on what is being done.
Progress = Callable[[int, int, str], None]


def tune(
    graphs: Sequence[GraphToTune],
    candidates: Sequence[str] | None,
    bench: Bench,
    file: Path,
    *,
    again: bool,
    progress: Progress,
) -> Iterator[Result]:
    """Tune graphs; each result is in the autotune file before it is given.

    A graph is measured if the file lacks it under these conditions, or lacks one of the candidates; with
    `again`, all are. It is always measured under all of its candidates, since only times that were taken in
    turn can be compared. Without `candidates`, the usual ones for the device are tried.
    """
    here = bench.surroundings()
    for number, graph in enumerate(graphs, start=1):
        if graph.program is None:
            yield Result(graph, None, graph.problem)
            continue

        def tell(what: str, number: int = number) -> None:
            progress(number, len(graphs), what)

        device = device_words(graph.kinds, here.hardware, graph.program.threads)
        conditions = Conditions(device, here.torch, here.settings, graph.sizes)
        stored = winners.find(winners.read_if_there(file), graph.key, conditions)
        requested = candidates or (CANDIDATES_ON_CUDA if "cuda" in graph.kinds else CANDIDATES)
        if stored is not None and not again and _has_all(stored, requested, bench):
            yield Result(graph, stored, stored=stored)
            continue
        wanted = _usable(requested, stored, bench)
        if not wanted:
            yield Result(graph, None, "none of the candidates can be used here")
            continue
        try:
            measured = bench.measure(graph.program, wanted, tell)
        except NotRunnable as error:
            yield Result(graph, None, str(error))
            continue
        tuned = from_fields(
            Tuned,
            graph,
            conditions=conditions,
            winner=decide(measured).winner,
            measurements=tuple(measured),
            measured=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        )
        winners.store(file, [tuned])
        yield Result(graph, tuned, None, is_new=True, stored=stored)


def _usable(candidates: Sequence[str], stored: Tuned | None, bench: Bench) -> list[str]:
    """The usable candidates, from the simplest: the requested ones, and those that were compared before."""
    before = () if stored is None else (each.candidate for each in stored.measurements)
    usable = [each for each in dict.fromkeys([*candidates, *before]) if bench.why_unusable(each) is None]
    return sorted(usable, key=_complexity)


def _has_all(stored: Tuned, candidates: Sequence[str], bench: Bench) -> bool:
    """Whether all candidates that can be used here were measured."""
    have = {each.candidate for each in stored.measurements}
    return all(each in have or bench.why_unusable(each) is not None for each in candidates)


def _complexity(candidate: str) -> int:
    """Eager is the simplest, then backends as they are, then modes of one."""
    choice = parse_choice(candidate)
    if choice.name == EAGER:
        return 0
    return 1 if choice.mode is None else 2


_NO_KEY = "it was recorded without a key, by torch or an earlier dynamo: record the program again"


@dataclass(frozen=True)
class DistinctGraph:
    """A graph to measure, and all graphs of the recording that compute the same."""

    to_tune: GraphToTune
    members: Sequence[tuple[Process, Graph]]

    @property
    def first(self) -> Graph:
        """The first of its graphs, after which it is named."""
        return self.members[0][1]

    @property
    def calls(self) -> int | None:
        """How often its graphs were called in all; None if one did not record that."""
        calls = [graph.calls for _, graph in self.members]
        known = [each for each in calls if each is not None]
        return sum(known) if len(known) == len(calls) else None

    @property
    def backend(self) -> str | None:
        """The backend that compiled its graphs in the recording; None if not recorded, or if they differ."""
        names = {graph.backend for _, graph in self.members}
        return names.pop() if len(names) == 1 else None


def distinct_graphs(recording: Recording) -> list[DistinctGraph]:
    """The distinct graphs in order of their first compile. One without a key is distinct from all others."""
    members: dict[object, list[tuple[Process, Graph]]] = {}
    for process in recording.processes:
        for graph in process.graphs:
            if graph.is_compiled:
                same = graph.key if graph.key is not None else (id(process), graph.number)
                members.setdefault(same, []).append((process, graph))
    symbols = {id(process): by_compile(process.symbols) for process in recording.processes}
    return [
        DistinctGraph(_to_tune(graph, symbols[id(process)].get(graph.compile_id, ())), found)
        for found in members.values()
        for process, graph in found[:1]
    ]


def _to_tune(graph: Graph, symbols: Sequence[Symbol]) -> GraphToTune:
    inputs = [node for node in graph.nodes or () if node.op == "placeholder"]
    program, problem = _program(graph, symbols)
    return GraphToTune(
        key=graph.key or "",
        program=program,
        problem=problem,
        sizes=_sizes(graph, symbols),
        kinds=frozenset(tensor.device.partition(":")[0] for node in inputs for tensor in node.tensors),
        ops=graph.ops,
        from_=place_in(graph),
        inputs=tuple(value_text(node) for node in inputs),
    )


def _sizes(graph: Graph, symbols: Iterable[Symbol]) -> tuple[str, ...]:
    """The size class of each symbol, in the order of the inputs, as `symbolic_sizes` in the program."""
    hints = {symbol.name: symbol.hint for symbol in symbols}
    found: dict[str, str] = {}
    for node in graph.nodes or ():
        if node.op == "placeholder":
            for size in (node.symbol, *(size for tensor in node.tensors for size in tensor.shape)):
                hint = hints.get(str(size), "")
                if hint.isdecimal():
                    found.setdefault(str(size), size_class(int(hint)))
    return tuple(found.values())


def _program(graph: Graph, symbols: Sequence[Symbol]) -> tuple[GraphProgram | None, str | None]:
    if graph.key is None or graph.modes is None:
        return None, _NO_KEY
    try:
        text = generated_program(graph, symbols, f"graph {graph.number}")
    except NothingSelected as error:
        return None, str(error).partition(" cannot be run: ")[2] or str(error)
    return GraphProgram(text, asdict(graph.modes), graph.threads), None
