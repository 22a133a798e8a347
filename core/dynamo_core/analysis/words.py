"""Words and numbers, the same in every report."""

import re
import time
from collections.abc import Iterable

from ..model import CallTimes, CompileId, Graph, Place, Process, Recording, resumed_function
from ..shared.shown_paths import shown_path

# The names of c10/core/ScalarType.h, which differ from those in Python.
DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "BFloat16": "bfloat16",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "Bool": "bool",
}


def count_text(value: int | None) -> str:
    """A count as a cell of a table: `1,000`, or that it was not recorded."""
    return "not recorded" if value is None else f"{value:,}"


def number(value: int | None, singular: str, plural: str | None = None) -> str:
    """`3 graphs`, `1 graph`, `graphs: not recorded`."""
    plural = plural or singular + "s"
    if value is None:
        return f"{plural}: not recorded"
    return f"{value:,} {singular if value == 1 else plural}"


def alternatives(texts: Iterable[str]) -> list[str]:
    """Things to do of which one is enough, as a list has them: `set …`, `or call …`."""
    first, *others = [*texts] or [""]
    return [first, *(f"or {text}" for text in others)] if first else []


def seconds(value: float | None) -> str:
    """A duration in the unit that suits it."""
    if value is None:
        return "not recorded"
    for limit, factor, unit in ((0.9995e-3, 1e6, "µs"), (0.9995, 1e3, "ms")):  # 1e+03 is no figure to read
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"


def roughly(value: float) -> str:
    """A duration that is only estimated: `40 s`, `3 min`, `2 h`."""
    for limit, unit_seconds, unit in ((90, 1, "s"), (90 * 60, 60, "min")):
        if value < limit:
            return f"{max(1, round(value / unit_seconds))} {unit}"
    return f"{round(value / 3600)} h"


def seconds_in_calls(value: float | None, *calls: CallTimes | None) -> str:
    """The time in these calls, and that it is extrapolated where not all of them were timed."""
    is_sampled = any(times is not None and times.untimed > 0 for times in calls)
    return f"{seconds(value)} (sampled)" if is_sampled else seconds(value)


def time_of_day(since_epoch_ns: int) -> str:
    """The reader's local time, and which zone that is: `14:02:11 CET`."""
    return time.strftime("%H:%M:%S %Z", time.localtime(since_epoch_ns // 10**9))


def memory(count: int | None) -> str:
    """Bytes in the unit that suits them, of 1024 each."""
    if count is None:
        return "not recorded"
    for limit, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count} B"


def frame_name(name: str | None, method: str | None = None) -> str:
    """A frame as the user knows it: a module's method, and a resume function is the rest of a function."""
    if method is not None:
        return method
    if name is None:
        return "unknown frame"
    resumed = resumed_function(name)
    return f"{resumed[0]} (resumed at line {resumed[1]})" if resumed else name


def graph_frame(graph: Graph) -> str:
    """The frame that a graph was captured from, as `frame_name` has it."""
    return frame_name(graph.frame_name, graph.method)


def place(value: Place | None) -> str:
    """`file:line`, the file as paths are shown."""
    return "unknown place" if value is None else f"{shown_path(value.file)}:{value.line}"


def compile_label(compile_id: CompileId | None) -> str:
    """`[0/1]`, as torch's own logs write it."""
    return f"[{compile_id}]" if compile_id is not None else "[-/-]"


# torch/_dynamo/guards.py (CheckFunctionManager); the guard, in Dynamo's own words, stands behind it.
_TO_REPORT = ". This is a bug - please create an issue."


def first_line(reason: str | None) -> str:
    """A reason in one line, without what is for developers of torch; two where the first announces one."""
    first, _, rest = (reason or "no reason recorded").partition("\n")
    first = first.partition(_TO_REPORT)[0]
    return f"{first} {rest.partition(chr(10))[0].strip()}".strip() if first.endswith(":") else first


def process_title(process: Process, recording: Recording) -> str:
    """` of rank 1` or ` of process 4711` where there are several, else nothing."""
    if len(recording.processes) < 2:
        return ""
    if process.rank is not None:
        return f" of rank {process.rank}"
    pid = process.info.pid
    return f" of process {pid}" if pid is not None else f" of {process.stream.name}"


def cache_name(cache: str) -> str:
    """One of torch's caches, by what its records call it."""
    return _CACHES.get(cache, cache)


_CACHES = {
    "fx_graph_cache": "FX graph cache",
    "aotautograd_cache": "AOTAutograd cache",
    "pgo": "PGO's state",
    "precompile": "precompile",
}


# What of a text is the same in every run of a program, so that texts of two runs can be compared.


# Addresses, and the numbers that torch counts up in a process.
_PASSING = re.compile(
    r"0x[0-9a-fA-F]{1,16}|\b(?:__compiled_fn|__resume_at|___stack|_tmp)_?\d{1,9}(?:_\d{1,9})?"
)
_NUMBER = re.compile(r"\d{1,20}")
_LINE = re.compile(r"\bline \d{1,9}")
_BETWEEN_WORDS = re.compile(r"([\s'\"(),<>\[\]]+)")
_IN_BRACES = re.compile(r"\{([^{}]{1,2000})\}")


def stable_text(text: str) -> str:
    """A reason of torch's without addresses, folders and line numbers, which differ from run to run.

    What stands in braces is sorted: the order of a set is another one in each process.
    """
    words = _BETWEEN_WORDS.split(_LINE.sub("line", text))
    text = " ".join(_PASSING.sub("…", "".join(map(_without_folder, words))).split())
    return _IN_BRACES.sub(lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)


def _without_folder(word: str) -> str:
    """`model.py` for `/home/me/model.py:12`; any word that is no path stays."""
    folder, slash, name = word.replace("\\", "/").rpartition("/")
    name, colon, line = name.partition(":")
    is_path = bool(slash) and ("." in name or folder.startswith(("/", "~", ".")))
    if not is_path:
        return word
    return name + (":" if line.endswith(":") else colon + line if not line.isdigit() else "")


def without_numbers(text: str) -> str:
    """`stable_text` with every number replaced, for texts that count or measure."""
    return _NUMBER.sub("#", stable_text(text))


_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")


def version_numbers(version: str | None) -> tuple[int, int]:
    """The first two numbers of a version; (0, 0) where it was not recorded or has none."""
    found = _VERSION.match(version or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)
