"""`dynamo ranks` of many: one stream is opened for all that are alike, and says what reading all would."""

import json
import re
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.opening import read_ranks
from dynamo_core.recording.ranks import digest_by_reading, digests_of
from dynamo_core.recording.read import read
from dynamo_core.shared import names
from dynamo_core.shared.call_pages import PAGE_WORDS, RUNNING_SINCE
from support.answering import answer
from support.documents import document
from support.many_ranks import make_job, recorded
from support.stored import stored

_CONTENTS = frozenset({names.FX_GRAPH, "dynamo_output_graph"})
RANKS = 40


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """Forty ranks of which the seventh differs, with digests and without."""
    folder = tmp_path_factory.mktemp("many")
    two = recorded(folder)
    return {kept: make_job(folder / str(kept), RANKS, two, with_digests=kept) for kept in (True, False)}


@pytest.mark.parametrize("with_digests", [True, False])
def test_the_one_that_differs_is_named_among_many(jobs: dict[bool, Path], with_digests: bool) -> None:
    found = document("ranks", jobs[with_digests])
    others = [rank for rank in range(RANKS) if rank != 7]
    sides = found["differences"][0]["sides"]
    assert [(side["ranks"], side["what"], side["place"]["line"]) for side in sides] == [
        (others, "all_reduce of float32[8]", 24),
        ([7], "all_gather_into_tensor of float32[16]", 27),
    ]
    assert [wait["ranks"] for wait in found["waits"]] == [others, [7]]
    assert found["waiting"][0].startswith("ranks 0-6 and 8-39 and rank 7 wait for each other")
    assert found["left_out"] == ["3 streams in which no record can be read"]


def test_with_digests_only_the_streams_that_differ_are_opened(jobs: dict[bool, Path], tmp_path: Path) -> None:
    folder = tmp_path / "job"
    shutil.copytree(jobs[True], folder)
    for rank in set(range(RANKS)) - {0, 7}:
        (stream,) = folder.glob(f"{names.STREAM_PREFIX}rank_{rank}_*")
        stream.write_bytes(b"\0" * stream.stat().st_size)
    assert document("ranks", folder)["differences"] == document("ranks", jobs[True])["differences"]


@pytest.mark.parametrize("name", ["ranks_in_another_order", "ranks_that_recompile"])
def test_it_says_what_reading_all_says(name: str) -> None:
    whole, represented = read(stored(name), _CONTENTS), read_ranks(stored(name), _CONTENTS, few=0)
    assert compare_ranks(represented) == compare_ranks(whole)


def test_a_digest_that_is_behind_its_stream_is_brought_up_to_date(tmp_path: Path) -> None:
    (stream,) = stored("ranks_that_recompile").glob(f"{names.STREAM_PREFIX}rank_1_*")
    whole = digest_by_reading(stream).digest
    assert whole is not None and whole.orders["recompiles"].count == 1
    copied = tmp_path / f"{names.STREAM_PREFIX}rank_1_1_0.log"
    content = stream.read_bytes()
    middle = content.index(b"\nV", len(content) // 2) + 1
    copied.write_bytes(content[:middle])
    behind = digest_by_reading(copied).digest
    assert behind is not None and behind.key() != whole.key()
    (tmp_path / f"{names.DIGEST_PREFIX}rank_1_1_0.json").write_text(behind.to_json())
    copied.write_bytes(content)
    (found,) = digests_of([copied], lambda done, total: None)
    assert found.digest is not None and found.digest.key() == whole.key()
    assert found.from_records == len(content) - middle


def test_a_damaged_digest_is_made_anew(jobs: dict[bool, Path], tmp_path: Path) -> None:
    folder = tmp_path / "job"
    shutil.copytree(jobs[False], folder)
    for number, content in enumerate([b"", b"{", b"[" * 9999, json.dumps({"format": "x"}).encode()]):
        (stream,) = folder.glob(f"{names.STREAM_PREFIX}rank_{number}_*.log")
        digest = stream.name.replace(names.STREAM_PREFIX, names.DIGEST_PREFIX).replace(".log", ".json")
        (folder / digest).write_bytes(content)
    assert document("ranks", folder)["rows"] == document("ranks", jobs[False])["rows"]


def test_a_rank_that_another_would_stand_for_can_be_selected(jobs: dict[bool, Path]) -> None:
    assert [row["ranks"] for row in document("ranks", jobs[False], "--rank", "5")["rows"]] == [[5]]


def test_the_page_of_many(jobs: dict[bool, Path]) -> None:
    page = answer("ranks", jobs[True]).stdout
    assert "0-6 and 8-39" in page and "Left out: 3 streams" in page


def _running_since(folder: Path, rank: int, change: Callable[[int], int]) -> None:
    """Change since when a rank is inside of the graph that it calls."""
    (calls,) = folder.glob(f"{names.CALLS_PREFIX}rank_{rank}_*")
    words = list(struct.unpack(f"={calls.stat().st_size // 8}q", calls.read_bytes()))
    page = next(at for at in range(PAGE_WORDS, len(words), PAGE_WORDS) if words[at + RUNNING_SINCE] > 0)
    words[page + RUNNING_SINCE] = change(words[page + RUNNING_SINCE])
    calls.write_bytes(struct.pack(f"={len(words)}q", *words))


def test_what_is_a_ranks_own_is_its_own_though_another_stands_for_it(
    jobs: dict[bool, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "job"
    shutil.copytree(jobs[True], folder)
    (digest,) = folder.glob(f"{names.DIGEST_PREFIX}rank_3_*")
    digest.write_text(re.sub(r'"compile_seconds": [^,]+', '"compile_seconds": 9000.5', digest.read_text()))
    _running_since(folder, 4, lambda since: since - 7_000_000_000)
    before, found = document("ranks", jobs[True]), document("ranks", folder)
    assert found["rows"][0]["most_compile_seconds"] == 9000.5
    assert found["waits"][0]["since_ns"] == before["waits"][0]["since_ns"] - 7_000_000_000


def test_a_rank_that_is_inside_of_nothing_is_not_alike(jobs: dict[bool, Path], tmp_path: Path) -> None:
    folder = tmp_path / "job"
    shutil.copytree(jobs[False], folder)
    _running_since(folder, 5, lambda since: 0)
    waits = document("ranks", folder)["waits"]
    assert [wait["ranks"] for wait in waits] == [[each for each in range(RANKS) if each not in (5, 7)], [7]]
