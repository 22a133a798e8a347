"""What is just as large as allowed is read, and what is larger by one is not."""

import json
from pathlib import Path

import pytest

from dynamo_core.model import Place
from dynamo_core.recording import trace_format
from dynamo_core.recording.ranks import flight_recorder_dumps
from dynamo_core.recording.trace_format import Damaged, Record, RecordParser
from support.trace_bytes import FRAME, artifact, process_of, record


def first_of(data: bytes) -> Record:
    """The first of a stream's records, behind which another begins."""
    return next(RecordParser().feed(data + record({"str": ["/x/train.py", 0]})))


def test_a_record_that_is_as_large_as_allowed_has_its_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "text " * 100
    data = artifact("a", text)
    size = first_of(data).size
    monkeypatch.setattr(trace_format, "_LARGEST_RECORD", size)
    assert first_of(data).payload() == text
    monkeypatch.setattr(trace_format, "_LARGEST_RECORD", size - 1)
    with pytest.raises(Damaged, match="larger than"):
        first_of(data).payload()


@pytest.mark.parametrize(("library_lines", "is_found"), [(99, True), (100, False)])
def test_the_line_of_a_collective_is_looked_for_in_a_hundred(
    library_lines: int, is_found: bool, tmp_path: Path
) -> None:
    library = {"filename": "/usr/torch/distributed/distributed_c10d.py", "line": 9}
    frames = [library] * library_lines + [{"filename": "/home/me/train.py", "line": 3}]
    entry = {
        "frames": frames,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": 1,
        "profiling_name": "gloo:all_reduce",
        "input_dtypes": [str(number) for number in range(17)],
        "input_sizes": [[1] * 17] * 17,
    }
    (tmp_path / "nccl_trace_rank_0").write_bytes(json.dumps({"entries": [entry]}).encode())
    ((call,),) = flight_recorder_dumps(tmp_path)[0].values()
    assert call.place == (Place("/home/me/train.py", 3) if is_found else None)
    assert call.value.count("[") == 16 and call.value.count("1[1, 1") == 2  # of dtypes "1" and "11"
    assert call.value.partition("]")[0].count("1") == 16


@pytest.mark.parametrize("count", [1, 10_000, 10_001])
def test_a_recompile_has_no_more_reasons_than_there_can_be_entries(count: int) -> None:
    texts = json.dumps(["0/0: a == 1"] * count)
    process = process_of(record({"recompile_reasons": {}, **FRAME}, texts))
    assert process.health.damaged_records == (count > 10_000)
    assert [len(each.failures) for each in process.recompile_reasons] == [count][: count <= 10_000]


@pytest.mark.parametrize(("number", "is_one"), [(2**63, True), (2**63 + 1, False), (0, True), (-1, False)])
def test_a_compile_id_is_a_number_that_torch_would_give(number: int, is_one: bool) -> None:
    process = process_of(record({"dynamo_output_graph": {}, "frame_id": number, "frame_compile_id": 0}))
    assert [each.compile_id for each in process.graphs] == [(number, 0, None, 0)][:is_one]
    assert process.health.damaged_records == (not is_one)
