"""What is tried where no remedy of a finding cures it: to leave the line, or its function, to Python."""

from ..analysis.source_lines import without_comment
from ..findings import Finding, Remedy
from ..remedies.rules import Change

LEFT_TO_PYTHON = {
    "compiled around it": "compile what stands before `{line}` and after it as functions of their own, and "
    "leave the line itself to Python.",
    "compiled around its function": "leave what the compiled function calls for `{line}` to Python, and "
    "compile what stands before that call and after it as functions of their own.",
    "compiled around its function, and what that calls": "leave what the compiled function calls for "
    "`{line}` to Python; compile what stands before that call and after it, and the functions that it calls, "
    "by themselves.",
}
# Where a function runs eager, torch compiles what it calls: so it stays. Else that is part of a larger graph.
_OF_KIND = {
    "graph break": ("compiled around it", "compiled around its function"),
    "fell back to eager": ("compiled around it", "compiled around its function, and what that calls"),
}


def further_remedies(finding: Finding) -> tuple[Remedy, ...]:
    """What to try where no remedy of the finding cures it: leave the line, or its function, to Python.

    Torch does much the same where a graph breaks.
    """
    line = without_comment(finding.source)
    if not line:
        return ()
    return tuple(
        Remedy(
            "edit",
            LEFT_TO_PYTHON[edit].format(line=line),
            "dynamo breaks",
            change=Change(edit=edit),
            may_change="it stays outside of the graphs; what is saved is Dynamo's own work around a break",
        )
        for edit in _OF_KIND.get(finding.kind, ())
    )
