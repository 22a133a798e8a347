"""Look through a cache folder: how much of each layer, how old, of which torch, and what cannot be read.

No link is followed, no entry is unpickled: which torch an entry is of is read in its bytes, where torch
writes `# torch version: …` into each FX graph's (torch/_dynamo/debug_utils.py).
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from ..shared.quick_dataclass import dataclass
from ..shared.untrusted import printable
from .layout import FOREIGN, FX_GRAPHS, LAYERS, LOCKS, kind_of, layer_of

DAY = 86_400.0  # seconds
_TORCH = re.compile(rb"# torch version: ([\w.+-]{1,40})")
_MOST_ASKED = 300  # FX graphs, the newest, whose bytes are read for the version of torch
_LARGEST = 4 << 20  # bytes of one that are read
_DEEPEST = 12  # folders in folders


@dataclass
class Entry:
    """What belongs together under one key. `used` is when it was last written or read, since the epoch."""

    layer: str
    name: str
    size: int = 0
    used: float = 0.0
    is_empty: bool = False
    paths: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StoredLayer:
    """One layer of a folder: ages in days, sizes in bytes; `old_*` are the entries that could be pruned."""

    name: str
    entries: int
    size: int
    newest_days: float | None
    oldest_days: float | None
    old_entries: int
    old_size: int


@dataclass(frozen=True)
class Store:
    """One cache folder. `torch` counts FX graphs by version, of the newest `torch_asked`.

    `problems` are sentences on what is damaged, foreign or cannot be read, one of each sort.
    """

    folder: str
    kind: str
    size: int
    entries: int
    layers: tuple[StoredLayer, ...]
    torch: dict[str, int]
    torch_asked: int
    problems: tuple[str, ...]


@dataclass
class Contents:
    """The entries of a folder by layer and name, and what could not be looked at."""

    folder: Path
    kind: str
    entries: dict[tuple[str, str], Entry]
    unreadable: list[str]

    def old(self, days: float, now: float) -> list[Entry]:
        """The entries not used for so many days; nothing of what is foreign, and no lock."""
        kept = (FOREIGN, LOCKS)
        return [e for e in self.entries.values() if e.layer not in kept and now - e.used > days * DAY]


def look_through(folder: Path) -> Contents:
    """All entries of a folder, by the names and sizes of its files."""
    kind = kind_of(folder)
    entries: dict[tuple[str, str], Entry] = {}
    unreadable: list[str] = []
    for path, status in _files(str(folder), unreadable):
        layer, name = layer_of(kind, path) if stat.S_ISREG(status.st_mode) else (FOREIGN, path)
        entry = entries.setdefault((layer, name), Entry(layer, name))
        entry.paths.append(path)
        entry.size += status.st_size
        entry.used = max(entry.used, status.st_mtime, status.st_atime)
        entry.is_empty |= status.st_size == 0 and layer not in (LOCKS, FOREIGN) and "lock" not in path
    return Contents(folder, kind, entries, unreadable)


def store_of(contents: Contents, days: float, now: float) -> Store:
    """What `look_through` found, in figures."""
    versions, asked = _versions(contents)
    return Store(
        printable(str(contents.folder)),
        contents.kind,
        sum(entry.size for entry in contents.entries.values()),
        len(contents.entries),
        tuple(_layers(contents, days, now)),
        versions,
        asked,
        tuple(_problems(contents)),
    )


def _files(folder: str, unreadable: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, below)) as found:
                for each in found:
                    path = f"{below}/{each.name}" if below else each.name
                    if each.is_dir(follow_symlinks=False) and depth < _DEEPEST:
                        waiting.append((path, depth + 1))
                    else:
                        yield path, each.stat(follow_symlinks=False)
        except OSError:
            unreadable.append(below or folder)


def _layers(contents: Contents, days: float, now: float) -> Iterator[StoredLayer]:
    old = {id(entry) for entry in contents.old(days, now)}
    for layer in LAYERS:
        found = [entry for (name, _), entry in contents.entries.items() if name == layer]
        if not found:
            continue
        ages = [max(0.0, now - entry.used) / DAY for entry in found]
        unused = [entry for entry in found if id(entry) in old]
        yield StoredLayer(
            layer,
            len(found),
            sum(entry.size for entry in found),
            min(ages),
            max(ages),
            len(unused),
            sum(entry.size for entry in unused),
        )


def _versions(contents: Contents) -> tuple[dict[str, int], int]:
    graphs = [entry for entry in contents.entries.values() if entry.layer == FX_GRAPHS]
    newest = sorted(graphs, key=lambda entry: -entry.used)[:_MOST_ASKED]
    versions = Counter(_version(contents.folder / entry.paths[0]) for entry in newest)
    return dict(versions.most_common()), len(newest)


def _version(path: Path) -> str:
    try:
        with open(path, "rb", opener=_open_unnoticed) as file:
            found = _TORCH.search(file.read(_LARGEST))
    except OSError:  # not ours to read, or not without leaving a trace
        return "unknown"
    return found[1].decode() if found else "unknown"


def _open_unnoticed(path: str, flags: int) -> int:
    """Open without a new time of access, by which we tell what is used."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_NOATIME", 0))


def _problems(contents: Contents) -> Iterator[str]:
    foreign = [entry.name for entry in contents.entries.values() if entry.layer == FOREIGN]
    empty = [entry.name for entry in contents.entries.values() if entry.is_empty]
    if contents.unreadable:
        yield _some("folder", "cannot be looked into", contents.unreadable)
    if empty:
        yield _some("entry", "damaged (a file without content)", empty, "entries")
    if foreign:
        yield _some("file", "of none of these caches, left alone", foreign)


def _some(singular: str, what: str, names: list[str], plural: str | None = None) -> str:
    counted = f"{len(names):,} {singular if len(names) == 1 else plural or singular + 's'}"
    return printable(f"{counted} {what}: {min(names)}" + (", …" if len(names) > 1 else ""))
