"""What was found of a test, on its way with the test's report to the process that keeps the lock file."""

from typing import Any

import pytest

from dynamo_core.lock.facts import Facts, KnownFinding
from dynamo_core.shared.quick_dataclass import dataclass

_ATTRIBUTE = "dynamo_outcome"


@dataclass(frozen=True)
class Outcome:
    """`is_known` says whether there was anything to compare with, where there is a lock file."""

    test: str
    facts: Facts
    is_known: bool
    better: list[str]

    def put_in(self, report: pytest.TestReport) -> None:
        """As plain values: xdist sends nothing else."""
        findings = [
            [each.identity, each.kind, each.file, each.function, each.line]
            for each in self.facts.findings.values()
        ]
        content = (self.test, dict(self.facts.counts), findings, self.is_known, self.better)
        setattr(report, _ATTRIBUTE, content)


def outcome_in(report: pytest.TestReport) -> Outcome | None:
    """What a report has taken along; None where the test was not looked at."""
    content: Any = getattr(report, _ATTRIBUTE, None)
    if content is None:
        return None
    test, counts, findings, is_known, better = content
    known = {identity: KnownFinding(identity, *parts) for identity, *parts in findings}
    return Outcome(test, Facts(counts, known), is_known, list(better))
