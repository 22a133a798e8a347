"""The digest of a rank: of its whole stream, or the one that is stored, with the records after it."""

from pathlib import Path

import pytest

from dynamo_core.recording.ranks import digest_by_reading
from dynamo_core.shared import names
from support.every_record import TRACE
from support.trace_bytes import record

NAME = "dedicated_log_torch_trace_rank_0_x.log"


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    file = tmp_path / NAME
    file.write_bytes(b"".join(TRACE))
    return file


def stored_beside(stream: Path) -> Path:
    return stream.with_name(names.beside_stream(stream.name, names.DIGEST_PREFIX, names.DIGEST_SUFFIX))


def test_a_stored_digest_is_completed_with_the_records_after_it(stream: Path) -> None:
    whole = digest_by_reading(stream)
    assert whole.digest is not None and whole.from_records == stream.stat().st_size
    stored_beside(stream).write_text(whole.digest.to_json())
    again = digest_by_reading(stream)
    assert again.digest is not None and (again.problem, again.from_records) == (None, 0)
    assert again.digest.to_json() == whole.digest.to_json()
    with stream.open("ab") as file:
        file.write(record({"str": ["/x/more.py", 1]}))
    assert digest_by_reading(stream).from_records == stream.stat().st_size - whole.from_records


def test_a_digest_of_more_than_there_is_is_of_another_stream(stream: Path) -> None:
    whole = digest_by_reading(stream).digest
    assert whole is not None
    stored_beside(stream).write_text(whole.to_json())
    stream.write_bytes(b"".join(TRACE[:3]))
    assert digest_by_reading(stream).from_records == stream.stat().st_size


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "it is empty"), (b"no trace\n", "it has no record of a torch trace in it")]
)
def test_a_stream_without_records_has_no_digest(stream: Path, content: bytes, why: str) -> None:
    stream.write_bytes(content)
    found = digest_by_reading(stream)
    assert (found.digest, found.problem) == (None, why)
