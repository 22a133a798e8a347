"""Graphs that Dynamo handed to a backend, from our records or, in a plain trace, from torch's."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from ..model import (
    AssignedBackend,
    Compile,
    CompileId,
    CudaGraphNoted,
    DeclinedBy,
    Graph,
    GraphModes,
    Node,
    OperatorSource,
    Place,
    Process,
    Specialization,
    StackFrame,
    Symbol,
    UnrolledLoop,
)
from ..shared import names
from ..shared.conversion import from_json
from ..shared.cuda_graph_event import CudaGraphEvent
from ..shared.early_records import GraphReturned
from ..shared.records import BackwardCompiled, GraphCompiled, GraphHandedOver, GraphTaken
from .compile_context import CompileContext, InProgressBuilder
from .structured import (
    MOST_VALUES,
    Handler,
    place_of,
    stack_frame,
    structured,
    structured_head,
    tensors_of,
)
from .trace_format import Damaged, Record

# The frame name of compiled autograd's graphs: the code that Dynamo compiles for them is torch's, in no file.
# Source: torch/fx/graph_module.py (_forward_from_src).
_COMPILED_AUTOGRAD = "compiled autograd"
_MADE_BY_TORCH = "<eval_with_key>"
# Operators that the ranks of a job have to call in the same order, which is checked for every such job.
_COLLECTIVES = b"_c10d_functional."
# Source: torch/_dynamo/exc.py. Other failures come before a graph is handed over, or after it is compiled.
_BACKEND_FAILURES = ("BackendCompilerFailed", "InductorError")


def nodes_of_graph(key: str) -> str:
    """The entry of `contents` that requests the nodes of graphs with this key alone."""
    return f"{names.FX_GRAPH} {key}"


class GraphBuilder:
    """Fills `graphs`, and the `symbols` and `specializations` of their sizes."""

    def __init__(
        self,
        process: Process,
        context: CompileContext,
        in_progress: InProgressBuilder,
        contents: Container[str],
    ) -> None:
        self._process = process
        self._context = context
        self._in_progress = in_progress
        self._contents = contents
        self._graphs: dict[int | None, Graph] = {}
        self._graphs_of: dict[CompileId, list[Graph]] = {}
        self._backwards: dict[CompileId, int] = {}
        self._hints: dict[CompileId | None, dict[str, str]] = {}  # of symbolic sizes, by their name
        self._code: tuple[CompileId | None, str] | None = None

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            GraphHandedOver.NAME: self._fx_graph,
            GraphTaken.NAME: self._graph_taken,
            GraphCompiled.NAME: self._graph_compiled,
            GraphReturned.NAME: self._graph_returned,
            BackwardCompiled.NAME: self._backward_compiled,
            CudaGraphEvent.NAME: self._cuda_graph,
            "dynamo_output_graph": self._output_graph,
            "create_symbol": self._symbol,
            "symbolic_shape_specialization": self._specialization,
        }

    def hints(self, compile_id: CompileId | None) -> Mapping[str, str]:
        """The values that symbolic sizes were compiled with, by name."""
        return self._hints.get(compile_id, {})

    def complete(self, compile_: Compile) -> None:
        """Add to the last graph of a plain trace what only its metrics have: ops, whether it compiled, frame.

        Before torch 2.5 the stack of dynamo_start ended with the frame's caller.
        """
        graphs = self._process.graphs
        if graphs and graphs[-1].compile_id == compile_.compile_id and compile_.is_forward:
            graph = graphs[-1]
            graph.ops = compile_.ops
            graph.is_compiled = compile_.fail_type not in _BACKEND_FAILURES
            is_named = graph.frame_name == _COMPILED_AUTOGRAD
            if compile_.name is not None and compile_.place is not None and not is_named:
                graph.frame_name, graph.frame_place = compile_.name, compile_.place

    def _fx_graph(self, record: Record) -> None:
        handed = self._graph_handed_over(record)
        compile_id = self._context.id_of(record)
        graph = Graph(
            number=handed.graph,
            compile_id=compile_id,
            attempt=record.metadata.get("attempt", 0),
            name=handed.name,
            backend=handed.backend,
            ops=handed.ops,
            optimizer_steps=None if handed.optimizer_steps is None else tuple(handed.optimizer_steps),
            loop=_loop(handed.loop),
            drawn_for_numpy=stack_frame(handed.drawn_for_numpy),
            nodes=None if handed.nodes is None else tuple(map(_node, handed.nodes)),
            key=handed.key,
            trains=handed.trains,
            modes=None if handed.modes is None else from_json(GraphModes, handed.modes),
            threads=handed.threads,
            custom_operators=_operators(handed.custom_operators or {}),
        )
        if self._code is not None and self._code[0] == compile_id:
            graph.code = self._code[1]
        if compile_id is not None:
            graph.backward_index = self._backwards.get(compile_id)
            self._graphs_of.setdefault(compile_id, []).append(graph)
        self._name_frame(graph)
        self._graphs[graph.number] = graph
        self._process.graphs.append(graph)
        self._in_progress.handed_over(graph, handed.handed_over_ns)

    def _graph_handed_over(self, record: Record) -> GraphHandedOver:
        """The record, with its nodes where they are requested, or where a rank's collectives are in them."""
        if names.FX_GRAPH not in self._contents:
            handed = structured_head(GraphHandedOver, record, MOST_VALUES)
            is_requested = nodes_of_graph(str(handed.key)) in self._contents
            if not is_requested and not (self._process.rank is not None and record.mentions(_COLLECTIVES)):
                return handed
        handed = structured(GraphHandedOver, record, MOST_VALUES)
        if handed.nodes is None:
            raise Damaged("a graph without its nodes")
        return handed

    def _graph_taken(self, record: Record) -> None:
        taken = structured(GraphTaken, record)
        declined = tuple(DeclinedBy(row["backend"], row["reason"]) for row in taken.declined)
        self._graphs[taken.graph].assigned_backend = AssignedBackend(taken.by, taken.using, declined)

    def _graph_compiled(self, record: Record) -> Graph:
        compiled = structured(GraphCompiled, record)
        graph = self._graphs[compiled.graph]
        graph.is_compiled = True
        graph.name = compiled.name or graph.name
        graph.method = compiled.method or graph.method
        graph.is_specialization = compiled.specialization
        graph.backend_seconds = compiled.backend_ns / 1e9
        graph.calls_index = compiled.calls_index
        self._in_progress.returned(graph)
        return graph

    def _graph_returned(self, record: Record) -> None:
        returned = structured(GraphReturned, record)
        self._graphs[returned.graph].returned_otherwise = returned.differs

    def _backward_compiled(self, record: Record) -> None:
        """Note which calls are the backward's. From a cache, it may be known before its forward is."""
        compile_id = self._context.id_of(record)
        if compile_id is None:
            return
        self._backwards[compile_id] = structured(BackwardCompiled, record).calls_index
        for graph in self._graphs_of.get(compile_id, ()):
            graph.backward_index = self._backwards[compile_id]

    def _cuda_graph(self, record: Record) -> None:
        noted = structured(CudaGraphEvent, record)
        self._process.cuda_graphs.append(
            CudaGraphNoted(
                compile_id=self._context.id_of(record),
                what=noted.what,
                part=noted.part,
                function=noted.function,
                again=noted.again,
                reason=noted.reason,
                line=stack_frame(noted.line),
                seconds=None if noted.ns is None else noted.ns / 1e9,
            )
        )

    def _output_graph(self, record: Record) -> Graph | None:
        """Take torch's own record of a graph: its code. In a plain trace there is no other record of it."""
        compile_id = self._context.id_of(record)
        code = record.payload() if record.kind in self._contents else None
        self._code = None if code is None else (compile_id, code)
        if self._process.is_ours:
            return None
        graph = Graph(
            number=len(self._process.graphs) + 1,
            compile_id=compile_id,
            attempt=record.metadata.get("attempt", 0),
            name=None,
            backend=None,
            ops=None,
            code=code,
            is_compiled=True,
        )
        self._name_frame(graph)
        earlier = self._process.graphs
        if earlier and earlier[-1].compile_id == compile_id and earlier[-1].attempt < graph.attempt:
            earlier.pop()  # a later attempt at the same compile replaces the graph
            graph.number -= 1
        earlier.append(graph)
        return graph

    def _name_frame(self, graph: Graph) -> None:
        frame = self._context.frame(graph.compile_id)
        is_autograd = graph.compile_id is not None and graph.compile_id.autograd is not None
        if is_autograd and (frame is None or frame.place.file.startswith(_MADE_BY_TORCH)):
            graph.frame_name = _COMPILED_AUTOGRAD
        elif frame is not None:
            graph.frame_name, graph.frame_place = frame.function, frame.place

    def _symbol(self, record: Record) -> None:
        content = record.metadata["create_symbol"]
        user_stack = self._context.stack(content.get("user_stack") or [])
        symbol = Symbol(
            compile_id=self._context.id_of(record),
            name=str(content["symbol"]),
            hint=str(content.get("val")),
            source=str(content.get("source")),
            place=user_stack[-1].place if user_stack else None,
            stack=tuple(user_stack),
        )
        self._process.symbols.append(symbol)
        self._hints.setdefault(symbol.compile_id, {})[symbol.name] = symbol.hint

    def _specialization(self, record: Record) -> None:
        """Take a size that was to be dynamic and got one value.

        Source: torch/fx/experimental/symbolic_shapes.py (ShapeEnv._set_replacement), 2.8 to 2.15.
        """
        content = record.metadata["symbolic_shape_specialization"]
        of_user = content.get("user_stack")
        self._process.specializations.append(
            Specialization(
                compile_id=self._context.id_of(record),
                sources=tuple(map(str, content["sources"])),
                value=str(content["value"]),
                stack=tuple(self._context.stack(of_user or [])),
                lowering=None if of_user else _lowering(self._context.stack(content.get("stack") or [])),
            )
        )


def _lowering(stack: Sequence[StackFrame]) -> str | None:
    """The innermost function of Inductor's on a stack of torch's, but for those that guard sizes.

    Source: torch/_inductor/lowering.py, torch/_inductor/kernel/, torch/_inductor/sizevars.py; read in 2.13.
    """
    for frame in reversed(stack):
        if "/_inductor/" in frame.place.file and not frame.place.file.endswith("/sizevars.py"):
            return frame.function.removesuffix("_lowering")
    return None


def _node(content: Mapping[str, Any]) -> Node:
    return Node(
        op=content["op"],
        name=content["name"],
        target=content["target"],
        args=content["args"],
        kwargs=content["kwargs"],
        inputs=tuple(content["inputs"]),
        tensors=tensors_of(content),
        symbol=content.get("symbol"),
        source=content.get("source"),
        is_parameter=content.get("parameter", False),
        place=place_of(content),
        called_from=None if content.get("called_from") is None else Place(*content["called_from"]),
    )


def _operators(content: Mapping[str, Any]) -> dict[str, OperatorSource]:
    return {
        str(name): OperatorSource(Place(str(source["file"]), int(source["line"])), source.get("module"))
        for name, source in content.items()
    }


def _loop(content: Mapping[str, Any] | None) -> UnrolledLoop | None:
    if content is None:
        return None
    return UnrolledLoop(
        Place(str(content["file"]), int(content["line"])),
        str(content["text"]),
        int(content["ops"]),
        int(content["times"]),
        bool(content["is_loop"]),
        None if content["called_from"] is None else Place(*content["called_from"]),
    )
