"""Documents of classes of the model: fields of the same names, in place of a field, and left out."""

from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from dynamo_core.shared.conversion import from_fields, from_json
from dynamo_core.shared.declared import INLINE, NOT_IN_JSON
from dynamo_reporters.documents import json_value, object_schema


class Pair(NamedTuple):
    was: str
    now: str


@dataclass(frozen=True)
class Measured:
    name: str
    pairs: tuple[Pair, ...] = ()
    remark: str = field(default="", metadata=NOT_IN_JSON)

    @property
    def count(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True)
class Shown:
    name: str
    count: int
    rank: int | None


@dataclass(frozen=True)
class Ranked:
    rank: int | None
    measured: Measured = field(metadata=INLINE)
    last: bool = field(default=True)


MEASURED = Measured("f", (Pair("4", "5"),), "not for documents")


def test_a_copy_has_the_fields_and_properties_of_its_source() -> None:
    assert from_fields(Shown, MEASURED, rank=3) == Shown("f", 1, 3)
    assert from_fields(Shown, MEASURED, rank=None, name="g") == Shown("g", 1, None)


def test_a_field_that_neither_side_has_is_an_error() -> None:
    with pytest.raises(AttributeError):
        from_fields(Shown, MEASURED)
    with pytest.raises(TypeError):
        from_fields(Shown, MEASURED, rank=3, other=1)


def test_inline_fields_stand_in_their_place_in_values_and_schemas() -> None:
    value = json_value(Ranked(3, MEASURED))
    assert list(value.items()) == [
        ("rank", 3),
        ("name", "f"),
        ("pairs", [{"was": "4", "now": "5"}]),
        ("last", True),
    ]
    schema = object_schema(Ranked)
    assert schema["required"] == ["rank", "name", "pairs", "last"]
    assert list(schema["properties"]["pairs"]["items"]["properties"]) == ["was", "now"]


def test_json_of_another_type_is_refused() -> None:
    assert from_json(Shown, {"name": "f", "count": 1, "rank": None, "unknown": 0}) == Shown("f", 1, None)
    with pytest.raises(ValueError, match="it has no rank"):
        from_json(Shown, {"name": "f", "count": 1})
    with pytest.raises(ValueError, match="it is no Shown"):
        from_json(Shown, {"name": "f", "count": "1", "rank": None})
