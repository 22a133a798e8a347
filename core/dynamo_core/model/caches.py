"""Look-ups in torch's compile caches, and the collectives in the dumps of torch's flight recorder."""

from typing import Literal

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place, StackFrame


@dataclass(frozen=True)
class CacheLookup:
    """One look-up of a compile in one of torch's caches: hit, miss or bypass.

    `detail` is torch's finer word for the outcome (`full_miss`, `guard_miss`), `reason` why the cache was
    bypassed. For a hit, `saved_seconds` is what making the entry once took; for a miss, `took_seconds` is
    what making it took now. `parts` are the lines in which torch lists what the key is made of, `[hash] name:
    text`; None where they were not recorded or not requested. For a miss whose graph this process had
    compiled before, `differing_parts` are the parts in which the two keys differ, before and now. For a
    bypass, `bypassed_by` is the operator that the cache does not take, `bypassed_at` the user's line with it.
    """

    cache: str
    outcome: str
    compile_id: CompileId | None
    key: str | None = None
    detail: str | None = None
    reason: str | None = None
    saved_seconds: float | None = None
    took_seconds: float | None = None
    parts: tuple[str, ...] | None = None
    differing_parts: tuple[tuple[str, str], ...] = ()
    bypassed_by: str | None = None
    bypassed_at: StackFrame | None = None


CountedLayer = Literal[
    "remote_fx_graph_cache", "remote_aotautograd_cache", "remote_pgo", "triton_autotuning", "triton_bundle"
]


@dataclass(frozen=True)
class LayerCount:
    """Hits and misses in one compile of a cache that records no single look-ups.

    None is what torch does not count. `unasked` counts kernels with a single configuration, which need no
    look-up. `took_seconds` is what reading from the cache and writing to it took.
    """

    layer: CountedLayer
    compile_id: CompileId | None
    hits: int | None
    misses: int | None
    unasked: int = 0
    took_seconds: float | None = None


@dataclass(frozen=True)
class CalledCollective:
    """A call of a collective, in a graph or not, from the dump of a rank's flight recorder.

    `number` counts the calls in the group, in the same way on every rank; `value` is the input.
    """

    group: str
    number: int
    name: str
    value: str
    place: Place | None
    is_done: bool
