"""What torch's compile caches said, from torch's records of each look-up and ours of where they are.

Source: torch/_inductor/compile_fx.py (_compile_fx_inner), torch/_functorch/_aot_autograd/autograd_cache.py
(AOTAutogradCache.try_load), torch/_dynamo/pgo.py (hit, put_local_code_state) and torch/_dynamo/package.py;
read in 2.8 to 2.13. The names and the fields used here are the same in all of them.
"""

import re
from collections.abc import Container, Mapping
from dataclasses import replace
from hashlib import md5
from typing import Any

from ..model import CacheLookup, Process
from ..shared.early_records import CacheBundleUsed
from ..shared.records import CacheKeyParts, CachesInUse
from ..shared.untrusted import checked_json, printable
from .begun import BegunCompiles
from .cache_counts import autotuning_of_kernels
from .payloads import MOST_VALUES, Handler
from .records import Damaged, Record, parse_json
from .repeated_graphs import RepeatedGraphs
from .structured import structured

_AOT_SETTINGS = "torch._functorch.config"  # torch's record of them, of each compile that it missed
CACHE_KEYS = "parts of cache keys"  # what to ask the reader for, if they are wanted: 70 kB for each look-up

_LOOKUP = re.compile(r"(\w+_cache)_(hit|miss|bypass)")
_PGO = re.compile(r"get_(?:extra_)?(local|remote)_code_state")
_NO_MORE = {"precompile_cache_bypass": "precompile", "dynamo_cache_bypass": "precompile"}
_PARTS_BEGIN, _PARTS_END, _BACKSLASH = b'"components": ["', b'"], "', ord("\\")


class _Lines(dict[str, str]):
    """The parts of keys as they may be shown, by what was recorded: most are the same in every key."""

    def __missing__(self, line: str) -> str:
        self[line] = shown = printable(line)
        return shown


class CacheBuilder:
    """Fills `cache_lookups`, `caches`, `cache_bundles` and, of Triton's kernels, `cache_counts`.

    The parts of keys are read only where `contents` has CACHE_KEYS.
    """

    def __init__(self, process: Process, begun: BegunCompiles, contents: Container[str]) -> None:
        self._process = process
        self._begun = begun
        self._with_parts = CACHE_KEYS in contents
        self._lines = _Lines()
        self._aot_parts: dict[str, tuple[str, ...]] = {}
        self._repeated = RepeatedGraphs()

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        own: dict[str, Handler] = {
            CachesInUse.NAME: self._in_use,
            CacheBundleUsed.NAME: self._bundle,
            "triton_kernel_info": self._kernels,
        }
        if self._with_parts:
            own[CacheKeyParts.NAME] = self._key_parts
            own[_AOT_SETTINGS] = self._aot_settings
        return own

    def handler_of_lookup(self, name: str) -> Handler | None:
        """Who takes the records of look-ups, which are known by what their name looks like."""
        if name in _NO_MORE:
            return lambda record: self._bypass(record, _NO_MORE[name])
        if pgo := _PGO.fullmatch(name):
            return lambda record: self._keep(
                CacheLookup("pgo", "hit", self._begun.id_of(record), detail=pgo[1])
            )
        if found := _LOOKUP.fullmatch(name):
            return lambda record: self._lookup(record, found[1], found[2])
        return None

    def _in_use(self, record: Record) -> None:
        self._process.caches.append(structured(CachesInUse, record))

    def _bundle(self, record: Record) -> None:
        self._process.cache_bundles.append(structured(CacheBundleUsed, record))

    def _kernels(self, record: Record) -> None:
        counted = autotuning_of_kernels(record, self._begun.id_of(record))
        if counted is not None:
            self._process.cache_counts.append(counted)

    def _key_parts(self, record: Record) -> None:
        listed = structured(CacheKeyParts, record)
        self._aot_parts[listed.key] = self._interned(listed.parts)

    def _aot_settings(self, record: Record) -> None:
        """The settings in AOTAutograd's key, where they are one part, a pickle: a part for each."""
        wanted = ("aotautograd_cache", self._begun.id_of(record))
        lookups = self._process.cache_lookups
        for i, lookup in reversed(list(enumerate(lookups))):
            if (lookup.cache, lookup.compile_id) == wanted:
                lines = [_setting_line(name, value) for name, value in record.json_payload().items()]
                lookups[i] = replace(lookup, parts=lookup.parts and lookup.parts + self._interned(lines))
                return

    def _bypass(self, record: Record, cache: str) -> None:
        said = record.payload()
        self._keep(CacheLookup(cache, "bypass", self._begun.id_of(record), reason=said))

    def _lookup(self, record: Record, cache: str, outcome: str) -> None:
        compile_id = self._begun.id_of(record)
        payload = record.payload_in_bytes()  # none is of an older torch, or the event alone
        rest, listed = _parted(b"{}" if payload is None else payload)
        said = parse_json(rest.decode("utf-8", "replace"), "payload", MOST_VALUES)
        if not isinstance(said, dict):
            raise Damaged("payload is no JSON object")
        differing: tuple[tuple[str, str], ...] = ()
        if outcome == "miss" and listed is not None:
            differing = self._repeated.differing(cache, listed[1:-1])
        lookup = CacheLookup(
            cache,
            outcome,
            compile_id,
            key=_text(said, "key"),
            detail=_text(said, "cache_status_detailed"),
            reason=_text(said, "cache_bypass_reason"),
            saved_seconds=_seconds(said, "time_saved_ns", "time_saved_ms"),
            took_seconds=_seconds(said, "time_taken_ns"),
            differing_parts=differing,
        )
        if self._with_parts:
            lines = said.get("components") if listed is None else _lines_of(listed)
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
        self._process.cache_lookups.append(lookup)


def _parted(text: bytes) -> tuple[bytes, bytes | None]:
    """Torch's JSON without the parts of the key, of which it mostly consists, and those in their quotes."""
    found = text.find(_PARTS_BEGIN)
    begins = found + len(_PARTS_BEGIN) - 1
    ends = text.find(_PARTS_END, begins) if found >= 0 else -1
    while ends > 0 and text[ends - 1] == _BACKSLASH:  # within a part, whose own quotes are escaped
        ends = text.find(_PARTS_END, ends + 1)
    if ends < 0:
        return text, None
    return text[:begins] + text[ends + 1 :], text[begins : ends + 1]


def _lines_of(listed: bytes) -> Any:
    """As a stranger wrote them: `_Lines` makes them fit to be shown."""
    return parse_json(f"[{listed.decode('utf-8', 'replace')}]", "payload", MOST_VALUES, checked_json)


def _setting_line(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"[{md5(text.encode(), usedforsecurity=False).hexdigest()}] autograd_config[{name}]: {text}"


def _text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None


def _seconds(said: Mapping[str, Any], nanoseconds: str, milliseconds: str = "") -> float | None:
    for name, unit in ((nanoseconds, 1e9), (milliseconds, 1e3)):
        value = said.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return float(value / unit)
    return None
