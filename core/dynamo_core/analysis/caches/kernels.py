"""C++ that was compiled for graphs that torch's caches had: kernels that are gone, or Inductor's header.

Source: torch/_inductor/codecache.py (CppCodeCache.load_async, _precompile_header) of torch 2.13: with every
graph that has C++ kernels, fresh or from the cache, the header is looked for in a folder that neither
`TORCHINDUCTOR_CACHE_DIR` nor anything else moves but TMPDIR and the user's name.
"""

from collections.abc import Iterable

from ...model import Phase, Process, Recording
from ...shared.quick_dataclass import dataclass
from ..words import seconds
from .causes import caches_of

_COMPILER = "compile_file"  # the phase in which torch waits for the C++ compiler
_WORTH_A_WORD_S = 0.5


@dataclass(frozen=True)
class KernelBuild:
    """What the C++ compiler took for graphs that were found, and why, as far as that is known."""

    seconds: float
    sentence: str
    header_folder: str | None
    held_header: bool | None


def kernels_built(recording: Recording) -> KernelBuild | None:
    """Of all processes; None where it took less than half a second, or no phases were read.

    Where the header was there, the compiler is only asked whether it is still the right one: no news.
    """
    processes = [p for p in recording.processes if not (p.caches and p.caches[0].held_header)]
    took = [(process, cost) for process in processes if (cost := _seconds(process)) > 0]
    in_all = sum(cost for _, cost in took)
    if in_all < _WORTH_A_WORD_S:
        return None
    process = max(took, key=lambda each: each[1])[0]
    folder = process.caches[0].header_folder if process.caches else None
    held = process.caches[0].held_header if process.caches else None
    sentence = f"the C++ compiler took {seconds(in_all)} though the graphs were found"
    if held is False:
        sentence += f": the header that Inductor precompiles was not in {folder}"
    return KernelBuild(in_all, sentence, folder, held)


def _seconds(process: Process) -> float:
    cold = {lookup.compile_id for lookup in process.cache_lookups if lookup.outcome != "hit"}
    found = {lookup.compile_id for lookup in process.cache_lookups} - cold
    return sum(_of_compiler(phase for phase in process.phases if phase.compile_id in found))


def _of_compiler(phases: Iterable[Phase]) -> Iterable[float]:
    for phase in phases:
        if phase.name == _COMPILER and phase.end_ns is not None:
            yield (phase.end_ns - phase.begin_ns) / 1e9
        else:
            yield from _of_compiler(phase.children)


def next_start(recording: Recording) -> tuple[str, ...]:
    """Two shell commands: one packs the caches of this run, one unpacks them where the next one starts.

    They go to torch's default folder there, since the header is looked for nowhere else.
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


_ARCHIVE = "torch-caches.tar.gz"
_DEFAULT = "${TMPDIR:-/tmp}/torchinductor_$(id -un)"
