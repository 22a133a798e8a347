"""Probes: where torch's compile caches are, the parts of AOTAutograd's keys, what bypasses a cache.

Source: torch/_inductor/output_code.py (CompiledFxGraph.post_compile, called for each graph, fresh or from a
cache), torch/_inductor/runtime/cache_dir_utils.py (default_cache_dir), torch/_inductor/codecache.py
(_HEADER_DIR) and, from torch 2.13 on, torch/_functorch/_aot_autograd/autograd_cache.py
(_get_debug_lines_for_cache_key): there the parts of a key are listed only while its logger is at DEBUG;
before, torch's trace has them. Run with 2.13.

Bypasses. torch/_inductor/codecache.py (FxGraphCache._check_can_cache, which raises BypassFxGraphCache for a
higher-order operator that is not cacheable) and torch/_functorch/_aot_autograd/autograd_cache.py
(check_node_safe): torch names the operator, but not the function that it stands for, nor a line. Read in 2.8
to 2.15, run with 2.13.
"""

import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import CacheBypassedBy, CacheKeyParts, CachesInUse
from ..frames.source import current_compile_id, described_user_line
from ..primitives import perf_counter_ns

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

    from ..engine_parts import EngineParts

_SWITCHES = {
    "torch.compiler.config": ("force_disable_caches", "job_id"),
    "torch._dynamo.config": (
        "automatic_dynamic_local_pgo",
        "automatic_dynamic_remote_pgo",
        "caching_precompile",
    ),
    "torch._functorch.config": (
        "enable_autograd_cache",
        "enable_remote_autograd_cache",
        "bundled_autograd_cache",
    ),
    "torch._inductor.config": (
        "fx_graph_cache",
        "fx_graph_remote_cache",
        "autotune_local_cache",
        "autotune_remote_cache",
        "bundled_autotune_remote_cache",
    ),
}
_BYPASSES = "what bypasses a cache"
_OF_AN_OPERATOR = "HigherOrderOperator"  # in torch's reason
_LISTS_PARTS = "_get_debug_lines_for_cache_key"
_FX_GRAPHS = "fxgraph"  # the folder of FX graphs in Inductor's cache


def install(output_code: ModuleType, parts: "EngineParts") -> None:
    """Record where the caches are before Inductor's first look-up, and what the program changes later."""
    probes = parts.probes
    last: list[Any] = []

    def note() -> None:
        folder, switches = _cache_folder(), _switches()
        if last == [folder, switches]:
            return
        # Only in a folder that is new to this process are the graphs certainly of another process.
        held_graphs = _holds_any(os.path.join(folder, _FX_GRAPHS)) if last[:1] != [folder] else None
        last[:] = [folder, switches]
        probes.stream.record(_caches_in_use(folder, held_graphs, switches))

    def post_compile(proceed: Callable[..., Any], *args: Any, **named: Any) -> Any:
        result = proceed(*args, **named)
        note()
        return result

    probes.hook(output_code.CompiledFxGraph, "post_compile", "caches", post_compile)
    note()


def install_on_keys(autograd_cache: ModuleType, parts: "EngineParts") -> None:
    """Record the parts of each key for which AOTAutograd has no entry; a hit costs one look at a folder."""
    if not hasattr(autograd_cache, _LISTS_PARTS):
        return  # this version of torch lists them in its trace
    stream, cache = parts.stream, autograd_cache.AOTAutogradCache

    def note(pickler: Any, details: Any, key: str) -> None:
        if stream.is_muted or os.path.isdir(cache._get_tmp_dir_for_key(key)):
            return
        began = perf_counter_ns()
        listed = pickler.debug_lines(details)
        took = (perf_counter_ns() - began) / 1e9
        stream.record(CacheKeyParts(key=key, parts=listed, seconds=took), current_compile_id())

    def list_parts(proceed: Callable[..., Any], pickler: Any, details: Any, key: str) -> Any:
        listed = proceed(pickler, details, key)
        if not listed:
            note(pickler, details, key)
        return listed

    parts.probes.hook(autograd_cache, _LISTS_PARTS, "parts of AOTAutograd's keys", list_parts)


def _cache_folder() -> str:
    """The folder of Inductor's cache: torch's `cache_dir`, without making it or setting the variable."""
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    return os.path.abspath(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default_cache_dir())


def _switches() -> dict[str, str]:
    return {
        f"{name}.{switch}": repr(getattr(module, switch))
        for name, switches in _SWITCHES.items()
        if (module := sys.modules.get(name)) is not None
        for switch in switches
        if hasattr(module, switch)
    }


def _caches_in_use(folder: str, held_graphs: bool | None, switches: dict[str, str]) -> CachesInUse:
    from torch._inductor.runtime.cache_dir_utils import default_cache_dir

    headers = os.path.join(default_cache_dir(), "precompiled_headers")
    existing = _nearest_existing(folder)
    try:
        disk = os.statvfs(existing)
        free: int | None = disk.f_bavail * disk.f_frsize
    except OSError:
        free = None
    return CachesInUse(
        folder=folder,
        triton_folder=os.environ.get("TRITON_CACHE_DIR"),
        held_graphs=held_graphs,
        is_writable=os.access(existing, os.W_OK),
        free_bytes=free,
        filesystem=_filesystem(existing),
        in_container=_in_container(),
        switches=switches,
        header_folder=headers,
        held_header=_holds_any(headers, ".gch"),
    )


def _holds_any(folder: str, ending: str = "") -> bool | None:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(ending) for entry in entries)
    except FileNotFoundError:
        return False
    except OSError:
        return None


def _nearest_existing(folder: str) -> str:
    while not os.path.exists(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return folder


def _filesystem(folder: str) -> str | None:
    """The type of the file system that a folder is on, from Linux's list of mounts."""
    folder = os.path.realpath(folder)
    found: tuple[int, str | None] = (0, None)
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                place, kind = line.split()[4], line.partition(" - ")[2].split()[0]
                is_above = folder == place or folder.startswith(place.rstrip("/") + "/")
                if is_above and len(place) >= found[0]:
                    found = len(place), kind
    except (OSError, IndexError):
        return None
    return found[1]


def _in_container() -> bool:
    marker_files = ("/.dockerenv", "/run/.containerenv")
    return "KUBERNETES_SERVICE_HOST" in os.environ or any(map(os.path.exists, marker_files))


def install_on_inductor(codecache: ModuleType, parts: "EngineParts") -> None:
    """Record the operator where Inductor's cache does not take a graph because of one."""
    cache: Any = codecache
    original = cache.FxGraphCache._check_can_cache

    @parts.probes.guarded(_BYPASSES)
    def note(gm: "GraphModule", error: Exception) -> None:
        node = next(_not_kept(gm), None) if _OF_AN_OPERATOR in str(error) else None
        if node is not None:
            _record(parts, node)

    def _check_can_cache(gm: "GraphModule", *rest: Any, **named: Any) -> Any:
        try:
            return original(gm, *rest, **named)
        except Exception as error:
            note(gm, error)
            raise

    cache.FxGraphCache._check_can_cache = staticmethod(_check_can_cache)


def install_on_aot_autograd(autograd_cache: ModuleType, parts: "EngineParts") -> None:
    """Record the node of which AOTAutograd's cache does not know what it does."""

    def check_node_safe(proceed: Callable[..., Any], node: "Node") -> Any:
        try:
            return proceed(node)
        except Exception:
            _record(parts, node)
            raise

    parts.probes.hook(autograd_cache, "check_node_safe", _BYPASSES, check_node_safe)


def _not_kept(gm: "GraphModule") -> Iterator[Any]:
    from torch._ops import HigherOrderOperator
    from torch.fx import GraphModule

    for module in gm.modules():
        for node in module.graph.nodes if isinstance(module, GraphModule) else ():
            if isinstance(node.target, HigherOrderOperator) and not node.target.cacheable():
                yield node


def _record(parts: "EngineParts", node: "Node") -> None:
    parts.probes.stream.record(
        CacheBypassedBy(operator=_operator(node), line=described_user_line(node.meta.get("stack_trace"))),
        current_compile_id(),
    )


def _operator(node: "Node") -> str:
    """The function that the program calls, where that is known: an operator may stand for a part of it."""
    sources = node.meta.get("source_fn_stack") or [(None, node.target)]
    function = sources[-1][1]
    return str(getattr(function, "__name__", function))
