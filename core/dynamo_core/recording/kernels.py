"""Which nodes of its graph a kernel was made of, as Inductor says it in its code, or in a record of its own.

Source: torch/_inductor/utils.py (get_kernel_metadata) and codegen/wrapper.py: before a kernel's definition
stands `# Topologically Sorted Source Nodes: [add, relu], Original ATen: [aten.add, aten.relu]`. Seen with
2.13. The code is the stage "inductor_output_code".

Kernels in C++ have no such comment. With `INDUCTOR_PROVENANCE=1` torch records for every call of a kernel the
nodes that it was made of, in terms of the graph after Inductor's passes, and which those were before them:
torch/_inductor/debug.py (create_kernel_information_json and what it reads), seen with 2.13, version 2.0.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from ..model import CompileId, Graph, GraphPart, Place, Process
from ..shared.text import printable, printable_json

# Which kernels the code has that Inductor generated, and how often it calls them.
#
# Source: torch/_inductor/codegen/wrapper.py (PythonWrapperCodegen.define_kernel, generate_kernel_call), 2.8
# to 2.15: a kernel is defined as `NAME = async_compile.BACKEND(`, and called as `NAME(` (C++) or `NAME.run(`
# (Triton). Torch writes the code into its trace where it came from a cache, too. Run with 2.13.


# Asked for in `contents`.
GENERATED_KERNELS = "kernels in generated code"
GENERATED_CODE = "inductor_output_code"

_DEFINITION = re.compile(rb"\t*(\w{1,1000}) = async_compile\.(?!wait\b)\w")
_MARK = b" = async_compile."  # of a definition; searching for a plain text costs next to nothing
_ALL_DEFINED = b"async_compile.wait("
_CALL = re.compile(rb"\n\t? {1,200}(\w{1,1000})(?:\.run)?\(")


def kernels_in(code: bytes) -> dict[str, int]:
    """How often the code calls each kernel that it defines; a stranger's names are made safe."""
    calls = Counter(call[1] for call in _CALL.finditer(code, max(0, code.rfind(_ALL_DEFINED))))
    found: dict[str, int] = {}
    at = code.find(_MARK)
    while at >= 0:
        defined = _DEFINITION.match(code, code.rfind(b"\n", 0, at) + 1)
        if defined is not None:
            found[printable(defined[1].decode("utf-8", "replace"))] = calls[defined[1]]
        at = code.find(_MARK, at + 1)
    return found


# Which nodes of its graph a kernel was made of, as Inductor says it in its code, or in a record of its own.


# What to ask the reader for, if the kernels of a window of torch.profiler are to have their nodes: the code,
# which is large, where there is such a window.
CODE_FOR_WINDOW = "code behind a window's kernels"
PROVENANCE = "inductor_provenance_tracking_node_mappings"
# Patterns that begin with a line feed are searched for ten times as fast as with "^".
_NODES = re.compile(r"\n *# (?:Topologically Sorted|Unsorted) Source Nodes: \[([^\]\n]*)\]")
_KERNEL = re.compile(r"\n *(\w+) = async_compile\.")

Sources = tuple[tuple[str, ...], tuple[Place, ...]]


class KernelSources:
    """Nodes and lines by kernel, for the graphs of a process."""

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
        """The nodes and their lines; none where that is not known."""
        if part is None or part.graph is None:
            return (), ()
        compile_id = self._compile_of.get(part.graph)
        nodes = self._nodes.get((compile_id, kernel), ())
        known = self._places.get(compile_id, {})
        places = [place for node in nodes if (place := known.get(node)) is not None]
        return nodes, tuple(dict.fromkeys(places))

    def kernels(self) -> Iterator[tuple[Graph, str, Sources]]:
        """Every kernel of which it is known, with the graph that it is of, its nodes and their lines.

        Each call of a kernel is one where torch recorded calls (`mm:1`); `(2)` is behind those of the second
        graph that a compile lowered, as a backward is. Where a compile handed over several graphs, it is not
        known of which one a kernel is: it is left out.
        """
        by_compile: dict[CompileId | None, list[Graph]] = {}
        for graph in self._process.compiled_graphs:
            by_compile.setdefault(graph.compile_id, []).append(graph)
        named: dict[CompileId | None, dict[str, tuple[str, ...]]] = {}
        for (compile_id, kernel), nodes in self._nodes.items():
            named.setdefault(compile_id, {})[kernel] = nodes
        for compile_id, kernels in {**named, **self._calls}.items():
            graphs = by_compile.get(compile_id, [])
            if len(graphs) != 1:
                continue
            known = self._places.get(compile_id, {})
            for kernel, nodes in kernels.items():
                places = [place for node in nodes if (place := known.get(node)) is not None]
                yield graphs[0], kernel, (nodes, tuple(dict.fromkeys(places)))

    def _read_provenance(self, compile_id: CompileId | None, text: str) -> None:
        """Kernels to nodes after Inductor's passes, and those to nodes before; of anything else, nothing."""
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
