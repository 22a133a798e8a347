"""Read the text in which torch says why a cache entry could not be used again.

Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper), 2.6 to 2.15. What the check itself says:
`shared/failed_guard.py`.
"""

import re

from ..model import CompileId, GuardFailure
from ..shared.failed_guard import failed_guard
from .break_text import LONGEST_TEXT, parse_user_stack
from .guard_text import parse_check

_LOCAL = re.compile(r"L\[\s*['\"]([^'\"\n]*)['\"]\s*\]")
_ENTRY = re.compile(r"^(?:!(\d+)/)?(\d+)/(\d+): ")
_HINT = "(HINT: "


def parse_guard_failure(text: str) -> GuardFailure:
    """The parts of one reason, which begins with the id of the cache entry (`0/1: …`)."""
    first, _, rest = text[:LONGEST_TEXT].partition("\nUser stack trace:\n")
    entry = _ENTRY.match(first)
    compile_id = None
    if entry:
        autograd, frame, compile_ = entry.groups()
        compile_id = CompileId(int(frame), int(compile_), int(autograd) if autograd else None)
        first = first[entry.end() :]
    first, has_hint, hint = first.partition(_HINT)
    found = parse_check("", "", first.rstrip() if has_hint else first)
    check, _, remark = found.code.partition("  # ")
    user_code, place = found.user_code, found.place
    if place is not None and place.file.startswith("<"):
        place = None  # of code made at run time: nobody can go there
    stack = parse_user_stack(f"User code traceback:\n{rest}")
    if stack:
        user_code, place = stack[-1].text or user_code, stack[-1].place
    check = check.strip()
    failed = failed_guard(check)
    return GuardFailure(
        entry=compile_id,
        check=check,
        kind=failed.kind,
        source=None if failed.source is None else plain_source(failed.source),
        index=failed.index,
        expected=failed.expected,
        actual=failed.actual,
        user_code=user_code,
        place=place,
        hint=hint.removesuffix("\n").removesuffix(")") if has_hint else failed.hint,
        remark=remark.strip() or None,
    )


def plain_source(source: str) -> str:
    """A source as guard failures spell it: `x` for `L['x']`.

    Source: torch/_dynamo/guards.py (strip_local_scope), 2.8 to 2.15.
    """
    return _LOCAL.sub(r"\1", source)
