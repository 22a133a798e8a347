"""The collectives that ranks call: in graphs, in shared calls of graphs, and in flight recorder dumps."""

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from operator import attrgetter

from ...model import CalledCollective, CallTimes, Graph, Node, Place, Process
from ...shared.graph_key import CollectiveCall, collective_call
from ...shared.quick_dataclass import dataclass
from ..source_lines import is_library
from .members import Difference, Step, sides


@dataclass(frozen=True)
class Collective:
    """A call of a collective in a graph; `value` is its result, `devices` the kinds of devices it runs on."""

    call: CollectiveCall
    value: str
    graph: Graph
    place: Place | None
    devices: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[object, ...]:
        """The parts that have to be equal on every rank of the group."""
        return self.call.name, "" if self.call.has_own_sizes else self.value, self.call.arguments

    def __str__(self) -> str:
        return f"{self.call.name} of {self.value}" if self.value else self.call.name


def collectives_of(graph: Graph) -> list[Collective] | None:
    """The collectives of a graph, in order; None where its nodes were not recorded, or not requested."""
    return None if graph.nodes is None else list(_collectives(graph, graph.nodes))


def _collectives(graph: Graph, nodes: Sequence[Node]) -> Iterator[Collective]:
    for index, node in enumerate(nodes):
        call = collective_call(node.target, node.args)
        if call is not None:
            devices = frozenset(tensor.device.partition(":")[0] for tensor in node.tensors)
            yield Collective(call, tensors_in_words(node), graph, place_in_program(nodes, index), devices)


def tensors_in_words(node: Node) -> str:
    """The dtype and sizes of a node's result: `float32[8, 4]`."""
    return ", ".join(
        f"{tensor.dtype.removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
        for tensor in node.tensors
    )


def place_in_program(nodes: Sequence[Node], index: int) -> Place | None:
    """The line of the program that led to a node: for a node made by a library, the call into the library."""
    node = nodes[index]
    if node.called_from is not None:
        return node.called_from
    if node.place is None or not is_library(node.place):
        return node.place
    before = (each.place for each in reversed(nodes[:index]) if each.place is not None)
    return next((place for place in before if not is_library(place)), node.place)


# Shared calls: calls of a graph in which a rank waits until all ranks of the group have called it.
#
# A shared call ends on all ranks at about the same time, and has the same number on all. If a graph is called
# often, only some of its calls were recorded one by one; the others are not listed here.

# Collectives that no rank leaves before all have entered. In a broadcast the sender may go on at once.
_WAITS_FOR_ALL = ("all_reduce", "all_gather", "reduce_scatter")
_WAIT = "_c10d_functional.wait_tensor"
_MOST_VERSIONS = 64  # comparing the calls of all versions of a graph is quadratic in their number
_HOST = "cpu"  # on other devices a call only starts the collective, and the host does not wait


@dataclass(frozen=True)
class SharedCall:
    """One shared call, timed by its host's clock. `number` counts the calls of a `kind` of graph, from 1.

    The number is None where earlier calls of another version of the graph were not all recorded.
    """

    kind: Hashable
    number: int | None
    graph: Graph
    collective: Collective
    groups: frozenset[str]
    began_ns: int
    ended_ns: int

    @property
    def ns(self) -> int:
        """The duration in nanoseconds."""
        return self.ended_ns - self.began_ns


@dataclass(frozen=True)
class SharedCalls:
    """The shared calls of a rank that were recorded one by one, of `made` shared calls in all.

    `groups` are the process groups that its graphs name. `begun` counts the calls of each kind of graph with
    collectives, on any device; `begins` has number and moment of those calls for which both are known.
    """

    noted: tuple[SharedCall, ...]
    made: int
    groups: frozenset[str]
    begun: Mapping[Hashable, int]
    begins: Mapping[Hashable, Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class _Version:
    """One of the graphs of a kind, and its recorded calls: their numbers, when they began and ended."""

    graph: Graph
    waiting: tuple[Collective, ...]
    times: CallTimes
    numbers: tuple[int, ...]
    began: tuple[int, ...]
    ended: tuple[int, ...]

    def calls_before(self, moment: int) -> int | None:
        """How many calls began before this moment; None if the recorded ones leave that open."""
        index = bisect_right(self.began, moment)
        before = self.numbers[index - 1] if index else 0
        after = self.numbers[index] if index < len(self.numbers) else self.times.calls + 1
        return before if after == before + 1 else None


def shared_calls(process: Process) -> SharedCalls:
    """The shared calls of a rank."""
    kinds: dict[Hashable, list[_Version]] = {}
    groups: set[str] = set()
    kind: Hashable
    for graph in process.graphs:
        collectives = collectives_of(graph) or []
        groups |= {each.call.group for each in collectives}
        if collectives and graph.times is not None:
            called = tuple((each.call.group, each.call.name) for each in collectives)
            kind = graph.frame_name, graph.frame_place, called
            is_waited_for = any(_WAIT in node.target for node in graph.nodes or ())
            waiting = tuple(each for each in collectives if is_waited_for and _waits_for_all(each))
            kinds.setdefault(kind, []).append(_version(graph, waiting, graph.times))
    noted: list[SharedCall] = []
    begun: dict[Hashable, int] = {}
    begins: dict[Hashable, list[tuple[int, int]]] = {}
    for kind, versions in kinds.items():
        calls = list(_calls(versions))
        noted += [_shared_call(kind, *call) for call in calls if call[0].waiting]
        running = [each.times.running_since_ns for each in versions if each.graph.is_running]
        ended = sum(each.times.calls for each in versions)
        begun[kind] = ended + len(running)
        begins[kind] = [
            *((number, version.began[index]) for version, index, number in calls if number is not None),
            *((ended + 1, since) for since in running if since is not None),
        ]
    made = sum(version.times.calls for versions in kinds.values() for version in versions if version.waiting)
    noted.sort(key=attrgetter("began_ns"))
    return SharedCalls(tuple(noted), made, frozenset(groups), begun, begins)


def has_passed(one: SharedCalls, other: SharedCalls, moment: int) -> bool:
    """Whether `one` has begun a call that `other` began after this moment of `other`'s clock."""
    return any(
        began > moment and number <= one.begun.get(kind, 0)
        for kind, begins in other.begins.items()
        for number, began in begins
    )


def _waits_for_all(collective: Collective) -> bool:
    return collective.call.name.startswith(_WAITS_FOR_ALL) and collective.devices == {_HOST}


def _version(graph: Graph, waiting: tuple[Collective, ...], times: CallTimes) -> _Version:
    noted = {call.number: call for call in (*times.early, *times.samples)}
    calls = [noted[number] for number in sorted(noted)]
    return _Version(
        graph,
        waiting,
        times,
        tuple(call.number for call in calls),
        tuple(call.began_ns for call in calls),
        tuple(call.began_ns + round(call.seconds * 1e9) for call in calls),
    )


def _shared_call(kind: Hashable, version: _Version, index: int, number: int | None) -> SharedCall:
    groups = frozenset(each.call.group for each in version.waiting)
    began, ended = version.began[index], version.ended[index]
    return SharedCall(kind, number, version.graph, version.waiting[0], groups, began, ended)


def _calls(versions: Sequence[_Version]) -> Iterator[tuple[_Version, int, int | None]]:
    """The recorded calls: the version, the index in it, and the number among the calls of all versions."""
    for version in versions:
        if len(versions) > _MOST_VERSIONS:
            yield from ((version, index, None) for index in range(len(version.numbers)))
            continue
        others = [other for other in versions if other is not version]
        for index, (number, began) in enumerate(zip(version.numbers, version.began, strict=True)):
            before = [other.calls_before(began) for other in others]
            known = [count for count in before if count is not None]
            yield version, index, number + sum(known) if len(known) == len(before) else None


def by_number(calls: SharedCalls) -> Mapping[Hashable, SharedCall]:
    """The calls whose number is known, by kind and number, which are the same on all ranks."""
    return {(call.kind, call.number): call for call in calls.noted if call.number is not None}


# The collectives that torch's flight recorder saw, inside of graphs or not.
#
# A dump holds the last calls of a rank, numbered in each group. So the calls of all ranks are compared from
# the first number that every dump still has.

# In other collectives (scatter, all_to_all, …) the sizes may differ between ranks.
_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce", "all_gather", "allgather", "barrier")

Dumps = Mapping[int, tuple[CalledCollective, ...]]


def flight_recorder_differences(dumps: Dumps) -> Iterator[Difference]:
    """For each group, the first call that is not the same on all ranks that have called in the group."""
    groups: dict[str, dict[int, dict[int, CalledCollective]]] = {}
    for rank, calls in dumps.items():
        for call in calls:
            groups.setdefault(call.group, {}).setdefault(rank, {})[call.number] = call
    for group, ranks in groups.items():
        number = _first_difference(ranks)
        if number is not None:
            steps = {rank: _step(calls.get(number)) for rank, calls in ranks.items()}
            title = f"call {number:,} of a collective of group {group} is not the same on all ranks"
            yield Difference("calls of collectives", title, sides(steps))


def _first_difference(ranks: Mapping[int, Mapping[int, CalledCollective]]) -> int | None:
    first = max(min(calls) for calls in ranks.values())
    last = max(max(calls) for calls in ranks.values())
    for number in range(first, last + 1):
        if len({_step(calls.get(number)).key for calls in ranks.values()}) > 1:
            return number
    return None


def _step(call: CalledCollective | None) -> Step:
    if call is None:
        return Step(None, "did not call it, as far as its dump goes")
    has_same_sizes = call.name.strip("_").startswith(_SAME_SIZES)
    what = f"{call.name} of {call.value}" if call.value else call.name
    return Step(
        (call.name, call.value if has_same_sizes else ""),
        what if call.is_done else f"{what}, not finished",
        call.place,
    )
