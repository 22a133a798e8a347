"""What the other line of a finding is, in the same words on every surface."""

from ..words import place
from .finding import Finding, Kind

_OF_A_CALL: tuple[Kind, ...] = ("recompile", "recompile limit", "compiled anew")


def via_line(finding: Finding) -> str:
    """Where it is in a library that the user's line calls, or whose call brought it about; "" without one."""
    if finding.via is None:
        return ""
    what = "called from" if finding.kind in _OF_A_CALL else "in the library at"
    return f"{what} {place(finding.via.place)}: {finding.via.text}".removesuffix(": ")
