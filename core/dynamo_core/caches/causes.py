"""Why a cache look-up was no hit, which caches were off, and the counts of torch's other caches."""

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar

from ..analysis.words import memory, number, place, seconds
from ..model import CacheLookup, CountedLayer, Phase, Process, Recording
from ..shared.early_records import CacheBundleUsed
from ..shared.quick_dataclass import dataclass
from ..shared.records import CachesInUse
from .bypasses import bypass_words
from .keys import PartDifference, PartKind, differences, part_setting
from .lookups import KnownKeys, Lookup

CauseKind = (
    PartKind
    | Literal[
        "source", "bypass", "folder", "not kept", "gone", "race", "sizes", "unknown", "not recorded", "pgo"
    ]
)
_NO_SPACE = 1 << 20  # bytes; less than an entry takes


@dataclass(frozen=True)
class Cause:
    """One cause of a miss or bypass. `part` is torch's name of the key part that differs, None if none does.

    `set_by` says who set a setting, as far as the recordings show; `what_to_do` is None where nothing is
    wrong.
    """

    kind: CauseKind
    sentence: str
    part: str | None = None
    before: str | None = None
    after: str | None = None
    set_by: str | None = None
    what_to_do: str | None = None


FIRST_RUN = Cause("unknown", "no earlier run that compiled this is known")


def causes_of(lookup: Lookup, known: KnownKeys) -> tuple[tuple[Cause, ...], Lookup | None]:
    """The causes of a miss or bypass, the most likely first, and the earlier look-up that was compared."""
    recorded = lookup.recorded
    if recorded.outcome == "hit":
        return (), None
    if recorded.outcome == "bypass":
        return (_cause_of_bypass(recorded),), None
    same = known.same_key(lookup)
    if recorded.detail == "guard_miss":
        sentence = "the entry of this key is for other sizes: its guards on them do not hold"
        return (Cause("sizes", sentence),), same
    if same is not None:
        return (_cause_with_same_key(lookup, same),), same
    nearest = known.nearest(lookup)
    if nearest is None:
        if known.key(lookup) is None and known.earlier:
            return (Cause("not recorded", "what its key is made of was not recorded"),), None
        return (FIRST_RUN,), None
    return tuple(_causes_in_parts(lookup, nearest, known)), nearest


def _cause_of_bypass(recorded: CacheLookup) -> Cause:
    why, what_to_do = bypass_words(recorded)
    at = "" if recorded.bypassed_at is None else f" ({place(recorded.bypassed_at.place)})"
    return Cause("bypass", f"{why}{at}", what_to_do=what_to_do)


def folder_problem(caches: CachesInUse | None) -> str | None:
    """What is wrong with a cache folder; None if nothing is known to be wrong."""
    if caches is None:
        return None
    if caches.is_writable is False:
        return f"nothing can be written to {caches.folder}"
    if caches.free_bytes is not None and caches.free_bytes < _NO_SPACE:
        return f"the disk of {caches.folder} is full ({memory(caches.free_bytes)} free)"
    return None


def vanishes(caches: CachesInUse | None) -> str | None:
    """Why a cache folder will not be there for the next run, if that is likely."""
    if caches is None:
        return None
    if caches.filesystem in ("tmpfs", "ramfs"):
        return f"kept in memory ({caches.filesystem}), lost when the machine restarts"
    is_temporary = caches.folder.startswith(("/tmp/", "/var/tmp/"))
    if caches.in_container and (caches.filesystem == "overlay" or is_temporary):
        return "in the container's own file system, lost when the container is removed"
    return None


def caches_of(process: Process) -> CachesInUse | None:
    """The cache folders that a process used last; None where that was not recorded."""
    return process.caching.in_use[-1] if process.caching.in_use else None


_ANOTHER_FOLDER = "let `TORCHINDUCTOR_CACHE_DIR` name a folder that can be written to and outlives the run."


def _cause_with_same_key(lookup: Lookup, same: Lookup) -> Cause:
    """Why the entry of an earlier look-up with the same key was not found."""
    below = _bypass_in_compile_of(same)
    if below is not None:
        return _cause_of_bypass(below)
    mine, its = caches_of(lookup.process), caches_of(same.process)
    problem = folder_problem(its) or folder_problem(mine)
    if problem is not None:
        return Cause("not kept", f"the key is the same, but {problem}", what_to_do=_ANOTHER_FOLDER)
    if same.recording is lookup.recording and same.process is not lookup.process:
        return _cause_within_run(mine, its)
    if mine is not None and its is not None and mine.folder != its.folder:
        return Cause(
            "folder",
            f"the key is the same, but the cache folder is another: {its.folder} → {mine.folder}",
            before=its.folder,
            after=mine.folder,
            what_to_do=f"set `TORCHINDUCTOR_CACHE_DIR={its.folder}` for every run, or copy that folder.",
        )
    where = f" in {mine.folder}" if mine is not None else ""
    fleeting = vanishes(mine)
    more = f" ({fleeting})" if fleeting is not None else ""
    return Cause(
        "gone",
        f"the key is the same, but its entry is not there any more{where}{more}",
        what_to_do=_ANOTHER_FOLDER,
    )


def _bypass_in_compile_of(lookup: Lookup) -> CacheLookup | None:
    """The bypass of another cache in the same compile: AOTAutograd keeps nothing that Inductor did not."""
    same_compile = (
        each for each in lookup.process.caching.lookups if each.compile_id == lookup.recorded.compile_id
    )
    return next((each for each in same_compile if each.outcome == "bypass"), None)


def _cause_within_run(mine: CachesInUse | None, its: CachesInUse | None) -> Cause:
    """Why a process of this run did not find what another had compiled."""
    if mine is not None and its is not None and mine.folder != its.folder:
        sentence = (
            f"another process of this run compiled the same graph in a cache folder of its own, {its.folder}"
        )
        what = "let `TORCHINDUCTOR_CACHE_DIR` name one folder for all processes."
        return Cause("folder", sentence, before=its.folder, after=mine.folder, what_to_do=what)
    sentence = "several processes compiled the same graph at once, each before the other had stored it"
    what = "compile in one process first, or give all ranks a folder that one run has filled."
    return Cause("race", sentence, what_to_do=what)


def _causes_in_parts(lookup: Lookup, nearest: Lookup, known: KnownKeys) -> Iterator[Cause]:
    mine, its = known.key(lookup), known.key(nearest)
    assert mine is not None and its is not None
    found = differences(its.differing(mine))
    if not found:
        yield Cause("not recorded", "the keys differ, but torch's list of their parts does not show in what")
    for difference in found:
        yield _cause_of_difference(difference, lookup, nearest)


def _cause_of_difference(difference: PartDifference, lookup: Lookup, nearest: Lookup) -> Cause:
    before, after = nearest.process, lookup.process
    kind: CauseKind = difference.kind
    sentence, set_by, what_to_do = difference.sentence, None, None
    if kind == "version":
        sentence = _version_sentence(before, after)
    elif kind == "unstable":
        what_to_do = "make it of what it does: with such a key nothing is ever found again."
    elif kind == "graph":
        edited = _edit_sentence(lookup, nearest)
        if edited is not None:
            kind, sentence = "source", edited
    elif kind == "input" and _became_dynamic(difference) and _read_pgo_state(lookup):
        kind = "pgo"
        sentence += " (dynamic from the start, by what PGO kept of earlier runs)"
    setting = part_setting(difference.part)
    if setting is not None and kind == "setting":
        set_by = _set_by(setting, lookup, nearest)
    return Cause(kind, sentence, difference.part, difference.before, difference.after, set_by, what_to_do)


def _version_sentence(before: Process, after: Process) -> str:
    was, now = before.torch_version, after.torch_version
    if was != now:
        return f"torch: {was} → {now}"
    git = before.info.torch_git, after.info.torch_git
    builds = f" (builds {git[0]} and {git[1]})" if git[0] != git[1] else ""
    return f"torch's own files differ, though both are {now}{builds}"


def _edit_sentence(lookup: Lookup, nearest: Lookup) -> str | None:
    """The first line in which the source of the function differs; None if it was not edited."""
    before, after = dict(nearest.frame.source), dict(lookup.frame.source)
    old, new = [text.strip() for text in before.values()], [text.strip() for text in after.values()]
    if not old or not new or old == new:
        return None
    line, text = next(
        ((line, text.strip()) for line, text in after.items() if text.strip() not in old), (None, "")
    )
    gone = next((text for text in old if text not in new), None)
    edited = f"the source of {lookup.frame.function} was edited"
    if line is None:
        return f"{edited}: `{gone}` is gone" if gone else None
    where = f"{(lookup.frame.file or '').rpartition('/')[2]}:{line}"
    return f"{edited}, {where}: " + (f"`{gone}` → `{text}`" if gone else f"`{text}` is new")


def _became_dynamic(difference: PartDifference) -> bool:
    return "[s" in (difference.after or "") or ", s" in difference.sentence


def _read_pgo_state(lookup: Lookup) -> bool:
    return any(each.cache == "pgo" and each.outcome == "hit" for each in lookup.process.caching.lookups)


def _set_by(setting: str, lookup: Lookup, nearest: Lookup) -> str | None:
    """What set a setting: an option, an environment variable or the program, in this or the earlier run."""
    for side, words in ((lookup, ""), (nearest, " of the earlier run")):
        if any(f".{setting}=" in text for text in side.recording.settings.config or ()):
            return f"--config{words}"
    for name in _variables(setting, lookup.process, nearest.process):
        return f"the environment variable {name}"
    for side, words in ((lookup, ""), (nearest, " in the earlier run")):
        changed = side.process.runtime.state.torch_config or {}
        if any(setting in values for values in changed.values()):
            return f"the program{words}"
    return None


def _variables(setting: str, after: Process, before: Process) -> Iterable[str]:
    now, was = after.info.environment or {}, before.info.environment or {}
    return (
        name
        for name in dict.fromkeys([*now, *was])
        if now.get(name) != was.get(name) and name.endswith("_" + setting.replace(".", "_").upper())
    )


@dataclass(frozen=True)
class DisabledCache:
    """A cache that was off. `lost_seconds` is the backend's time for the graphs; None if unknown."""

    cache: str
    setting: str
    sentence: str
    compiles: int
    lost_seconds: float | None
    what_to_do: str


# For each cache: its setting, the value that turns it off, its name, the names of its look-up records, and
# the environment variables that set it.
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


def disabled_caches(recording: Recording) -> Iterator[tuple[Process, DisabledCache]]:
    """For each process the cache that was off, with what was compiled without it; of several the widest."""
    for process in recording.processes:
        caches = caches_of(process)
        for setting, value, cache, records, variables in _SWITCHES:
            if caches is not None and caches.switches.get(setting) == value:
                yield process, _disabled_cache(process, setting, cache, records, variables)
                break


def _disabled_cache(
    process: Process, setting: str, cache: str, records: tuple[str, ...], variables: tuple[str, ...]
) -> DisabledCache:
    with_lookup = {lookup.compile_id for lookup in process.caching.lookups if lookup.cache in records}
    graphs = [graph for graph in process.compiled_graphs if graph.compile_id not in with_lookup]
    environment = process.info.environment or {}
    by = next((name for name in variables if name in environment), None)
    who = f"the environment variable {by}={environment[by]}" if by else f"{setting}"
    verb = "are" if cache.startswith("all") else "is"
    return DisabledCache(
        cache,
        setting,
        f"{cache} {verb} off, by {who}",
        len(graphs),
        total(graph.backend_seconds for graph in graphs),
        f"unset `{by}`." if by else f"leave `{setting}` as it is by default.",
    )


# C++ that was compiled although the graphs were in the cache: kernels that are gone, or Inductor's header.
#
# Source: torch/_inductor/codecache.py (CppCodeCache.load_async, _precompile_header) of torch 2.13: with every
# graph that has C++ kernels, fresh or from the cache, the header is looked for in a folder that depends on
# TMPDIR and the user's name only, not on `TORCHINDUCTOR_CACHE_DIR`.

_COMPILER = "compile_file"  # the phase in which torch waits for the C++ compiler
_WORTH_A_WORD_S = 0.5


@dataclass(frozen=True)
class KernelBuild:
    """The time of the C++ compiler for graphs that were cache hits, and why it ran, if that is known."""

    seconds: float
    sentence: str
    header_folder: str | None
    held_header: bool | None


def kernels_built(recording: Recording) -> KernelBuild | None:
    """The C++ compiles for cached graphs in all processes; None below half a second, or without phases.

    Processes that found the header are left out: there the compiler only checks that it is still valid.
    """
    processes = [p for p in recording.processes if not (p.caching.in_use and p.caching.in_use[0].held_header)]
    took = [(process, cost) for process in processes if (cost := _seconds(process)) > 0]
    in_all = sum(cost for _, cost in took)
    if in_all < _WORTH_A_WORD_S:
        return None
    process = max(took, key=lambda each: each[1])[0]
    first = process.caching.in_use[0] if process.caching.in_use else None
    folder, held = (None, None) if first is None else (first.header_folder, first.held_header)
    sentence = f"the C++ compiler took {seconds(in_all)} though the graphs were found"
    if held is False:
        sentence += f": the header that Inductor precompiles was not in {folder}"
    return KernelBuild(in_all, sentence, folder, held)


def _seconds(process: Process) -> float:
    cold = {lookup.compile_id for lookup in process.caching.lookups if lookup.outcome != "hit"}
    found = {lookup.compile_id for lookup in process.caching.lookups} - cold
    return sum(_compiler_seconds(phase for phase in process.phases if phase.compile_id in found))


def _compiler_seconds(phases: Iterable[Phase]) -> Iterable[float]:
    for phase in phases:
        if phase.name == _COMPILER and phase.end_ns is not None:
            yield (phase.end_ns - phase.begin_ns) / 1e9
        else:
            yield from _compiler_seconds(phase.children)


_ARCHIVE = "torch-caches.tar.gz"
_DEFAULT = "${TMPDIR:-/tmp}/torchinductor_$(id -un)"


def next_start(recording: Recording) -> tuple[str, ...]:
    """Two shell commands: one packs the caches of this run, one unpacks them where the next run starts.

    They are unpacked into torch's default folder, as Inductor's header is looked for nowhere else.
    Source: torch/_inductor/runtime/cache_dir_utils.py (default_cache_dir).
    """
    for process in recording.processes:
        caches = caches_of(process)
        if caches is not None:
            return _commands(caches.folder, caches.header_folder)
    return ()


def _commands(folder: str, headers: str | None) -> tuple[str, ...]:
    from shlex import quote

    pack = f"tar -czf {_ARCHIVE} -C {quote(folder)} ."
    parent, _, name = (headers or "").rpartition("/")
    if headers and parent != folder:
        pack += f" -C {quote(parent)} {quote(name)}"
    return pack, f'mkdir -p "{_DEFAULT}" && tar -xzf {_ARCHIVE} -C "{_DEFAULT}"'


# Other caches, of which a recording has only counts: remote ones, Triton's, autotuning, bundles.
#
# A cache without counts may have been off, or have had no look-ups; reports call it not recorded.


@dataclass(frozen=True)
class OtherLayer:
    """The counts of one other cache, over all processes. `sentence` is None where nothing was recorded.

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
    """All other caches, including those of which nothing was recorded."""
    for layer, (name, switch) in _LAYERS.items():
        counts = [each for p in recording.processes for each in p.caching.counts if each.layer == layer]
        hits = total(each.hits for each in counts)
        misses = total(each.misses for each in counts)
        took = total(each.took_seconds for each in counts)
        unasked = sum(each.unasked for each in counts)
        sentence = _sentence(layer, hits, misses, unasked, took) if counts else None
        off_by = switch if not counts and switch and _is_off(recording, switch) else None
        yield OtherLayer(name, sentence, hits, misses, took, off_by)
    yield OtherLayer(_REMOTE_AUTOTUNING, None, None, None, None, None)
    bundles = [each for process in recording.processes for each in process.caching.bundles]
    text = "; ".join(_bundle_sentence(bundle) for bundle in bundles) or None
    took = sum(each.seconds for each in bundles) if bundles else None
    yield OtherLayer(_BUNDLES, text, None, None, took, None)


BUNDLE_NOT_READ = "torch could not read a bundle of caches that the program loaded"


def unreadable_bundles(process: Process) -> int:
    """How many bundles the program loaded that torch could not read; torch only logs a warning."""
    return sum(each.action == "loaded" and each.artifacts is None for each in process.caching.bundles)


def _sentence(
    layer: CountedLayer, hits: int | None, misses: int | None, unasked: int, took: float | None
) -> str:
    if layer == "triton_bundle":
        return f"came with {number(hits or 0, 'graph')} from the cache"
    parts = [number(hits, "hit")] if hits is not None else []
    parts += [number(misses, "miss", "misses")] if misses is not None else []
    parts += [f"{number(unasked, 'kernel')} with one configuration, not looked up"] if unasked else []
    parts += [f"{seconds(took)} of reading and writing"] if took is not None else []
    return ", ".join(parts)


def _bundle_sentence(used: CacheBundleUsed) -> str:
    if used.artifacts is None:
        return "loaded: torch could not read it" if used.action == "loaded" else "saved: nothing to save"
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in used.artifacts.items()) or "empty"
    size = f", {memory(used.bytes)}" if used.bytes is not None else ""
    return f"{used.action}: {kinds}{size}, {seconds(used.seconds)}"


def _is_off(recording: Recording, switch: str) -> bool:
    """Whether a setting is False in every process that recorded it."""
    caches = [found for process in recording.processes if (found := caches_of(process)) is not None]
    return bool(caches) and all(found.switches.get(switch) == "False" for found in caches)


_Number = TypeVar("_Number", int, float)


def total(values: Iterable[_Number | None]) -> _Number | None:
    """The sum of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
