"""Dumps of torch's flight recorder: which call of a collective, in a graph or not, differs between ranks."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.ranks import Difference
from dynamo_core.analysis.ranks.collectives import flight_recorder_differences
from dynamo_core.model import CalledCollective, Place
from dynamo_core.recording.ranks import flight_recorder_dumps

LIBRARY = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"


def call(
    number: int, name: str = "all_reduce", value: str = "float[4]", group: str = "0"
) -> CalledCollective:
    return CalledCollective(group, number, name, value, Place("/home/user/train.py", number), is_done=True)


def difference(*ranks: list[CalledCollective]) -> Difference | None:
    return next(flight_recorder_differences({rank: tuple(calls) for rank, calls in enumerate(ranks)}), None)


def test_the_first_call_that_differs_is_named_with_each_line() -> None:
    found = difference([call(1), call(2)], [call(1), call(2, "broadcast")], [call(1), call(2)])
    assert (
        found is not None and found.title == "call 2 of a collective of group 0 is not the same on all ranks"
    )
    assert [(side.ranks, side.what) for side in found.sides] == [
        ((0, 2), "all_reduce of float[4]"),
        ((1,), "broadcast of float[4]"),
    ]
    assert found.sides[0].place == Place("/home/user/train.py", 2)


def test_a_rank_that_has_not_called_is_named() -> None:
    found = difference([call(1), call(2)], [call(1)])
    assert found is not None and found.sides[1].what.startswith("did not call it")


@pytest.mark.parametrize(
    "ranks",
    [
        ([call(1), call(2)], [call(1), call(2)]),
        ([call(3), call(4)], [call(1), call(2), call(3), call(4)]),  # one dump goes back further
        ([call(1, "all_to_all", "float[4]")], [call(1, "all_to_all", "float[9]")]),
        ([call(1, group="1")], [call(1, "broadcast", group="2")]),
    ],
)
def test_what_may_be_so_is_no_difference(ranks: tuple[list[CalledCollective], ...]) -> None:
    assert difference(*ranks) is None


def test_sizes_that_have_to_be_the_same_are_compared() -> None:
    assert difference([call(1, value="float[4]")], [call(1, value="float[8]")]) is not None


def entry(**fields: Any) -> dict[str, Any]:
    frames = [{"filename": LIBRARY, "line": 9}, {"filename": "/home/user/train.py", "line": 14}]
    usual = {"frames": frames, "process_group": ["0", "default_pg"], "collective_seq_id": 4, "is_p2p": False}
    usual |= {"profiling_name": "gloo:all_reduce", "input_sizes": [[8, 2]], "input_dtypes": ["Float"]}
    return usual | {"state": "scheduled", "retired": False} | fields


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_dump_is_read_as_pickle_or_as_json(form: str, tmp_path: Path) -> None:
    content = {"version": "2.10", "entries": [entry(), entry(is_p2p=True), entry(state="completed")]}
    data = json.dumps(content).encode() if form == "json" else pickle.dumps(content, 2)
    (tmp_path / "nccl_trace_rank_12").write_bytes(data)
    found, problems = flight_recorder_dumps(tmp_path)
    place = Place("/home/user/train.py", 14)
    assert problems == []
    assert found == {
        12: tuple(
            CalledCollective("0", 4, "all_reduce", "float[8, 2]", place, is_done) for is_done in (False, True)
        )
    }


class Strangers:
    """What a pickle of a stranger may hold."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("/tmp/dynamo_was_here",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps({"entries": [Strangers()]}, 2),
        b"",
        b"\x80\x02",
        b"{",
        b"[" * 100_000,
        pickle.dumps({"entries": 3}),
        pickle.dumps({"entries": [3]}),
        pickle.dumps({"entries": [entry(input_sizes=[["x"]])]}),
    ],
)
def test_a_dump_that_cannot_be_read_is_named_and_runs_nothing(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "nccl_trace_rank_0").write_bytes(data)
    found, problems = flight_recorder_dumps(tmp_path)
    assert found == {} and not Path("/tmp/dynamo_was_here").exists()
    assert len(problems) == 1 and problems[0].startswith(
        "nccl_trace_rank_0, a flight recorder's dump, cannot"
    )


def test_other_files_are_no_dumps(tmp_path: Path) -> None:
    for name in ("dynamo_calls_1_2_0.bin", "dedicated_log_torch_trace_rank_0_1_2_0.log", "notes_1.txt"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "link_0").symlink_to("/etc/passwd")
    found, problems = flight_recorder_dumps(tmp_path)
    assert found == {} and all("link_0" in problem for problem in problems)
