"""Our records read back into their types, payload fields that several kinds share, and times of records."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, ClassVar, TypeVar, cast, get_origin, get_type_hints

from ..model import Bytecode, Compile, Frame, Graph, GraphBreak, GuardSet, Place, StackFrame, TensorInfo
from ..shared.our_record import OurRecord
from ..shared.validation import Check, check_of, check_of_values
from .trace_format import USUAL_VALUES, Damaged, Record, parse_json

_Kind = TypeVar("_Kind", bound=OurRecord)
_FIRST_VERSION = 1  # of records that were written before they had one
_Fields = tuple[Mapping[str, Any], frozenset[str], Check]


def structured(kind: type[_Kind], record: Record, most_values: int = USUAL_VALUES) -> _Kind:
    """The record; Damaged if a field is missing or of a wrong type, or the version is not supported."""
    return _structured(kind, fields_of(kind, record.json_payload(most_values)))


def structured_head(kind: type[_Kind], record: Record, most_values: int = USUAL_VALUES) -> _Kind:
    """The record by the first line of its payload, without its `LISTS`; the checksum is not checked."""
    text = (record.payload_first_line() or "").rstrip()
    content = parse_json(text.removesuffix(",") + "}", "payload", most_values)
    return _structured(kind, fields_of(kind, content))


def fields_of(kind: type[OurRecord], content: Any) -> dict[str, Any]:
    """The fields of a payload, unchecked; Damaged if it is no object, or of an unsupported version."""
    if not isinstance(content, dict):
        raise Damaged("payload is no JSON object")
    version = content.pop("version", _FIRST_VERSION)
    if type(version) is not int or not _FIRST_VERSION <= version <= kind.VERSION:
        raise Damaged(f"version {version!r} is not read by this dynamo, which knows {kind.VERSION}")
    return content


def invalid_fields(kind: type[OurRecord], content: Mapping[str, Any]) -> set[str]:
    """The names of those fields of a payload whose values are of a wrong type."""
    hints, _, _ = _fields(cast(Any, kind))
    return {name for name in hints.keys() & content.keys() if not check_of(hints[name])(content[name])}


def _structured(kind: type[_Kind], content: Mapping[str, Any]) -> _Kind:
    hints, required, all_fit = _fields(cast(Any, kind))
    if not required <= content.keys():
        raise Damaged(f"no {', '.join(sorted(required - content.keys()))}")
    values = {name: content[name] for name in hints if name in content}
    if not all_fit(values):
        wrong = next(name for name, value in values.items() if not check_of(hints[name])(value))
        raise Damaged(f"{wrong} is not what is recorded there")
    return kind(**values)


@cache
def _fields(kind: Any) -> _Fields:
    """The annotations of a record's fields, the required fields, and a check of the values of all."""
    hints = {
        name: hint
        for name, hint in get_type_hints(kind).items()
        if hint is not ClassVar and get_origin(hint) is not ClassVar
    }
    required = frozenset(name for name in hints if not hasattr(kind, name))
    return hints, required, check_of_values(hints, required)


# An item that a record completes, and a function that takes a record.
Item = Graph | GraphBreak | Compile | GuardSet | Bytecode | Frame
Handler = Callable[[Record], Item | None]


def reads(kind: type[_Kind], take: Callable[[_Kind], object]) -> Handler:
    """A handler that hands each record of a kind, once it is checked, to `take`."""

    def handle(record: Record) -> None:
        take(structured(kind, record))

    return handle


def keeps(kind: type[_Kind], owner: object, name: str) -> Handler:
    """A handler that sets the attribute `name` of `owner` to each record of a kind: the last one counts."""
    return reads(kind, partial(setattr, owner, name))


MOST_VALUES = 2_000_000  # in a graph, a frame's bytecode or its guards; a node has some forty


def place_at(file: str | None, line: int | None) -> Place | None:
    """The place of a file and a line; None where either is not known."""
    return None if file is None or line is None else Place(file, line)


def place_of(content: Mapping[str, Any]) -> Place | None:
    """The line that a payload names; None where it names none."""
    return place_at(content.get("file"), content.get("line"))


def stack_of(frames: Iterable[Mapping[str, Any]]) -> tuple[StackFrame, ...]:
    """A stack in a payload of ours, as the model has it."""
    return tuple(
        StackFrame(Place(frame["file"], frame["line"]), frame["name"], frame["text"] or "")
        for frame in frames
    )


def stack_frame(frame: Mapping[str, Any] | None) -> StackFrame | None:
    """One line of a stack, if it is known."""
    return None if frame is None else stack_of([frame])[0]


def around_of(lines: Mapping[str, Any] | None) -> dict[int, str]:
    """Source lines by number, in a payload of ours; empty for records of versions without them."""
    return {int(line): str(text) for line, text in (lines or {}).items()}


def tensors_of(content: Mapping[str, Any]) -> tuple[TensorInfo, ...]:
    """The tensors in the description of a value: one, or several of a tuple."""
    if "shape" in content:
        stride = content.get("stride")
        return (
            TensorInfo(
                shape=tuple(content["shape"]),
                stride=None if stride is None else tuple(stride),
                dtype=content["dtype"],
                device=content["device"],
                requires_grad=content.get("requires_grad", False),
            ),
        )
    return tuple(tensor for value in content.get("values", ()) for tensor in tensors_of(value))


_ANY_LEAP_YEAR = 2000  # the first line names none
_WITH_MICROSECONDS = len("1120 19:08:30.938000")
_HALF_A_YEAR = timedelta(days=183)


class RecordClock:
    """When records of a process were written, in nanoseconds since the epoch.

    A record's first line has the local time of day, without a year or a zone. The first record of a process
    of ours also has its time since the epoch; the others follow from it, to tenths of a millisecond.
    """

    def __init__(self) -> None:
        self._start: tuple[datetime, int] | None = None

    def start(self, record: Record, at_ns: int | None) -> None:
        """Note that `record` was written at `at_ns`."""
        written = _written(record)
        if written is not None and at_ns is not None:
            self._start = written, at_ns

    def moment(self, record: Record) -> int | None:
        """When a record was written; None where that cannot be known, as in a plain trace."""
        written = _written(record)
        if written is None or self._start is None:
            return None
        first, at_ns = self._start
        since = written - first
        if since < -_HALF_A_YEAR:  # the year ended in between
            since += timedelta(days=366)
        return at_ns + since // timedelta(microseconds=1) * 1000


def _written(record: Record) -> datetime | None:
    time = record.time[:_WITH_MICROSECONDS].ljust(_WITH_MICROSECONDS, "0")
    try:
        return datetime.fromisoformat(f"{_ANY_LEAP_YEAR}-{time[:2]}-{time[2:4]} {time[5:]}")
    except ValueError:  # damaged
        return None
