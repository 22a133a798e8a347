"""The collectives of a graph, in the order in which every rank has to call them."""

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
    """A call of a collective in a graph, what it gives, and on which kinds of devices."""

    call: CollectiveCall
    value: str
    graph: Graph
    place: Place | None
    devices: frozenset[str] = frozenset()

    @property
    def key(self) -> tuple[object, ...]:
        """What has to be the same on every rank of the group."""
        return self.call.name, "" if self.call.has_own_sizes else self.value, self.call.arguments

    def __str__(self) -> str:
        return f"{self.call.name} of {self.value}" if self.value else self.call.name


def collectives_of(graph: Graph) -> list[Collective] | None:
    """Those of a graph, in order; None where its nodes were not recorded, or not asked for."""
    return None if graph.nodes is None else list(_collectives(graph, graph.nodes))


def _collectives(graph: Graph, nodes: Sequence[Node]) -> Iterator[Collective]:
    for at, node in enumerate(nodes):
        call = collective_call(node.target, node.args)
        if call is not None:
            devices = frozenset(tensor.device.partition(":")[0] for tensor in node.tensors)
            yield Collective(call, tensors_in_words(node), graph, place_in_program(nodes, at), devices)


def tensors_in_words(node: Node) -> str:
    """The dtype and sizes of what a node gives: `float32[8, 4]`."""
    return ", ".join(
        f"{tensor.dtype.removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
        for tensor in node.tensors
    )


def place_in_program(nodes: Sequence[Node], at: int) -> Place | None:
    """The program's own line for a node: where a library made it, the line of the call into that."""
    node = nodes[at]
    if node.called_from is not None:
        return node.called_from
    if node.place is None or not is_library(node.place):
        return node.place
    before = (each.place for each in reversed(nodes[:at]) if each.place is not None)
    return next((place for place in before if not is_library(place)), node.place)


# The calls that ranks make together: of graphs in which each waits until all of its group have come.
#
# Such a call ends on all of them at about the same time, and its number is the same on all. Of a callable
# that is called often only some calls were noted one by one; no others are here.


# What no rank leaves before all have come. Of a broadcast, the one that sends may go on at once.
_WAITS_FOR_ALL = ("all_reduce", "all_gather", "reduce_scatter")
_WAIT = "_c10d_functional.wait_tensor"
_MOST_VERSIONS = 64  # of a graph, between whose calls the place of each is looked for
_HOST = "cpu"  # elsewhere a call only begins the collective, and the host goes on


@dataclass(frozen=True)
class SharedCall:
    """One call, by the clock of its host. `number` counts those of graphs of the same `kind`, from 1.

    The number is None where the calls of another version of the graph, before it, were not all noted.
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
        """How long it took."""
        return self.ended_ns - self.began_ns


@dataclass(frozen=True)
class SharedCalls:
    """Those of a rank in which it waits for others and that were noted, of `made` calls in all.

    `groups` are those that its graphs name. `begun` says how often each kind of graph with collectives was
    called, wherever they run, and `begins` the numbers and moments of those calls of which both are known.
    """

    noted: tuple[SharedCall, ...]
    made: int
    groups: frozenset[str]
    begun: Mapping[Hashable, int]
    begins: Mapping[Hashable, Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class _Version:
    """One of the graphs of a kind, and which of its calls were noted: their numbers, and when they began."""

    graph: Graph
    waiting: tuple[Collective, ...]
    times: CallTimes
    numbers: tuple[int, ...]
    began: tuple[int, ...]
    ended: tuple[int, ...]

    def calls_before(self, moment: int) -> int | None:
        """How many there were; None where those that were noted leave that open."""
        at = bisect_right(self.began, moment)
        before = self.numbers[at - 1] if at else 0
        after = self.numbers[at] if at < len(self.numbers) else self.times.calls + 1
        return before if after == before + 1 else None


def shared_calls(process: Process) -> SharedCalls:
    """The calls of a rank that it makes together with others."""
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
        noted += [_shared(kind, *call) for call in calls if call[0].waiting]
        running = [each.times.running_since_ns for each in versions if each.graph.is_running]
        ended = sum(each.times.calls for each in versions)
        begun[kind] = ended + len(running)
        begins[kind] = [
            *((number, version.began[at]) for version, at, number in calls if number is not None),
            *((ended + 1, since) for since in running if since is not None),
        ]
    made = sum(version.times.calls for versions in kinds.values() for version in versions if version.waiting)
    noted.sort(key=attrgetter("began_ns"))
    return SharedCalls(tuple(noted), made, frozenset(groups), begun, begins)


def is_as_far(one: SharedCalls, other: SharedCalls, moment: int) -> bool:
    """Whether one has begun a call that the other began, by its own clock, after this moment."""
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


def _shared(kind: Hashable, version: _Version, at: int, number: int | None) -> SharedCall:
    groups = frozenset(each.call.group for each in version.waiting)
    began, ended = version.began[at], version.ended[at]
    return SharedCall(kind, number, version.graph, version.waiting[0], groups, began, ended)


def _calls(versions: Sequence[_Version]) -> Iterator[tuple[_Version, int, int | None]]:
    """The calls that were noted, each with its number among those of all versions."""
    for version in versions:
        if len(versions) > _MOST_VERSIONS:
            yield from ((version, at, None) for at in range(len(version.numbers)))
            continue
        others = [other for other in versions if other is not version]
        for at, (number, began) in enumerate(zip(version.numbers, version.began, strict=True)):
            before = [other.calls_before(began) for other in others]
            known = [count for count in before if count is not None]
            yield version, at, number + sum(known) if len(known) == len(before) else None


def by_number(calls: SharedCalls) -> Mapping[Hashable, SharedCall]:
    """Those whose number is known, by what is the same on all ranks."""
    return {(call.kind, call.number): call for call in calls.noted if call.number is not None}


# The collectives that torch's flight recorder saw, in graphs or not: the first that not all ranks called.
#
# A dump holds the last calls of a rank. They are numbered in each group, so that those of all ranks are
# compared from the first that every dump still has.


# Of others (scatter, all_to_all, …) what a rank gives may be its own.
_OF_SAME_SIZES = ("all_reduce", "allreduce", "broadcast", "reduce", "all_gather", "allgather", "barrier")

Dumps = Mapping[int, tuple[CalledCollective, ...]]


def called_otherwise(dumps: Dumps) -> Iterator[Difference]:
    """For each group, the first call that is not the same on all ranks that have called in it."""
    groups: dict[str, dict[int, dict[int, CalledCollective]]] = {}
    for rank, calls in dumps.items():
        for call in calls:
            groups.setdefault(call.group, {}).setdefault(rank, {})[call.number] = call
    for group, ranks in groups.items():
        number = _first_unlike(ranks)
        if number is not None:
            steps = {rank: _step(calls.get(number)) for rank, calls in ranks.items()}
            title = f"call {number:,} of a collective of group {group} is not the same on all ranks"
            yield Difference("calls of collectives", title, sides(steps))


def _first_unlike(ranks: Mapping[int, Mapping[int, CalledCollective]]) -> int | None:
    first = max(min(calls) for calls in ranks.values())
    last = max(max(calls) for calls in ranks.values())
    for number in range(first, last + 1):
        if len({_step(calls.get(number)).key for calls in ranks.values()}) > 1:
            return number
    return None


def _step(call: CalledCollective | None) -> Step:
    if call is None:
        return Step(None, "did not call it, as far as its dump goes")
    has_same_sizes = call.name.strip("_").startswith(_OF_SAME_SIZES)
    what = f"{call.name} of {call.value}" if call.value else call.name
    return Step(
        (call.name, call.value if has_same_sizes else ""),
        what if call.is_done else f"{what}, not finished",
        call.place,
    )
