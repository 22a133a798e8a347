"""Splits a structured trace of torch into its records, and reads a record's metadata and payload.

A record is a line `V1120 19:08:30.938000 2350 torch/_dynamo/x.py:303] {JSON}` and its payload, each line of
which begins with a tab. Source: torch/_logging/_internal.py (TorchLogsFormatter.format, trace_structured) of
torch 2.13; the traces of several older versions that tlparse is tested with are written alike.

Most of a trace are payloads that are not requested. So the parser only searches for lines that do not begin
with a tab, and a record is parsed when it is used: the cost is that of one search through the bytes.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, TypeGuard

from ..shared.text import checked_json, printable, printable_json

# A line that is not indented: the head of a record, as far as it can be recognised without parsing its JSON,
# or any other line. A pattern that begins with a line feed is searched for ten times as fast as one with "^".
_LINE = re.compile(
    rb"\n(?!\t)(?:"
    rb"[VDIWEC](?P<time>\d{4} \d\d:\d\d:\d\d\.\d{1,9}) {1,20}\d{1,20} {1,20}"
    rb"[^ \n\]][^\n\]]{0,4200}\] (?P<json>\{)"
    rb'(?:"artifact": \{"name": "(?P<artifact>[^"\\\n]{1,200})"|"(?P<kind>\w{1,200})")?'
    rb"|(?=[^\t]))",
    re.ASCII,
)
_LONGEST_HEAD = 8192  # bytes; more than that pattern can match
_DATE = re.compile(rb"\n[VDIWEC]\d{4} \d\d:\d\d:\d\d\.", re.ASCII)
_DATE_LENGTH = len(b"\nV1120 19:08:30.")
_LARGEST_RECORD = 64 << 20  # bytes; of a larger one only the first line is kept, to bound memory
_LONGEST_FIRST_LINE = 8 << 20  # bytes
USUAL_VALUES = 200_000  # in a first line, or a payload that is never large
# A record that stands behind one that was cut, on its line. In JSON a quote after that would be escaped.
_EMBEDDED = re.compile(
    rb'[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,20}\d{1,20} {1,20}[^ "\n\]][^"\n\]]{0,4200}\] \{"'
)
_HEAD_ENDS = b'] {"'
_MOST_EMBEDDED = 4  # candidates that are tried
_LIST_ENDS = b"\n\t],"
_HOLE = b"\0"  # in a file that was being written when the machine crashed
_EMPTY_LINES = re.compile(rb"\n+")
_HAS_PAYLOAD = b'"has_payload"'
# JSON within a string, whose quotes are escaped: only at its end does a quote follow the brace.
_SETTINGS, _SETTINGS_END = b'"inductor_config": "{', b'}", "'
_CHECKSUM, _IS_CHECKSUM = b', "has_payload": "', re.compile(rb'[0-9a-f]{32}"\}\r?')
_AFTER_CONTEXT = len(_CHECKSUM) + len('0123456789abcdef0123456789abcdef"}')
_SHORT_CONTEXT = 200  # bytes
_AT_THE_END = 100  # bytes
_RETURN = ord("\r")  # before the line feeds of a trace that was copied from Windows
# Keys of a record's JSON that are not its kind: trace_structured's reserved names, and those that it adds.
_CONTEXT = frozenset(
    {"rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "subgraph_name", "stack"}
    | {"has_payload", "severity", "timestamp", "process", "thread", "pathname", "lineno"}
)
_NOT_THE_KIND = _CONTEXT | {"artifact"}  # an artifact's name is matched separately


class Damaged(Exception):
    """A record cannot be read as what it says it is."""


class Record:
    """One record. Its JSON and its payload are parsed, and may raise Damaged, when they are used.

    `artifact_name` is the name of a record of the kind "artifact". Lines after a first line that announces no
    payload are stray: something else wrote them. `is_own` is set for the stream of this process itself, whose
    payloads need no check of their checksum.
    """

    __slots__ = (
        "_end",
        "_head",
        "_is_too_large",
        "_line_end",
        "_metadata",
        "artifact_name",
        "has_stray_lines",
        "is_own",
        "kind",
    )

    def __init__(
        self,
        head: re.Match[bytes],
        line_end: int,
        end: int,
        has_stray_lines: bool,
        is_too_large: bool = False,
    ) -> None:
        self._is_too_large = is_too_large
        self.is_own = False
        self._head = head
        self._line_end = line_end
        self._end = end
        self.has_stray_lines = has_stray_lines
        self._metadata: dict[str, Any] | None = None
        self.artifact_name: str | None = None
        spelled_out = head.lastgroup  # the cheapest test, since most records are only counted
        if spelled_out == "kind":
            self.kind = head["kind"].decode("ascii")
            if self.kind in _NOT_THE_KIND:
                self._name_from_metadata()
        elif spelled_out == "artifact":
            self.kind = "artifact"
            self.artifact_name = printable(head["artifact"].decode("utf-8", "replace"))
        else:
            self._name_from_metadata()

    def _name_from_metadata(self) -> None:
        """Set the kind and name of a record whose JSON is not spelled as torch spells it."""
        kind = next((key for key in self.metadata if key not in _CONTEXT), None)
        if kind is None:
            raise Damaged("a record of no kind")
        self.kind = kind
        content = self.metadata[kind]
        if kind == "artifact" and isinstance(content, dict) and isinstance(content.get("name"), str):
            self.artifact_name = content["name"]

    @property
    def time(self) -> str:
        """The month and day, and the time of day, as recorded."""
        return self._head["time"].decode("ascii")

    @property
    def metadata(self) -> dict[str, Any]:
        """The JSON of the first line; Damaged if it is not JSON."""
        if self._metadata is None:
            first_line = self._head.string[self._head.start("json") : self._line_end]
            self._metadata = _metadata(first_line)
        return self._metadata

    @property
    def context(self) -> bytes | None:
        """The raw JSON of the first line, without its checksum; None if it is long or has no checksum."""
        text, begin, end = self._head.string, self._head.start("json"), self._line_end - _AFTER_CONTEXT
        is_as_usual = 0 < end - begin <= _SHORT_CONTEXT and text.startswith(_CHECKSUM, end)
        if not is_as_usual or not _IS_CHECKSUM.fullmatch(text, end + len(_CHECKSUM), self._line_end):
            return None
        return text[begin:end]

    def detached(self) -> "Record | None":
        """The record without the chunk of the stream around it, to be read later."""
        text = self._head.string[self._head.start() : self._end]
        return None if self._is_too_large else _record_of(text)

    @property
    def size(self) -> int:
        """How many bytes the record has."""
        return self._end - self._head.start()

    def payload(self) -> str | None:
        """The payload, None if there is none; Damaged if its checksum is wrong."""
        text = self.payload_in_bytes()
        return None if text is None else printable(text.decode("utf-8", "replace"))

    def json_payload(self, most_values: int = USUAL_VALUES) -> Any:
        """The payload as JSON; Damaged if it is not JSON, or has more values than torch or we would write."""
        return _parsed(self.payload_in_bytes() or b"null", "payload", most_values)

    def unsafe_json_payload(self, without: bytes) -> Any:
        """The payload with texts as a stranger wrote them, where few of them are wanted: those go through
        `printable`. A list of this name is not in it, if it has a value a line, as torch writes it.

        Then the checksum, for which all of the list would be read, is not asked: what is left must be JSON,
        and no other record may begin in the list.
        """
        rest = self._payload_without_list(without)
        if rest is not None:
            with suppress(Damaged):  # it is another list that ends there
                return _parsed(rest, "payload", USUAL_VALUES, checked_json)
        return _parsed(self.payload_in_bytes() or b"null", "payload", USUAL_VALUES, checked_json)

    def embedded_record(self) -> "Record | None":
        """The whole record that stands on the line on which this one was cut, if there is one.

        To be asked only of a record that is damaged: a payload may quote another.
        """
        return _embedded_behind(self._head, self._end)

    def is_cut_in_its_first_line(self) -> bool:
        """Whether its first line looks like the beginnings of two records, and is not JSON."""
        if self._head.string.find(_HEAD_ENDS, self._head.start("json"), self._line_end) < 0:
            return False
        try:
            return not self.metadata
        except Damaged:
            return True

    def payload_first_line(self) -> str | None:
        """The first line of the payload. It is not checked, and so costs little however large the payload."""
        if self._line_end == self._end or self.has_stray_lines:
            return None
        start = self._line_end + len("\n\t")
        end = self._head.string.find(b"\n", start, self._end)
        line = self._head.string[start : self._end if end < 0 else end].removesuffix(b"\r")
        return printable(line.decode("utf-8", "replace"))

    def mentions(self, text: bytes) -> bool:
        """Whether the payload has this text in it; it is not checked."""
        return self._head.string.find(text, self._line_end, self._end) >= 0

    def mentions_at_its_end(self, text: bytes) -> bool:
        """Whether the end of the payload has this text in it; only its last bytes are searched."""
        return self._head.string.find(text, max(self._line_end, self._end - _AT_THE_END), self._end) >= 0

    def may_be_broken(self) -> bool:
        """Whether the unchecked payload may have been cut, or was left out for its size."""
        return self._is_too_large or _may_be_broken(self._head.string, self._line_end, self._end)

    def match_payload(self, pattern: re.Pattern[bytes]) -> re.Match[bytes] | None:
        """The match of a pattern with the whole raw payload; the checksum is not checked."""
        return (
            None if self.has_stray_lines else pattern.fullmatch(self._head.string, self._line_end, self._end)
        )

    def unchecked_payload(self) -> bytes:
        """The raw payload, each line after a tab, unchecked: to be searched, not to be shown."""
        return self._head.string[self._line_end : self._end]

    def is_whole(self) -> bool:
        """Whether the first line is JSON and the payload has the right checksum."""
        try:
            self.payload_in_bytes()
        except Damaged:
            return False
        return True

    def _payload_without_list(self, name: bytes) -> bytes | None:
        """The JSON of the payload without the list of this name, which is not the last value in it.

        None if no such list is found, or if it may contain another record.
        """
        if self.has_stray_lines or self._is_too_large:
            return None
        text = self._head.string
        begin = text.find(b'\n\t"%s": [\n' % name, self._line_end, self._end)
        end = -1 if begin < 0 else text.find(_LIST_ENDS, begin, self._end)
        if end < 0 or _may_be_broken(text, begin, end):
            return None
        after = text[end + len(_LIST_ENDS) : self._end]
        return (text[self._line_end : begin] + after).replace(b"\n\t", b"\n")

    def payload_in_bytes(self) -> bytes | None:
        """The payload as bytes, not made `printable`: not to be shown. Damaged if its checksum is wrong."""
        if self._is_too_large:
            raise Damaged(f"payload is larger than {_LARGEST_RECORD >> 20} MB")
        if "has_payload" not in self.metadata:
            return None
        text = self._head.string[self._line_end + len("\n\t") : self._end]
        if self._head.string[self._line_end - 1] == _RETURN:
            text = text.replace(b"\r\n\t", b"\n").removesuffix(b"\r")
        else:
            text = b"\n".join(text.split(b"\n\t"))  # a third faster than `replace`
        if (
            not self.is_own
            and hashlib.md5(text, usedforsecurity=False).hexdigest() != self.metadata["has_payload"]
        ):
            raise Damaged("payload differs from its checksum")
        return text


def _may_be_broken(text: bytes, begin: int, end: int) -> bool:
    """Whether another record may begin there, or bytes are missing; JSON has these marks only in strings."""
    return text.find(_HEAD_ENDS, begin, end) >= 0 or text.find(_HOLE, begin, end) >= 0


def _metadata(first_line: bytes) -> dict[str, Any]:
    """The JSON of a first line. Those of timed spans, the most frequent, differ in the checksum alone."""
    context, _, checksum = first_line.rpartition(_CHECKSUM)
    if 0 < len(context) <= _SHORT_CONTEXT and _IS_CHECKSUM.fullmatch(checksum):
        return {**_context(context), "has_payload": checksum[:32].decode("ascii")}
    return _parsed(_without_settings(first_line), "metadata", USUAL_VALUES)  # type: ignore[no-any-return]


@lru_cache(maxsize=16)
def _context(text: bytes) -> dict[str, Any]:
    return _parsed(text + b"}", "metadata", USUAL_VALUES)  # type: ignore[no-any-return]


def _without_settings(first_line: bytes) -> bytes:
    """The line without Inductor's settings, two thirds of a compile's metrics, which nothing reads."""
    found = first_line.find(_SETTINGS)
    if found < 0:
        return first_line
    begin = found + len(_SETTINGS)
    end = first_line.find(_SETTINGS_END, begin)
    return first_line if end < 0 else first_line[:begin] + first_line[end:]


Decode = Callable[[str, int], Any]


def parse_json(text: str, what: str, most_values: int, decode: Decode = printable_json) -> Any:
    """The value of JSON in a record; Damaged if it is not JSON."""
    try:
        return decode(text, most_values)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{what} is not JSON: {error}") from error


def _parsed(text: bytes, what: str, most_values: int, decode: Decode = printable_json) -> Any:
    return parse_json(text.decode("utf-8", "replace"), what, most_values, decode)


class RecordParser:
    """Takes the bytes of a stream in chunks and gives the records that are complete.

    The records do not depend on how the bytes are split. `damaged` counts the stretches that are no record;
    `false_starts` counts those of them that begin like a record.
    """

    def __init__(self) -> None:
        self._rest = b"\n"  # from before the last line that is not indented
        self._in_damage = False
        self._is_too_large = False  # the record that the rest begins with, whose payload was dropped
        self.bytes_read = 0
        self.records = 0
        self.damaged = 0
        self.false_starts = 0

    @property
    def held(self) -> int:
        """How many bytes are held until their record is complete."""
        return len(self._rest)

    def feed(self, data: bytes) -> Iterator[Record]:
        """The records that are complete with `data`: a record ends where the next one begins."""
        self.bytes_read += len(data)
        held = len(self._rest)
        data = self._rest + data
        self._rest = b""
        start, head, line_end = 0, _LINE.match(data), _line_end(data, 1)
        searched = max(line_end, held - 1)  # a line feed at the very end may begin a line
        while (following := _LINE.search(data, searched)) is not None:
            end = following.start()
            record = self._take(head, data, start, line_end, end)
            if record is not None:
                yield record
            start, head = end, following
            if not _is_head(head) and _DATE.match(data, start) is None:
                # Foreign lines, of which there may be millions: they are one stretch of damage.
                start = self._skip_foreign_lines(data, start)
                head = _LINE.match(data, start)
            # Some streams are mostly first lines, and the end of a line is found many times as fast as a
            # head.
            line_end = searched = _line_end(data, start + 1)
        self._keep(data, start, head)

    def _skip_foreign_lines(self, data: bytes, start: int) -> int:
        """The start of the next line that may begin a record, or else of the last line, which may go on."""
        following = _DATE.search(data, start)
        end = following.start() if following is not None else data.rfind(b"\n", start)
        stretch_begins = _EMPTY_LINES.match(data, start, end)
        self._note_damage(data, stretch_begins.end() - 1 if stretch_begins else start, end)
        return end

    def _keep(self, data: bytes, start: int, head: re.Match[bytes] | None) -> None:
        """Keep the bytes of the last record, which may be incomplete; no payload if it is too large."""
        self._rest = data[start:]
        end = b"\n" if data.endswith(b"\n") else b""
        if _is_head(head) and len(self._rest) > _LARGEST_RECORD:
            line_end = self._rest.find(b"\n", 1)
            if 0 < line_end < _LONGEST_FIRST_LINE:
                self._is_too_large = True
                self._rest = self._rest[:line_end] + b"\n\t" + end
                return
        if len(self._rest) > (_LARGEST_RECORD if _is_head(head) else _LONGEST_HEAD):
            # Whatever follows, this cannot become a record.
            self._rest = self._rest[:_DATE_LENGTH] + b"?" + end

    def _take(
        self, head: re.Match[bytes] | None, data: bytes, start: int, line_end: int, end: int
    ) -> Record | None:
        """The record that begins with `head`, or one embedded in its line; other lines are damage."""
        record = _record_at(head, line_end, end, self._is_too_large)
        self._is_too_large = False
        if record is None:
            self._note_damage(data, start, end)
            record = _embedded_behind(head, end)
        elif record.is_cut_in_its_first_line():
            self.damaged += 1
            self.false_starts += 1
            self._in_damage = True
            record = record.embedded_record()
        if record is not None:
            self._count(record)
        return record

    def last_if_whole(self) -> Record | None:
        """The last record, if it is whole: for callers that cannot wait for the next one."""
        if not self._rest.endswith(b"\n"):
            return None
        end = len(self._rest) - 1
        if self._is_too_large:
            return None
        head = _LINE.match(self._rest)
        record = _record_at(head, _line_end(self._rest, 1), end)
        if record is None or not record.is_whole():
            record = _embedded_behind(head, end)
            if record is None:
                return None
            self._note_damage(self._rest, 0, end)
        self._rest = b"\n"
        self._count(record)
        return record

    def finish(self) -> Record | None:
        """The last record, when the stream has ended; damage if it was cut."""
        if not self._rest.endswith(b"\n"):
            self._rest += b"\n"
        record = self.last_if_whole()
        if record is None:
            self._note_damage(self._rest, 0, len(self._rest) - 1)
            self._rest = b"\n"
        return record

    def _count(self, record: Record) -> None:
        self.records += 1
        self.damaged += record.has_stray_lines
        self._in_damage = False

    def _note_damage(self, data: bytes, start: int, end: int) -> None:
        if end - start <= 1:  # an empty line
            return
        is_false_start = _DATE.match(data, start) is not None
        if is_false_start or not self._in_damage:
            self.damaged += 1
        self.false_starts += is_false_start
        self._in_damage = True


def _record_of(text: bytes) -> Record | None:
    """The record in a text that begins with the line feed before it; None if it is no record."""
    return _record_at(_LINE.match(text), _line_end(text, 1), len(text))


def _record_at(
    head: re.Match[bytes] | None, line_end: int, end: int, is_too_large: bool = False
) -> Record | None:
    """The record that begins with `head` and whose first line ends at `line_end`; None if it is no record."""
    if not _is_head(head):
        return None
    data = head.string
    begin = head.start()
    has_stray_lines = line_end < end and data.rfind(_HAS_PAYLOAD, head.start("json"), line_end) < 0
    if data[line_end - 1] not in b"}\r" or line_end - begin > _LONGEST_FIRST_LINE:  # it was cut
        return None
    is_too_large = is_too_large or end - begin > _LARGEST_RECORD
    try:
        return Record(head, line_end, end, has_stray_lines, is_too_large)
    except Damaged:
        return None


def _line_end(data: bytes, begin: int) -> int:
    found = data.find(b"\n", begin)
    return len(data) if found < 0 else found


def _embedded_behind(head: re.Match[bytes] | None, end: int) -> Record | None:
    """The whole record embedded in the damage that begins with `head`; None if there is none."""
    if not _is_head(head):
        return None
    for found in islice(_EMBEDDED.finditer(head.string, head.start("json"), end), _MOST_EMBEDDED):
        text = b"\n" + head.string[found.start() : end]
        record = _record_of(text)
        if record is not None and record.is_whole():
            return record
    return None


def _is_head(line: re.Match[bytes] | None) -> TypeGuard[re.Match[bytes]]:
    return line is not None and line.lastgroup is not None
