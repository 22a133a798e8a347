"""What `dynamo check` keeps of a run: counts, and the findings of the compiler's kinds, by identity."""

from collections.abc import Mapping
from dataclasses import field

from ..analysis.figures import Figures
from ..analysis.findings import ANALYSES_OF_THE_COMPILER, Draft, Finding, find, find_identities
from ..analysis.summary import summarize
from ..model import Recording, function_of
from ..shared.quick_dataclass import dataclass

# As the lock file spells them, in its order; each is a field of `summarize`.
COUNTS: Mapping[str, str] = {
    "graphs": "graphs",
    "graph-breaks": "distinct_graph_breaks",
    "recompiles": "recompiles",
    "frames-run-eager": "frames_fell_back",
}


@dataclass(frozen=True)
class KnownFinding:
    """A finding as it can be compared with another run's: no line number, path or value."""

    identity: str
    kind: str
    file: str
    function: str
    line: str


@dataclass(frozen=True)
class Facts:
    """The facts of one program. A count is None where it was not recorded."""

    counts: Mapping[str, int | None]
    findings: Mapping[str, KnownFinding] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """How many lines of the lock file they are."""
        return sum(count is not None for count in self.counts.values()) + len(self.findings)

    def count_of(self, field: str) -> int | None:
        """A count by its name in `Summary`; None as well where it is none that a lock file has."""
        return next((self.counts.get(name) for name, of in COUNTS.items() if of == field), None)

    @property
    def is_empty(self) -> bool:
        """Whether it is known that nothing was compiled, nor tried to be."""
        return not self.findings and all(count == 0 for count in self.counts.values())


def facts_of(recording: Recording) -> Facts:
    """The facts of a recording, for those who need no word on them unless they differ from what is known."""
    return _facts(recording, find_identities(Figures(recording), ANALYSES_OF_THE_COMPILER))


def facts_and_findings(recording: Recording) -> tuple[Facts, dict[str, Finding]]:
    """The same, and the findings themselves by their identity, the worst first in both."""
    findings = {each.identity: each for each in find(recording, analyses=ANALYSES_OF_THE_COMPILER)}
    return _facts(recording, findings), findings


def _facts(recording: Recording, findings: Mapping[str, Draft | Finding]) -> Facts:
    summary = summarize(recording)
    counts = {name: getattr(summary, of) for name, of in COUNTS.items()}
    return Facts(counts, {identity: _known(identity, each) for identity, each in findings.items()})


def _known(identity: str, finding: Draft | Finding) -> KnownFinding:
    file = "" if finding.place is None else finding.place.file.replace("\\", "/").rpartition("/")[2]
    line = " ".join(finding.source.split())
    return KnownFinding(identity, finding.kind, file, function_of(finding.function), line)
