"""Graphs of two runs, matched by what they compute: the same ones are left out, the others paired."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath

from ..findings import Finding
from ..model import Graph, Node, Process, Recording, function_of
from ..shared.quick_dataclass import dataclass

# The share of ops that two graphs have in common if one became the other: less within one function.
_ALIKE, _ALIKE_ELSEWHERE = 0.5, 0.75
# A graph that was cut loses or gains few ops: what was compared at the break, the side that was not taken.
_CUT = 0.7
# Fewer ops than these are alike in functions that have nothing to do with each other.
_LEAST_OPS_ELSEWHERE = 4
_MOST_PIECES = 64
# How far apart, in the order in which they were compiled, two graphs may be that are tried with each other.
_NEAR = 12


@dataclass(frozen=True, eq=False)
class OneGraph:
    """A graph, whose it is, and the function that it is of by the name that it has after."""

    graph: Graph
    process: Process
    function: str
    order: int

    @property
    def ops(self) -> int:
        """Its number of ops, 0 where it was not recorded."""
        return self.graph.ops or 0

    @cached_property
    def kinds(self) -> Counter[str] | None:
        """Its ops by kind; None where they were not read."""
        nodes = self.graph.nodes
        return None if nodes is None else Counter(op_of(node) for node in nodes if is_op(node))

    @cached_property
    def sequence(self) -> tuple[str, ...] | None:
        """Its ops in order."""
        nodes = self.graph.nodes
        return None if nodes is None else tuple(op_of(node) for node in nodes if is_op(node))


def is_op(node: Node) -> bool:
    """Whether Dynamo counts it as an op."""
    return node.op.startswith("call_")


def op_of(node: Node) -> str:
    """What a node does, whatever it is called and reads."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    return node.target if is_op(node) else "input" if node.op == "placeholder" else node.op


def graphs_of(recording: Recording, renames: Mapping[str, str]) -> list[OneGraph]:
    """All graphs of a run, in the order in which they were compiled."""
    found: list[OneGraph] = []
    for process in recording.processes:
        for graph in process.compiled_graphs:
            name = function_of(graph.frame_name)
            found.append(OneGraph(graph, process, renames.get(name, name), len(found)))
    return found


def have_keys(graphs: Iterable[OneGraph]) -> bool:
    """Whether it is recorded what each of them computes."""
    return all(each.graph.key is not None for each in graphs)


@dataclass(frozen=True)
class Unlike:
    """Graphs of which the other side has none, and the pairs of those that compute the same.

    `by_key` says whether it is recorded what each of them computes.
    """

    before: list[OneGraph]
    after: list[OneGraph]
    same: list[tuple[OneGraph, OneGraph]]
    by_key: bool


def unlike(before: Sequence[OneGraph], after: Sequence[OneGraph]) -> Unlike:
    """Take out what both sides have: by what it computes, or where that is not recorded by number of ops."""
    by_key = have_keys(before) and have_keys(after)

    def computes(each: OneGraph) -> Hashable:
        return each.graph.key if by_key else (each.function, each.graph.ops)

    left, right, same = list(before), list(after), []
    traits: list[Callable[[OneGraph], Hashable]] = [lambda each: (each.function, computes(each)), computes]
    for trait in traits:
        waiting: dict[Hashable, list[OneGraph]] = {}
        for each in reversed(right):
            waiting.setdefault(trait(each), []).append(each)
        kept = []
        for each in left:
            alike = waiting.get(trait(each))
            if alike:
                same.append((each, alike.pop()))
            else:
                kept.append(each)
        left = kept
        paired = {id(other) for _, other in same}
        right = [each for each in right if id(each) not in paired]
    return Unlike(left, right, same, by_key)


Pair = tuple[tuple[OneGraph, ...], tuple[OneGraph, ...]]


def paired(before: Sequence[OneGraph], after: Sequence[OneGraph]) -> list[Pair]:
    """What became of each graph that the other side has not: changed, cut, joined, gone or new."""
    left, right = _Waiting(before), _Waiting(after)
    pairs: list[Pair] = []
    pairs += _of_same_ops(left, right)
    pairs += _cut(left, right)
    pairs += [(of_after, of_before) for of_before, of_after in _cut(right, left)]
    pairs += _alike(left, right, _ALIKE, same_function=True)
    pairs += _alike(left, right, _ALIKE_ELSEWHERE, same_function=False)
    pairs += [((each,), ()) for each in left]
    pairs += [((), (each,)) for each in right]
    return sorted(pairs, key=_order)


def _order(pair: Pair) -> tuple[int, int]:
    before, after = pair
    return (after[0].order if after else before[0].order), 0 if after else 1


class _Waiting:
    """Graphs that are in no pair yet, in their order."""

    def __init__(self, graphs: Sequence[OneGraph]) -> None:
        self._graphs = list(graphs)

    def __iter__(self) -> Iterator[OneGraph]:
        return iter(list(self._graphs))

    def take(self, graphs: Iterable[OneGraph]) -> None:
        """They are in a pair now."""
        taken = {id(each) for each in graphs}
        self._graphs = [each for each in self._graphs if id(each) not in taken]


def _of_same_ops(left: _Waiting, right: _Waiting) -> list[Pair]:
    """Graphs with the same ops in the same order, of the same function if there is such a one."""
    found: list[Pair] = []
    for with_function in (True, False):
        waiting: dict[Hashable, list[OneGraph]] = {}
        for each in reversed(list(right)):
            if each.sequence and (with_function or each.ops >= _LEAST_OPS_ELSEWHERE):
                waiting.setdefault((with_function and each.function, each.sequence), []).append(each)
        new: list[Pair] = []
        for each in left:
            same = waiting.get((with_function and each.function, each.sequence))
            if same:
                new.append(((each,), (same.pop(),)))
        left.take(each for before, _ in new for each in before)
        right.take(each for _, after in new for each in after)
        found += new
    return found


def _cut(whole: _Waiting, pieces: _Waiting) -> list[Pair]:
    """Graphs of one side of which the other has the pieces, one behind the other."""
    found: list[Pair] = []
    free = list(pieces)
    starts = _positions(free)
    passed: Counter[str] = Counter()  # graphs of each function that were found to be whole
    for each in whole:
        position = passed[each.function]
        near = starts.get(each.function, [])[max(0, position - _NEAR) : position + _NEAR]
        run = _best_run(each, free, near)
        if not run:
            passed[each.function] += 1
            continue
        found.append(((each,), run))
        begin = free.index(run[0])
        del free[begin : begin + len(run)]
        starts = _positions(free)
    whole.take(each for before, _ in found for each in before)
    pieces.take(each for _, after in found for each in after)
    return found


def _positions(graphs: Sequence[OneGraph]) -> dict[str, list[int]]:
    """Where in the sequence graphs of each function are."""
    found: dict[str, list[int]] = {}
    for position, each in enumerate(graphs):
        found.setdefault(each.function, []).append(position)
    return found


def _best_run(whole: OneGraph, free: Sequence[OneGraph], starts: Sequence[int]) -> tuple[OneGraph, ...]:
    """The graphs that together have the ops of `whole`; none where one alone has as many of them."""
    best: tuple[OneGraph, ...] = ()
    best_share = _CUT
    for start in starts:
        kinds: Counter[str] | None = Counter()
        ops = 0
        for end in range(start, min(start + _MOST_PIECES, len(free))):
            piece = free[end]
            if piece.process is not free[start].process:
                break
            ops += piece.ops
            if ops * best_share > whole.ops and end > start:
                break  # they have no more in common than the smaller one has ops
            kinds = None if kinds is None or piece.kinds is None else kinds + piece.kinds
            if ops >= best_share * whole.ops:
                share = _share(whole.kinds, kinds, whole.ops, ops)
                if share > best_share or (end == start and share >= best_share):
                    best, best_share = tuple(free[start : end + 1]), share
    return best if len(best) > 1 else ()


def _share(kinds: Counter[str] | None, others: Counter[str] | None, ops: int, other_ops: int) -> float:
    """What two have in common, by ops where they were read, else by their number."""
    if kinds is None or others is None:
        return min(ops, other_ops) / max(ops, other_ops, 1)
    return (kinds & others).total() / max(kinds.total(), others.total(), 1)


def _alike(left: _Waiting, right: _Waiting, least: float, *, same_function: bool) -> list[Pair]:
    """Pairs that have the most ops in common, the best first."""
    after: dict[str, list[OneGraph]] = {}
    for each in right:
        after.setdefault(each.function if same_function else "", []).append(each)
    tried: list[tuple[float, OneGraph, OneGraph]] = []
    counted: Counter[str] = Counter()
    for each in left:
        group = each.function if same_function else ""
        position, counted[group] = counted[group], counted[group] + 1
        others = after.get(group, [])
        for other in others[max(0, position - _NEAR) : position + _NEAR]:
            if not same_function and (each.kinds is None or each.ops < _LEAST_OPS_ELSEWHERE):
                continue
            share = _share(each.kinds, other.kinds, each.ops, other.ops)
            if share >= least:
                tried.append((share, each, other))
    found: list[Pair] = []
    taken: set[int] = set()
    for _, each, other in sorted(tried, key=lambda known: -known[0]):
        if id(each) not in taken and id(other) not in taken:
            taken |= {id(each), id(other)}
            found.append(((each,), (other,)))
    left.take(each for before, _ in found for each in before)
    right.take(each for _, of_after in found for each in of_after)
    return found


# What another version of torch did: what differs in functions whose own lines are the same in both runs.


_Function = tuple[str, str]  # its name, and that of its file


class OwnLines:
    """The lines of compiled functions on both sides, without those of what is inlined into them.

    Functions of one name in one file are taken for one: where one of them was changed, none is the same.
    """

    def __init__(self, before: Recording, after: Recording) -> None:
        self.is_another_torch = _versions(before) != _versions(after)
        self._before, self._after = _lines(before), _lines(after)
        self._functions = _of_compiles(before) | _of_compiles(after)

    def are_the_same(self, pair: Pair) -> bool:
        """Whether torch is another one, and the functions that these graphs are of read the same."""
        compiles = [(each.process.stream.name, str(each.graph.compile_id)) for side in pair for each in side]
        return self._read_the_same(map(self._functions.get, compiles))

    def findings_of_torch(self, findings: Sequence[Finding]) -> tuple[str, ...]:
        """The identities of those in functions that read the same, where torch is another one."""
        return tuple(
            finding.identity
            for finding in findings
            if finding.place is not None
            and self._read_the_same([_function(finding.function, finding.place.file)])
        )

    def function_is_the_same(self, name: str) -> bool:
        """Whether torch is another one, and every function of this name reads the same."""
        functions = [function for function in self._before | self._after if function and function[0] == name]
        return bool(functions) and self._read_the_same(functions)

    def _read_the_same(self, functions: Iterable[_Function | None]) -> bool:
        return self.is_another_torch and all(
            function in self._before and self._before[function] == self._after.get(function)
            for function in functions
        )


def _versions(recording: Recording) -> set[str | None]:
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


def _of_compiles(recording: Recording) -> dict[tuple[str, str], _Function]:
    return {
        (process.stream.name, str(code.compile_id)): _function(code.name, code.place.file)
        for process in recording.processes
        for code in process.bytecodes
    }
