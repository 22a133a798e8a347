"""Kernels that Inductor generated: how often its code calls each, and which graph nodes each comes from.

Nodes of a kernel: before its definition stands `# Topologically Sorted Source Nodes: [add, relu], Original
ATen: [aten.add, aten.relu]`. Source: torch/_inductor/utils.py (get_kernel_metadata) and codegen/wrapper.py;
seen with 2.13. The code is the stage "inductor_output_code".

Kernels in C++ have no such comment. With `INDUCTOR_PROVENANCE=1` torch records the nodes of every call of a
kernel, as nodes of the graph after Inductor's passes, and the nodes before the passes of each of these:
torch/_inductor/debug.py (create_kernel_information_json and what it reads), seen with 2.13, version 2.0.

Calls of a kernel: it is defined as `NAME = async_compile.BACKEND(`, and called as `NAME(` (C++) or
`NAME.run(` (Triton). Source: torch/_inductor/codegen/wrapper.py (PythonWrapperCodegen.define_kernel,
generate_kernel_call), 2.8 to 2.15. Torch also writes code that came from a cache into its trace. Run with
2.13.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from ..model import CompileId, Graph, GraphPart, Place, Process
from ..shared.text import printable, printable_json

# Requested in `contents`.
GENERATED_KERNELS = "kernels in generated code"
GENERATED_CODE = "inductor_output_code"
# The code, which is large, only where a window of torch.profiler was recorded: for the nodes of its kernels.
CODE_FOR_WINDOW = "code behind a window's kernels"
PROVENANCE = "inductor_provenance_tracking_node_mappings"

_DEFINITION = re.compile(rb"\t*(\w{1,1000}) = async_compile\.(?!wait\b)\w")
_MARK = b" = async_compile."  # of a definition; searching for a plain text costs next to nothing
_ALL_DEFINED = b"async_compile.wait("
_CALL = re.compile(rb"\n\t? {1,200}(\w{1,1000})(?:\.run)?\(")


def kernels_in(code: bytes) -> dict[str, int]:
    """How often the code calls each kernel that it defines; names are made printable."""
    calls = Counter(call[1] for call in _CALL.finditer(code, max(0, code.rfind(_ALL_DEFINED))))
    found: dict[str, int] = {}
    at = code.find(_MARK)
    while at >= 0:
        defined = _DEFINITION.match(code, code.rfind(b"\n", 0, at) + 1)
        if defined is not None:
            found[printable(defined[1].decode("utf-8", "replace"))] = calls[defined[1]]
        at = code.find(_MARK, at + 1)
    return found


# Patterns that begin with a line feed are searched for ten times as fast as with "^".
_NODES = re.compile(r"\n *# (?:Topologically Sorted|Unsorted) Source Nodes: \[([^\]\n]*)\]")
_KERNEL = re.compile(r"\n *(\w+) = async_compile\.")

Sources = tuple[tuple[str, ...], tuple[Place, ...]]


class KernelSources:
    """The graph nodes and source lines of each kernel, for the graphs of a process."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._compile_of = {graph.number: graph.compile_id for graph in process.graphs}
        self._places = {
            graph.compile_id: {node.name: node.place for node in graph.nodes or ()}
            for graph in process.graphs
        }
        self._nodes: dict[tuple[CompileId | None, str], tuple[str, ...]] = {}
        self._calls: dict[CompileId | None, dict[str, tuple[str, ...]]] = {}
        for stage in process.stages:
            if stage.name == GENERATED_CODE:
                self._read(stage.compile_id, stage.text)
            elif stage.name == PROVENANCE:
                self._read_provenance(stage.compile_id, stage.text)

    def of(self, kernel: str, part: GraphPart | None) -> Sources:
        """The nodes of a kernel and their lines; empty where they are not known."""
        if part is None or part.number is None:
            return (), ()
        compile_id = self._compile_of.get(part.number)
        return self._sources(compile_id, self._nodes.get((compile_id, kernel), ()))

    def _sources(self, compile_id: CompileId | None, nodes: tuple[str, ...]) -> Sources:
        known = self._places.get(compile_id, {})
        places = [place for node in nodes if (place := known.get(node)) is not None]
        return nodes, tuple(dict.fromkeys(places))

    def kernels(self) -> Iterator[tuple[Graph, str, Sources]]:
        """Each kernel whose nodes are known, with its graph, its nodes and their lines.

        Where torch recorded calls, each call counts as a kernel (`mm:1`). Kernels of the second graph that a
        compile lowered, for example a backward, end with `(2)`. Where a compile handed over several graphs,
        it is not known to which of them a kernel belongs, and the kernel is left out.
        """
        by_compile: dict[CompileId | None, list[Graph]] = {}
        for graph in self._process.compiled_graphs:
            by_compile.setdefault(graph.compile_id, []).append(graph)
        named: dict[CompileId | None, dict[str, tuple[str, ...]]] = {}
        for (compile_id, kernel), nodes in self._nodes.items():
            named.setdefault(compile_id, {})[kernel] = nodes
        for compile_id, kernels in {**named, **self._calls}.items():
            graphs = by_compile.get(compile_id, [])
            if len(graphs) == 1:
                for kernel, nodes in kernels.items():
                    yield graphs[0], kernel, self._sources(compile_id, nodes)

    def _read_provenance(self, compile_id: CompileId | None, text: str) -> None:
        """Note the nodes of each kernel from torch's record; a record of another form is ignored."""
        try:
            content = printable_json(text)
            before, kernels = content["postToPre"], content["cppCodeToPost"]
            found = {
                str(kernel): tuple(
                    dict.fromkeys(str(node) for name in after for node in before.get(name, ()))
                )
                for kernel, after in kernels.items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        earlier = self._calls.setdefault(compile_id, {})
        suffix = " (2)" if earlier else ""
        earlier.update({f"{kernel}{suffix}": nodes for kernel, nodes in found.items()})

    def _read(self, compile_id: CompileId | None, code: str) -> None:
        code = f"\n{code}"
        comments = list(_NODES.finditer(code))
        ends = [comment.end() for comment in comments]
        for kernel in _KERNEL.finditer(code):
            before = bisect_right(ends, kernel.start())
            if not before or _KERNEL.search(code, ends[before - 1], kernel.start()):
                continue  # the comment is of the kernel before
            names = comments[before - 1][1].split(",")
            self._nodes[compile_id, kernel[1]] = tuple(name.strip() for name in names if name.strip())
