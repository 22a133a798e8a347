"""Probe: bundles of compile caches that the program saves or loads, which torch's trace does not mention.

Source: torch/compiler/__init__.py (save_cache_artifacts, load_cache_artifacts) and torch/compiler/_cache.py
(CacheInfo.artifacts), read in 2.13. load_cache_artifacts returns None where a bundle cannot be read, and
only logs a warning.
"""

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.early_records import CacheBundleUsed
from ..primitives import perf_counter_ns

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


def install(compiler: ModuleType, parts: "EngineParts") -> None:
    """Record each bundle: how many entries of each kind it has, its size, and how long it took."""
    probes = parts.probes
    functions: Any = compiler
    save, load = functions.save_cache_artifacts, functions.load_cache_artifacts

    @probes.guarded("bundles of caches")
    def note(action: Any, info: Any, content: Any, began: int) -> None:
        seconds = (perf_counter_ns() - began) / 1e9
        counts = None if info is None else {kind: len(keys) for kind, keys in info.artifacts.items()}
        size = len(content) if isinstance(content, bytes) else None
        probes.stream.record(CacheBundleUsed(action=action, bytes=size, artifacts=counts, seconds=seconds))

    @functools.wraps(save)
    def save_cache_artifacts() -> Any:
        began = perf_counter_ns()
        saved = save()
        content, info = saved if saved is not None else (None, None)
        note("saved", info, content, began)
        return saved

    @functools.wraps(load)
    def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
        began = perf_counter_ns()
        info = load(serialized_artifacts)
        note("loaded", info, serialized_artifacts, began)
        return info

    functions.save_cache_artifacts = save_cache_artifacts
    functions.load_cache_artifacts = load_cache_artifacts
