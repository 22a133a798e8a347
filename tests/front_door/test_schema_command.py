"""`dynamo schema`: the schemas of JSON documents, each with all that it refers to."""

import json

import pytest
from jsonschema_rs import Draft202012Validator

from dynamo_reporters.registry import OF_RECORDINGS, REPORTS
from support.answering import answer
from support.stored import stored


@pytest.mark.parametrize("name", OF_RECORDINGS)
def test_a_document_is_valid_under_the_schema_that_is_printed(name: str) -> None:
    schema = json.loads(answer("schema", name).stdout)
    document = json.loads(answer(name, stored("toy"), "--json").stdout)
    validator = Draft202012Validator(schema)
    validator.validate(document)
    assert not validator.is_valid(document | {"unrecorded": 1})  # which the common part describes


def test_the_names_are_listed_and_each_is_known() -> None:
    assert answer("schema").stdout.splitlines() == list(REPORTS)
    for name in REPORTS:
        assert answer("schema", f"dynamo-{name}").stdout == answer("schema", name).stdout != ""


@pytest.mark.parametrize(
    ("name", "says"), [("explian", "did you mean 'explain'?"), ("zzz", "`dynamo schema` lists all there are")]
)
def test_an_unknown_name_is_one_line(name: str, says: str) -> None:
    result = answer("schema", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"dynamo: there is no document '{name}'; {says}\n"
