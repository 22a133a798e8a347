"""What was found of a test, on its way with the test's report to the process that keeps the lock file."""

import linecache
import textwrap
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field
from typing import Any

import pytest
from _pytest._code.code import ReprEntry, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.summary import Summary
from dynamo_core.analysis.words import frame_name, place
from dynamo_core.case import Case
from dynamo_core.compare.lock_file import Facts
from dynamo_core.findings import CONTENTS, OF_THE_COMPILER, Finding
from dynamo_core.findings.build import via_line
from dynamo_core.findings.matching import KnownFinding
from dynamo_core.model import Graph, Recording
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.shown_paths import shown_path

BETTER = "better than locked"
# What the fixture `dynamo` is: what torch.compile has made of the test so far.


class Compiled:
    """What was compiled since the test function began. Each access looks anew."""

    def __init__(self, read: Callable[[Container[str]], Recording]) -> None:
        self._read = read

    @property
    def recording(self) -> Case:
        """All that was recorded, as `dynamo_core.open` gives it of a whole run."""
        return Case(self._read(CONTENTS))

    @property
    def findings(self) -> list[Finding]:
        """Graph breaks, recompiles, frames that run eager and the like, the worst first."""
        return [each for each in self.recording.findings if each.kind in OF_THE_COMPILER]

    @property
    def summary(self) -> Summary:
        """The counts, each as torch counts it; None where it was not recorded."""
        return self.recording.summary

    @property
    def figures(self) -> Figures:
        """What findings rest on: costs of breaks, recompiled frames, times of graphs."""
        return self.recording.figures

    @property
    def graphs(self) -> list[Graph]:
        """The graphs that backends have compiled, with their calls."""
        return [graph for process in self.recording.processes for graph in process.compiled_graphs]


# What a failing test shows: the lines in the way, why, and what to do, drawn as pytest draws an assertion.
#
# Source: _pytest/_code/code.py (ReprEntry, ReprExceptionInfo), pytest 8 and 9: no public name makes one, and
# only these keep their colours, and their way through xdist.


_LINES_BEFORE = 3
_MOST_GRAPHS = 10
_WIDTH = 76  # and four before it


class CompiledWorse(AssertionError):
    """A test passed, and torch.compile made less of it than is expected."""

    def __init__(
        self,
        differences: Sequence[tuple[str, str | None]],
        findings: Mapping[str, Finding],
        compiled: Sequence[Graph] = (),
    ) -> None:
        """`differences` are sentences, each with the identity of its finding, where it is one.

        `compiled` are the graphs, where there are too many of them.
        """
        super().__init__("; ".join(text for text, _ in differences))
        self.differences = differences
        self.findings = findings
        self.compiled = compiled


def representation(error: CompiledWorse, test: tuple[str, int]) -> ReprExceptionInfo:
    """The failure of a test, which stands in a file at a line (from 1)."""
    entries = []
    counts = [text for text, identity in error.differences if identity not in error.findings]
    if counts:
        lines = [f"E   {text}" for text in counts]
        for number, graph in enumerate(error.compiled[:_MOST_GRAPHS], 1):
            lines.append(f"E   graph {number}: {frame_name(graph.frame_name)}, {place(graph.frame_place)}")
        if len(error.compiled) > _MOST_GRAPHS:
            lines.append(f"E   and {len(error.compiled) - _MOST_GRAPHS} more")
        is_better = all(text.startswith(BETTER) for text in counts)
        how = "compiled otherwise than locked" if is_better else "compiled worse"
        entries.append(ReprEntry(lines, None, None, ReprFileLocation(*test, how), "long"))
    found = [error.findings.get(identity or "") for _, identity in error.differences]
    entries += [_entry(finding, test) for finding in found if finding is not None]
    crash = ReprFileLocation(*test, str(error))
    return ReprExceptionInfo(ReprTraceback(entries, None, "long"), crash)


def _entry(finding: Finding, test: tuple[str, int]) -> ReprEntry:
    file, line = finding.place or test
    lines = _source(finding)
    lines += _wrapped(f"{finding.kind}: {finding.cause}")
    if finding.via is not None:
        lines += _wrapped(via_line(finding))
    for remedy in finding.remedies[:1]:
        lines += _wrapped(f"→ {remedy.text}")
    lines += _wrapped(f'to allow it: @pytest.mark.dynamo(allow=["{finding.identity}"])')
    shown = shown_path(finding.place.file) if finding.place is not None else file
    return ReprEntry(lines, None, None, ReprFileLocation(shown, line, finding.kind), "long")


def _source(finding: Finding) -> list[str]:
    """The line, and those before it; only what was recorded where the file has become another."""
    if finding.place is None:
        return [f">   {finding.source}"] if finding.source else []
    file, line = finding.place
    if linecache.getline(file, line).strip() != finding.source.strip():
        return [f">   {finding.source}"] if finding.source else []
    around = [linecache.getline(file, number) for number in range(max(1, line - _LINES_BEFORE), line + 1)]
    *before, last = textwrap.dedent("".join(around)).strip("\n").splitlines()
    return [*(f"    {each}" for each in before), f">   {last}"]


def _wrapped(text: str) -> list[str]:
    return [f"E   {line}" for each in text.splitlines() for line in textwrap.wrap(each, _WIDTH)]


_ATTRIBUTE = "dynamo_outcome"


@dataclass(frozen=True)
class Outcome:
    """What was found of one test.

    `is_known` says whether there was anything to compare with, where there is a lock file. With
    --dynamo-verify, `compared` counts the calls by what came of them, in words.
    """

    test: str
    facts: Facts
    is_known: bool
    better: list[str]
    compared: Mapping[str, int] = field(default_factory=dict)

    def put_in(self, report: pytest.TestReport) -> None:
        """Attach the outcome as plain values: xdist sends nothing else."""
        findings = [[each.identity, *each.parts] for each in self.facts.findings.values()]
        content = (
            self.test,
            dict(self.facts.counts),
            findings,
            self.is_known,
            self.better,
            dict(self.compared),
        )
        setattr(report, _ATTRIBUTE, content)


def outcome_in(report: pytest.TestReport) -> Outcome | None:
    """What a report has taken along; None where the test was not looked at."""
    content: Any = getattr(report, _ATTRIBUTE, None)
    if content is None:
        return None
    test, counts, findings, is_known, better, compared = content
    known = {identity: KnownFinding(identity, *parts) for identity, *parts in findings}
    return Outcome(test, Facts(counts, known), is_known, list(better), compared)
