"""Each compile of a process with what it cost, forward and backward apart, and whether a cache spared it."""

from collections.abc import Iterable, Sequence

from ...model import CacheLookup, Compile, CompileId, Frame, Phase, Place, Process
from ...shared.quick_dataclass import dataclass
from ..by_compile import by_compile
from .phases import COMPILED_AUTOGRAD, Span, spans

# Which look-up a phase begins with. Source: torch/_functorch/_aot_autograd/autograd_cache.py (try_load) and
# torch/_inductor/compile_fx.py (_compile_fx_inner), which add its outcome to these phases' arguments.
_CACHE_OF_PHASE = {"backend_compile": "aotautograd_cache", "inductor_compile": "fx_graph_cache"}
# A miss or a bypass; "disabled" is a look-up that was not made.
_COLD = ("miss", "bypass")


@dataclass(frozen=True)
class CompileCost:
    """What one compile cost, in one direction. `seconds` is None where nothing timed it.

    `trees` are its phases, empty where they were not recorded; `is_cut_off` says that one of them has no end.
    `lookups` has the outcomes by cache, None where none was recorded.
    """

    compile_id: CompileId | None
    is_backward: bool
    name: str | None
    place: Place | None
    seconds: float | None
    trees: tuple[Span, ...]
    lookups: dict[str, tuple[str, ...]] | None

    @property
    def is_cut_off(self) -> bool:
        """Whether its end was not recorded."""
        return any(tree.phase.end_ns is None for tree in self.trees)

    @property
    def temperature(self) -> str | None:
        """`cached`, `cold`, `partly cached`; None where no look-up was recorded."""
        outcomes = [outcome for each in (self.lookups or {}).values() for outcome in each]
        hits, colds = outcomes.count("hit"), sum(outcomes.count(outcome) for outcome in _COLD)
        if not hits and not colds:
            return None
        return "partly cached" if hits and colds else "cached" if hits else "cold"


def compile_costs(process: Process) -> list[CompileCost]:
    """The compiles of a process, the costliest first, those that nothing timed last."""
    trees: dict[tuple[CompileId | None, bool], list[Span]] = {}
    for phase in process.phases:
        (tree,) = spans([phase])
        trees.setdefault((phase.compile_id, tree.kind.is_backward), []).append(tree)
    metrics: dict[tuple[CompileId | None, bool], Compile] = {}
    for compile_ in process.compiles:
        metrics.setdefault((compile_.compile_id, not compile_.is_forward), compile_)
    names, lookups = _frames(process), by_compile(process.cache_lookups)
    costs = [
        _cost(lookups.get(key[0], ()), key, trees.get(key, ()), metrics.get(key), names)
        for key in dict.fromkeys([*trees, *metrics])
    ]
    return sorted(costs, key=lambda cost: (cost.seconds is None, -(cost.seconds or 0.0)))


def _cost(
    recorded_lookups: Iterable[CacheLookup],
    key: tuple[CompileId | None, bool],
    trees: Sequence[Span],
    metrics: Compile | None,
    names: dict[CompileId | None, tuple[str | None, Place | None]],
) -> CompileCost:
    compile_id, is_backward = key
    name, place = names.get(compile_id, (None, None)) if compile_id is not None else (None, None)
    if compile_id is None and trees:
        name = trees[0].phase.name  # compiled outside any frame: all that is known of it
    elif compile_id is not None and compile_id.frame is None:
        name = COMPILED_AUTOGRAD
    lookups = _lookups([tree.phase for tree in trees])
    if not lookups and not is_backward:  # cut off before the phase could tell, or of an older torch
        lookups = _recorded_lookups(recorded_lookups)
    timed = sum(tree.total_ns for tree in trees) / 1e9 if trees else None
    counted = metrics.seconds if metrics is not None else None  # torch's own figure, as other reports have it
    seconds = timed if counted is None else counted
    return CompileCost(compile_id, is_backward, name, place, seconds, tuple(trees), lookups or None)


def _frames(process: Process) -> dict[CompileId | None, tuple[str | None, Place | None]]:
    """The frame of each compile, from whichever record has it; a graph knows if it is compiled autograd's."""
    found: dict[CompileId | None, tuple[str | None, Place | None]] = {}
    items: list[Compile | Frame] = [*process.compiles, *process.frames]
    for item in items:
        if item.name is not None and item.place is not None:
            found[item.compile_id] = item.name, item.place
    for graph in process.graphs:
        if graph.frame_name is not None:
            found[graph.compile_id] = graph.frame_name, graph.frame_place
    return found


def _lookups(phases: Iterable[Phase]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for phase in phases:
        cache = _CACHE_OF_PHASE.get(phase.name)
        if cache is not None and phase.cache_state is not None:
            found[cache] = (*found.get(cache, ()), phase.cache_state)
        for name, outcomes in _lookups(phase.children).items():
            found[name] = (*found.get(name, ()), *outcomes)
    return found


def _recorded_lookups(lookups: Iterable[CacheLookup]) -> dict[str, tuple[str, ...]]:
    """The records of torch's caches, which do not tell the backward's look-ups from the forward's."""
    found: dict[str, tuple[str, ...]] = {}
    for lookup in lookups:
        found[lookup.cache] = (*found.get(lookup.cache, ()), lookup.outcome)
    return found
