"""For programs that read recordings: open one, and ask for its counts, figures and findings.

    import dynamo_core

    recording = dynamo_core.open(".dynamo/train-20260101-120000")
    for finding in recording.findings:
        print(finding.kind, finding.place, finding.cost.saves_at_most.seconds, finding.title)

What is here keeps its names and meanings within a version of the package's first number; what the names of
`dynamo_core.model` and `dynamo_core.findings` hold may get further fields.
"""

from collections.abc import Container
from functools import cached_property
from pathlib import Path

from .analysis.figures import Figures
from .analysis.summary import Summary, summarize
from .findings import CONTENTS, Finding, find
from .model import Process, Recording
from .recording.read import read

__all__ = ["OpenedRecording", "open"]


class OpenedRecording:
    """A recording that was read. What is worked out from it is worked out when it is first asked for."""

    def __init__(self, model: Recording) -> None:
        self.model = model

    @property
    def processes(self) -> list[Process]:
        """What each process recorded: frames, graphs, breaks, compiles, guards, calls."""
        return self.model.processes

    @property
    def problems(self) -> list[str]:
        """What could not be seen, and why: a sentence each."""
        return self.model.problems

    @property
    def is_partial(self) -> bool:
        """Whether the run still goes on, was killed, or records are lost or damaged."""
        return self.model.is_partial

    @cached_property
    def summary(self) -> Summary:
        """The counts, each as torch counts it; None where it was not recorded."""
        return summarize(self.model)

    @cached_property
    def figures(self) -> Figures:
        """What findings rest on: costs of breaks, recompiled frames, times of graphs, wall time."""
        return Figures(self.model)

    @cached_property
    def findings(self) -> list[Finding]:
        """What is in the way, what is worth most first: the same as `dynamo explain` shows."""
        return find(self.model, self.figures)


def open(path: str | Path, contents: Container[str] = frozenset()) -> OpenedRecording:
    """Read a recording of `dynamo run`, or a TORCH_TRACE file or folder. Nothing in it is ever run.

    `contents` names further records whose texts are wanted in the model (`dynamo_core.shared.names`).

    Raises, all of them `dynamo_core.shared.errors.DynamoError`: NoRecording where there is none at `path`,
    NotARecording where it is something else, DamagedRecording where nothing of it can be read.
    """
    return OpenedRecording(read(Path(path), _Both(contents)))


class _Both:
    """What findings need, and what was asked for besides."""

    def __init__(self, wanted: Container[str]) -> None:
        self._wanted = wanted

    def __contains__(self, name: object) -> bool:
        return name in CONTENTS or name in self._wanted
