"""Caches of torch's that were off, who turned them off, and what that cost."""

from collections.abc import Iterator

from ...model import Process, Recording
from ...shared.quick_dataclass import dataclass
from .causes import caches_of


@dataclass(frozen=True)
class Off:
    """A cache that was not asked. `lost_seconds` is what the backend took for the graphs; None if unknown."""

    cache: str
    setting: str
    sentence: str
    compiles: int
    lost_seconds: float | None
    what_to_do: str


# Setting, its value where the cache is off, the records that its look-ups would have left, and its variables.
_SWITCHES = (
    (
        "torch.compiler.config.force_disable_caches",
        "True",
        "all caches",
        ("fx_graph_cache", "aotautograd_cache"),
        ("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "TORCH_COMPILE_FORCE_DISABLE_CACHES"),
    ),
    (
        "torch._inductor.config.fx_graph_cache",
        "False",
        "the FX graph cache",
        ("fx_graph_cache",),
        ("TORCHINDUCTOR_FX_GRAPH_CACHE",),
    ),
    (
        "torch._functorch.config.enable_autograd_cache",
        "False",
        "AOTAutograd's cache",
        ("aotautograd_cache",),
        ("TORCHINDUCTOR_AUTOGRAD_CACHE",),
    ),
)


def switched_off(recording: Recording) -> Iterator[tuple[Process, Off]]:
    """Each cache that was off in a process, and what was compiled without it; of several the widest."""
    for process in recording.processes:
        caches = caches_of(process)
        for setting, value, cache, records, variables in _SWITCHES:
            if caches is not None and caches.switches.get(setting) == value:
                yield process, _off(process, setting, cache, records, variables)
                break


def _off(
    process: Process, setting: str, cache: str, records: tuple[str, ...], variables: tuple[str, ...]
) -> Off:
    asked = {lookup.compile_id for lookup in process.cache_lookups if lookup.cache in records}
    graphs = [graph for graph in process.compiled_graphs if graph.compile_id not in asked]
    costs = [graph.backend_seconds for graph in graphs if graph.backend_seconds is not None]
    environment = process.info.environment or {}
    by = next((name for name in variables if name in environment), None)
    who = f"the environment variable {by}={environment[by]}" if by else f"{setting}"
    verb = "are" if cache.startswith("all") else "is"
    return Off(
        cache,
        setting,
        f"{cache} {verb} off, by {who}",
        len(graphs),
        sum(costs) if costs else None,
        f"unset `{by}`." if by else f"leave `{setting}` as it is by default.",
    )
