"""Which finding comes first, on every surface: by what fixing it can save, then by how that is known."""

from collections.abc import Iterable

from .finding import Finding, Known

_CERTAINTY: tuple[Known, ...] = ("measured", "sampled", "estimated", "not recorded")
# What computes something else, ends the program or makes it hang.
_NO_QUESTION_OF_TIME = ("wrong result", "compiler error", "ranks differ")
# Where no time was recorded: what keeps whole frames out of graphs, then what cuts graphs, then the rest.
_KEEPS_OUT = ("fell back to eager", "recompile limit", "left eager by a limit")
_UNTIMED = (*_KEEPS_OUT, "graph break", "recompile")
# True of a run more than of the program: shorter or colder, it is another figure.
_OF_THE_RUN = ("unrolled loop", "never pays back", "cold start", "caches off", "cache bypass")
# What names no line is mostly what others lead to: it comes before them only where it is worth so much more.
_WITHOUT_A_LINE = 10
_UNKNOWN = -1.0  # less than any time


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first. Equal ones stay in the order in which they were found."""
    found = list(findings)
    without_a_line = (_worth(each) for each in found if each.place is None and each.kind not in _OF_THE_RUN)
    most = max(without_a_line, default=_UNKNOWN)
    return sorted(found, key=lambda finding: _rank(finding, most))


def _rank(finding: Finding, most_without_a_line: float) -> tuple[float, ...]:
    figure, kind = finding.cost.saves_at_most, finding.kind
    is_of_the_run = kind in _OF_THE_RUN
    worth = _worth(finding)
    if kind == "graph break" and figure.seconds is None and not finding.is_library:
        # Time outside of graphs, say, or tiny graphs: what a break leads to, and the break says more.
        worth = most_without_a_line
    return (
        _NO_QUESTION_OF_TIME.index(kind) if kind in _NO_QUESTION_OF_TIME else len(_NO_QUESTION_OF_TIME),
        # A library's line is seldom the user's to change. What is of the run and of no line comes behind it.
        finding.is_library or (is_of_the_run and finding.place is None),
        is_of_the_run,
        # What is right as it is.
        figure.seconds == 0.0 and not finding.remedies,
        -worth,
        figure.seconds is not None,
        _CERTAINTY.index(figure.known),
        _UNTIMED.index(kind) if kind in _UNTIMED else len(_UNTIMED),
    )


def _worth(finding: Finding) -> float:
    seconds = finding.cost.saves_at_most.seconds
    if seconds is None:
        return float("inf") if finding.kind in _KEEPS_OUT else _UNKNOWN
    return seconds if finding.place is not None else seconds / _WITHOUT_A_LINE
