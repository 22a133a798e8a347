"""Code out of torch's caches that checks for another layout than an operator gives: it changed since.

The key of such code has the names of operators, and nothing of their kernels, the fake ones included.
Source: torch/_inductor/codecache.py (FxGraphHashDetails), read in 2.13; run there with a fake kernel that was
corrected. The check is torch/csrc/dynamo/guards.cpp (assert_size_stride), 2.8 to 2.15.
"""

import re
from collections.abc import Iterable

from ..model import Graph, Process, VerifiedProgramCall

_CHECK = re.compile(r"AssertionError: expected size \d{1,20}==\d{1,20}, stride \d{1,20}==\d{1,20}")
_EMPTY_THE_CACHE = (
    "remove torch's cache{folder}: the code that ran came out of it, and may be from before a fake kernel "
    "was corrected. `TORCHINDUCTOR_FORCE_DISABLE_CACHES=1` for one run shows whether that is it."
)


def may_be_stale(process: Process, graphs: Iterable[Graph], call: VerifiedProgramCall) -> bool:
    """Whether a call ended in such a check, in code of these graphs that came out of a cache.

    An operator that gives another layout than it declares would be named as the one that is wrong.
    """
    is_declared = call.undeclared is None or call.undeclared.startswith("writes")
    return is_declared and _CHECK.search(call.detail or "") is not None and came_from_caches(process, graphs)


def came_from_caches(process: Process, graphs: Iterable[Graph]) -> bool:
    """Whether the code of all of these graphs came out of a cache."""
    hits = {each.compile_id for each in process.caching.lookups if each.outcome == "hit"}
    compile_ids = [each.compile_id for each in graphs]
    return bool(compile_ids) and hits.issuperset(compile_ids)


def to_empty_the_cache(process: Process) -> str:
    """What to do about it, with the folder where that is known."""
    folders = {each.folder for each in process.caching.in_use}
    folder = f" (`{folders.pop()}`)" if len(folders) == 1 else ""
    return _EMPTY_THE_CACHE.format(folder=folder)
