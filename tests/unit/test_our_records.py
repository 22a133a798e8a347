"""Records that are typed once: what a probe writes is what the reader gets, and all else is damage."""

import hashlib
import json

import pytest

from dynamo_core.recording.records import Damaged, Record, RecordParser
from dynamo_core.recording.structured import structured
from dynamo_core.shared.records import OptimizerMade, OurRecord, ProbeFailed

WRITTEN = OptimizerMade(name="AdamW", module="torch.optim.adamw", file="/x/adamw.py")


def in_stream(payload: object, kind: type[OurRecord] = OptimizerMade) -> Record:
    text = json.dumps(payload)
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    metadata = {"artifact": {"name": kind.NAME, "encoding": "json"}, "has_payload": digest}
    parser = RecordParser()
    line = f"V1120 19:08:30.938000 2350 x:0] {json.dumps(metadata)}\n\t{text}\n"
    (*found, last) = [*parser.feed(line.encode()), parser.finish()]
    assert last is not None and not found
    return last


@pytest.mark.parametrize(
    "written",
    [WRITTEN, ProbeFailed(probe="guards", error="KeyError: x"), ProbeFailed(probe="a", error="b", at="c:1")],
)
def test_the_reader_gets_what_was_written(written: OurRecord) -> None:
    read = structured(type(written), in_stream(written.payload(), type(written)))
    assert vars(read) == vars(written)


def test_records_from_before_there_were_versions_are_read() -> None:
    old = {name: value for name, value in WRITTEN.payload().items() if name != "version"}
    assert vars(structured(OptimizerMade, in_stream(old))) == vars(WRITTEN)
    assert structured(ProbeFailed, in_stream({"probe": "guards", "error": "no"})).at is None


@pytest.mark.parametrize(
    "change, why",
    [
        ({"version": 2}, "version 2 is not read"),
        ({"version": "1"}, "version '1' is not read"),
        ({"version": 0}, "version 0 is not read"),
        ({"file": None}, "file is not what is recorded there"),
        ({"name": 7}, "name is not what is recorded there"),
    ],
)
def test_what_is_of_another_version_or_type_is_damage(change: dict[str, object], why: str) -> None:
    with pytest.raises(Damaged, match=why):
        structured(OptimizerMade, in_stream(WRITTEN.payload() | change))


@pytest.mark.parametrize("payload", [{"name": "a", "module": "b"}, [], None, "text"])
def test_what_lacks_a_field_is_damage(payload: object) -> None:
    with pytest.raises(Damaged, match=r"no (file|JSON object)"):
        structured(OptimizerMade, in_stream(payload))
