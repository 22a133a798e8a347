"""Parting a structured trace into records, whole or damaged."""

import hashlib
import json
import random
from typing import Any

import pytest

from dynamo_core.recording.records import Damaged, RecordParser


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


def read(*pieces: bytes) -> tuple[list[Any], RecordParser]:
    parser = RecordParser()
    records = [record for piece in pieces for record in parser.feed(piece)]
    return records + list(parser.finish()), parser


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


def test_whole_records_come_without_waiting_for_the_next() -> None:
    parser = RecordParser()
    first_two = STREAM[: STREAM.rindex(b"V1120")]
    assert len(list(parser.feed(first_two))) == 2


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
            except (Damaged, KeyError):
                pass
