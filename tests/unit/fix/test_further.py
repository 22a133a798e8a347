"""What is tried where no remedy of a finding cures it."""

from dataclasses import replace

from dynamo_core.findings import Cost, Evidence, Finding
from dynamo_core.fix.edits import EDITS
from dynamo_core.fix.further import LEFT_TO_PYTHON, further_remedies
from dynamo_core.model import Place

BREAK = Finding(
    kind="graph break",
    identity="graph-break-0123456789ab",
    title="graph break at a.py:3",
    cause="",
    effect="",
    place=Place("/home/me/a.py", 3),
    function="f",
    source="seen.append(x)  # all",
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(times=1),
    remedies=(),
    processes=(),
)


def edits_for(finding: Finding) -> list[str | None]:
    return [None if each.change is None else each.change.edit for each in further_remedies(finding)]


def test_what_a_frame_that_runs_eager_calls_is_compiled_by_itself() -> None:
    """Torch compiles it then; at a break, it is part of a larger graph."""
    eager = replace(BREAK, kind="fell back to eager")
    assert edits_for(BREAK) == ["compiled around it", "compiled around its function"]
    assert edits_for(eager) == ["compiled around it", "compiled around its function, and what that calls"]
    assert edits_for(replace(BREAK, kind="recompile")) == []
    assert edits_for(replace(BREAK, source="")) == []  # torch names no line
    assert "`seen.append(x)`" in further_remedies(eager)[1].text


def test_each_is_an_edit() -> None:
    assert LEFT_TO_PYTHON.keys() <= EDITS.keys()
