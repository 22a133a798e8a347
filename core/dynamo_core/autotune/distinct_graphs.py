"""The distinct graphs of a recording, each with the program by which it is measured."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from ..analysis.by_compile import by_compile
from ..analysis.graphs.generated_program import generated_program
from ..analysis.graphs.node_text import place_in, value_text
from ..model import Graph, Process, Recording, Symbol
from ..shared.errors import NothingSelected
from ..shared.quick_dataclass import dataclass
from ..tuned.conditions import size_class
from .rounds import GraphProgram
from .tuning import GraphToTune

_NO_KEY = "it was recorded without a key, by torch or an earlier dynamo: record the program again"


@dataclass(frozen=True)
class DistinctGraph:
    """A graph to measure, and all the graphs of the recording that compute the same."""

    to_tune: GraphToTune
    members: Sequence[tuple[Process, Graph]]

    @property
    def first(self) -> Graph:
        """The one that it is named after."""
        return self.members[0][1]

    @property
    def calls(self) -> int | None:
        """How often they were called in all; None if that was not recorded of each."""
        calls = [graph.calls for _, graph in self.members]
        known = [each for each in calls if each is not None]
        return sum(known) if len(known) == len(calls) else None

    @property
    def backend(self) -> str | None:
        """The backend that took them in the recording; None if not recorded, or if they differ."""
        names = {graph.backend for _, graph in self.members}
        return names.pop() if len(names) == 1 else None


def distinct_graphs(recording: Recording) -> list[DistinctGraph]:
    """In the order in which they were first compiled. Graphs without a key are distinct from all others."""
    members: dict[object, list[tuple[Process, Graph]]] = {}
    for process in recording.processes:
        for graph in process.graphs:
            if graph.is_compiled:
                same = graph.key if graph.key is not None else (id(process), graph.number)
                members.setdefault(same, []).append((process, graph))
    opened = {id(process): by_compile(process.symbols) for process in recording.processes}
    return [
        DistinctGraph(_to_tune(graph, opened[id(process)].get(graph.compile_id, ())), found)
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
    """As `symbolic_sizes` has them in the program: of each symbol, in the order of the inputs."""
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
