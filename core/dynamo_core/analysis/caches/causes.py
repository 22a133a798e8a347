"""Why one look-up found nothing: the parts that differ from the nearest earlier key, or something else."""

from collections.abc import Iterable, Iterator
from typing import Literal

from ...model import Process
from ...shared.quick_dataclass import dataclass
from ...shared.records import CachesInUse
from ..words import memory
from .bypasses import bypass_words
from .lookups import KnownKeys, Lookup
from .part_words import PartDifference, PartKind, differences, part_setting

CauseKind = (
    PartKind
    | Literal[
        "source", "bypass", "folder", "not kept", "gone", "race", "sizes", "unknown", "not recorded", "pgo"
    ]
)
_NO_SPACE = 1 << 20  # bytes; less than an entry takes


@dataclass(frozen=True)
class Cause:
    """One reason. `part` is torch's name for the part of the key that differs, None where none does.

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
    """The causes, the weightiest first, and the earlier look-up that was compared with; none of a hit."""
    said = lookup.said
    if said.outcome == "hit":
        return (), None
    if said.outcome == "bypass":
        why, what_to_do = bypass_words(said.reason)
        return (Cause("bypass", why, what_to_do=what_to_do),), None
    same = known.same_key(lookup)
    if said.detail == "guard_miss":
        sentence = "the entry of this key is for other sizes: its guards on them do not hold"
        return (Cause("sizes", sentence),), same
    if same is not None:
        return (_same_key(lookup, same),), same
    nearest = known.nearest(lookup)
    if nearest is None:
        if known.key(lookup) is None and known.earlier:
            return (Cause("not recorded", "what its key is made of was not recorded"),), None
        return (FIRST_RUN,), None
    return tuple(_from_parts(lookup, nearest, known)), nearest


def folder_problem(caches: CachesInUse | None) -> str | None:
    """What is wrong with a cache folder, if anything is."""
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
    """Where a process kept its caches in the end; None where that was not recorded."""
    return process.caches[-1] if process.caches else None


def _same_key(lookup: Lookup, same: Lookup) -> Cause:
    mine, its = caches_of(lookup.process), caches_of(same.process)
    problem = folder_problem(its) or folder_problem(mine)
    if problem is not None:
        return Cause("not kept", f"the key is the same, but {problem}", what_to_do=_ANOTHER_FOLDER)
    if same.recording is lookup.recording and same.process is not lookup.process:
        return _of_another_process(mine, its)
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


def _of_another_process(mine: CachesInUse | None, its: CachesInUse | None) -> Cause:
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


_ANOTHER_FOLDER = "let `TORCHINDUCTOR_CACHE_DIR` name a folder that can be written to and outlives the run."


def _from_parts(lookup: Lookup, nearest: Lookup, known: KnownKeys) -> Iterator[Cause]:
    mine, its = known.key(lookup), known.key(nearest)
    assert mine is not None and its is not None
    found = differences(its.differing(mine))
    if not found:
        yield Cause("not recorded", "the keys differ, but torch's list of their parts does not show in what")
    for difference in found:
        yield _cause(difference, lookup, nearest)


def _cause(difference: PartDifference, lookup: Lookup, nearest: Lookup) -> Cause:
    before, after = nearest.process, lookup.process
    kind: CauseKind = difference.kind
    sentence, set_by, what_to_do = difference.sentence, None, None
    if kind == "version":
        sentence = _versions(before, after)
    elif kind == "unstable":
        what_to_do = "make it of what it does: with such a key nothing is ever found again."
    elif kind == "graph":
        edited = _edited(lookup, nearest)
        if edited is not None:
            kind, sentence = "source", edited
    elif kind == "input" and _became_dynamic(difference) and _read_pgo_state(lookup):
        kind = "pgo"
        sentence += " (dynamic from the start, by what PGO kept of earlier runs)"
    setting = part_setting(difference.part)
    if setting is not None and kind == "setting":
        set_by = _set_by(setting, lookup, nearest)
    return Cause(kind, sentence, difference.part, difference.before, difference.after, set_by, what_to_do)


def _versions(before: Process, after: Process) -> str:
    was, now = before.torch_version, after.torch_version
    if was != now:
        return f"torch: {was} → {now}"
    git = before.info.torch_git, after.info.torch_git
    builds = f" (builds {git[0]} and {git[1]})" if git[0] != git[1] else ""
    return f"torch's own files differ, though both are {now}{builds}"


def _edited(lookup: Lookup, nearest: Lookup) -> str | None:
    """The first line of the function's source that is another one, if it was edited."""
    before, after = dict(nearest.source), dict(lookup.source)
    old, new = [text.strip() for text in before.values()], [text.strip() for text in after.values()]
    if not old or not new or old == new:
        return None
    number, text = next(
        ((line, text.strip()) for line, text in after.items() if text.strip() not in old), (None, "")
    )
    gone = next((text for text in old if text not in new), None)
    if number is None:
        return f"the source of {lookup.function} was edited: `{gone}` is gone" if gone else None
    where = f"{(lookup.file or '').rpartition('/')[2]}:{number}"
    return (
        f"the source of {lookup.function} was edited, {where}: `{gone}` → `{text}`"
        if gone
        else (f"the source of {lookup.function} was edited, {where}: `{text}` is new")
    )


def _became_dynamic(difference: PartDifference) -> bool:
    return "[s" in (difference.after or "") or ", s" in difference.sentence


def _read_pgo_state(lookup: Lookup) -> bool:
    return any(each.cache == "pgo" and each.outcome == "hit" for each in lookup.process.cache_lookups)


def _set_by(setting: str, lookup: Lookup, nearest: Lookup) -> str | None:
    """Who gave a setting its value, in this run or, where it has the default now, in the earlier one."""
    for side, words in ((lookup, ""), (nearest, " of the earlier run")):
        if any(f".{setting}=" in text for text in side.recording.settings.config or ()):
            return f"--config{words}"
    for name in _variables(setting, lookup.process, nearest.process):
        return f"the environment variable {name}"
    for side, words in ((lookup, ""), (nearest, " in the earlier run")):
        changed = side.process.state.torch_config or {}
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
