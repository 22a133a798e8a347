"""Guards of cache entries, and why entries could not be used: torch's texts parsed, and their builder."""

import re
from collections.abc import Callable, Container
from dataclasses import replace
from typing import cast

from ..model import (
    CompileId,
    Guard,
    GuardCheck,
    GuardFailure,
    GuardSet,
    Place,
    Process,
    RecompileReasons,
    function_of,
)
from ..model.guards import FailureKind
from ..shared.failed_guard import failed_guard
from ..shared.records import GuardsMade
from .breaks import LONGEST_TEXT, parse_user_stack
from .compile_context import CompileContext
from .structured import MOST_VALUES, Handler, place_of, structured
from .trace_format import Damaged, Record

# The text in which torch prints the guards of a cache entry: a tree of managers with checks as leaves.
#
# Source: torch/_dynamo/guards.py (GuardManagerWrapper.__str__, construct_manager_string, get_manager_line;
# get_verbose_code_part(s) for what follows a check), torch/utils/_traceback.py (format_frame) and
# torch/_guards.py (SLoc.__str__). Read with 2.8, 2.13 and 2.15; traces of 2.6 to 2.15.
#
# A leaf is `TYPE: <check>  # <user's line>  # <file>:<line> in <function> <note>`, of which all but the type
# may be missing; the file's name is cut short at the front. A relational guard is printed once, and by its
# type alone at every other source that it concerns.
_NODE = re.compile(r"([| ]*)\+- (.*)", re.DOTALL)
_LEAF = re.compile(r"([A-Z][A-Z_0-9]+)(?:: ?(.*))?", re.DOTALL)
_MANAGER = re.compile(r"(?:(?:Key|Value)Manager: )?\w*GuardManager: source=(.*)", re.DOTALL)
_LATENCY = re.compile(r"Guard latency = (\d+(?:\.\d+)?) us\s*")
# A mark between quotes is part of a Python string. A quote that is never closed goes to the end, and sets a
# group. Searching for quotes and the mark takes a tenth of the time of matching all before the mark.
_QUOTED = (
    r"""'[^'\\]*(?:\\.[^'\\]*)*(?:'|(?P<single>\\?\Z))"""
    r"""|"[^"\\]*(?:\\.[^"\\]*)*(?:"|(?P<double>\\?\Z))"""
)
_END_OF_SOURCE = re.compile(rf"{_QUOTED}|, (?:accessed_by|type)=", re.DOTALL)
_MARK = "  # "  # of a comment
_END_OF_CODE = re.compile(rf"{_QUOTED}|{_MARK}", re.DOTALL)
_COMMENT = re.compile(r"(?:(.*?)  # )?((?:(?!  # ).)+?):(\d{1,9}) in (\S+)(?: (.*))?", re.DOTALL)
# Of two bounds that torch checks as one, the first may be of its own code, without a line of the program's.
_OF_TORCH_ALONE = re.compile(r"\A(?:\([\w./]{1,200}:\d{1,9} in \w{1,100}\) and ){1,9}(?=\S)")
_HINT = "(HINT: "
_QUOTES = ("'", '"')


def parse_guard_tree(
    text: str, is_wanted: Callable[[str, str], bool] | None = None
) -> tuple[tuple[GuardCheck, ...], float | None]:
    """The checks in the order in which they are evaluated, and the time of one evaluation, in µs.

    `is_wanted` is called with the source and the text of each check; there may be thousands.
    """
    checks: list[GuardCheck] = []
    latency: float | None = None
    managers: list[tuple[int, str]] = []  # that lead to the current line: how deep, and for which source
    leaf: tuple[str, str, list[str]] | None = None  # type, source, lines

    def finish_leaf() -> None:
        if leaf is not None:
            kind, source, lines = leaf
            if is_wanted is None or is_wanted(source, lines[0]):
                checks.append(parse_check(kind, source, "\n".join(lines).rstrip()))

    for line in text.split("\n"):
        node = _NODE.fullmatch(line)
        if node is None:
            measured = _LATENCY.fullmatch(line)
            if measured:
                latency = float(measured[1])
                finish_leaf()
                leaf = None
            elif leaf is not None:  # the check is a text of several lines
                leaf[2].append(line)
            continue
        finish_leaf()
        depth, content = len(node[1]), node[2]
        while managers and managers[-1][0] >= depth:
            managers.pop()
        source = managers[-1][1] if managers else ""
        found = _LEAF.fullmatch(content)
        if found:
            leaf = found[1], source, [found[2] or ""]
        else:
            leaf = None
            managers.append((depth, _source(content, source)))
    finish_leaf()
    return tuple(checks), latency


def _source(manager: str, parent: str) -> str:
    """The source that a manager guards; its parent's source where its line does not name one."""
    found = _MANAGER.match(manager)
    if found is None:
        return parent
    end = _outside_quotes(_END_OF_SOURCE, found[1])
    return found[1].strip() if end is None or _is_open(end) else found[1][: end.start()]


def _outside_quotes(mark: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first mark, or else the first quote that is never closed: all after it may be a string."""
    for found in mark.finditer(text):
        if found[0][0] not in _QUOTES or _is_open(found):
            return found
    return None


def _is_open(found: re.Match[str]) -> bool:
    """Whether the match is a quote that is never closed."""
    return found.lastgroup is not None


def parse_check(kind: str, source: str, text: str) -> GuardCheck:
    """One check, with what torch's comment behind it says."""
    code, comment = _without_comment(text)
    comment = _OF_TORCH_ALONE.sub("", comment)
    if comment.startswith("(") and comment.endswith(")") and not comment.startswith(_HINT):
        comment = comment[1:-1]  # a line of torch's own
    found = _COMMENT.fullmatch(comment)
    if found is None:
        return GuardCheck(kind, source, _with_note(code, comment), None, None, None)
    user_code, file, line, function, note = found.groups()
    return GuardCheck(kind, source, _with_note(code, note or ""), user_code, Place(file, int(line)), function)


def split_comment(text: str) -> tuple[str, str | None]:
    """The code of a check, and torch's comment behind it; None if there is no comment."""
    end = _outside_quotes(_END_OF_CODE, text) if _MARK in text else None
    if end is None:
        return text, None
    # A quote that is never closed, as in the repr of an object, hides no mark.
    at = text.index(_MARK) if _is_open(end) else end.start()
    return text[:at], text[at + len(_MARK) :]


def _without_comment(text: str) -> tuple[str, str]:
    code, comment = split_comment(text)
    if comment is None and _HINT in code:
        code, _, comment = code.partition(_HINT)
        comment = _HINT + comment
    return code.rstrip(), (comment or "").strip()


def _with_note(code: str, note: str) -> str:
    """The code of a check, with torch's note as a comment, unless the note is empty or unknown."""
    note = note.strip().replace(") " + _HINT, ", ")
    if note.startswith("(") and note.endswith(")"):
        note = note[1:-1].removeprefix(_HINT[1:])
    return f"{code}  # {note}" if note and note != "<unknown>" else code


# The text in which torch says why a cache entry could not be used; `shared/failed_guard.py` parses the check.
#
# Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper), 2.6 to 2.15.
_LOCAL = re.compile(r"L\[\s*['\"]([^'\"\n]*)['\"]\s*\]")
_ENTRY = re.compile(r"^(?:!(\d+)/)?(\d+)/(\d+): ")


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
        place = None  # code generated at run time has no file to show
    stack = parse_user_stack(f"User code traceback:\n{rest}")
    if stack:
        user_code, place = stack[-1].text or user_code, stack[-1].place
    check = check.strip()
    failed = failed_guard(check)
    return GuardFailure(
        entry=compile_id,
        check=check,
        kind=cast(FailureKind, failed.kind),
        source=None if failed.source is None else plain_source(failed.source),
        dimension=failed.index,
        expected=failed.expected,
        actual=failed.actual,
        user_code=user_code,
        place=place,
        hint=hint.removesuffix("\n").removesuffix(")") if has_hint else failed.hint,
        remark=remark.strip() or None,
    )


def is_on_parameter(failure: GuardFailure) -> bool:
    """Whether the failed guard is on a parameter, by the hint that torch adds.

    Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper), 2.8 to 2.15.
    """
    return "on a parameter" in (failure.hint or "")


def plain_source(source: str) -> str:
    """A source as torch spells it in guard failures: `x` for `L['x']`.

    Source: torch/_dynamo/guards.py (strip_local_scope), 2.8 to 2.15.
    """
    return _LOCAL.sub(r"\1", source)


_MOST_REASONS = 10_000  # for one recompile: torch has one for each cache entry, of which it allows few
_MOST_DEFERRED = 64 << 20  # bytes of guards, read later if their frame is recompiled
_OF_SIZES = ".size()["
GLOBAL_STATE_CHECK = "___check_global_state()"


def guards_of_function(name: str) -> str:
    """The entry of `contents` that requests the guards of functions of this name alone."""
    return f"{GuardsMade.NAME} {name}"


class GuardBuilder:
    """Fills `guard_sets`, `recompile_reasons` and `recompiled_entries`."""

    def __init__(self, process: Process, context: CompileContext, contents: Container[str] = ()) -> None:
        self._process = process
        self._contents = contents
        self._context = context
        self._deferred: list[tuple[CompileId, Record]] = []
        self._deferred_bytes = 0

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            "recompile_reasons": self._recompile_reasons,
            "dynamo_cpp_guards_str": self._defer,
            GuardsMade.NAME: self._guards_if_wanted,
        }

    def handlers_of_large(self) -> dict[str, Handler]:
        """The handler of each kind of large record that is only read when a report needs it."""
        return {GuardsMade.NAME: self._guards, "dynamo_cpp_guards_str": self._guard_tree}

    def finish(self) -> None:
        """Read the deferred guards of recompiled frames, as far as they concern the guards that failed."""
        failed: dict[CompileId, set[str]] = {}
        # Frames with a size that may be fixed because it is that of a parameter, or has to equal it.
        fixed = {each.compile_id.of_frame for each in self._process.specializations if each.compile_id}
        for reasons in self._process.recompile_reasons:
            for failure in reasons.failures:
                if failure.entry is not None:
                    sources = failed.setdefault(failure.entry.of_frame, set())
                    sources |= {failure.source} if failure.source is not None else set()
                    sources |= {GLOBAL_STATE_CHECK} if failure.kind == "global state" else set()
                    fixed |= {failure.entry.of_frame} if is_on_parameter(failure) else set()
        for compile_id, record in self._deferred if failed else ():
            frame = compile_id.of_frame
            if frame in failed:
                self._read_deferred(compile_id, record, failed[frame], with_parameters=frame in fixed)
        self._deferred.clear()

    def _read_deferred(
        self, compile_id: CompileId, record: Record, sources: set[str], *, with_parameters: bool
    ) -> None:
        try:
            text = record.payload() or ""
        except Damaged as error:
            self._process.health.note_damage(f"dynamo_cpp_guards_str: {error}")
            return

        def concerns_failures(source: str, check: str) -> bool:
            if check.startswith(GLOBAL_STATE_CHECK):
                return GLOBAL_STATE_CHECK in sources
            plain = plain_source(source)
            # Where a container's length failed, only the checks of its items have the user's line.
            concerns = _OF_SIZES in check or plain in sources or plain.rpartition("[")[0] in sources
            return concerns or (with_parameters and check.startswith(f"check_tensor({source}, Parameter,"))

        checks, _ = parse_guard_tree(text, concerns_failures)
        self._process.recompiled_entries.append(GuardSet(compile_id, checks=checks))

    def _defer(self, record: Record) -> None:
        """Defer reading the guards, which is slow, until it is known whether their frame is recompiled."""
        compile_id = self._context.id_of(record)
        if compile_id is None or self._deferred_bytes + record.size > _MOST_DEFERRED:
            return
        detached = record.detached()
        if detached is not None:
            self._deferred.append((compile_id, detached))
            self._deferred_bytes += record.size

    def failure(self, reason: str) -> GuardFailure:
        """Why an entry could not be used, parsed from torch's sentence."""
        failure = parse_guard_failure(reason)
        if failure.entry is None:
            return failure
        return replace(failure, entry=failure.entry._replace(generation=self._context.generation))

    def _guard_tree(self, record: Record) -> GuardSet | None:
        self._defer(record)
        checks, latency = parse_guard_tree(record.payload() or "")
        guard_set = GuardSet(self._context.id_of(record), None, checks, latency)
        self._process.guard_sets.append(guard_set)
        return None if self._process.is_ours else guard_set  # in our recordings, the next record completes it

    def _guards_if_wanted(self, record: Record) -> GuardSet | None:
        """The guards of a function that was requested by its name; None for others."""
        frame = self._context.frame(self._context.id_of(record))
        if frame is None or guards_of_function(function_of(frame.function)) not in self._contents:
            return None
        return self._guards(record)

    def _guards(self, record: Record) -> GuardSet:
        compile_id = self._context.id_of(record)
        sets = self._process.guard_sets
        if not (sets and sets[-1].compile_id == compile_id and sets[-1].guards is None):
            sets.append(GuardSet(compile_id))
        sets[-1].guards = tuple(
            Guard(
                type=guard["type"],
                source=guard["source"],
                scope=guard["scope"],
                code=tuple(guard["code"]),
                place=place_of(guard),
            )
            for guard in structured(GuardsMade, record, MOST_VALUES).guards
        )
        return sets[-1]

    def _recompile_reasons(self, record: Record) -> None:
        """Take the reasons: a JSON list, or plain text for one cache entry (torch/_dynamo/guards.py)."""
        try:
            reasons = record.json_payload()
        except Damaged:
            reasons = record.payload() or ""
        reasons = reasons if isinstance(reasons, list) else [reasons]
        if len(reasons) > _MOST_REASONS:
            raise Damaged(f"more than {_MOST_REASONS:,} reasons")
        failures = tuple(self.failure(str(reason)) for reason in reasons)
        self._process.recompile_reasons.append(RecompileReasons(self._context.id_of(record), failures))
