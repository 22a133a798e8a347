"""Validate a report's JSON document against the schema that the package ships for it."""

import functools
import json
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

_SCHEMAS = resources.files("dynamo_reporters") / "schemas"


def validate(document: Any) -> None:
    """Raise jsonschema.ValidationError where the document is not what its schema says."""
    _validator(document["schema"].removeprefix("dynamo-") + ".schema.json").validate(document)


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    known = [(file.name, json.loads(file.read_text())) for file in _SCHEMAS.iterdir()]
    registry: Registry[Any] = Registry().with_resources(
        [(name, Resource.from_contents(schema)) for name, schema in known]
    )
    return Draft202012Validator(dict(known)[name], registry=registry)
