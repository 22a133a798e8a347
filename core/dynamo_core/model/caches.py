"""What torch's compile caches said to each compile."""

from typing import Literal

from ..shared.quick_dataclass import dataclass
from .ids import CompileId, Place


@dataclass(frozen=True)
class CacheLookup:
    """One look-up of a compile in a cache of torch's: hit, miss or bypass.

    `detail` is torch's finer word for the outcome (`full_miss`, `guard_miss`), `reason` why the cache was
    bypassed. `saved_seconds` is what the entry once took to make, of a hit; `took_seconds` what making it
    took now, of a miss. `parts` are the lines in which torch lists what the key is made of,
    `[hash] name: text`; None where they were not recorded or not asked for. Of a miss whose graph this
    process had compiled before, `differing_parts` are those in which the two keys differ: then, and now.
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


CountedLayer = Literal[
    "remote_fx_graph_cache", "remote_aotautograd_cache", "remote_pgo", "triton_autotuning", "triton_bundle"
]


@dataclass(frozen=True)
class LayerCount:
    """How often a cache that leaves no record of each look-up had something, or not, in one compile.

    None where torch does not count that. `unasked` are kernels that had one configuration, so that there
    was nothing to look up. `took_seconds` is what reading from it and writing to it took.
    """

    layer: CountedLayer
    compile_id: CompileId | None
    hits: int | None
    misses: int | None
    unasked: int = 0
    took_seconds: float | None = None


# What torch's flight recorder has of a rank: the collectives that it called last, in graphs or not.


@dataclass(frozen=True)
class CalledCollective:
    """A call. `number` counts those in the group, on every rank alike; `value` is what it was given."""

    group: str
    number: int
    name: str
    value: str
    place: Place | None
    is_done: bool
