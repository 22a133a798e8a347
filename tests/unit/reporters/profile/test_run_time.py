"""The page of the graphs' run time: its columns, which of many are shown, and what is said of a sample."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.case import Case
from dynamo_core.model import CallTimes, CompileId, Graph, Place, Process, ProcessInfo, Recording
from dynamo_reporters.page.blocks import Block, Heading, Paragraph, Table
from dynamo_reporters.profile.run_time import run_time_blocks
from support.made import called, of_one_process
from support.made_findings import times as calls_of

AT = Place("/home/me/train.py", 3)
TIMES = replace(called([1.0, 2.0, 3.0], 0.5), seconds=1.5)


def graph(number: int, times: CallTimes | None = TIMES, backward: CallTimes | None = None) -> Graph:
    return Graph(
        *(number, CompileId(0, number), 0, None, "eager", 3),
        frame_name="f",
        frame_place=AT,
        is_compiled=True,
        times=times,
        backward=backward,
    )


def blocks(*graphs: Graph, show_all: bool = False) -> list[Block]:
    return [*run_time_blocks(Case(of_one_process(graphs=[*graphs])), show_all)]


def tables(found: Sequence[Block]) -> list[Table]:
    return [each for each in found if isinstance(each, Table)]


def headings(found: Sequence[Block]) -> list[str]:
    return [each.text for each in found if isinstance(each, Heading)]


def texts(found: Sequence[Block]) -> str:
    return "\n".join(each.text for each in found if isinstance(each, Paragraph))


def test_a_row_has_the_first_call_and_the_mean_of_the_others() -> None:
    times = replace(called([1.0, 2.0, 3.0], 0.1), seconds=1.1)
    found = blocks(graph(1, times))
    (rows,) = tables(found)
    assert [*map(list, rows.rows)] == [
        [
            "f (/home/me/train.py:3)",
            "1 [0/1]",
            "3",
            "1.10 s",
            "100.0%",
            "100 ms",
            "500 ms",
            "100 ms",
            "100 ms",
        ]
    ]
    assert headings(found)[0] == "Run time of the graphs: 1.10 s in 3 calls"
    once = tables(blocks(graph(1, called([1.0], 0.1))))[0].rows[0]
    assert list(once[5:7]) == ["100 ms", ""]


def test_a_backward_has_a_row_of_its_own_below_its_graphs_where_it_was_called() -> None:
    (rows,) = tables(blocks(graph(1, TIMES, called([1.0], 0.25))))
    assert [list(row[:5]) for row in rows.rows] == [
        ["f (/home/me/train.py:3)", "1 [0/1]", "3", "1.50 s", "100.0%"],
        ["", "  backward", "1", "250 ms", ""],
    ]
    (rows,) = tables(blocks(graph(1, TIMES, called([]))))
    assert len(rows.rows) == 1


@pytest.mark.parametrize("backward", [False, True])
def test_time_on_the_gpu_has_a_column_where_any_call_was_timed_there(backward: bool) -> None:
    timed = replace(TIMES, device_seconds=0.25, device_samples=2)
    first = graph(1, TIMES, timed) if backward else graph(1, timed)
    found = blocks(first, graph(2))
    (rows,) = tables(found)
    assert rows.columns[-1].name == "on the GPU"
    assert [row[-1] for row in rows.rows] == (
        ["not recorded", "250 ms", "not recorded"] if backward else ["250 ms", "not recorded"]
    )
    assert "p50 and p99 to within 6 %; on the GPU: on its stream, the mean of a sample." in texts(found)
    without = blocks(graph(2))
    assert tables(without)[0].columns[-1].name == "p99"
    assert "p50 and p99 to within 6 %." in texts(without)


def test_a_sample_is_said_to_be_one_where_calls_were_only_counted() -> None:
    counted = replace(TIMES, untimed=1)
    for found in (
        blocks(graph(1, counted)),
        blocks(graph(1, TIMES, counted)),
        blocks(graph(2), graph(1, counted)),
    ):
        assert "Sampled: of a graph whose calls take less than 20 µs" in texts(found)
    assert tables(blocks(graph(1, counted)))[0].rows[0][3] == "1.50 s (sampled)"
    assert "Sampled" not in texts(blocks(graph(1), graph(2, TIMES, TIMES)))


def test_of_many_graphs_the_five_that_took_the_most_are_shown() -> None:
    graphs = [graph(number, replace(TIMES, seconds=float(number))) for number in range(1, 8)]
    found = blocks(*graphs)
    assert [row[1] for row in tables(found)[0].rows] == [f"{n} [0/{n}]" for n in (7, 6, 5, 4, 3)]
    assert "… and 2 more graphs: --all." in texts(found)
    assert "… and 1 more graph: --all." in texts(blocks(*graphs[:6]))
    assert "more" not in texts(blocks(*graphs[:5]))
    whole = blocks(*graphs, show_all=True)
    assert len(tables(whole)[0].rows) == 7 and "--all" not in texts(whole)
    assert headings(found)[0] == headings(whole)[0] == "Run time of the graphs: 28.00 s in 21 calls"


def test_guards_are_shown_by_what_they_took_in_all() -> None:
    cheap = graph(1, replace(TIMES, guard_seconds=0.01))
    often = graph(2, replace(calls_of(1200, 0.5), guard_seconds=0.005))
    unknown = graph(3)
    found = blocks(cheap, often, unknown)
    _, guards = tables(found)
    assert [*map(list, guards.rows)] == [
        ["[0/2]", "f", "1,200", "5 ms", "6.00 s", "1%"],
        ["[0/1]", "f", "3", "10 ms", "30 ms", "2%"],
    ]
    assert headings(found)[1] == "Guards: about 6.03 s, from a sample of evaluations"
    assert headings(blocks(unknown))[1] == "Guards: what evaluating them takes was not recorded"


def test_of_many_guards_five_are_shown_and_the_rest_is_counted_as_cache_entries() -> None:
    graphs = [graph(number, replace(TIMES, guard_seconds=0.01 * number)) for number in range(1, 8)]
    found = blocks(*graphs)
    assert [row[0] for row in tables(found)[1].rows] == [f"[0/{n}]" for n in (7, 6, 5, 4, 3)]
    assert "… and 2 more cache entries: --all." in texts(found)
    assert "… and 1 more cache entry: --all." in texts(blocks(*graphs[:6]))
    assert len(tables(blocks(*graphs, show_all=True))[1].rows) == 7


def test_rows_of_several_processes_are_told_apart() -> None:
    processes = [
        Process(
            Path(f"{pid}.log"),
            info=ProcessInfo(pid=pid),
            graphs=[graph(1, replace(TIMES, guard_seconds=0.01))],
        )
        for pid in (1, 2)
    ]
    found = [*run_time_blocks(Case(Recording(Path("r"), None, processes, 2, [])), False)]
    graphs, guards = tables(found)
    assert [row[1] for row in graphs.rows] == ["1 [0/1] of process 1", "1 [0/1] of process 2"]
    assert [row[4] for row in graphs.rows] == ["50.0%", "50.0%"]
    assert [row[0] for row in guards.rows] == ["[0/1] of process 1", "[0/1] of process 2"]


def test_where_nothing_was_called_it_is_said_whether_that_is_known() -> None:
    assert headings(blocks(graph(1, None))) == ["Run time of the graphs: not recorded"]
    assert headings(blocks(graph(1, called([])))) == ["Run time of the graphs: none was called"]
    running = replace(called([]), running_since_ns=5)
    assert headings(blocks(graph(1, running))) == ["Run time of the graphs: the first call has not returned"]
