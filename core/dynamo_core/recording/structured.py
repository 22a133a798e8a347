"""A payload of ours as the type that its probe wrote it from; what does not fit that is damage."""

from typing import Any, ClassVar, TypeVar, get_origin, get_type_hints

from ..shared.fitting import Check, check_of
from ..shared.records import OurRecord
from .records import USUAL_VALUES, Damaged, Record

_Kind = TypeVar("_Kind", bound=OurRecord)
_FIRST_VERSION = 1  # of records that were written before they had one
_FIELDS: dict[Any, tuple[dict[str, Check], frozenset[str]]] = {}


def structured(kind: type[_Kind], record: Record, most_values: int = USUAL_VALUES) -> _Kind:
    """The record; Damaged if a field is missing, is of a wrong type, or the version is none that we read."""
    content = record.json_payload(most_values)
    if not isinstance(content, dict):
        raise Damaged("payload is no JSON object")
    version = content.get("version", _FIRST_VERSION)
    if type(version) is not int or not _FIRST_VERSION <= version <= kind.VERSION:
        raise Damaged(f"version {version!r} is not read by this dynamo, which knows {kind.VERSION}")
    checks, required = _fields(kind)
    if not required <= content.keys():
        raise Damaged(f"no {', '.join(sorted(required - content.keys()))}")
    values = {name: content[name] for name in checks if name in content}
    for name, value in values.items():
        if not checks[name](value):
            raise Damaged(f"{name} is not what is recorded there")
    return kind(**values)


def _fields(kind: Any) -> tuple[dict[str, Check], frozenset[str]]:
    """What is looked at in each field, and the fields that must be there."""
    if kind not in _FIELDS:
        checks = {
            name: check_of(hint)
            for name, hint in get_type_hints(kind).items()
            if hint is not ClassVar and get_origin(hint) is not ClassVar
        }
        _FIELDS[kind] = checks, frozenset(name for name in checks if not hasattr(kind, name))
    return _FIELDS[kind]
