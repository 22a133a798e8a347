"""`dynamo ranks`, and what other reports say of ranks, on stored recordings of two."""

import re
import shutil
import time
from pathlib import Path

import pytest

from dynamo_core.shared.names import PROCESS_START
from support.answering import answer
from support.documents import document
from support.stored import edited, stored


def test_the_first_collective_that_is_not_the_same_is_named_with_both_lines() -> None:
    found = document("ranks", stored("ranks_in_another_order"))
    first = found["differences"][0]
    assert first["subject"] == "collectives"
    assert [(side["ranks"], side["what"], side["place"]["line"]) for side in first["sides"]] == [
        ([0], "all_reduce of float32[8]", 24),
        ([1], "all_gather_into_tensor of float32[16]", 27),
    ]
    assert [wait["ranks"] for wait in found["waits"]] == [[0], [1]]
    assert found["waiting"] == [
        "rank 0 and rank 1 wait for each other: the 1st collective of the graph in which they are is "
        "all_reduce of float32[8] on rank 0, and "
        "all_gather_into_tensor of float32[16] on rank 1"
    ]
    assert not any("collectives" in text for text in found["compared"])


def test_the_page_says_once_who_waits_and_what_may_only_follow() -> None:
    page = answer("ranks", stored("ranks_in_another_order")).stdout
    assert page.count("wait for each other") == 1
    first, second = page.index("The 1st collective of group 0"), page.index("The 1st op of graph 2")
    assert first < page.index("Other differences, which may follow from that") < second
    one = answer("ranks", stored("ranks_that_recompile")).stdout
    assert "\nWhat was compared\n" in one and "may follow" in one


def test_explain_has_it_as_its_first_finding() -> None:
    path = stored("ranks_in_another_order")
    finding = document("explain", path)["findings"][0]
    assert finding["kind"] == "ranks differ"
    assert finding["place"]["line"] == 24
    page = answer("explain", "--all", path).stdout
    assert "rank 0: all_reduce of float32[8] at" in page and "rank 1: all_gather_into_tensor of" in page


def test_a_rank_that_was_given_another_shape_is_told_by_its_recompile_first() -> None:
    found = document("ranks", stored("ranks_that_recompile"))
    assert [each["subject"] for each in found["differences"]] == ["recompiles", "graphs"]
    nothing, recompile = found["differences"][0]["sides"]
    assert (nothing["ranks"], nothing["what"]) == ([0], "nothing more was recorded")
    assert recompile["ranks"] == [1] and "size mismatch at index 0" in recompile["what"]
    (frame,) = document("recompiles", stored("ranks_that_recompile"))["frames"]
    assert recompile["place"] == frame["recompiles"][0]["failures"][0]["place"] != frame["place"]
    assert "the order and sizes of the collectives in graphs" in found["compared"]
    assert document("explain", stored("ranks_that_recompile"))["findings"][0]["kind"] != "ranks differ"
    assert {row["state"] for row in found["rows"]} == {"ended"}


def test_one_process_has_nothing_to_compare() -> None:
    page = answer("ranks", stored("toy"))
    assert page.exit_code == 0 and "there is nothing to compare" in page.stdout


def test_a_folder_that_is_no_recording_is_one_line(tmp_path: Path) -> None:
    result = answer("ranks", tmp_path)
    assert result.exit_code != 0 and result.stderr.count("\n") == 1


def test_a_time_of_day_says_in_which_zone_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert re.search(
            r"since \d\d:\d\d:\d\d IST, at", answer("ranks", stored("ranks_in_another_order")).stdout
        )
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_launcher_that_compiled_nothing_is_not_counted_beside_the_ranks(tmp_path: Path) -> None:
    assert "  ranks 2, frames traced 3," in answer("explain", stored("ranks_that_recompile")).stdout
    assert "  processes 4, frames" in answer("explain", _attempts(tmp_path)).stdout


def _attempts(folder: Path) -> Path:
    """Two ranks that were both started again; their first attempt is that of `ranks_in_another_order`."""
    both = folder / "both"
    both.mkdir()
    for restart, name in enumerate(("ranks_in_another_order", "ranks_that_recompile")):

        def edit(head: str, payload: str, of: int = restart) -> str:
            if PROCESS_START not in head:
                return payload
            return payload.replace('"pid": ', f'"job": "j", "attempt": [0, {of}], "pid": ', 1)

        for file in edited(name, folder, edit).glob("*rank_*"):
            shutil.copy(file, both)
    return both


def test_an_earlier_attempt_is_named_and_can_be_asked_for(tmp_path: Path) -> None:
    folder = _attempts(tmp_path)
    last = document("ranks", folder)
    assert last["left_out"] == ["an earlier attempt at the job (restart 0, 2 processes)"]
    assert [each["subject"] for each in last["differences"]] == ["recompiles", "graphs"]
    first = document("ranks", folder, "--restart", "0")
    assert first["left_out"] == [] and first["differences"][0]["subject"] == "collectives"
    assert "The counts below are of several launches" in answer("explain", "--all", folder).stdout
    wrong = answer("ranks", folder, "--restart", "7")
    assert wrong.exit_code == 119 and "no restart 7" in wrong.stderr and "it has 0, 1" in wrong.stderr
