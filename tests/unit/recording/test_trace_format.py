"""Parting a structured trace into records, whole or damaged."""

import hashlib
import json
import random
from typing import Any

import pytest

from dynamo_core.recording.trace_format import Damaged, Record, RecordParser


def line(metadata: dict[str, Any], payload: str | None = None) -> bytes:
    if payload is not None:
        digest = hashlib.md5(payload.encode()).hexdigest()
        metadata = metadata | {"has_payload": digest}
    text = f"V1120 19:08:30.938000 2350 torch/_dynamo/utils.py:10] {json.dumps(metadata)}\n"
    if payload is not None:
        text += "\t" + payload.replace("\n", "\n\t") + "\n"
    return text.encode()


STREAM = (
    line({"str": ["/x.py", 1]})
    + line({"artifact": {"name": "a", "encoding": "string"}, "frame_id": 0}, "one\ntwo\n\nthree")
    + line({"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 1})
)


def read(*pieces: bytes) -> tuple[list[Record], RecordParser]:
    parser = RecordParser()
    records = [record for piece in pieces for record in parser.feed(piece)]
    last = parser.finish()
    return records + ([last] if last is not None else []), parser


def test_records_payloads_and_names() -> None:
    records, parser = read(STREAM)
    assert [record.kind for record in records] == ["str", "artifact", "dynamo_start"]
    assert records[1].artifact_name == "a"
    assert records[1].payload() == "one\ntwo\n\nthree"
    assert records[0].payload() is None
    assert parser.damaged == 0


def test_pieces_of_any_size_give_the_same_records() -> None:
    whole = [(record.kind, record.metadata) for record in read(STREAM)[0]]
    for size in (1, 7, 64, 200):
        pieces = [STREAM[i : i + size] for i in range(0, len(STREAM), size)]
        records, parser = read(*pieces)
        assert [(record.kind, record.metadata) for record in records] == whole
        assert records[1].payload() == "one\ntwo\n\nthree"
        assert parser.damaged == 0


def test_the_last_record_comes_without_waiting_for_the_next_if_it_is_whole() -> None:
    parser = RecordParser()
    end = STREAM.rindex(b"V1120")
    assert [record.kind for record in parser.feed(STREAM[: end - 5])] == ["str"]
    assert parser.last_if_whole() is None
    assert list(parser.feed(STREAM[end - 5 : end])) == []
    last = parser.last_if_whole()
    assert last is not None and last.payload() == "one\ntwo\n\nthree"
    assert list(parser.feed(STREAM[end:])) == []
    last = parser.last_if_whole()
    assert last is not None and last.kind == "dynamo_start"
    assert parser.finish() is None
    assert (parser.records, parser.damaged) == (3, 0)


def test_the_first_line_of_a_payload_comes_unchecked() -> None:
    records, _ = read(STREAM.replace(b"three", b"thr\x1be"))
    assert [record.payload_first_line() for record in records] == [None, "one", None]
    (coloured,) = read(line({"x": {}}, "\x1b[31mred\nmore"))[0]
    assert coloured.payload_first_line() == "\\x1b[31mred"


@pytest.mark.parametrize(
    ("spelling", "kind", "artifact"),
    [
        ('{"artifact": {"name": "a", "encoding": "json"}}', "artifact", "a"),
        ('{"artifact": {"encoding": "json", "name": "a"}}', "artifact", "a"),
        ('{"artifact":{"name":"a"}}', "artifact", "a"),
        ('{ "artifact" : { "name" : "a" } }', "artifact", "a"),
        ('{"frame_id": 0, "artifact": {"name": "a"}, "rank": 1}', "artifact", "a"),
        ('{"artifact": {"name": "\\u0061\\u001b"}}', "artifact", "a\\x1b"),
        ('{"artifact": {"name": 3}}', "artifact", None),
        ('{"artifact": []}', "artifact", None),
        ('{"rank": 3, "dynamo_start": {}}', "dynamo_start", None),
        ('{"dynamo_\\u0073tart": {}}', "dynamo_start", None),
    ],
)
def test_json_may_be_spelled_otherwise(spelling: str, kind: str, artifact: str | None) -> None:
    (record,) = read(f"V1120 19:08:30.938000 2350 torch/x.py:10] {spelling}\n".encode())[0]
    assert (record.kind, record.artifact_name) == (kind, artifact)
    assert record.time == "1120 19:08:30.938000"


@pytest.mark.parametrize("head", ["{}", '{"rank": 0}', '{"frame_id": 0, x}', '{"str": 1} trailing'])
def test_a_head_of_no_kind_is_damage(head: str) -> None:
    records, parser = read(f"V1120 19:08:30.938000 2350 torch/x.py:10] {head}\n".encode() + STREAM)
    assert [record.kind for record in records] == ["str", "artifact", "dynamo_start"]
    assert (parser.damaged, parser.false_starts) == (1, 1)


def test_broken_json_is_told_when_it_is_used() -> None:
    first, last = (b'V1120 19:08:30.938000 2350 torch/x.py:10] {"str": ' + x for x in (b"[}\n", b"[1]}\n"))
    records, parser = read(first + last)
    assert [record.kind for record in records] == ["str", "str"]
    with pytest.raises(Damaged, match="metadata"):
        _ = records[0].metadata
    assert records[1].metadata == {"str": [1]}
    assert parser.damaged == 0


def test_foreign_lines_leave_the_payload_before_them_whole() -> None:
    artifact_end = STREAM.rindex(b"V1120")
    records, parser = read(STREAM[:artifact_end] + b"Killed\n\nby 9\n" + STREAM[artifact_end:])
    assert records[1].payload() == "one\ntwo\n\nthree"
    assert parser.damaged == 1


def test_a_trace_that_has_been_on_windows_reads_the_same() -> None:
    records, parser = read(STREAM.replace(b"\n", b"\r\n"))
    assert [record.kind for record in records] == ["str", "artifact", "dynamo_start"]
    assert records[1].payload() == "one\ntwo\n\nthree"
    assert records[1].payload_first_line() == "one"
    assert parser.damaged == 0


def test_a_payload_that_is_missing_or_was_not_announced_is_damage() -> None:
    missing = line({"x": {}}, "text").partition(b"\n")[0] + b"\n"
    records, parser = read(missing + line({"y": {}}) + b"\tstray\n" + STREAM)
    assert [record.kind for record in records] == ["x", "y", "str", "artifact", "dynamo_start"]
    with pytest.raises(Damaged):
        records[0].payload()
    assert records[1].payload() is None
    assert records[1].payload_first_line() is None
    assert parser.damaged == 1


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_a_cut_last_record_is_damage_and_the_rest_is_kept(cut: int) -> None:
    records, parser = read(STREAM[:-cut])
    kept = 3 if cut == 1 else 2  # only the final newline was lost
    assert len(records) == kept
    assert parser.damaged == 3 - kept


def test_a_flipped_byte_in_a_payload_is_told_when_it_is_read() -> None:
    records, _ = read(STREAM.replace(b"three", b"thrae"))
    with pytest.raises(Damaged, match="checksum"):
        records[1].payload()


def test_garbage_between_records_is_counted_and_passed_over() -> None:
    records, parser = read(b"garbage\n" + STREAM + b"more garbage\n")
    assert [record.kind for record in records] == ["str", "artifact", "dynamo_start"]
    assert parser.damaged == 2


def test_random_damage_never_raises() -> None:
    dice = random.Random(0)
    for _ in range(500):
        data = bytearray(STREAM)
        for _ in range(dice.randrange(1, 20)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        for record in read(bytes(data[: dice.randrange(len(data))]))[0]:
            try:
                record.payload()
            except Damaged:
                pass


def test_a_path_with_the_name_of_a_field_in_it_hides_no_stray_line() -> None:
    """The first line is searched for the payload's checksum from where its JSON begins."""
    odd = line({"str": ["/x.py", 1]}).replace(b"torch/_dynamo/utils.py", b'torch/"has_payload"/utils.py')
    records, parser = read(odd + b"\tstray\n" + STREAM)
    assert len(records) == 4
    assert parser.damaged == 1
    assert read(odd + STREAM)[1].damaged == 0


def test_the_context_of_a_short_first_line_is_what_stands_before_its_checksum() -> None:
    """By it, records of the same compile are known without reading their JSON."""
    metadata = {"frame_id": 0, "frame_compile_id": 1, "chromium_event": {}}
    (record,) = read(line(metadata, "[]"))[0]
    assert record.context == json.dumps(metadata).removesuffix("}").encode()
    (other,) = read(line(metadata, "[1]"))[0]
    assert other.context == record.context


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": {}, "text": "long" * 60, "has_payload": "0" * 32},
        {"x": {}, "has_payload": "0" * 31},
        {"x": {}, "has_payloaf": "0" * 32},
        {"x": {}, "has_payload": "0" * 32, "rank": 1},
        {"x": {}},
        {"has_payload": "0" * 32},
    ],
)
def test_a_first_line_that_is_long_or_ends_in_no_checksum_has_no_context(metadata: dict[str, Any]) -> None:
    for record in read(line(metadata))[0]:
        assert record.context is None
