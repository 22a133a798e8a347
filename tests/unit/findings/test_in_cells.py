"""What is advised for a line of a notebook's cell can be done in a cell."""

from dynamo_core.case import Case
from dynamo_core.model import BreakExplanation, CompileId, GraphBreak, Place, StackFrame
from dynamo_reporters.breaks import report
from dynamo_reporters.page.console import plain_text
from support.made import of_one_process

ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"


def case(file: str) -> Case:
    """The case of a program that takes values out of tensors on two lines of this file."""
    lines = [StackFrame(Place(file, line), "f", f"y = x[{line}].item()") for line in (3, 4)]
    breaks = [
        GraphBreak(ITEM, (line,), CompileId(0, 0), BreakExplanation(line.place, ITEM, "No item.", (), None))
        for line in lines
    ]
    return Case(of_one_process(breaks=breaks))


def test_a_cell_is_given_a_setting_and_a_file_a_variable() -> None:
    (in_cell,), (in_file,) = case("In[2]").actions, case("/home/me/train.py").actions
    assert in_cell.cures and in_cell.remedy is not None and in_file.remedy is not None
    assert in_cell.remedy.in_short.startswith(
        "run `torch._dynamo.config.capture_scalar_outputs = True` in a cell, before the first call"
    )
    assert in_cell.remedy.kind == "setting"
    assert in_file.remedy.in_short == "set `TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1`"


def test_the_findings_of_a_cell_say_what_its_action_says() -> None:
    one = case("In[2]")
    assert {each.remedies[0] for each in one.findings} == {one.actions[0].remedy}


def test_the_report_of_breaks_says_it_as_well() -> None:
    in_cell, in_file = (plain_text(report().page(case(file))) for file in ("In[2]", "/home/me/train.py"))
    assert "run `torch._dynamo.config.capture_scalar_outputs = True` in a cell" in in_cell
    assert "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS=1" in in_file and "in a cell" not in in_file
