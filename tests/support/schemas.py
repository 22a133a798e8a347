"""Validate a report's JSON document against the schema that the package ships for it."""

import functools
import json
from importlib import resources
from typing import Any

from jsonschema_rs import Draft202012Validator, Registry

_SCHEMAS = resources.files("dynamo_reporters") / "schemas"


def validate(document: Any) -> None:
    """Raise jsonschema_rs.ValidationError where the document is not what its schema says."""
    _validator(document["schema"].removeprefix("dynamo-") + ".schema.json").validate(document)


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    known = {file.name: json.loads(file.read_text()) for file in _SCHEMAS.iterdir()}
    return Draft202012Validator(known[name], registry=Registry(known.items()))
