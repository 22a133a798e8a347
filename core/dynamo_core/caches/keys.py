"""Cache keys: the parts that torch lists of a key, and what differs between two keys, in words."""

import difflib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, get_args

from ..model import CacheLookup
from ..shared.quick_dataclass import dataclass

# The parts of a cache key, which torch lists as one line `[hash] name: text` each.
#
# Source: torch/_inductor/codecache.py (FxGraphCachePickler.debug_lines), 2.8 to 2.13. Only the hash counts
# for the key; the text is for people, and may hold addresses that are not part of the key.

_PART = re.compile(r"\[(\w{1,80})\] ([^:\n]{1,200}): ?(.*)", re.DOTALL)
IS_BACKWARD = "fx_kwargs[is_backward]"
GRAPH = "gm"


@dataclass(frozen=True)
class KeyPart:
    """One part of a key; two keys agree in it if the digests are equal."""

    name: str
    digest: str
    text: str


_Pair = tuple[KeyPart | None, KeyPart | None]  # a part of two keys; None where one does not have it


@dataclass(frozen=True)
class Key:
    """A cache key with its parts by name. `fingerprint` has the name and digest of each part."""

    parts: dict[str, KeyPart]
    fingerprint: frozenset[tuple[str, str]]

    @property
    def is_backward(self) -> bool | None:
        """Whether the graph is a backward graph; None where the key is for both directions."""
        part = self.parts.get(IS_BACKWARD)
        return None if part is None else part.text == "True"

    def distance(self, other: "Key") -> int:
        """How much two keys differ: 2 for each part that differs, 1 for each that only one of them has."""
        return len(self.fingerprint ^ other.fingerprint)

    def differing(self, other: "Key") -> list[_Pair]:
        """The pairs of parts of `self` and `other` that differ, in the order of the keys."""
        names = dict.fromkeys([*self.parts, *other.parts])
        pairs = [(self.parts.get(name), other.parts.get(name)) for name in names]
        return [
            (mine, its) for mine, its in pairs if mine is None or its is None or mine.digest != its.digest
        ]


def key_of(lookup: CacheLookup) -> Key | None:
    """The parts of the key that was looked up; None where they were not recorded."""
    return None if lookup.parts is None else key_of_lines(lookup.parts)


def key_of_lines(lines: Iterable[str]) -> Key:
    """The key that torch's lines make; a line that is no part is passed over."""
    parts = {part.name: part for part in map(_part_of, lines) if part is not None}
    return Key(parts, frozenset((part.name, part.digest) for part in parts.values()))


@lru_cache(1024)  # most lines, the settings, are the same in all keys
def _part_of(line: str) -> KeyPart | None:
    found = _PART.fullmatch(line)
    if found is None:
        return None
    digest, name, text = found.groups()
    return KeyPart(name, digest, text)


# The fields of an input in a cache key: `TensorMetadata(shape=torch.Size([8, 8]), …)`.
#
# Source: torch/_inductor/codecache.py (extract_tensor_metadata_for_cache_key) and
# torch/_subclasses/fake_tensor.py (TensorMetadata), 2.8 to 2.13.

_OPENING, _CLOSING = "([{<", ")]}>"
_DEVICE = re.compile(r"device\(type='(\w+)'(?:, index=(\d+))?\)")
# Fields that follow from another one: a difference is not mentioned if the other one differs, too.
_FOLLOWS_FROM = {"stride": "shape", "storage_bytes": "shape", "memory_format": "stride"}


def fields_of(text: str) -> dict[str, str] | None:
    """The fields of a tensor's text by name; None if the text is not that of a tensor."""
    _, is_tensor, inner = text.partition("TensorMetadata(")
    if not is_tensor:
        return None
    found: dict[str, str] = {}
    depth, item = 0, ""
    for character in inner:
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth < 0 or (character == "," and depth == 0):
            name, _, value = item.strip().partition("=")
            found[name] = _plain(value)
            item = ""
            if depth < 0:
                break
        else:
            item += character
    return found


def differing_fields(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, old and new value of each field that differs and does not follow from another that does."""
    differing = {name for name in before if name in after and before[name] != after[name]}
    return [
        (name, before[name], after[name])
        for name in before
        if name in differing and _FOLLOWS_FROM.get(name) not in differing
    ]


def _plain(value: str) -> str:
    if value.startswith("torch.Size("):
        value = value.removeprefix("torch.Size(").removesuffix(")")
    value = _DEVICE.sub(lambda found: found[1] + (f":{found[2]}" if found[2] else ""), value)
    return value.removeprefix("torch.")


# As `repr` writes it, and as `id` returns it: of a heap and of a mapped library, on 64-bit Linux.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}(?![0-9a-fA-F])|(?<!\d)(?:1[34]\d{13}|9[34]\d{12})(?!\d)")
# Since the epoch in seconds, ms, µs or ns, until 2033; or a date with a time of day.
_TIME = re.compile(
    r"(?<!\d)1[6-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d{1,9})?(?!\d)"
    r"|(?<!\d)20\d\d-[01]\d-[0-3]\d[T _][0-2]\d:?[0-5]\d(?::?[0-5]\d(?:\.\d{1,9})?)?(?!\d)"
)
_RANDOM_ID = re.compile(
    r"(?<!\w)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}(?!\w)"
)
_VOLATILE = {"a memory address": _ADDRESS, "a time": _TIME, "a random id": _RANDOM_ID}


def volatile_difference(before: str, after: str) -> str | None:
    """The kind of volatile value (`a memory address`) if two texts differ in nothing else; else None."""
    if before == after:
        return None
    for what, pattern in _VOLATILE.items():
        if pattern.sub("…", before) == pattern.sub("…", after):
            return what
    for pattern in _VOLATILE.values():
        before, after = pattern.sub("…", before), pattern.sub("…", after)
    return "memory addresses and times" if before == after else None


def volatile_values(before: str, after: str) -> tuple[str, str] | None:
    """The first volatile value that differs between two texts, of each text; None if none does."""
    for pattern in _VOLATILE.values():
        for was, now in zip(pattern.findall(before), pattern.findall(after), strict=False):
            if was != now:
                return was, now
    return None


PartKind = Literal[
    "version",
    "machine",
    "threads",
    "setting",
    "custom pass",
    "input",
    "process group",
    "graph",
    "unstable",
    "other",
]
_ORDER = get_args(PartKind)
_WITH_DTYPE = re.compile(r"\((True|False), (torch\.\w{1,20})\)")
_SETTINGS = ("inductor_config", "inductor_config_comms", "autograd_config", "fx_kwargs", "autocast_state")
# Parts that follow from the graph and its inputs: mentioned only if nothing else differs.
_FOLLOWS = ("aot_config", "fx_kwargs[static_input_idxs]", "fx_kwargs[boxed_forward_device_index]")
_NAMES = {
    "cpp_runtime_thread_count": "CPU threads",
    "default_dtype": "default dtype",
    "deterministic_algorithms": "deterministic algorithms",
    "deterministic_algorithms_settings": "deterministic algorithms (on, warn only, fill memory)",
    "cuda_matmul_settings": "precision of matmuls on CUDA",
    "grad_enabled": "grad mode",
    "user_defined_triton_source": "source of the program's Triton kernels",
    "triton_kernel_source_codes": "source of the program's Triton kernels",
}
_KINDS: dict[str, PartKind] = {
    "torch_version": "version",
    "system_info": "machine",
    "default_cuda_device_index": "machine",
    "cpp_runtime_thread_count": "threads",
    "example_inputs": "input",
    GRAPH: "graph",
}
_INDEXED = re.compile(r"(\w+)(?:\[(.*)\])?", re.DOTALL)
_QUOTED = re.compile(r"'[^'\n]*'")
_NOT_USED_AGAIN = re.compile(r";  (?:\w+ = )+None$")
_LONGEST = 100  # characters of a value


@dataclass(frozen=True)
class PartDifference:
    """A difference between two keys. `part` is torch's name; a value is None if its key lacks the part."""

    kind: PartKind
    sentence: str
    part: str
    before: str | None
    after: str | None


def differences(pairs: Iterable[_Pair]) -> tuple[PartDifference, ...]:
    """The differences of two keys from their differing parts, likely causes of the others first."""
    parts = _without_pickled_settings([pair for pair in pairs if any(pair)])
    main = [pair for pair in parts if not _name(pair).startswith(_FOLLOWS)]
    changes = _input_differences([pair for pair in main if _base(pair) == "example_inputs"])
    changes += [_part_difference(*pair) for pair in main or parts if _base(pair) != "example_inputs"]
    return tuple(sorted(changes, key=lambda each: _ORDER.index(each.kind)))


def _without_pickled_settings(pairs: list[_Pair]) -> list[_Pair]:
    """The pairs without the pickle of AOTAutograd's settings, if both keys list these one by one."""
    known = [pair for pair in pairs if not _name(pair).startswith("autograd_config[") or all(pair)]
    if any(_name(pair).startswith("autograd_config[") for pair in known):
        return [pair for pair in known if _name(pair) != "autograd_config"]
    return known


def part_setting(part: str) -> str | None:
    """The name of the setting in a part, such as `max_fusion_size`; None if the part is no setting."""
    found = _INDEXED.fullmatch(part)
    return found[2] if found is not None and found[1] in _SETTINGS else None


def _name(pair: _Pair) -> str:
    part = pair[0] or pair[1]
    assert part is not None
    return part.name


def _base(pair: _Pair) -> str:
    found = _INDEXED.fullmatch(_name(pair))
    return found[1] if found is not None else _name(pair)


def _part_difference(before: KeyPart | None, after: KeyPart | None) -> PartDifference:
    name = _name((before, after))
    was, now = before.text if before else None, after.text if after else None
    if was is not None and now is not None:
        volatile = volatile_difference(was, now)
        if volatile is not None:
            return _unstable(name, was, now, volatile)
        if name == GRAPH:
            return _graph_difference(was, now)
    if name.startswith("autocast_state["):
        was, now = _autocast(was), _autocast(now)
    kind = _KINDS.get(_base((before, after)), _kind(name))
    label = _label(name)
    if name == "torch_version":  # a hash of its files, of which no text is kept
        return PartDifference(kind, "torch's own files differ", name, None, None)
    if was == now:
        return PartDifference(
            kind, f"{label} differs in what torch's text of it does not show", name, was, now
        )
    short = _short(was, now)
    return PartDifference(kind, f"{label}: {short[0]} → {short[1]}", name, was, now)


def _autocast(text: str | None) -> str | None:
    """Its dtype, or None where it is off: since 2.15 torch writes a device's dtype then as well."""
    found = _WITH_DTYPE.fullmatch(text or "")
    if found is None:
        return text
    return found[2] if found[1] == "True" else None


def _label(name: str) -> str:
    setting = part_setting(name)
    if setting is not None:
        return f"autocast on {setting}" if name.startswith("autocast") else setting
    return _NAMES.get(name) or (f"custom pass {name}" if _kind(name) == "custom pass" else name)


def _kind(name: str) -> PartKind:
    if "pass" in name or name.startswith(("_custom_partitioner", "custom_backend", "_fuse_ddp")):
        return "custom pass"
    base = name.partition("[")[0]
    is_setting = base in _SETTINGS or base in _NAMES or base in ("cache_key_tag", "provenance_tracking_level")
    return "setting" if is_setting else "other"


def _unstable(name: str, was: str, now: str, volatile: str) -> PartDifference:
    values = volatile_values(was, now)
    shown = f": {values[0]} → {values[1]}" if values is not None else ""
    label = "the graph" if name == GRAPH else _label(name)
    return PartDifference("unstable", f"the key is unstable, {label} holds {volatile}{shown}", name, was, now)


def _input_differences(pairs: Sequence[_Pair]) -> list[PartDifference]:
    """The differences in the inputs; inputs that differ in the same way are one difference."""
    by_sentence: dict[str, list[tuple[str, str | None, str | None]]] = {}
    unstable = []
    for before, after in pairs:
        was, now = before.text if before else None, after.text if after else None
        volatile = volatile_difference(was, now) if was is not None and now is not None else None
        if volatile is not None and was is not None and now is not None:
            unstable.append(_unstable(_name((before, after)), was, now, volatile))
            continue
        number = _name((before, after)).partition("[")[2].rstrip("]")
        by_sentence.setdefault(_input_sentence(was, now), []).append((number, was, now))
    found = []
    for sentence, alike in by_sentence.items():
        number, was, now = alike[0]
        which = f"input {number}" if len(alike) == 1 else f"{len(alike)} inputs"
        found.append(PartDifference("input", f"{which}: {sentence}", f"example_inputs[{number}]", was, now))
    return found + unstable


def _input_sentence(was: str | None, now: str | None) -> str:
    if was is None or now is None:
        return f"{_input_text(was)} → {_input_text(now)}"
    fields = fields_of(was), fields_of(now)
    if fields[0] is None or fields[1] is None:
        return " → ".join(_short(was, now))
    changed = differing_fields(fields[0], fields[1])
    text = ", ".join(f"{name} {before} → {after}" for name, before, after in changed)
    return text or "differs in what torch's text of it does not show"


def _input_text(text: str | None) -> str:
    if text is None:
        return "none"
    fields = fields_of(text)
    return text[:_LONGEST] if fields is None else f"{fields.get('dtype')} {fields.get('shape')}"


def _graph_difference(was: str, now: str) -> PartDifference:
    """The first lines in which two graphs differ; later lines may only differ in the names of nodes."""
    before, after = _lines(was), _lines(now)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        old, new = before[i:i_end], after[j:j_end]
        if old and new and "c10d" in old[0] and _QUOTED.sub("", old[0]) == _QUOTED.sub("", new[0]):
            names = zip(_QUOTED.findall(old[0]), _QUOTED.findall(new[0]), strict=True)
            was_group, group = next(pair for pair in names if pair[0] != pair[1])
            sentence = f"process-group name: {was_group} → {group}"
            return PartDifference("process group", sentence, GRAPH, old[0], new[0])
        shown = _short(old[0] if old else None, new[0] if new else None)
        sentence = f"the graph: {_code(shown[0])} → {_code(shown[1])}"
        return PartDifference("graph", sentence, GRAPH, old[0] if old else None, new[0] if new else None)
    sentence = "the graph differs in what torch's text of it does not show (a constant, say)"
    return PartDifference("graph", sentence, GRAPH, None, None)


def _lines(text: str) -> list[str]:
    body = text[max(0, text.find("def ")) :]  # a class name comes before it
    lines = [_NOT_USED_AGAIN.sub("", line.strip()) for line in body.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def _code(text: str) -> str:
    return text if text == "none" else f"`{text}`"


def _short(was: str | None, now: str | None) -> tuple[str, str]:
    """Both texts; long ones are cut around the first difference."""
    if was is None or now is None:
        return _cut(was), _cut(now)
    if max(len(was), len(now)) <= _LONGEST:
        return was or "''", now or "''"
    same = next(
        (i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now))
    )
    start = max(0, same - _LONGEST // 4)
    lead = "…" if start else ""
    return lead + _cut(was[start:]), lead + _cut(now[start:])


def _cut(text: str | None) -> str:
    if text is None:
        return "none"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
