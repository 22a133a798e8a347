"""Compile time by category: each moment belongs to the innermost phase, and each phase to one category.

The phase names are the first arguments, or `phase_name`, of `dynamo_timed` and its callers: in torch 2.13
torch/_dynamo (convert_frame.py, output_graph.py, guards.py, pgo.py, and compiled_autograd.py, which logs its
event itself), torch/_functorch/_aot_autograd, torch/_functorch/partitioners.py, torch/_inductor
(compile_fx.py, graph.py, scheduler.py, codecache.py, async_compile.py, select_algorithm.py,
triton_bundler.py, runtime/triton_heuristics.py) and, for passes, torch/fx/passes/graph_transform_observer.py.
Traces of several older versions have the same names, and fewer of them. A phase that is not listed here
belongs to the category of the phase around it.
"""

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from ...model import Phase, Process
from ...shared.quick_dataclass import dataclass

COMPILED_AUTOGRAD = "compiled autograd"
TRACING = "Dynamo tracing"
GUARDS = "guards"
OTHER_RANKS = "waiting for other ranks"
BACKEND = "backend"
AOT_AUTOGRAD = "AOTAutograd"
INDUCTOR = "Inductor, other"
LOWERING = "Inductor lowering"
SCHEDULING = "Inductor scheduling"
CODE_GENERATION = "Inductor code generation"
PRE_GRAD = "Inductor passes, pre-grad"
JOINT = "Inductor passes, joint"
POST_GRAD = "Inductor passes, post-grad"
KERNELS = "C++/Triton compilation"
AUTOTUNING = "autotuning"
CACHES = "cache look-ups"
LOADING = "loading generated code"

# In the order of a compile, in which every report lists them. BACKEND and INDUCTOR are the rest of the
# backend's and Inductor's time; for another backend than Inductor, BACKEND is all of its time.
CATEGORIES = (
    COMPILED_AUTOGRAD,
    TRACING,
    GUARDS,
    OTHER_RANKS,
    BACKEND,
    CACHES,
    AOT_AUTOGRAD,
    INDUCTOR,
    PRE_GRAD,
    JOINT,
    POST_GRAD,
    LOWERING,
    SCHEDULING,
    CODE_GENERATION,
    AUTOTUNING,
    KERNELS,
    LOADING,
)

_CATEGORY_OF = {
    "compiled_autograd": COMPILED_AUTOGRAD,
    "dynamo": TRACING,
    "entire_frame_compile": TRACING,
    "bytecode_tracing": TRACING,
    "insert_deferred_runtime_asserts": TRACING,
    "fullgraph_capture": TRACING,
    "debug_insert_nops": TRACING,
    "build_guards": GUARDS,
    "precompile_build_guards": GUARDS,
    "precompile_load_guards": GUARDS,
    "compiler_collective": OTHER_RANKS,
    "guard_collective": OTHER_RANKS,
    "backend_compile": BACKEND,
    "create_aot_dispatcher_function": AOT_AUTOGRAD,
    "aot_collect_metadata": AOT_AUTOGRAD,
    "aot_trace_joint_graph": AOT_AUTOGRAD,
    "min_cut_rematerialization_partition": AOT_AUTOGRAD,
    "entire_backward_compile": AOT_AUTOGRAD,
    "compile_fx.<locals>.fw_compiler_base": INDUCTOR,
    "compile_fx.<locals>.bw_compiler": INDUCTOR,
    "inductor_compile": INDUCTOR,
    "inductor_import": INDUCTOR,
    "_recursive_pre_grad_passes": PRE_GRAD,
    "_recursive_joint_graph_passes": JOINT,
    "_recursive_post_grad_passes": POST_GRAD,
    "fx_codegen_and_compile": LOWERING,
    "additional_fake_tensor_prop": LOWERING,
    "convert_conv_weights_to_channels_last": LOWERING,
    "GraphLowering.run": LOWERING,
    "Scheduler.__init__": SCHEDULING,
    "Scheduler.fused_nodes": SCHEDULING,
    "Scheduler.create_combo_kernel_nodes": SCHEDULING,
    "Scheduler.codegen": CODE_GENERATION,
    "GraphLowering.compile_to_fn": CODE_GENERATION,
    "GraphLowering.codegen": CODE_GENERATION,
    "GraphLowering.codegen_subgraph": CODE_GENERATION,
    "code_gen": CODE_GENERATION,
    "generate_kernel_code_from_nodes": CODE_GENERATION,
    "PythonWrapperCodegen.generate": CODE_GENERATION,
    "CppWrapperCpu.generate": CODE_GENERATION,
    "CppWrapperGpu.generate": CODE_GENERATION,
    "compile_file": KERNELS,
    "async_compile.wait": KERNELS,
    "async_compile.precompile": KERNELS,
    "reload_kernel_in_parent": KERNELS,
    "AotCodeCompiler.compile": KERNELS,
    "aoti_precompile_header": KERNELS,
    "aoti_compile_fatbin": KERNELS,
    "CachingAutotuner.slow_precompile_config": KERNELS,
    "StaticAutotunerFuture.warm_precompile": KERNELS,
    "CachingAutotuner.benchmark_all_configs": AUTOTUNING,
    "CachingAutotuner.coordinate_descent_tuning": AUTOTUNING,
    "CachingAutotuner.combo_sequential_autotune": AUTOTUNING,
    "benchmark_fused_nodes": AUTOTUNING,
    "benchmark_codegened_module": AUTOTUNING,
    "collective_compute_do_bench": AUTOTUNING,
    "inductor_codecache_torch_key": CACHES,
    "CacheBase.get_system.triton_key": CACHES,
    "AOTAutogradCache.inductor_load": CACHES,
    "CompiledArtifact.load": CACHES,
    "CompiledArtifact.save": CACHES,
    "GraphPickler.loads": CACHES,
    "after_deserialization": CACHES,
    "TritonBundler.collect": CACHES,
    "TritonBundler.read_and_emit": CACHES,
    "TritonBundler.load_cached_static_autotuners": CACHES,
    "PyCodeCache.load_by_key_path": LOADING,
    "gc": "garbage collection",
}
_PATTERNS = (
    (re.compile(r"compile_attempt_\d+"), TRACING),
    (re.compile(r"bytecode_hooks_\d+"), "bytecode hooks"),
    (re.compile(r"pgo\..*"), CACHES),
    (re.compile(r".*_template_(?:precompiling|autotuning)"), AUTOTUNING),
    (re.compile(r"pass\.pre_grad_passes\..*"), PRE_GRAD),
    (re.compile(r"pass\.joint_graph_passes\..*"), JOINT),
    (re.compile(r"pass\.post_grad_passes\..*"), POST_GRAD),
)
_PASS = re.compile(r"pass\.(.+)")
_BACKWARD = ("entire_backward_compile", "compile_fx.<locals>.bw_compiler")


class Kind(NamedTuple):
    """The category and direction of a phase. The joint graph of AOTAutograd counts as forward."""

    category: str
    is_backward: bool


@dataclass
class Span:
    """A phase, limited to the one around it; `own_ns` is its time in which no other phase was running."""

    phase: Phase
    kind: Kind
    begin_ns: int
    end_ns: int
    own_ns: int = 0
    children: list["Span"] = field(default_factory=list)

    @property
    def total_ns(self) -> int:
        """The nanoseconds from begin to end."""
        return self.end_ns - self.begin_ns

    def walk(self) -> list["Span"]:
        """This span and all spans inside it, a parent before its children."""
        found: list[Span] = []
        to_visit = [self]
        while to_visit:
            span = to_visit.pop()
            found.append(span)
            to_visit += reversed(span.children)
        return found


@dataclass(frozen=True)
class CompileSplit:
    """The compile time of a process. The seconds of `kinds` add up to `total_seconds`, which is wall time.

    `overlap_seconds` is the time in which compiles of several threads, or one compile inside another,
    overlapped: it counts once in the total; None where the clock was set back, so that it is not known.
    `parallel_seconds` were spent in up to `parallel_threads` helper
    threads meanwhile, and are in none of the kinds. `passes` has the time of each named pass, which is part
    of the time of its kind.
    """

    kinds: dict[Kind, float]
    total_seconds: float
    overlap_seconds: float | None
    passes: dict[str, float]
    parallel_seconds: float
    parallel_threads: int

    def of(self, category: str, is_backward: bool | None = None) -> float:
        """The seconds of a category, of one direction or of both."""
        return sum(
            seconds
            for kind, seconds in self.kinds.items()
            if kind.category == category and is_backward in (None, kind.is_backward)
        )

    @property
    def categories(self) -> list[str]:
        """The categories that took any time, in the order of a compile, those not in CATEGORIES last."""
        found = dict.fromkeys(kind.category for kind in self.kinds)
        return [name for name in CATEGORIES if name in found] + [c for c in found if c not in CATEGORIES]


def split(process: Process) -> CompileSplit | None:
    """The compile time of a process by category; None where torch's phases were not recorded."""
    if not process.phases:
        return None
    trees, everything = _spans(process.phases)
    kinds: dict[Kind, int] = {}
    passes: dict[str, int] = {}
    for span in everything:
        kinds[span.kind] = kinds.get(span.kind, 0) + span.own_ns
        if named := _PASS.fullmatch(span.phase.name):
            passes[named[1]] = passes.get(named[1], 0) + span.total_ns
    total = sum(kinds.values())
    return CompileSplit(
        kinds={kind: own / 1e9 for kind, own in kinds.items() if own},
        total_seconds=total / 1e9,
        overlap_seconds=_overlap_seconds(trees, total),
        passes={name: ns / 1e9 for name, ns in sorted(passes.items(), key=lambda item: -item[1])},
        parallel_seconds=sum(p.last_ns - p.begin_ns for p in process.parallel_phases) / 1e9,
        parallel_threads=_at_once(process.parallel_phases),
    )


def _overlap_seconds(trees: Sequence[Span], total_ns: int) -> float | None:
    added = seconds_of_trees(trees)
    return None if added is None else added - total_ns / 1e9


def seconds_of_trees(trees: Iterable[Span]) -> float | None:
    """Their time, one after the other; None where one ends before it began: the clock was set back."""
    totals = [tree.total_ns for tree in trees]
    return None if any(total < 0 for total in totals) else sum(totals) / 1e9


def spans(phases: Iterable[Phase]) -> list[Span]:
    """The outermost phases as spans; a moment counts for the innermost span, of several trees the latest."""
    return _spans(phases)[0]


def _spans(phases: Iterable[Phase]) -> tuple[list[Span], list[Span]]:
    """The outermost spans, and all spans, a parent before its children."""
    everything: list[Span] = []
    trees = [_span(phase, None, everything) for phase in phases]
    _assign_own_time(everything)
    return trees, everything


def _span(phase: Phase, around: Span | None, everything: list[Span]) -> Span:
    begin, end = phase.begin_ns, phase.last_ns
    if around is not None and not around.begin_ns <= begin <= end <= around.end_ns:
        # The times are of the wall clock, which can be set back.
        begin = min(max(begin, around.begin_ns), around.end_ns)
        end = min(max(end, begin), around.end_ns)
    is_backward = phase.name in _BACKWARD or phase.is_backward is True
    span = Span(phase, _kind(phase.name, is_backward, around.kind if around else None), begin, end)
    everything.append(span)
    span.children = [_span(child, span, everything) for child in phase.children]
    return span


def _assign_own_time(everything: list[Span]) -> None:
    """Give each moment to the span that began last and has not ended, in a sweep over all begins."""
    in_order = sorted(everything, key=attrgetter("begin_ns"))  # the sort is stable: a parent stays first
    is_open: list[tuple[int, Span]] = []
    now = 0

    def give_until(limit: float) -> None:
        nonlocal now
        while is_open and now < limit:
            span = is_open[0][1]
            until = int(min(span.end_ns, limit))
            span.own_ns += max(until - now, 0)
            now = max(now, until)
            if span.end_ns <= now:
                heapq.heappop(is_open)

    for begun, span in enumerate(in_order):
        give_until(span.begin_ns)
        now = span.begin_ns
        heapq.heappush(is_open, (-begun, span))
    give_until(float("inf"))


@lru_cache(maxsize=4096)  # torch has some hundred names, but a foreign recording may have any number
def _kind(name: str, is_backward: bool, around: Kind | None) -> Kind:
    category = category_of(name) or (around.category if around else f"other: {name}")
    return Kind(category, is_backward or (around is not None and around.is_backward))


def category_of(name: str) -> str | None:
    """The category of a phase; None for an unknown name."""
    known = _CATEGORY_OF.get(name)
    return known or next((category for pattern, category in _PATTERNS if pattern.fullmatch(name)), None)


def _at_once(phases: Iterable[Phase]) -> int:
    """The largest number of phases that ran at the same time."""
    changes = sorted(
        change
        for phase in phases
        for change in ((phase.begin_ns, 1), (max(phase.last_ns, phase.begin_ns), -1))
    )
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


# The phase tree of a compile for readers: phases of the same name are merged, small ones summed.

_SMALL_SHARE = 0.02  # of the compile
_SMALL_NS = 1_000_000


@dataclass(frozen=True)
class Node:
    """Phases of one name inside the same phase. `own_ns` is their time outside of their children.

    A node without a name is the sum of `count` small phases.
    """

    name: str | None
    category: str | None
    count: int
    total_ns: int
    own_ns: int
    children: tuple["Node", ...]

    @property
    def seconds(self) -> float | None:
        """How long they took; None where the clock was set back meanwhile."""
        return None if self.total_ns < 0 else self.total_ns / 1e9

    def walk(self, depth: int = 0) -> Iterator[tuple[int, "Node"]]:
        """This node and all nodes inside it, with the depth of each."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


def phase_tree(trees: Sequence[Span], *, show_all: bool) -> list[Node]:
    """The phases of a compile as a tree, the costliest first; small ones are summed unless all are shown."""
    whole = sum(tree.total_ns for tree in trees)
    return _nodes(trees, 0 if show_all else max(_SMALL_NS, int(whole * _SMALL_SHARE)))


def _nodes(siblings: Sequence[Span], smallest_ns: int) -> list[Node]:
    by_name: dict[str, list[Span]] = {}
    for span in siblings:
        by_name.setdefault(span.phase.name, []).append(span)
    nodes = sorted((_node(same, smallest_ns) for same in by_name.values()), key=lambda node: -node.total_ns)
    small = [node for node in nodes if node.total_ns < smallest_ns]
    if len(small) < 2:
        return nodes
    rest = Node(
        name=None,
        category=None,
        count=sum(node.count for node in small),
        total_ns=sum(node.total_ns for node in small),
        own_ns=sum(each.own_ns for node in small for _, each in node.walk()),
        children=(),
    )
    return [*nodes[: len(nodes) - len(small)], rest]


def _node(same: Sequence[Span], smallest_ns: int) -> Node:
    return Node(
        name=same[0].phase.name,
        category=same[0].kind.category,
        count=len(same),
        total_ns=sum(span.total_ns for span in same),
        own_ns=sum(span.own_ns for span in same),
        children=tuple(_nodes([child for span in same for child in span.children], smallest_ns)),
    )
