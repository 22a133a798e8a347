"""Resume chains: the graphs of a frame and, after each graph break, the resume function that continues it."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from ...model import (
    Bytecode,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Node,
    Place,
    Process,
    ResumeFunction,
    function_of,
    resumed_function,
)
from ...shared import names
from ...shared.quick_dataclass import dataclass
from ..words import compile_label, frame_name, number, place
from .rewritten import index_at, is_noise, plain_argument, short_name

_COMPILED = "__compiled_fn_"
# The compiles of a resume function with more than this many are shown once only. All versions of a function
# continue in the same resume function, so with all of its compiles at each a page would grow quadratically.
_MOST_SHOWN_AGAIN = 16


@dataclass(frozen=True)
class Continuation:
    """A resume function, the line at which it continues, and its compiles, if there were any.

    `compiled` is also empty where it was compiled often and an earlier step shows its compiles:
    `shown_before` says how many there are.
    """

    function: ResumeFunction
    line: int | None
    compiled: tuple["Step", ...]
    shown_before: int = 0


@dataclass(frozen=True)
class Step:
    """A compile of a frame or of a resume function. `is_repeated`: an earlier step has its continuations."""

    bytecode: Bytecode
    graphs: tuple[Graph, ...]
    breaks: tuple[GraphBreak, ...]
    continuations: tuple[Continuation, ...]
    is_repeated: bool = False

    def all_steps(self) -> Iterator["Step"]:
        """This step and all steps after it, each once."""
        if not self.is_repeated:
            yield self
            for continuation in self.continuations:
                for step in continuation.compiled:
                    yield from step.all_steps()


class Links:
    """Links the compiles of a process with their graphs and with the resume functions that they made."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._graphs: dict[CompileId | None, list[Graph]] = {}
        for graph in process.compiled_graphs:
            self._graphs.setdefault(graph.compile_id, []).append(graph)
        self._breaks: dict[CompileId | None, list[GraphBreak]] = {}
        for graph_break in process.breaks:
            self._breaks.setdefault(graph_break.compile_id, []).append(graph_break)
        self._made: dict[CompileId | None, list[ResumeFunction]] = {}
        for function in process.resume_functions:
            self._made.setdefault(function.made_by, []).append(function)
        self._compiled: dict[str, list[Bytecode]] = {}
        for bytecode in process.bytecodes:
            self._compiled.setdefault(bytecode.fingerprint, []).append(bytecode)
        self._bytecodes = {bytecode.compile_id: bytecode for bytecode in process.bytecodes}
        self.graph_names = {
            name: f"graph_{graph.number}"
            for bytecode in process.bytecodes
            for name, graph in self.called_graphs(bytecode).items()
        }

    def graphs(self, bytecode: Bytecode) -> list[Graph]:
        """The graphs that a compile made."""
        return self._graphs.get(bytecode.compile_id, [])

    def called_graphs(self, bytecode: Bytecode) -> dict[str, Graph]:
        """The graphs that a frame calls, by the global that holds each, which torch 2.8 does not record."""
        loaded = {plain_argument(i) for i in bytecode.modified if i.opcode == "LOAD_GLOBAL"}
        called = sorted(name for name in loaded if name.startswith(_COMPILED))
        graphs = self.graphs(bytecode)
        if len(called) == len(graphs) == 1 and graphs[0].name is None:
            return {called[0]: graphs[0]}
        return {graph.name: graph for graph in graphs if graph.name in loaded and graph.name is not None}

    def made(self, bytecode: Bytecode) -> list[ResumeFunction]:
        """The resume functions that a compile made."""
        return self._made.get(bytecode.compile_id, [])

    def compiled(self, function: ResumeFunction) -> list[Bytecode]:
        """The compiles of a resume function."""
        return self._compiled.get(function.fingerprint, [])

    def line(self, function: ResumeFunction) -> int | None:
        """The line at which a resume function continues: its name has the offset of the instruction.

        Source: torch/_dynamo/symbolic_convert.py, `unique_id(f"__resume_at_{...offset}")`, 2.8 to 2.15.
        """
        maker = self._bytecodes.get(function.made_by)
        offset = function.name.removeprefix("__resume_at_").partition("_")[0]
        if (
            maker is None
            or not offset.isdigit()
            or function_of(maker.name) != function_of(function.code_name)
        ):
            return None
        index = index_at(maker.original, int(offset))
        # NOT_TAKEN, from Python 3.14 on, is of the branch's line.
        following = () if index is None else maker.original[index:]
        return next((each.line for each in following if not is_noise(each)), None)

    def chains(self) -> list[Step]:
        """The chain of every compile of a frame, and of resume functions to which no chain leads."""
        shown: set[CompileId | None] = set()
        shown_functions: set[str] = set()
        resumed = {function.fingerprint for function in self.process.resume_functions}
        roots = [bytecode for bytecode in self.process.bytecodes if bytecode.fingerprint not in resumed]
        chains = []
        for bytecode in [*roots, *self.process.bytecodes]:
            if bytecode.compile_id not in shown:
                in_chain: set[CompileId | None] = set()
                chains.append(self._step(bytecode, in_chain, shown_functions))
                shown |= in_chain
        return chains

    def fate(self, function: ResumeFunction) -> str:
        """Why there is no bytecode of a resume function, as far as is known."""
        failed = self._failed.get(function.code_name, ())
        if len(failed) == 1 and len(self._namesakes[function.code_name]) == 1:
            reason = (failed[0].reason or "no reason recorded").partition("\n")[0]
            return f"Dynamo {failed[0].outcome} it, so it runs eager: {reason}"
        if self.process.health.record_counts.get(names.BYTECODE, 0) > len(self.process.bytecodes):
            return "not compiled, or not among the frames shown here"
        return "never compiled: it was not called, or ran eager"

    @cached_property
    def _failed(self) -> dict[str, list[Frame]]:
        """The frames that were not compiled, by name."""
        found: dict[str, list[Frame]] = {}
        for frame in self.process.frames:
            if frame.outcome != "compiled":
                found.setdefault(frame.name, []).append(frame)
        return found

    @cached_property
    def _namesakes(self) -> dict[str, set[str]]:
        """The fingerprints of the resume functions of each name."""
        found: dict[str, set[str]] = {}
        for function in self.process.resume_functions:
            found.setdefault(function.code_name, set()).add(function.fingerprint)
        return found

    def _step(self, bytecode: Bytecode, in_chain: set[CompileId | None], shown_functions: set[str]) -> Step:
        """A compile with its continuations.

        `in_chain` are the compiles of this chain so far, `shown_functions` the functions of many compiles
        that any chain has shown.
        """
        is_repeated = bytecode.compile_id in in_chain
        in_chain.add(bytecode.compile_id)
        made = [] if is_repeated else self.made(bytecode)
        continuations = [self._continuation(function, in_chain, shown_functions) for function in made]
        return Step(
            bytecode,
            tuple(self.graphs(bytecode)),
            tuple(self._breaks.get(bytecode.compile_id, ())),
            tuple(continuations),
            is_repeated,
        )

    def _continuation(
        self, function: ResumeFunction, in_chain: set[CompileId | None], shown_functions: set[str]
    ) -> Continuation:
        compiled, line = self.compiled(function), self.line(function)
        if len(compiled) > _MOST_SHOWN_AGAIN:
            if function.fingerprint in shown_functions:
                return Continuation(function, line, (), len(compiled))
            shown_functions.add(function.fingerprint)
        steps = tuple(self._step(bytecode, in_chain, shown_functions) for bytecode in compiled)
        return Continuation(function, line, steps)


def is_resume_function(bytecode: Bytecode) -> bool:
    """Whether a frame is a resume function."""
    return resumed_function(bytecode.name) is not None


def explanations(links: Links, bytecode: Bytecode) -> dict[str, str]:
    """A line of explanation for each graph and resume function that Dynamo's code calls, by its name."""
    found = {
        name: f"graph_{graph.number} is {graph_text(graph, bytecode)}, {name}"
        for name, graph in links.called_graphs(bytecode).items()
    }
    for function in links.made(bytecode):
        line = links.line(function)
        where = "in the rest of the frame" if line is None else f"at line {line}"
        text = bytecode.source.get(-1 if line is None else line, "").strip()
        text = f": {text}" if text else ""
        found[function.name] = f"{short_name(function.name)} continues {where}{text}"
    return found


def graph_text(graph: Graph, bytecode: Bytecode) -> str:
    """A graph as `graph 1 (5 ops, lines 7-8)`, with the lines of its frame."""
    lines = own_lines(graph, bytecode)
    where = f", {lines_text(lines)}" if lines else ""
    return f"graph {graph.number} ({number(graph.ops, 'op')}{where})"


def own_lines(graph: Graph, bytecode: Bytecode) -> list[int]:
    """The lines of the frame from which the ops of a graph come."""
    return sorted(
        {node.place.line for node in ops(graph) if node.place is not None and is_in(node.place, bytecode)}
    )


def ops(graph: Graph) -> list[Node]:
    """The nodes of a graph that count as ops."""
    return [node for node in graph.nodes or () if node.op.startswith("call_")]


def is_in(place: Place, bytecode: Bytecode) -> bool:
    """Whether a place is on a line of the frame itself, not in a function that it calls."""
    if place.file != bytecode.place.file:
        return False
    if bytecode.source:
        return place.line in bytecode.source
    return any(instruction.line == place.line for instruction in bytecode.original)  # source not recorded


def lines_text(lines: Iterable[int]) -> str:
    """Line numbers as `line 7`, `lines 7-9, 12`."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    return f"line{'s' if len(set(lines)) > 1 else ''} {text}"


def chain_text(chain: Step, links: Links) -> str:
    """The steps of a chain, one a line, as a tree where it branches."""
    return "\n".join([_step_title(chain, links), *_below(chain, links)])


def _below(step: Step, links: Links) -> list[str]:
    """The lines below a step: its breaks and continuations, as branches if there are several."""
    lines = [f"breaks at {break_text(graph_break)}" for graph_break in step.breaks]
    last = len(step.continuations) - 1
    for position, continuation in enumerate(step.continuations):
        first, *others = _continuation_lines(continuation, links)
        if last == 0:
            lines += [first, *others]
        else:
            lines.append(f"{'└' if position == last else '├'} {first}")
            lines += [f"{' ' if position == last else '│'} {other}" for other in others]
    return lines


def _continuation_lines(continuation: Continuation, links: Links) -> list[str]:
    function = continuation.function
    where = "" if continuation.line is None else f" from line {continuation.line}"
    if continuation.shown_before:
        return [
            f"{short_name(function.name)}{where}: its {continuation.shown_before:,} compiles are shown above"
        ]
    if not continuation.compiled:
        return [f"{short_name(function.name)}{where}: {links.fate(function)}"]
    lines = []
    for step in continuation.compiled:
        lines.append(f"{short_name(function.name)}{where} {_compiled_text(step, links)}")
        lines += _below(step, links)
    return lines


def _step_title(step: Step, links: Links) -> str:
    return f"{frame_name(step.bytecode.name, step.bytecode.method)} {_compiled_text(step, links)}"


def _compiled_text(step: Step, links: Links) -> str:
    label = compile_label(step.bytecode.compile_id)
    if step.is_repeated:
        return f"{label}, as shown above"
    graphs = ", ".join(graph_text(graph, step.bytecode) for graph in step.graphs)
    return f"{label} → {graphs or no_graph(links.process)}"


def no_graph(process: Process) -> str:
    """The text for a compile without graphs."""
    return "graphs: not recorded" if "graphs" in process.health.failed_probes else "no graph"


def break_text(graph_break: GraphBreak) -> str:
    """Where a frame broke, and torch's name for the break."""
    outer = graph_break.stack[0].place if graph_break.stack else None
    where = f"line {outer.line}" if outer is not None else "an unknown line"
    if len(graph_break.stack) > 1:
        where += f", in {graph_break.stack[-1].function} ({place(graph_break.place)})"
    return f"{where}: {graph_break.kind}"
