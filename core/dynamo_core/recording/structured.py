"""A payload of ours as the type that its probe wrote it from; what does not fit that is damage."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, get_origin, get_type_hints

from ..shared.fitting import Check, check_of, check_of_values
from ..shared.our_record import OurRecord
from .records import USUAL_VALUES, Damaged, Record, parse_json

_Kind = TypeVar("_Kind", bound=OurRecord)
_FIRST_VERSION = 1  # of records that were written before they had one
_Fields = tuple[Mapping[str, Any], frozenset[str], Check]
_FIELDS: dict[Any, _Fields] = {}


def structured(kind: type[_Kind], record: Record, most_values: int = USUAL_VALUES) -> _Kind:
    """The record; Damaged if a field is missing, is of a wrong type, or the version is none that we read."""
    return _structured(kind, fields_of(kind, record.json_payload(most_values)))


def structured_head(kind: type[_Kind], record: Record, most_values: int = USUAL_VALUES) -> _Kind:
    """The same of the first line of the payload alone, without its `LISTS`; the checksum is not checked."""
    text = (record.payload_first_line() or "").rstrip()
    content = parse_json(text.removesuffix(",") + "}", "payload", most_values)
    return _structured(kind, fields_of(kind, content))


def fields_of(kind: type[OurRecord], content: Any) -> dict[str, Any]:
    """What a payload says, of any types; Damaged if it is no object, or of a version that we do not read."""
    if not isinstance(content, dict):
        raise Damaged("payload is no JSON object")
    version = content.pop("version", _FIRST_VERSION)
    if type(version) is not int or not _FIRST_VERSION <= version <= kind.VERSION:
        raise Damaged(f"version {version!r} is not read by this dynamo, which knows {kind.VERSION}")
    return content


def _structured(kind: type[_Kind], content: Mapping[str, Any]) -> _Kind:
    hints, required, all_fit = _fields(kind)
    if not required <= content.keys():
        raise Damaged(f"no {', '.join(sorted(required - content.keys()))}")
    values = {name: content[name] for name in hints if name in content}
    if not all_fit(values):
        wrong = next(name for name, value in values.items() if not check_of(hints[name])(value))
        raise Damaged(f"{wrong} is not what is recorded there")
    return kind(**values)


def _fields(kind: Any) -> _Fields:
    """The annotations of its fields, the fields that must be there, and whether all that are there fit."""
    if kind not in _FIELDS:
        hints = {
            name: hint
            for name, hint in get_type_hints(kind).items()
            if hint is not ClassVar and get_origin(hint) is not ClassVar
        }
        required = frozenset(name for name in hints if not hasattr(kind, name))
        _FIELDS[kind] = hints, required, check_of_values(hints, required)
    return _FIELDS[kind]
