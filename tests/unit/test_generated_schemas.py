"""The schemas in the package are those of the dataclasses that the documents are made of."""

import pytest

from dynamo_reporters.generated_schemas import FOLDER, NAMES, text_of


@pytest.mark.parametrize("name", NAMES)
def test_what_is_shipped_is_what_is_declared(name: str) -> None:
    assert (FOLDER / f"{name}.schema.json").read_text() == text_of(name), "run ./dev schemas"
