"""Records that are typed once: what a probe writes is what the reader gets, and all else is damage."""

import hashlib
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from dynamo_core import shared
from dynamo_core.capture.writing.stream import Stream
from dynamo_core.recording.structured import structured, structured_head
from dynamo_core.recording.trace_format import Damaged, Record, RecordParser
from dynamo_core.shared import names
from dynamo_core.shared.early_records import (
    Optimizer,
    ProbeFailed,
    ProcessInfo,
)
from dynamo_core.shared.our_record import OurRecord
from dynamo_core.shared.records import FrameRewritten, WindowNoted
from support.every_record import PAYLOADS

WRITTEN = Optimizer(name="AdamW", module="torch.optim.adamw", file="/x/adamw.py")


def in_stream(payload: object, kind: type[OurRecord] = Optimizer) -> Record:
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
    assert vars(structured(Optimizer, in_stream(old))) == vars(WRITTEN)
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
        structured(Optimizer, in_stream(WRITTEN.payload() | change))


def test_a_window_with_a_figure_that_is_none_is_damage() -> None:
    with pytest.raises(Damaged, match="compiles is not what is recorded there"):
        structured(WindowNoted, in_stream({"kind": "times", "compiles": "many"}, WindowNoted))


@pytest.mark.parametrize("payload", [{"name": "a", "module": "b"}, [], None, "text"])
def test_what_lacks_a_field_is_damage(payload: object) -> None:
    with pytest.raises(Damaged, match=r"no (file|JSON object)"):
        structured(Optimizer, in_stream(payload))


def test_every_record_of_ours_has_a_type() -> None:
    for module in pkgutil.iter_modules(shared.__path__, f"{shared.__name__}."):
        importlib.import_module(module.name)
    typed = [kind.NAME for kind in OurRecord.__subclasses__()]
    constants = {
        name: value
        for name, value in vars(names).items()
        if name.isupper() and str(value).startswith("dynamo_")
    }
    files = ("_FILE", "_PREFIX", "_FOLDER", "UPLOADER_LOCK")
    artifacts = {value for name, value in constants.items() if not name.endswith(files)}
    assert sorted(typed) == sorted(artifacts)
    assert artifacts <= set(PAYLOADS), "the reader's tests damage an example of each"


def fields_of(kind: type[OurRecord]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name.islower()}


def test_long_lists_stand_behind_the_first_line(tmp_path: Path) -> None:
    written = FrameRewritten(
        name="f",
        qualified_name="A.f",
        file="/x.py",
        first_line=3,
        fingerprint="ab",
        source={3: "def f():"},
        original=[[0, "RESUME", "0", 3, None], [2, "LOAD_CONST", "1", 4, None]],
        modified=[],
    )
    first_line, *rows = written.as_json().split("\n")
    assert json.loads(first_line.removesuffix(",") + "}")["name"] == "f"
    assert len(rows) == 7  # two lists, each with its brackets
    record = in_stream(json.loads(written.as_json()), FrameRewritten)
    read = structured(FrameRewritten, record)
    assert (read.original, read.modified) == (written.original, [])
    nothing: dict[str, Any] = dict.fromkeys(fields_of(ProcessInfo))
    stream = Stream(str(tmp_path), ProcessInfo(**nothing))
    stream.record(written)
    (file,) = tmp_path.glob("*.log")
    parser = RecordParser()
    (*_, last) = [*parser.feed(file.read_bytes()), parser.finish()]
    assert last is not None
    head = structured_head(FrameRewritten, last)
    assert (head.source, head.original) == ({"3": "def f():"}, None)
