"""Match the graphs of two runs by what they compute, pair the unmatched ones, and compare source lines."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import TypeVar

from ..findings import Finding
from ..model import Graph, Node, Process, Recording, function_of
from ..shared.quick_dataclass import dataclass

_Item = TypeVar("_Item")
# The least share of ops that two graphs have in common if one became the other; less within one function.
_SIMILAR, _SIMILAR_ELSEWHERE = 0.5, 0.75
# The same for a split graph, which changes few ops: a comparison at the break, a branch that is not taken.
_SPLIT = 0.7
# Graphs with fewer ops may be equal in functions that have nothing to do with each other.
_LEAST_OPS_ELSEWHERE = 4
_MOST_PIECES = 64
# Graphs are compared with those at most this far away in the order of compilation.
_NEAR = 12


@dataclass(frozen=True, eq=False)
class ComparedGraph:
    """A graph with its process, and its function by the name that it has in the later run."""

    graph: Graph
    process: Process
    function: str
    order: int

    @property
    def ops(self) -> int:
        """The number of ops; 0 where it was not recorded."""
        return self.graph.ops or 0

    @cached_property
    def kinds(self) -> Counter[str] | None:
        """The number of ops of each kind; None where they were not read."""
        return None if self.sequence is None else Counter(self.sequence)

    @cached_property
    def sequence(self) -> tuple[str, ...] | None:
        """The kinds of its ops in order; None where they were not read."""
        nodes = self.graph.nodes
        return None if nodes is None else tuple(op_of(node) for node in nodes if is_op(node))


def is_op(node: Node) -> bool:
    """Whether Dynamo counts the node as an op."""
    return node.op.startswith("call_")


def op_of(node: Node) -> str:
    """The kind of a node, independent of its name and arguments."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    return node.target if is_op(node) else "input" if node.op == "placeholder" else node.op


def graphs_of(recording: Recording, renames: Mapping[str, str]) -> list[ComparedGraph]:
    """All graphs of a run, in the order in which they were compiled."""
    found: list[ComparedGraph] = []
    for process in recording.processes:
        for graph in process.compiled_graphs:
            name = function_of(graph.frame_name)
            found.append(ComparedGraph(graph, process, renames.get(name, name), len(found)))
    return found


def have_keys(graphs: Iterable[ComparedGraph]) -> bool:
    """Whether each graph has a key, which identifies what it computes."""
    return all(each.graph.key is not None for each in graphs)


@dataclass(frozen=True)
class UnmatchedGraphs:
    """The graphs without a match on the other side, and the pairs that compute the same.

    `by_key` says whether they were matched by what they compute, which is not always recorded.
    """

    before: list[ComparedGraph]
    after: list[ComparedGraph]
    same: list[tuple[ComparedGraph, ComparedGraph]]
    by_key: bool


def match_graphs(before: Sequence[ComparedGraph], after: Sequence[ComparedGraph]) -> UnmatchedGraphs:
    """Match graphs by what they compute, or by number of ops where that is not recorded."""
    by_key = have_keys(before) and have_keys(after)

    def computes(each: ComparedGraph) -> Hashable:
        return each.graph.key if by_key else (each.function, each.graph.ops)

    left, right = list(before), list(after)
    same: list[tuple[ComparedGraph, ComparedGraph]] = []
    traits: list[Callable[[ComparedGraph], Hashable]] = [
        lambda each: (each.function, computes(each)),
        computes,
    ]
    for trait in traits:
        same += _equal_in(trait, left, right)
        paired = {id(each) for pair in same for each in pair}
        left, right = ([each for each in side if id(each) not in paired] for side in (left, right))
    return UnmatchedGraphs(left, right, same, by_key)


def _equal_in(
    trait: Callable[[ComparedGraph], Hashable], left: Iterable[ComparedGraph], right: Iterable[ComparedGraph]
) -> list[tuple[ComparedGraph, ComparedGraph]]:
    """Pairs of graphs whose trait is equal and not None, in their order; no graph is in two pairs."""
    waiting: dict[Hashable, list[ComparedGraph]] = {None: []}
    for graph in reversed(list(right)):
        waiting.setdefault(trait(graph), []).append(graph)
    del waiting[None]
    return [(graph, equal.pop()) for graph in left if (equal := waiting.get(trait(graph)))]


Pair = tuple[tuple[ComparedGraph, ...], tuple[ComparedGraph, ...]]


def pair_unmatched(before: Sequence[ComparedGraph], after: Sequence[ComparedGraph]) -> list[Pair]:
    """Pair the unmatched graphs: each is changed, split, merged, removed or added."""
    left, right = _Waiting(before), _Waiting(after)
    pairs: list[Pair] = []
    pairs += _pair_same_ops(left, right)
    pairs += _pair_split(left, right)
    pairs += [(pieces, whole) for whole, pieces in _pair_split(right, left)]
    pairs += _pair_similar(left, right, _SIMILAR, same_function=True)
    pairs += _pair_similar(left, right, _SIMILAR_ELSEWHERE, same_function=False)
    pairs += [((each,), ()) for each in left]
    pairs += [((), (each,)) for each in right]
    return sorted(pairs, key=_order)


def _order(pair: Pair) -> tuple[int, int]:
    before, after = pair
    return (after[0].order if after else before[0].order), 0 if after else 1


def surplus(
    items: Sequence[_Item], others: Iterable[Hashable], trait: Callable[[_Item], Hashable]
) -> list[_Item]:
    """The items that are left when each of `others`, the traits of another side, is matched with one."""
    waiting = Counter(others)
    left = []
    for item in items:
        waiting[trait(item)] -= 1
        if waiting[trait(item)] < 0:
            left.append(item)
    return left


class _Waiting:
    """The graphs that are not in a pair yet, in their order."""

    def __init__(self, graphs: Sequence[ComparedGraph]) -> None:
        self._graphs = list(graphs)

    def __iter__(self) -> Iterator[ComparedGraph]:
        return iter(list(self._graphs))

    def take(self, graphs: Iterable[ComparedGraph]) -> None:
        """Remove graphs that are in a pair now."""
        taken = {id(each) for each in graphs}
        self._graphs = [each for each in self._graphs if id(each) not in taken]


def _pair_same_ops(left: _Waiting, right: _Waiting) -> list[Pair]:
    """Pair graphs with the same ops in the same order, first within a function, then across functions."""
    found: list[Pair] = []
    for trait in (_function_and_ops, _many_ops):
        new: list[Pair] = [((one,), (other,)) for one, other in _equal_in(trait, left, right)]
        left.take(each for before, _ in new for each in before)
        right.take(each for _, after in new for each in after)
        found += new
    return found


def _function_and_ops(graph: ComparedGraph) -> Hashable:
    return (graph.function, graph.sequence) if graph.sequence else None


def _many_ops(graph: ComparedGraph) -> Hashable:
    return graph.sequence if graph.sequence and graph.ops >= _LEAST_OPS_ELSEWHERE else None


def _pair_split(whole: _Waiting, pieces: _Waiting) -> list[Pair]:
    """Pair graphs of one side with several consecutive graphs of the other, which are their pieces."""
    found: list[Pair] = []
    free = list(pieces)
    starts = _positions(free)
    passed: Counter[str] = Counter()  # graphs of each function that are not split
    for graph in whole:
        position = passed[graph.function]
        near = starts.get(graph.function, [])[max(0, position - _NEAR) : position + _NEAR]
        run = _best_run(graph, free, near)
        if not run:
            passed[graph.function] += 1
            continue
        found.append(((graph,), run))
        begin = free.index(run[0])
        del free[begin : begin + len(run)]
        starts = _positions(free)
    whole.take(each for before, _ in found for each in before)
    pieces.take(each for _, after in found for each in after)
    return found


def _positions(graphs: Sequence[ComparedGraph]) -> dict[str, list[int]]:
    """The positions of each function's graphs in the sequence."""
    found: dict[str, list[int]] = {}
    for position, graph in enumerate(graphs):
        found.setdefault(graph.function, []).append(position)
    return found


def _best_run(
    whole: ComparedGraph, free: Sequence[ComparedGraph], starts: Sequence[int]
) -> tuple[ComparedGraph, ...]:
    """The consecutive graphs that together match `whole` best; none where a single one matches as well."""
    best: tuple[ComparedGraph, ...] = ()
    best_share = _SPLIT
    for start in starts:
        kinds: Counter[str] | None = Counter()
        ops = 0
        for end in range(start, min(start + _MOST_PIECES, len(free))):
            piece = free[end]
            if piece.process is not free[start].process:
                break
            ops += piece.ops
            if ops * best_share > whole.ops and end > start:
                break  # the share can only fall: `whole` has too few ops
            kinds = None if kinds is None or piece.kinds is None else kinds + piece.kinds
            if ops >= best_share * whole.ops:
                share = _share(whole.kinds, kinds, whole.ops, ops)
                if share > best_share or (end == start and share >= best_share):
                    best, best_share = tuple(free[start : end + 1]), share
    return best if len(best) > 1 else ()


def _share(kinds: Counter[str] | None, others: Counter[str] | None, ops: int, other_ops: int) -> float:
    """The share that two graphs have in common: of their ops where they were read, else of their number."""
    if kinds is None or others is None:
        return min(ops, other_ops) / max(ops, other_ops, 1)
    return (kinds & others).total() / max(kinds.total(), others.total(), 1)


def _pair_similar(left: _Waiting, right: _Waiting, least: float, *, same_function: bool) -> list[Pair]:
    """Pair graphs that have at least the share `least` of ops in common, the most similar first."""
    after: dict[str, list[ComparedGraph]] = {}
    for other in right:
        after.setdefault(other.function if same_function else "", []).append(other)
    tried: list[tuple[float, ComparedGraph, ComparedGraph]] = []
    counted: Counter[str] = Counter()
    for graph in left:
        group = graph.function if same_function else ""
        position, counted[group] = counted[group], counted[group] + 1
        others = after.get(group, [])
        for other in others[max(0, position - _NEAR) : position + _NEAR]:
            if not same_function and (graph.kinds is None or graph.ops < _LEAST_OPS_ELSEWHERE):
                continue
            share = _share(graph.kinds, other.kinds, graph.ops, other.ops)
            if share >= least:
                tried.append((share, graph, other))
    found: list[Pair] = []
    taken: set[int] = set()
    for _, graph, other in sorted(tried, key=lambda candidate: -candidate[0]):
        if id(graph) not in taken and id(other) not in taken:
            taken |= {id(graph), id(other)}
            found.append(((graph,), (other,)))
    left.take(each for before, _ in found for each in before)
    right.take(each for _, after_pair in found for each in after_pair)
    return found


_Function = tuple[str, str]  # its name, and that of its file


class FunctionLines:
    """The source lines of compiled functions on both sides, without those of functions inlined into them.

    Functions of one name in one file are not distinguished: if one of them changed, all count as changed.
    """

    def __init__(self, before: Recording, after: Recording) -> None:
        self.is_another_torch = torch_versions(before) != torch_versions(after)
        self._before, self._after = _lines(before), _lines(after)
        self._functions = _functions_of_compiles(before) | _functions_of_compiles(after)

    def are_unchanged(self, pair: Pair) -> bool:
        """Whether torch differs, and the functions of these graphs are unchanged."""
        compiles = [(each.process.stream.name, str(each.graph.compile_id)) for side in pair for each in side]
        return self._are_unchanged(map(self._functions.get, compiles))

    def findings_of_torch(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """The identities of findings in unchanged functions, where torch differs."""
        return tuple(
            finding.identity
            for finding in findings
            if finding.place is not None
            and self._are_unchanged([_function(finding.function, finding.place.file)])
        )

    def function_is_unchanged(self, name: str) -> bool:
        """Whether torch differs, and every function of this name is unchanged."""
        functions = [function for function in self._before | self._after if function and function[0] == name]
        return bool(functions) and self._are_unchanged(functions)

    def _are_unchanged(self, functions: Iterable[_Function | None]) -> bool:
        return self.is_another_torch and all(
            function in self._before and self._before[function] == self._after.get(function)
            for function in functions
        )


def torch_versions(recording: Recording) -> set[str | None]:
    """The versions of torch in a recording's processes."""
    return {process.torch_version for process in recording.processes}


def _function(name: str | None, file: str) -> _Function:
    return function_of(name), PurePath(file).name


def _lines(recording: Recording) -> dict[_Function | None, set[str]]:
    found: dict[_Function | None, set[str]] = {}
    for process in recording.processes:
        for code in process.bytecodes:
            lines = found.setdefault(_function(code.name, code.place.file), set())
            lines |= {line.strip() for line in code.source.values()}
    return found


def _functions_of_compiles(recording: Recording) -> dict[tuple[str, str], _Function]:
    return {
        (process.stream.name, str(code.compile_id)): _function(code.name, code.place.file)
        for process in recording.processes
        for code in process.bytecodes
    }
