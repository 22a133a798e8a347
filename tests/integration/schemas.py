"""Validate a report's JSON document against the schema that the package ships for it."""

import json
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

_SCHEMAS = resources.files("dynamo_reporters") / "schemas"


def validate(document: Any) -> None:
    """Raise jsonschema.ValidationError where the document is not what its schema says."""
    known = [(file.name, json.loads(file.read_text())) for file in _SCHEMAS.iterdir()]
    registry: Registry[Any] = Registry().with_resources(
        [(name, Resource.from_contents(schema)) for name, schema in known]
    )
    name = document["schema"].removeprefix("dynamo-") + ".schema.json"
    Draft202012Validator(dict(known)[name], registry=registry).validate(document)
