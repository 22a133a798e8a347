"""What a process recorded about its compiles."""

from dataclasses import replace

from dynamo_core.analysis.compile_records import CompileRecords
from support.made import of_one_process
from support.made_findings import recompile


def test_a_compile_took_what_that_of_its_backward_graph_took_as_well() -> None:
    first, again, untimed = recompile(0, 2.0), recompile(1, 3.0), replace(recompile(2), seconds=None)
    backward = replace(recompile(1, 1.5), is_forward=False)
    (process,) = of_one_process(compiles=[first, again, backward, untimed]).processes
    records = CompileRecords(process)
    assert [records.seconds(each) for each in (first, again, untimed)] == [2.0, 4.5, None]
    assert records.seconds_of([first, again, untimed]) == 6.5
