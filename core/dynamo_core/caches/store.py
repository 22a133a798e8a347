"""Cache folders on disk: the size and age of each layer, the torch versions, damaged entries; and pruning.

No link is followed and no entry is unpickled: the torch version of an FX graph is searched in its bytes,
where torch writes `# torch version: …` (torch/_dynamo/debug_utils.py).
"""

import getpass
import json
import os
import re
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from ..recording.plain_files import read_plain
from ..shared.quick_dataclass import dataclass
from ..shared.text import printable, printable_json

# Where torch, Triton and vLLM keep compile caches, and the paths of the entries of each layer.
#
# Source: torch/_inductor/codecache.py (FxGraphCache._get_tmp_dir_for_key, write, _HEADER_DIR),
# torch/_functorch/_aot_autograd/autograd_cache.py (AOTAutogradCache._get_tmp_dir), torch/_dynamo/pgo.py
# (code_state_path), torch/_inductor/runtime/cache_dir_utils.py, all of torch 2.13; triton/runtime/cache.py
# and vllm/compilation/backends.py.

FX_GRAPHS, AOT, CODE, TRITON = "FX graphs", "AOTAutograd", "C++ and Python code", "Triton kernels"
AUTOTUNED, PGO, HEADERS, LOCKS = "autotuning results", "PGO's state", "precompiled C++ headers", "locks"
VLLM, FOREIGN = "vLLM", "not of these caches"
LAYERS = (FX_GRAPHS, AOT, CODE, TRITON, AUTOTUNED, PGO, HEADERS, LOCKS, VLLM, FOREIGN)

_KEY = r"[a-z2-7]{50,53}"
# Layer, pattern of the path in Inductor's folder, and how many parts of the path name the entry.
_INDUCTOR: tuple[tuple[str, re.Pattern[str], int], ...] = (
    (FX_GRAPHS, re.compile(rf"fxgraph/\w{{2}}/f{_KEY}/[^/]+"), 3),
    (AOT, re.compile(rf"aotautograd/a{_KEY}/[^/]+"), 2),
    (HEADERS, re.compile(r"precompiled_headers/.+"), 1),
    (LOCKS, re.compile(r"\A(?:(?:.+/)?locks/[^/]+|(?:.+/)?[^/]+\.lock)\Z"), 2),
    (PGO, re.compile(r"dynamo/[^/]+"), 2),
    (TRITON, re.compile(r"triton/[^/]+/[^/]+/[^/]+"), 3),
    (
        AUTOTUNED,
        re.compile(r"\A(?:.+\.best_config|(?:local_cache|bundled_autotune|gemm|aten)[^/]*(?:/.+)?)\Z"),
        2,
    ),
    (CODE, re.compile(r"[a-z2-7]{2}/[^/]+\.(?:cpp|so|o|py|h|cubin|json|ptx|txt|lock|main\.\w+)"), 2),
)
_TRITON = re.compile(r"[A-Z0-9a-z_=-]{20,80}/[^/]+")
_VLLM = re.compile(r"(?:torch_aot_compile/)?[0-9a-f]{8,64}/.+")


def layer_of(kind: str, path: str) -> tuple[str, str]:
    """The layer of a file and the name of its entry, by its path in a folder of this kind."""
    if kind == "Triton" and _TRITON.fullmatch(path):
        return TRITON, path.partition("/")[0]
    if kind == "vLLM" and _VLLM.fullmatch(path):
        return VLLM, path.partition("/")[0]
    if kind == "Inductor":
        for layer, pattern, parts in _INDUCTOR:
            if pattern.fullmatch(path):
                entry = path if layer in (LOCKS, PGO) else "/".join(path.split("/")[:parts])
                return layer, entry.partition(".")[0] if layer == CODE else entry
    return FOREIGN, path


def kind_of(folder: Path) -> str:
    """Whose cache a folder is, by its name and content: vLLM's, Triton's, or else Inductor's."""
    if folder.name == "torch_compile_cache" or _holds(folder, "*/rank_*"):
        return "vLLM"
    if folder.parent.name == ".triton" or _holds(folder, "*/__grp__*.json"):
        return "Triton"
    return "Inductor"


def _holds(folder: Path, pattern: str) -> bool:
    try:
        return any(folder.glob(pattern))
    except OSError:  # no rights
        return False


def default_folders(environment: Mapping[str, str]) -> list[Path]:
    """The existing cache folders that programs of this user use in this environment."""
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    wanted = [
        inductor_folder(environment),
        inductor_folder({}),
        Path(environment.get("TRITON_CACHE_DIR") or home / ".triton" / "cache"),
        Path(environment.get("VLLM_CACHE_ROOT") or _caches(environment, home) / "vllm")
        / "torch_compile_cache",
    ]
    return [folder for folder in dict.fromkeys(wanted) if may_be_folder(folder)]


def inductor_folder(environment: Mapping[str, str]) -> Path:
    """Where Inductor keeps its caches in this environment, whether it is there or not."""
    chosen = environment.get("TORCHINDUCTOR_CACHE_DIR")
    return Path(chosen or Path(tempfile.gettempdir()) / f"torchinductor_{_user()}")


def may_be_folder(path: Path) -> bool:
    """Whether the path is a folder, or may be one that we have no right to see."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        return True
    except OSError:
        return False


def _caches(environment: Mapping[str, str], home: Path) -> Path:
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache")


def _user() -> str:
    try:
        return re.sub(r'[\\/:*?"<>|]', "_", getpass.getuser())
    except (KeyError, ModuleNotFoundError, OSError):
        return f"uid_{os.getuid()}"


DAY = 86_400.0  # seconds
_TORCH = re.compile(rb"# torch version: ([\w.+-]{1,40})")
_MOST_ASKED = 300  # of the newest FX graphs the torch version is read
_LARGEST = 4 << 20  # bytes that are read of an entry
_DEEPEST = 12  # nested folders


@dataclass
class Entry:
    """The files of one cache entry. `used` is when one was last written or read, since the epoch."""

    layer: str
    name: str
    size: int = 0
    used: float = 0.0
    is_empty: bool = False
    paths: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class StoredLayer:
    """One layer of a folder: ages in days, sizes in bytes; `old_*` is about entries that can be pruned."""

    name: str
    entries: int
    size: int
    newest_days: float | None
    oldest_days: float | None
    old_entries: int
    old_size: int


@dataclass(frozen=True)
class Store:
    """The figures of one cache folder. `torch` counts the newest `torch_asked` FX graphs by torch version.

    `problems` are sentences on what is damaged, foreign or unreadable, one for each kind of problem.
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
    """The entries of a folder by layer and name, and the folders in it that are unreadable."""

    folder: Path
    kind: str
    entries: dict[tuple[str, str], Entry]
    unreadable: list[str]

    def old(self, days: float, now: float) -> list[Entry]:
        """The entries that were not used for so many days; never foreign files or locks."""
        spared = (FOREIGN, LOCKS)
        return [e for e in self.entries.values() if e.layer not in spared and now - e.used > days * DAY]


def look_through(folder: Path) -> Contents:
    """Find all entries of a folder, by the names and sizes of its files."""
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
    """The figures of what `look_through` found."""
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
    """Open without changing the access time, which shows what is in use."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | getattr(os, "O_NOATIME", 0))


def _problems(contents: Contents) -> Iterator[str]:
    foreign = [entry.name for entry in contents.entries.values() if entry.layer == FOREIGN]
    empty = [entry.name for entry in contents.entries.values() if entry.is_empty]
    if contents.unreadable:
        yield _problem("folder", "cannot be looked into", contents.unreadable)
    if empty:
        yield _problem("entry", "damaged (a file without content)", empty, "entries")
    if foreign:
        yield _problem("file", "of none of these caches, left alone", foreign)


def _problem(singular: str, what: str, names: list[str], plural: str | None = None) -> str:
    counted = f"{len(names):,} {singular if len(names) == 1 else plural or singular + 's'}"
    return printable(f"{counted} {what}: {min(names)}" + (", …" if len(names) > 1 else ""))


@dataclass(frozen=True)
class Pruned:
    """How many entries and bytes were deleted, and how many files could not be deleted."""

    entries: int
    size: int
    failed: int


def prune(contents: Contents, days: float, now: float) -> Pruned:
    """Delete the files of entries not used for so many days, and folders that are empty then.

    A program that looks up one of them meanwhile compiles it again.
    """
    entries = size = failed = 0
    for entry in contents.old(days, now):
        gone = [_delete(contents, path) for path in entry.paths]
        if all(gone):
            entries += 1
            size += entry.size
        failed += gone.count(False)
    return Pruned(entries, size, failed)


def _delete(contents: Contents, path: str) -> bool:
    file = contents.folder / path
    try:
        file.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    with suppress(OSError):  # others are in it
        for parent in file.relative_to(contents.folder).parents:
            if parent.name:
                os.rmdir(contents.folder / parent)
    return True


# vLLM's own compile cache: the key of each folder, and what differs between the keys.
#
# vLLM writes `cache_key_factors.json` into each folder (vllm/compilation/backends.py): the environment,
# configuration, compiler and code whose hash is the name of the folder. It is read as data.

_FACTORS = "cache_key_factors.json"
_LARGEST_FACTORS = 16 << 20  # bytes
_LONGEST = 80  # characters of a value
_MOST_NAMED = 5


@dataclass(frozen=True)
class VllmFolder:
    """A folder of vLLM's cache. `differs` says how its key differs from that of the folder made before it.

    `differs` is None for the first folder; `problem` says why the key factors could not be read.
    """

    name: str
    differs: tuple[str, ...] | None
    problem: str | None


def vllm_folders(root: Path) -> Iterator[VllmFolder]:
    """The folders of a vLLM cache, in the order in which they were made."""
    earlier: dict[str, str] | None = None
    for path in sorted(_factors(root), key=_made):
        name = printable(str(path.parent.relative_to(root)))
        try:
            content = printable_json(read_plain(path, _LARGEST_FACTORS).decode("utf-8", "replace"))
        except (OSError, ValueError, RecursionError) as error:
            yield VllmFolder(name, None, f"{_FACTORS} cannot be read: {error}")
            continue
        factors = dict(_flat(content))
        yield VllmFolder(name, None if earlier is None else tuple(_differences(earlier, factors)), None)
        earlier = factors


def _factors(root: Path) -> list[Path]:
    try:
        return list(root.glob(f"*/**/{_FACTORS}"))
    except OSError:  # no rights; the folder's own line says so
        return []


def _made(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else key)
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, default=str)


def _differences(before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """The factors that differ; hashes are only mentioned if nothing else differs."""
    names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    spelled_out = [name for name in names if not name.endswith("_hash")]
    for name in (spelled_out or names)[:_MOST_NAMED]:
        yield f"{name}: {_value(before.get(name))} → {_value(after.get(name))}"
    if len(spelled_out or names) > _MOST_NAMED:
        yield f"and {len(spelled_out or names) - _MOST_NAMED} more"


def _value(text: str | None) -> str:
    return "none" if text is None else text[:_LONGEST] + ("…" if len(text) > _LONGEST else "")
