"""The selectors keep what belongs to a frame, a compile, a graph, a file or a rank, and nothing else."""

from pathlib import Path

import pytest

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.model import (
    Bytecode,
    Compile,
    CompileId,
    Frame,
    Graph,
    Place,
    Process,
    ProcessInfo,
    Recording,
)
from dynamo_core.shared.errors import NothingSelected

MAIN = Place("/home/user/model/main.py", 3)
OTHER = Place("/home/user/other.py", 9)
FRAMES = {
    CompileId(0, 0): ("forward", MAIN),
    CompileId(0, 1): ("forward", MAIN),
    CompileId(1, 0): ("torch_dynamo_resume_in_forward_at_8", MAIN),
    CompileId(2, 0): ("loss", OTHER),
}


def recording() -> Recording:
    processes = [Process(Path(f"stream_{rank}"), rank=rank, info=ProcessInfo(pid=rank)) for rank in range(2)]
    for process in processes:
        for number, (compile_id, (name, place)) in enumerate(FRAMES.items(), 1):
            process.graphs.append(
                Graph(
                    number, compile_id, 0, None, None, 1, frame_name=name, frame_place=place, is_compiled=True
                )
            )
            process.frames.append(Frame(name, place, "compiled", None, True, False, compile_id))
            process.compiles.append(
                Compile(compile_id, name, place, 1.0, True, 1, 1, None, None, None, {}, None, None)
            )
            process.bytecodes.append(Bytecode(compile_id, name, name, place, "", {}, (), ()))
    return Recording(Path("rec"), None, processes, None, [])


def kept(selection: Selection) -> set[str]:
    part = select(recording(), selection)
    for process in part.processes:
        ids = {str(graph.compile_id) for graph in process.graphs}
        for items in (process.frames, process.compiles, process.bytecodes):
            assert {str(item.compile_id) for item in items} == ids
    return ids


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(frame="forward"), {"0/0", "0/1", "1/0"}),
        (Selection(frame="torch_dynamo_resume_*"), {"1/0"}),
        (Selection(frame="l?ss"), {"2/0"}),
        (Selection(compile_id="0/1"), {"0/1"}),
        (Selection(compile_id="[0/1]"), {"0/1"}),
        (Selection(compile_id="0"), {"0/0", "0/1"}),
        (Selection(graph=3), {"1/0"}),
        (Selection(file="main.py"), {"0/0", "0/1", "1/0"}),
        (Selection(file="model/*.py"), {"0/0", "0/1", "1/0"}),
        (Selection(file="/home/user/other.py"), {"2/0"}),
        (Selection(frame="forward", compile_id="1"), {"1/0"}),
    ],
)
def test_selectors(selection: Selection, expected: set[str]) -> None:
    assert kept(selection) == expected


def test_a_rank_keeps_one_process() -> None:
    part = select(recording(), Selection(rank=1, graph=1))
    assert [(process.rank, len(process.graphs)) for process in part.processes] == [(1, 1)]


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        (
            Selection(frame="nope"),
            "fits --frame nope; frames: forward, torch_dynamo_resume_in_forward_at_8, loss",
        ),
        (Selection(compile_id="7/0"), "compiles: 0/0, 0/1, 1/0, 2/0"),
        (Selection(graph=99), "graphs: 1, 2, 3, 4"),
        (Selection(file="x.py"), "files: /home/user/model/main.py, /home/user/other.py"),
        (Selection(rank=5), "no rank 5 in rec; it has 0, 1"),
    ],
)
def test_what_is_not_there_names_what_is(selection: Selection, told: str) -> None:
    with pytest.raises(NothingSelected) as caught:
        select(recording(), selection)
    assert told in str(caught.value)


def test_a_part_knows_the_whole_that_it_is_of() -> None:
    whole = recording()
    part = select(whole, Selection(rank=1))
    assert part.entire is whole and whole.entire is whole
    smaller = select(part, Selection(frame="loss"))
    assert smaller.entire is whole and [process.rank for process in smaller.processes] == [1]
    assert smaller.processes[0].entire.graphs == whole.processes[1].graphs
    assert whole.processes[1].entire is whole.processes[1]


def test_the_recording_itself_is_left_as_it_is() -> None:
    whole = recording()
    select(whole, Selection(graph=1))
    assert [len(process.graphs) for process in whole.processes] == [4, 4]
