"""Caches of which torch tells no single look-up, only how many: in a compile's metrics, or kernel by kernel.

Source, read in 2.13: torch/_dynamo/utils.py (CompilationMetrics), torch/_dynamo/pgo.py,
torch/_inductor/codecache.py (FxGraphCache._record_result, cache_hit_post_compile),
torch/_functorch/_aot_autograd/autograd_cache.py (_record_result),
torch/_inductor/runtime/triton_heuristics.py (check_autotune_cache) and torch/_inductor/async_compile.py
(triton_kernel_info). A count of 0 is in every record of metrics, whether or not the cache was asked, so that
only one above 0 tells anything. `remote_cache_time_saved_s` is left out: in spite of its name it has in it
what hits in local caches saved.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..model import CompileId, CountedLayer, LayerCount
from .records import Damaged, Record

# The fields of hits and of misses, and those of microseconds.
_LAYERS: dict[CountedLayer, tuple[str | None, str | None, tuple[str, ...]]] = {
    "remote_fx_graph_cache": (
        "inductor_fx_remote_cache_hit_count",
        "inductor_fx_remote_cache_miss_count",
        ("remote_fx_graph_cache_get_time_us", "remote_fx_graph_cache_put_time_us"),
    ),
    "remote_aotautograd_cache": (
        "aotautograd_remote_cache_hit_count",
        "aotautograd_remote_cache_miss_count",
        (),
    ),
    "remote_pgo": (
        None,
        None,
        ("pgo_get_remote_code_state_time_us", "pgo_put_remote_code_state_time_us"),
    ),
    "triton_bundle": ("num_triton_bundles", None, ()),
}


def counts_in_metrics(metrics: Mapping[str, Any], compile_id: CompileId | None) -> Iterator[LayerCount]:
    """What a compile's metrics tell of caches beside the local ones; nothing of one that was not asked."""
    for layer, (hit_field, miss_field, time_fields) in _LAYERS.items():
        hits, misses = _number(metrics, hit_field), _number(metrics, miss_field)
        times = [time for field in time_fields if (time := _number(metrics, field)) is not None]
        if hits or misses or sum(times):
            took = sum(times) / 1e6 if times else None
            yield LayerCount(layer, compile_id, hits, misses, took_seconds=took)


def autotuning_of_kernels(record: Record, compile_id: CompileId | None) -> LayerCount | None:
    """What the cache of autotuning results said to Triton kernels; None where none has a word of it."""
    kernels = record.json_payload()
    if not isinstance(kernels, dict):
        raise Damaged("payload is no JSON object")
    states = Counter(
        state
        for kernel in kernels.values()
        if isinstance(kernel, dict) and isinstance(state := kernel.get("autotune_cache_state"), str)
    )
    if not states:
        return None
    return LayerCount(
        "triton_autotuning", compile_id, states["hit"], states["miss"], unasked=states["only 1 config"]
    )


def _number(metrics: Mapping[str, Any], field: str | None) -> int | None:
    value = metrics.get(field) if field is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
