"""Guards put in order: what concerns one source together, and what tells a frame's cache entries apart."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Annotated, Literal, NamedTuple

from dynamo_core.analysis.guard_text import (
    CHECKED_BY_GLOBAL_STATE,
    check_words,
    global_state,
    is_marking,
    markings_words,
    remark,
    tensor_check,
    tensor_terms,
)
from dynamo_core.analysis.source_lines import whole_places
from dynamo_core.analysis.words import compile_label, frame_name, number, place
from dynamo_core.model import Compile, CompileId, Guard, GuardCheck, GuardSet, Place, Process
from dynamo_core.recording.guards import split_comment
from dynamo_core.shared.quick_dataclass import dataclass

Kind = Literal["value", "module", "global", "state"]
KINDS: tuple[Kind, ...] = ("value", "module", "global", "state")  # as they matter to a user

# Sources that torch derives from the one that the program names, and guards in its place.
_DERIVED = re.compile(r"list\(dict\.keys\((.+)\)\)\[\d+\]|list\((.+)\.keys\(\)\)\[\d+\]", re.DOTALL)
_SUFFIXES = (".__dict__", ".__code__")
# Where an nn.Module keeps what it is made of (torch/nn/modules/module.py).
_IN_MODULE = re.compile(r"(?:\._|\['_)(?:modules|parameters|buffers|\w*hooks\w*)\b|\.__dict__\b|__class__")
# Globals that Dynamo adds by itself: modules, the builtins, and values that it must keep.
_ADDED_GLOBAL = re.compile(r"\bG\['(?:__|_\d+_c\d+'|torch'\])")
_OF_FUNCTION = re.compile(r"\.__(?:kw)?defaults__|\.__closure__")
# That an object is the one it was, or of the type that it was, by the name of the check or of the guard.
_IDENTITIES = {
    "ID_MATCH",
    "TYPE_MATCH",
    "OBJECT_ALIASING",
    "LAMBDA_GUARD",
    "DICT_CONTAINS",
    "DICT_VERSION",
} | {
    "BUILTIN_MATCH",
    "CLASS_MATCH",
    "CLOSURE_MATCH",
    "DUPLICATE_INPUT",
    "FUNCTION_MATCH",
    "MODULE_MATCH",
}
# What differs in every compile, and says nothing: ids of helpers, and names that torch numbers.
_NUMBERED = (
    (re.compile(r"\b_\d{6,}_c\d+"), "_"),
    (re.compile(r"\b(__builtins_dict__)_\d+"), r"\1"),
    (re.compile(r"\b(___check_(?:metadata|opaque_guard_fn)_|__dtensor_spec_)\d+(?:_c[\d/!]+)?"), r"\1"),
)
# The types of guards and of checks that are about the same part of torch's state.
_STATE = {
    "TORCH_FUNCTION_STATE": "TORCH_FUNCTION_MODE_STACK",
    "DUAL_LEVEL": "DUAL_LEVEL_MATCH",
    **dict.fromkeys(CHECKED_BY_GLOBAL_STATE, "GLOBAL_STATE"),
}
_STATE_LAMBDAS = {
    "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks": "AUTOGRAD_SAVED_TENSORS_HOOKS",
    "torch._functorch.pyfunctorch.compare_functorch_state": "FUNCTORCH_STACK_MATCH",
}


@dataclass
class SourceGuards:
    """All that is demanded of one source, or (source "") of one part of torch's state."""

    source: str
    kind: Kind = "state"
    guards: list[Guard] = field(default_factory=list)
    checks: list[GuardCheck] = field(default_factory=list)
    remark: str | None = None  # where its checks are, if not here

    @property
    def types(self) -> list[str]:
        """What Dynamo asked for; where that was not recorded, what is checked."""
        return list(dict.fromkeys(item.type for item in self.guards or self.checks))


def remarks(guard_sets: Iterable[GuardSet]) -> dict[str, list[str]]:
    """What torch remarks on checks for a user to act on, and of which sources."""
    found: dict[str, dict[str, None]] = {}
    for guard_set in guard_sets:
        for group in by_source(guard_set):
            for note in filter(None, (remark(check.code) for check in group.checks)):
                found.setdefault(note, {})[group.source] = None
    return {note: list(sources) for note, sources in found.items()}


def by_kind(guard_set: GuardSet) -> list[SourceGuards]:
    """The guards and checks of an entry by source, what the user knows first."""
    return sorted(by_source(guard_set), key=lambda group: KINDS.index(group.kind))


def by_source(guard_set: GuardSet) -> list[SourceGuards]:
    """The guards and checks of an entry by source, in the order in which torch evaluates them."""
    groups: dict[str, SourceGuards] = {}
    checks, guards = with_relations(guard_set.checks or ()), guard_set.guards or ()
    named = [*(check.source for check in checks), *(guard.source for guard in guards)]
    sources = set(map(owner, named)) - {"", "G", "L"}
    for check in checks:
        key = (
            owner(check.source) or _state_of_check(check) or _first_named(check.code, sources) or "SHAPE_ENV"
        )
        groups.setdefault(key, SourceGuards(key if key in sources else "")).checks.append(check)
    for guard in guards:
        key = owner(guard.source) or _STATE.get(guard.type, guard.type)
        groups.setdefault(key, SourceGuards(key if key in sources else "")).guards.append(guard)
    for group in groups.values():
        group.kind = _kind(group)
    shapes = groups.get("SHAPE_ENV")
    if shapes is not None and not shapes.checks and guard_set.checks is not None:
        is_elsewhere = any(
            not check.source and group.source for group in groups.values() for check in group.checks
        )
        shapes.remark = (
            "stands with the sources that it names" if is_elsewhere else "no relation between sizes"
        )
    return list(groups.values())


def with_relations(checks: Iterable[GuardCheck]) -> list[GuardCheck]:
    """The checks, relational ones with their text at every source that they concern: torch prints it once."""
    texts: dict[str, list[str]] = {}
    whole = []
    for check in checks:
        if check.code:
            texts.setdefault(check.type, []).append(check.code)
            whole.append(check)
        else:
            found = [text for text in texts.get(check.type, ()) if check.source in text]
            whole.append(replace(check, code=found[-1]) if found else check)
    return whole


def owner(source: str) -> str:
    """The source that the program names, for one that torch derives from it."""
    for suffix in _SUFFIXES:
        source = source.removesuffix(suffix)
    derived = _DERIVED.fullmatch(source)
    return (derived[1] or derived[2]) if derived else source


def _state_of_check(check: GuardCheck) -> str | None:
    if check.type not in ("LAMBDA_GUARD", "SYMBOLIC_SHAPE_GUARD"):
        return check.type
    return next((name for start, name in _STATE_LAMBDAS.items() if check.code.startswith(start)), None)


def _first_named(code: str, sources: Iterable[str]) -> str | None:
    """The first source in a relation such as `2 <= L['x'].size()[0]`, and the longest that begins there."""
    named = [(code.find(source), -len(source), source) for source in sources if source in code]
    return min(named)[2] if named else None


def _kind(group: SourceGuards) -> Kind:
    source = group.source
    if not source:
        return "state"
    types = {check.type for check in group.checks} or {guard.type for guard in group.guards}
    is_module = any(guard.scope is not None and "nn_module" in guard.scope for guard in group.guards)
    if source.startswith("L["):
        if _IN_MODULE.search(source) or (is_module and types <= _IDENTITIES):
            return "module"
        return "value"
    if _IN_MODULE.search(source):
        return "module" if is_module else "global"
    is_plumbing = _ADDED_GLOBAL.search(source) or _OF_FUNCTION.search(source)
    return "global" if is_plumbing or types <= _IDENTITIES else "value"


class Demands(NamedTuple):
    """What some cache entries of a frame demand of a source, and not all of them."""

    compile_ids: tuple[CompileId | None, ...]
    demands: Annotated[tuple[str, ...], "in words; empty where nothing of the sort is checked"]


@dataclass(frozen=True)
class Difference:
    """What the cache entries of a frame demand of a source, so far as they do not share it."""

    source: Annotated[str, "what the demands are about; empty for torch's state"]
    entries: Annotated[tuple[Demands, ...], "those with the same demands stand together"]


def differences(guard_sets: Sequence[GuardSet]) -> list[Difference]:
    """What tells the cache entries of a frame apart: first what all of them demand, but not alike."""
    facts = [_facts(guard_set) for guard_set in guard_sets]
    kinds = {source: kind for fact in facts for source, (kind, _) in fact.items()}
    found: list[tuple[tuple[bool, int], Difference]] = []
    for source, kind in kinds.items():
        demands = [fact[source][1] if source in fact else {} for fact in facts]
        shared = set.intersection(*(set(demand) for demand in demands))
        together: dict[tuple[str, ...], list[CompileId | None]] = {}
        for guard_set, demand in zip(guard_sets, demands, strict=True):
            own = tuple(text for text in demand if text not in shared)
            together.setdefault(own, []).append(guard_set.compile_id)
        if len(together) < 2:
            continue
        words = {own: tuple(_in_words(own, demands)) for own in together}
        if len(set(words.values())) < len(words):  # they differ in an id, which words leave out
            words = {own: own for own in together}
        is_one_sided = () in together and kind != "value"
        entries = tuple(Demands(tuple(ids), words[own]) for own, ids in together.items())
        found.append(((is_one_sided, KINDS.index(kind)), Difference(source, entries)))
    return [difference for _, difference in sorted(found, key=lambda ranked: ranked[0])]


def _in_words(texts: Iterable[str], demands: Sequence[dict[str, str]]) -> Iterable[str]:
    words = {text: wording for demand in demands for text, wording in demand.items()}
    texts = list(texts)
    marks = [text for text in texts if is_marking(text)]
    yield from (words[text] for text in texts if text not in marks)
    yield from markings_words(marks)


def _facts(guard_set: GuardSet) -> dict[str, tuple[Kind, dict[str, str]]]:
    """What an entry demands of each source: the text of each demand that can differ alone, and its words."""
    facts: dict[str, tuple[Kind, dict[str, str]]] = {}
    for group in by_source(guard_set):
        _, demands = facts.setdefault(unnumbered(group.source), (group.kind, {}))
        for check in group.checks:
            code = split_comment(check.code)[0]
            tensor = tensor_check(code) if check.type == "TENSOR_MATCH" else None
            terms = tensor_terms(tensor) if tensor else {}
            if check.type == "GLOBAL_STATE":
                terms = global_state(code)
            if terms:
                demands.update({words: words for words in terms.values()})
            elif code:
                demands[f"{check.type}: {unnumbered(code)}"] = check_words(
                    check.type, check.code, check.source or group.source
                )
    return facts


def unnumbered(text: str) -> str:
    """A text without the numbers that torch gives anew in every compile."""
    for pattern, replacement in _NUMBERED:
        text = pattern.sub(replacement, text)
    return text


# The cache entries of a process, with the compiles that made them, and the compiles that have none.


@dataclass(frozen=True)
class Entry:
    """A cache entry with the compile that made it, where that was recorded."""

    guard_set: GuardSet
    generation: int  # how often its compile id was met before, as after torch._dynamo.reset()
    compile: Compile | None

    @property
    def guard_count(self) -> int | None:
        """torch's guard_count, or what we counted where torch's metrics do not say."""
        if self.compile is not None and self.compile.guards is not None:
            return self.compile.guards
        return None if self.guard_set.guards is None else len(self.guard_set.guards)


def entries_of(process: Process) -> list[Entry]:
    """The cache entries of a process by frame, with file names whole and the compiles that they are of."""
    compiles: dict[CompileId | None, list[Compile]] = {}
    for compile_ in process.compiles:
        if compile_.is_forward and compile_.guards is not None:
            compiles.setdefault(compile_.compile_id, []).append(compile_)
    files = whole_places(process)
    met: Counter[CompileId | None] = Counter()
    entries = []
    for guard_set in process.guard_sets:
        generation = met[guard_set.compile_id]
        met[guard_set.compile_id] += 1
        same_id = compiles.get(guard_set.compile_id, [])
        own = same_id[generation] if generation < len(same_id) else None
        entries.append(Entry(_with_whole_places(guard_set, files), generation, own))
    return sorted(entries, key=_order)


def _order(entry: Entry) -> tuple[int, ...]:
    compile_id = entry.guard_set.compile_id or CompileId(None, None)
    parts = (compile_id.autograd, compile_id.frame, compile_id.compile)
    return (entry.generation, *(-1 if part is None else part for part in parts))


def _with_whole_places(guard_set: GuardSet, files: dict[str, str | None]) -> GuardSet:
    def whole(check: GuardCheck) -> GuardCheck:
        file = files.get(check.place.file) if check.place is not None else None
        if check.place is None or file is None:
            return check
        return replace(check, place=Place(file, check.place.line))

    checks = guard_set.checks
    return guard_set if checks is None else replace(guard_set, checks=tuple(map(whole, checks)))


def by_frame(entries: Iterable[Entry]) -> list[list[Entry]]:
    """The entries of each frame; a compile id that comes back is of another frame."""
    frames: dict[object, list[Entry]] = {}
    for entry in entries:
        compile_id = entry.guard_set.compile_id
        frame = (compile_id.autograd, compile_id.frame) if compile_id else None
        frames.setdefault((entry.generation, frame), []).append(entry)
    return list(frames.values())


def entries_lost(process: Process, entries: Sequence[Entry]) -> int:
    """How many compiles made a cache entry, since they have guards, of which no guard is there."""
    return sum(bool(compile_.guards) for compile_ in _without_entry(process, entries))


def _without_entry(process: Process, entries: Sequence[Entry]) -> Iterator[Compile]:
    known = {entry.guard_set.compile_id for entry in entries}
    for compile_ in process.compiles:
        if compile_.is_forward and compile_.compile_id not in known:
            yield compile_


def without_guards(process: Process, entries: Sequence[Entry]) -> list[str]:
    """The compiles whose guards are not there, each with the reason where one is known."""
    found = []
    for compile_ in _without_entry(process, entries):
        frame = frame_name(compile_.name, compile_.method)
        name = f"{compile_label(compile_.compile_id)} {frame} ({place(compile_.place)})"
        if compile_.fail_type is not None:
            found.append(f"{name}: no guards, as the compile failed: {compile_.fail_type}")
        else:
            lost = f"{number(compile_.guards, 'guard')}, which were not recorded"
            found.append(f"{name}: {lost if compile_.guards else 'no guards'}")
    return found
