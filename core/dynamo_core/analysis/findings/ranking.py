"""Which finding comes first, on every surface: by what fixing it can save, then by how that is known."""

from collections.abc import Iterable

from .finding import Finding, Known

_CERTAINTY: tuple[Known, ...] = ("measured", "sampled", "estimated", "not recorded")
# What computes something else, ends the program or makes it hang.
_NO_QUESTION_OF_TIME = ("wrong result", "compiler error", "ranks differ")
# Where no time was recorded: what keeps whole frames out of graphs, then what cuts graphs, then the rest.
_UNTIMED = ("fell back to eager", "recompile limit", "graph break", "recompile")
# True of a run more than of the program: shorter or colder, it is another figure.
_OF_THE_RUN = ("unrolled loop", "never pays back", "cold start", "caches off", "cache bypass")
# What names no line is mostly what others lead to: it comes before them only where it is worth so much more.
_WITHOUT_A_LINE = 10


def ranked(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first. Equal ones stay in the order in which they were found."""
    found = list(findings)
    has_untimed_break = any(
        each.kind == "graph break" and not each.is_library and each.cost.saves_at_most.seconds is None
        for each in found
    )
    return sorted(found, key=lambda finding: _rank(finding, has_untimed_break))


def _rank(finding: Finding, has_untimed_break: bool) -> tuple[int, bool, bool, bool, bool, float, int, int]:
    figure = finding.cost.saves_at_most
    # Time outside of graphs, say, or tiny graphs: what a break leads to, and the break says more.
    is_less_said = has_untimed_break and finding.place is None
    kind = finding.kind
    worth = figure.seconds if figure.seconds is not None else float("inf")
    return (
        _NO_QUESTION_OF_TIME.index(kind) if kind in _NO_QUESTION_OF_TIME else len(_NO_QUESTION_OF_TIME),
        kind in _OF_THE_RUN,
        # What is right as it is.
        figure.seconds == 0.0 and not finding.remedies,
        # A library's line is seldom the user's to change.
        finding.is_library,
        is_less_said or (figure.seconds is None and kind not in _UNTIMED[:2]),
        -worth if finding.place is not None else -worth / _WITHOUT_A_LINE,
        _CERTAINTY.index(figure.known),
        _UNTIMED.index(kind) if kind in _UNTIMED else len(_UNTIMED),
    )
