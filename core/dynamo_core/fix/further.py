"""What `dynamo fix` tries of itself, when no remedy of a finding cures it."""

from ..analysis.findings import Finding, Remedy
from ..analysis.remedies.advice import Change

_LEFT_OUT = "graph break", "fell back to eager"


def further_remedies(finding: Finding) -> tuple[Remedy, ...]:
    """Leave the line to Python, and compile what is around it: much as torch does where a graph breaks."""
    if finding.kind not in _LEFT_OUT:
        return ()
    text = (
        f"compile what stands before `{finding.source}` and after it as functions of their own, and leave "
        "the line itself to Python."
    )
    return (
        Remedy(
            "edit",
            text,
            "dynamo breaks",
            change=Change(edit="compiled around it"),
            may_change="it stays outside of the graphs; what is saved is Dynamo's own work around a break",
        ),
    )
