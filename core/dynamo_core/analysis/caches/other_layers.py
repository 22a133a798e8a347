"""Caches of which a recording has no look-ups, only counts: remote ones, Triton's, autotuning, bundles.

A cache that nothing is recorded of may have been off or asked in vain; it is named as not recorded.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from ...model import CountedLayer, Process, Recording
from ...shared.early_records import CacheBundleUsed
from ...shared.quick_dataclass import dataclass
from ..words import memory, number, seconds
from .causes import caches_of


@dataclass(frozen=True)
class OtherLayer:
    """One of these caches, over all processes. `sentence` is None where nothing was recorded of it.

    `hits` and `misses` are None where torch does not count them, `switched_off_by` where it was not
    recorded as off.
    """

    name: str
    sentence: str | None
    hits: int | None
    misses: int | None
    took_seconds: float | None
    switched_off_by: str | None


_BUNDLES = "bundles (save_cache_artifacts)"
_REMOTE_AUTOTUNING = "remote and bundled autotuning results"  # torch counts these in memory alone
_LAYERS: dict[CountedLayer, tuple[str, str | None]] = {
    "remote_fx_graph_cache": ("remote FX graph cache", "torch._inductor.config.fx_graph_remote_cache"),
    "remote_aotautograd_cache": (
        "remote AOTAutograd cache",
        "torch._functorch.config.enable_remote_autograd_cache",
    ),
    "remote_pgo": ("remote PGO state", "torch._dynamo.config.automatic_dynamic_remote_pgo"),
    "triton_autotuning": (
        "autotuning results of Triton kernels",
        "torch._inductor.config.autotune_local_cache",
    ),
    "triton_bundle": ("Triton kernels kept with graphs", None),
}


def other_layers(recording: Recording) -> Iterator[OtherLayer]:
    """All of them, whether or not anything is known of each."""
    for layer, (name, switch) in _LAYERS.items():
        counts = [each for p in recording.processes for each in p.cache_counts if each.layer == layer]
        hits = _total(each.hits for each in counts)
        misses = _total(each.misses for each in counts)
        took = _total(each.took_seconds for each in counts)
        unasked = sum(each.unasked for each in counts)
        sentence = _sentence(layer, hits, misses, unasked, took) if counts else None
        off_by = switch if not counts and switch and _is_off(recording, switch) else None
        yield OtherLayer(name, sentence, hits, misses, took, off_by)
    yield OtherLayer(_REMOTE_AUTOTUNING, None, None, None, None, None)
    bundles = [each for process in recording.processes for each in process.cache_bundles]
    told = "; ".join(_bundle(each) for each in bundles) or None
    took = sum(each.seconds for each in bundles) if bundles else None
    yield OtherLayer(_BUNDLES, told, None, None, took, None)


BUNDLE_NOT_READ = "torch could not read a bundle of caches that the program loaded"


def unreadable_bundles(process: Process) -> int:
    """How many bundles the program loaded in vain, of which torch only logs a warning."""
    return sum(each.action == "loaded" and each.artifacts is None for each in process.cache_bundles)


def _sentence(
    layer: CountedLayer, hits: int | None, misses: int | None, unasked: int, took: float | None
) -> str:
    if layer == "triton_bundle":
        return f"came with {number(hits or 0, 'graph')} from the cache"
    told = [number(hits, "hit")] if hits is not None else []
    told += [number(misses, "miss", "misses")] if misses is not None else []
    told += [f"{number(unasked, 'kernel')} with one configuration, not looked up"] if unasked else []
    told += [f"{seconds(took)} of reading and writing"] if took is not None else []
    return ", ".join(told)


def _bundle(used: CacheBundleUsed) -> str:
    if used.artifacts is None:
        return "loaded: torch could not read it" if used.action == "loaded" else "saved: nothing to save"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in used.artifacts.items()) or "empty"
    size = f", {memory(used.bytes)}" if used.bytes is not None else ""
    return f"{used.action}: {kinds}{size}, {seconds(used.seconds)}"


def _is_off(recording: Recording, switch: str) -> bool:
    """Whether a setting says so in every process that recorded it."""
    caches = [found for process in recording.processes if (found := caches_of(process)) is not None]
    return bool(caches) and all(found.switches.get(switch) == "False" for found in caches)


_Number = TypeVar("_Number", int, float)


def _total(values: Iterable[_Number | None]) -> _Number | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
