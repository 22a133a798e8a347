"""Compile caches: torch's records of cache look-ups, hits and misses counted in metrics, our own records.

Source of the look-ups: torch/_inductor/compile_fx.py (_compile_fx_inner), torch/_dynamo/pgo.py (hit,
put_local_code_state), torch/_functorch/_aot_autograd/autograd_cache.py (AOTAutogradCache.try_load) and
torch/_dynamo/package.py; read in 2.8 to 2.13. The names and the fields used here are the same in all of them.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from hashlib import md5
from typing import Any

from ..model import CacheLookup, CompileId, CountedLayer, LayerCount, Process
from ..shared.early_records import CacheBundleUsed
from ..shared.records import CacheBypassedBy, CacheKeyParts, CachesInUse
from ..shared.text import checked_json, printable, printable_json
from .compile_context import CompileContext
from .structured import MOST_VALUES, Handler, reads, stack_frame, structured
from .trace_format import Damaged, Record, parse_json

# Caches of which torch records no single look-up, only counts: in a compile's metrics, or kernel by kernel.
#
# Source, read in 2.13: torch/_dynamo/utils.py (CompilationMetrics), torch/_dynamo/pgo.py,
# torch/_inductor/codecache.py (FxGraphCache._record_result, cache_hit_post_compile),
# torch/_functorch/_aot_autograd/autograd_cache.py (_record_result),
# torch/_inductor/runtime/triton_heuristics.py (check_autotune_cache) and torch/_inductor/async_compile.py
# (triton_kernel_info). A count of 0 is in every record of metrics, even where the cache was not used.
# `remote_cache_time_saved_s` is left out: in spite of its name it includes what hits in local caches saved.

# By layer, the fields in a compile's metrics: hits, misses, and times in microseconds.
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
    """The counts in a compile's metrics of caches other than the local ones, without caches not used."""
    for layer, (hit_field, miss_field, time_fields) in _LAYERS.items():
        hits, misses = _number(metrics, hit_field), _number(metrics, miss_field)
        times = [time for field in time_fields if (time := _number(metrics, field)) is not None]
        if hits or misses or sum(times):
            took = sum(times) / 1e6 if times else None
            yield LayerCount(layer, compile_id, hits, misses, took_seconds=took)


def autotuning_of_kernels(record: Record, compile_id: CompileId | None) -> LayerCount | None:
    """The hits and misses of Triton kernels in the autotuning cache; None where no kernel records that."""
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


# How the cache key of a graph differs from the key of the same graph earlier in the process.
#
# A key is parsed, all 70 kB of it, only where the same graph had another key before: so this is always on.
# Source of the parts: torch/_inductor/codecache.py (debug_lines), 2.8 to 2.13.
_SEPARATOR = b'", "'  # never in a part: quotes in it are escaped
_GRAPH = b"] gm:"
_HASH_AND_NAME = 200  # bytes at most, before a part's text
_MOST_GRAPHS = 64  # whose keys are kept, some 70 kB each
_MOST_PARTS = 8  # keys with more differences are from different settings


class RepeatedGraphs:
    """Keeps the last key, as JSON, of each graph that a cache missed, to compare it with the next."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, bytes], bytes] = {}

    def differing(self, cache: str, parts: bytes) -> tuple[tuple[str, str], ...]:
        """The parts in which a key differs from the graph's last one, before and after; none for a first key.

        `parts` is torch's JSON list of them, without the outer quotes.
        """
        graph = _graph_in(parts)
        if graph is None:
            return ()
        before = self._last.pop((cache, graph), None)
        if len(self._last) >= _MOST_GRAPHS:
            del self._last[next(iter(self._last))]
        self._last[cache, graph] = parts
        return () if before is None or before == parts else _differing(before, parts)


def _differing(before: bytes, after: bytes) -> tuple[tuple[str, str], ...]:
    old, new = _by_name(before), _by_name(after)
    if old.keys() != new.keys():
        return ()
    names = [name for name, line in new.items() if _hash(line) != _hash(old[name])]
    if len(names) > _MOST_PARTS:
        return ()
    return tuple((_decoded(old[name]), _decoded(new[name])) for name in names)


def _by_name(parts: bytes) -> dict[bytes, bytes]:
    return {_name(line): line for line in parts.split(_SEPARATOR)}


def _graph_in(parts: bytes) -> bytes | None:
    """The part that describes the graph, with its hash: mostly the first one."""
    at = parts.find(_GRAPH)
    while at >= 0:
        separator = parts.rfind(_SEPARATOR, 0, at)
        begin = 0 if separator < 0 else separator + len(_SEPARATOR)
        end = parts.find(_SEPARATOR, at)
        line = parts[begin : None if end < 0 else end]
        if _name(line) == b"gm":
            return line
        at = parts.find(_GRAPH, at + 1)
    return None


def _hash(line: bytes) -> bytes:
    return line.partition(b"]")[0]


def _name(line: bytes) -> bytes:
    return line[:_HASH_AND_NAME].partition(b"] ")[2].partition(b":")[0]


def _decoded(line: bytes) -> str:
    text = printable_json(f'"{line.decode("utf-8", "replace")}"')
    return text if isinstance(text, str) else ""


_AOT_SETTINGS = "torch._functorch.config"  # the name of torch's record of settings, one for each miss
CACHE_KEYS = "parts of cache keys"  # in `contents`: they are wanted; 70 kB for each look-up

_LOOKUP = re.compile(r"(\w+_cache)_(hit|miss|bypass)")
_PGO = re.compile(r"get_(?:extra_)?(local|remote)_code_state")
_NO_MORE = {"precompile_cache_bypass": "precompile", "dynamo_cache_bypass": "precompile"}
_PARTS_BEGIN, _PARTS_END, _BACKSLASH = b'"components": ["', b'"], "', ord("\\")


class _Lines(dict[str, str]):
    """Key parts made printable, by the recorded text: most parts are the same in every key."""

    def __missing__(self, line: str) -> str:
        self[line] = shown = printable(line)
        return shown


class CacheBuilder:
    """Fills `cache_lookups`, `caches`, `cache_bundles` and the `cache_counts` of Triton's kernels.

    The parts of keys are read only where `contents` has CACHE_KEYS.
    """

    def __init__(self, process: Process, context: CompileContext, contents: Container[str]) -> None:
        self._process = process
        self._context = context
        self._with_parts = CACHE_KEYS in contents
        self._lines = _Lines()
        self._aot_parts: dict[str, tuple[str, ...]] = {}
        self._repeated = RepeatedGraphs()
        self._last_bypassed: dict[CompileId | None, CacheBypassedBy] = {}

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        own: dict[str, Handler] = {
            CachesInUse.NAME: reads(CachesInUse, self._process.caching.in_use.append),
            CacheBundleUsed.NAME: reads(CacheBundleUsed, self._process.caching.bundles.append),
            CacheBypassedBy.NAME: self._bypassed_by,
            "triton_kernel_info": self._kernels,
        }
        if self._with_parts:
            own[CacheKeyParts.NAME] = self._key_parts
            own[_AOT_SETTINGS] = self._aot_settings
        return own

    def handler_of_lookup(self, name: str) -> Handler | None:
        """The handler of a record of a look-up, recognised by the pattern of its name; else None."""
        if name in _NO_MORE:
            return lambda record: self._bypass(record, _NO_MORE[name])
        if pgo := _PGO.fullmatch(name):
            return lambda record: self._keep(
                CacheLookup("pgo", "hit", self._context.id_of(record), detail=pgo[1])
            )
        if found := _LOOKUP.fullmatch(name):
            return lambda record: self._lookup(record, found[1], found[2])
        return None

    def _bypassed_by(self, record: Record) -> None:
        self._last_bypassed[self._context.id_of(record)] = structured(CacheBypassedBy, record)

    def _kernels(self, record: Record) -> None:
        counted = autotuning_of_kernels(record, self._context.id_of(record))
        if counted is not None:
            self._process.caching.counts.append(counted)

    def _key_parts(self, record: Record) -> None:
        listed = structured(CacheKeyParts, record)
        self._aot_parts[listed.key] = self._interned(listed.parts)

    def _aot_settings(self, record: Record) -> None:
        """Add a part for each setting to AOTAutograd's key, which has all of them in one part, a pickle."""
        wanted = ("aotautograd_cache", self._context.id_of(record))
        lookups = self._process.caching.lookups
        for i, lookup in reversed(list(enumerate(lookups))):
            if (lookup.cache, lookup.compile_id) == wanted:
                lines = [_setting_line(name, value) for name, value in record.json_payload().items()]
                lookups[i] = replace(lookup, parts=lookup.parts and lookup.parts + self._interned(lines))
                return

    def _bypass(self, record: Record, cache: str) -> None:
        text = record.payload()
        self._keep(CacheLookup(cache, "bypass", self._context.id_of(record), reason=text))

    def _lookup(self, record: Record, cache: str, outcome: str) -> None:
        compile_id = self._context.id_of(record)
        payload = record.payload_in_bytes()  # None in an older torch, or for the event alone
        rest, listed = _split_parts(b"{}" if payload is None else payload)
        content = parse_json(rest.decode("utf-8", "replace"), "payload", MOST_VALUES)
        if not isinstance(content, dict):
            raise Damaged("payload is no JSON object")
        differing: tuple[tuple[str, str], ...] = ()
        if outcome == "miss" and listed is not None:
            differing = self._repeated.differing(cache, listed[1:-1])
        lookup = CacheLookup(
            cache,
            outcome,
            compile_id,
            key=_text(content, "key"),
            detail=_text(content, "cache_status_detailed"),
            reason=_text(content, "cache_bypass_reason"),
            saved_seconds=_seconds(content, "time_saved_ns", "time_saved_ms"),
            took_seconds=_seconds(content, "time_taken_ns"),
            differing_parts=differing,
        )
        operator = self._last_bypassed.pop(compile_id, None) if outcome == "bypass" else None
        if operator is not None:
            at = stack_frame(operator.line)
            lookup = replace(lookup, bypassed_by=operator.operator, bypassed_at=at)
        if self._with_parts:
            lines = content.get("components") if listed is None else _lines_of(listed)
            parts = self._interned(lines) or self._aot_parts.get(lookup.key or "")
            lookup = replace(lookup, parts=parts or None)
        self._keep(lookup)

    def _interned(self, lines: Any) -> tuple[str, ...]:
        if not isinstance(lines, list):
            return ()
        if not {str}.issuperset(map(type, lines)):
            raise Damaged("a part of a key that is no text")
        return tuple(map(self._lines.__getitem__, lines))

    def _keep(self, lookup: CacheLookup) -> None:
        self._process.caching.lookups.append(lookup)


def _split_parts(text: bytes) -> tuple[bytes, bytes | None]:
    """Torch's JSON without the parts of the key, and these parts in their quotes, most of the text."""
    found = text.find(_PARTS_BEGIN)
    begins = found + len(_PARTS_BEGIN) - 1
    ends = text.find(_PARTS_END, begins) if found >= 0 else -1
    while ends > 0 and text[ends - 1] == _BACKSLASH:  # within a part, whose own quotes are escaped
        ends = text.find(_PARTS_END, ends + 1)
    if ends < 0:
        return text, None
    return text[:begins] + text[ends + 1 :], text[begins : ends + 1]


def _lines_of(listed: bytes) -> Any:
    """The listed lines as they were written, unsafe to print: `_Lines` makes them printable."""
    return parse_json(f"[{listed.decode('utf-8', 'replace')}]", "payload", MOST_VALUES, checked_json)


def _setting_line(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"[{md5(text.encode(), usedforsecurity=False).hexdigest()}] autograd_config[{name}]: {text}"


def _text(content: Mapping[str, Any], name: str) -> str | None:
    value = content.get(name)
    return value if isinstance(value, str) else None


def _seconds(content: Mapping[str, Any], nanoseconds: str, milliseconds: str = "") -> float | None:
    for name, unit in ((nanoseconds, 1e9), (milliseconds, 1e3)):
        value = content.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return float(value / unit)
    return None
