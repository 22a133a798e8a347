"""The rows of `dynamo recompiles`: which line stands for one, which entries are shown, what is said."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.case import Case
from dynamo_core.model import (
    CompileId,
    Frame,
    Graph,
    GuardFailure,
    Place,
    Process,
    ProcessInfo,
    RecompileReasons,
    Recording,
    Run,
    Symbol,
)
from dynamo_reporters.page.blocks import Block, Heading, Paragraph, Table
from dynamo_reporters.recompiles import recompile_blocks, report
from dynamo_reporters.report import Detail
from support.made import FIRST, S, called, compiled, of_one_process
from support.made_findings import failure

OWN = Place("/home/me/train.py", 4)
LIBRARY = Place("/usr/lib/python3.12/site-packages/transformers/model.py", 70)
AT_THE_FUNCTION = "/home/me/train.py:3"  # where `compiled` says that the function begins
LIMIT = "hit the recompile_limit"


def at(place: Place | None, text: str = "y = x * 2", entry: int = 0) -> GuardFailure:
    """A size of x that was 4 and came as 5, whose guard is on this line."""
    known = replace(failure(), entry=CompileId(0, entry))
    return known if place is None else replace(known, place=place, user_code=text)


def again(*told: Sequence[GuardFailure], **fields: object) -> Recording:
    """The function was compiled again for each of these: the entries that failed, the newest first."""
    compiles = [compiled(number) for number in range(len(told) + 1)]
    compiles[1:] = [replace(each, recompile_reason="torch's reason\nand more") for each in compiles[1:]]
    reasons = [RecompileReasons(CompileId(0, n), tuple(each)) for n, each in enumerate(told, 1) if each]
    return of_one_process(**{"compiles": compiles, "recompile_reasons": reasons, **fields})


def blocks_of(known: Recording, *, show_all: bool = False) -> list[Block]:
    return [*report(show_all=show_all).page(Case(known))]


def table_of(known: Recording, *, show_all: bool = False) -> Table:
    (found,) = (each for each in blocks_of(known, show_all=show_all) if isinstance(each, Table))
    return found


def column(known: Recording, name: str, *, show_all: bool = False) -> list[str]:
    found = table_of(known, show_all=show_all)
    position = [each.name for each in found.columns].index(name)
    return [row[position] for row in found.rows]


def headings(known: Recording) -> list[str]:
    return [each.text for each in blocks_of(known) if isinstance(each, Heading)]


def paragraphs(known: Recording) -> str:
    return "\n".join(each.text for each in blocks_of(known) if isinstance(each, Paragraph))


def test_the_guards_own_line_is_shown_where_it_is_the_programs() -> None:
    assert column(again([at(OWN)]), "line") == ["/home/me/train.py:4 y = x * 2"]


CUT_SHORT_BY_TORCH = Place("nn/modules/sparse.py", 189)


@pytest.mark.parametrize("place", [LIBRARY, CUT_SHORT_BY_TORCH, None])
def test_the_programs_own_line_stands_for_a_librarys_and_for_one_that_is_not_known(
    place: Place | None,
) -> None:
    (line,) = column(again([at(place, "self.scale(x)")]), "line")
    assert line.startswith(AT_THE_FUNCTION)
    assert "scale" not in line


def test_a_line_of_the_functions_own_file_is_the_programs_though_torch_has_cut_its_name_short() -> None:
    assert column(again([at(Place("moved/train.py", 4))]), "line") == ["moved/train.py:4 y = x * 2"]


def test_a_line_is_written_once_above_the_recompiles_that_follow_each_other_on_it() -> None:
    other = OWN._replace(line=9)
    known = again([at(OWN)], [at(OWN)], [at(other, "z = x")], [at(OWN)])
    first, last = "/home/me/train.py:4 y = x * 2", "/home/me/train.py:9 z = x"
    assert column(known, "line") == [first, "", last, first]
    line, *others = table_of(known).columns
    assert line.is_above
    assert not any(each.is_above for each in others)


def test_only_the_nearest_entry_is_shown_and_the_others_are_counted() -> None:
    fewer = replace(at(OWN, entry=1), kind="length", dimension=None)
    known = again([fewer, at(OWN)])
    assert column(known, "what differed") == ["size of x at dimension 0"]
    assert "Other entries failed too (1 check): --all shows them." in paragraphs(known)
    twice = again([fewer, at(OWN)], [fewer, at(OWN), at(OWN)])
    assert "(3 checks)" in paragraphs(twice)


def test_all_entries_are_shown_in_torchs_order_if_asked() -> None:
    fewer = replace(at(OWN, entry=1), kind="length", dimension=None)
    known = again([fewer, at(OWN)])
    assert column(known, "what differed", show_all=True) == ["length of x", "size of x at dimension 0"]
    assert column(known, "entry", show_all=True) == ["[0/1]", "[0/0]"]
    shown = [each.text for each in blocks_of(known, show_all=True) if isinstance(each, Paragraph)]
    assert not any("--all" in text for text in shown)
    assert "--all" not in paragraphs(again([at(OWN)])), "there is no other"


def test_a_recompile_whose_failed_guards_were_not_recorded_has_the_first_line_of_torchs_reason() -> None:
    known = again([])
    assert column(known, "what differed") == ["torch's reason"]
    assert column(known, "entry") == [""]
    assert column(known, "expected") == column(known, "got") == ["not recorded"]


def test_values_that_torch_does_not_say_are_not_recorded() -> None:
    unsaid = replace(at(OWN), kind="identity", dimension=None, expected=None, actual=None)
    assert column(again([unsaid]), "expected") == column(again([unsaid]), "got") == ["not recorded"]
    assert column(again([at(OWN)]), "expected") == ["4"]
    assert column(again([at(OWN)]), "got") == ["5"]


def test_how_often_it_served_is_the_calls_of_what_was_made_and_empty_where_torch_refused() -> None:
    graph = Graph(1, CompileId(0, 1), 0, None, "eager", 1, calls=1200)
    known = again([at(OWN)], [at(OWN)], graphs=[graph])
    assert column(known, "calls") == ["1,200", "not recorded"]
    (process,) = known.processes
    refused = replace(process.compiles[2], fail_reason=LIMIT)
    process = replace(process, compiles=[*process.compiles[:2], refused])
    limited = replace(known, processes=[process])
    assert column(limited, "calls") == ["1,200", ""]
    assert "torch refused [0/2], at its recompile limit" in paragraphs(limited)
    assert headings(limited)[0] == "2 recompiles of 1 frame; 1 frame hit the recompile limit"
    assert headings(known)[0] == "2 recompiles of 1 frame"
    assert "refused" not in paragraphs(known)


def test_the_heading_of_a_frame_has_its_recompiles_and_what_they_took() -> None:
    assert headings(again([at(OWN)], [at(OWN)]))[1] == "f (/home/me/train.py:3): 2 recompiles, 2.00 s"
    assert headings(again([at(OWN)]))[:2] == [
        "1 recompile of 1 frame",
        "f (/home/me/train.py:3): 1 recompile, 1.00 s",
    ]


def test_the_process_is_named_where_there_are_several() -> None:
    (process,) = again([at(OWN)]).processes
    other = Process(Path("t.log"), info=ProcessInfo(pid=2), torch_version="2.13.0")
    several = Recording(Path("rec"), Run(exit_code=0), [process, other], 2, [])
    assert headings(several)[1].startswith("f (/home/me/train.py:3) of process 1: ")


def opened(*sources: str) -> list[Symbol]:
    return [Symbol(CompileId(0, 1), f"s{n}", "5", source, OWN, ()) for n, source in enumerate(sources)]


def test_what_was_made_dynamic_is_named_by_its_plain_name_and_symbol() -> None:
    known = again([at(OWN)], symbols=opened("L['x'].size()[0]"))
    assert "Dynamic in a recompile: x.size()[0] (s0)." in paragraphs(known)
    assert "Dynamic in" not in paragraphs(again([at(OWN)]))


def test_of_much_that_was_made_dynamic_eight_are_named_and_the_rest_is_counted() -> None:
    eight = again([at(OWN)], symbols=opened(*(f"L['n{n}']" for n in range(8))))
    assert "n6 (s6), n7 (s7).\n" in paragraphs(eight) + "\n"
    ten = again([at(OWN)], symbols=opened(*(f"L['n{n}']" for n in range(10))))
    assert "n6 (s6), n7 (s7) and 2 more." in paragraphs(ten)
    assert "n8 (" not in paragraphs(ten)


def test_what_had_changed_besides_is_said_of_the_cause() -> None:
    known = again([at(OWN)], symbols=opened("L['x'].size()[0]", "L['k']"))
    assert "Beside `x`, `k` had changed by then too" in paragraphs(known)
    gone = again([replace(at(OWN), kind="other", source=None)], symbols=opened("L['k']"))
    assert "\n`k` had changed by then too" in paragraphs(gone)
    assert "had changed" not in paragraphs(again([at(OWN)], symbols=opened("L['x'].size()[0]")))


def test_two_values_without_names_are_not_told_beside_each_other() -> None:
    first = replace(at(OWN), kind="value", source="___stack0")
    page = paragraphs(again([first], symbols=opened("L['___stack1']", "L['___stack2']")))
    assert "had changed" not in page
    named = paragraphs(again([first], symbols=opened("L['___stack1']", "L['k']")))
    assert "a value made at the graph break, `k` had changed by then too" in named


def frame_in(number: int, thread: str | None) -> Frame:
    compile_id = CompileId(0, number)
    return Frame(
        "f", OWN, "compiled", None, True, False, compile_id, thread=thread, ended_ns=9 * S, seconds=1.0
    )


def test_each_row_has_its_thread_where_any_recompile_was_in_another_than_the_main_one() -> None:
    known = again([at(OWN)], [at(OWN)], frames=[frame_in(1, None), frame_in(2, "loader")])
    assert column(known, "thread") == ["main", "loader"]


def test_the_moment_is_since_the_program_began_and_among_the_calls_of_the_frame() -> None:
    first = Graph(1, FIRST, 0, None, "eager", 1, times=called(range(1200)))
    info = ProcessInfo(pid=1, began_ns=4 * S)
    known = again([at(OWN)], frames=[frame_in(1, None)], graphs=[first], info=info)
    known = replace(known, run=None)  # whose begin would be the program's
    assert column(known, "at") == ["4.00 s"]
    assert column(known, "call") == ["1,201"]


def test_there_is_no_column_of_threads_where_none_but_the_main_one_is_known() -> None:
    known = again([at(OWN)], [at(OWN)])
    assert [each.name for each in table_of(known).columns] == [
        *("line", "compile", "at", "call", "took", "calls", "entry", "what differed", "expected", "got")
    ]
    assert column(known, "at") == column(known, "call") == ["", ""], "neither was recorded"


def test_as_a_part_of_another_report_a_recompile_is_a_heading_its_reason_and_its_time() -> None:
    one = compiled(1, 2.0, "  0/0: tensor 'x' size mismatch  ")
    heading = Heading("recompile [0/1] f (/home/me/train.py:3)", 3)
    reason = Paragraph("0/0: tensor 'x' size mismatch")
    line = Heading("recompile [0/1] f (/home/me/train.py:3): 0/0: tensor 'x' size mismatch", 3)
    assert recompile_blocks(one, Detail.LESS) == [line]
    with_line = replace(one, recompile_reason="0/0: tensor 'x' size mismatch      # y = x  # a.py:9 in g")
    assert recompile_blocks(with_line, Detail.LESS) == [line]
    assert recompile_blocks(one, Detail.MORE) == [heading, reason, Paragraph("it took 2.00 s", "dim")]
    assert recompile_blocks(one, Detail.NORMAL) == [heading, reason]
    assert recompile_blocks(replace(one, recompile_reason=None), Detail.NORMAL) == []
