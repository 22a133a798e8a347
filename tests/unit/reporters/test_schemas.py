"""The schemas in the package are those of the dataclasses that the documents are made of."""

from typing import Annotated

import pytest
from jsonschema_rs import Draft202012Validator

from dynamo_core.shared.declared import Ge, Gt
from dynamo_reporters.documents import json_schema
from dynamo_reporters.schemas import text_of
from dynamo_reporters.shipped_schemas import NAMES, file_of


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shipped_is_what_is_declared(name: str) -> None:
    assert file_of(name).read_text() == text_of(name), "run ./dev schemas"


def test_what_an_annotation_says_beside_the_meaning() -> None:
    shown = json_schema(Annotated[Annotated[float, Gt(0)] | None, Ge(-1), "of a call"])
    number = {"type": "number", "exclusiveMinimum": 0}
    assert shown == {"anyOf": [number, {"type": "null"}], "minimum": -1, "description": "of a call"}


def test_a_tuple_has_as_many_items_as_it_says() -> None:
    pair = Draft202012Validator(json_schema(tuple[float, bool]))
    assert pair.is_valid([1.5, True])
    assert not any(map(pair.is_valid, ([1.5], [True, 1.5], [1.5, True, True])))
    assert Draft202012Validator(json_schema(tuple[float, ...])).is_valid([1.5, 2, 3])
