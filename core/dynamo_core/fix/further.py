"""What is tried where no remedy of a finding cures it: to leave the line, or its function, to Python."""

from ..analysis.source_lines import without_comment
from ..findings import Finding, Remedy
from ..remedies.rules import Change

# Kinds of findings for which the line can be left to Python.
_SPLITTABLE = "graph break", "fell back to eager"
LEFT_TO_PYTHON = {
    "compiled around it": "compile what stands before `{line}` and after it as functions of their own, and "
    "leave the line itself to Python.",
    "compiled around its function": "leave what the compiled function calls for `{line}` to Python, and "
    "compile what stands before that call and after it as functions of their own.",
}


def further_remedies(finding: Finding) -> tuple[Remedy, ...]:
    """What to try where no remedy of the finding cures it: leave the line, or its function, to Python.

    Torch does much the same where a graph breaks.
    """
    if finding.kind not in _SPLITTABLE:
        return ()
    line = without_comment(finding.source)
    return tuple(
        Remedy(
            "edit",
            text.format(line=line),
            "dynamo breaks",
            change=Change(edit=edit),
            may_change="it stays outside of the graphs; what is saved is Dynamo's own work around a break",
        )
        for edit, text in LEFT_TO_PYTHON.items()
    )
