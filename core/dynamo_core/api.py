"""For programs that read recordings: open one, and ask for its counts, figures and findings.

    import dynamo_core

    case = dynamo_core.open(".dynamo/train-20260101-120000")
    for finding in case.findings:
        print(finding.kind, finding.place, finding.cost.saves_at_most.seconds, finding.title)

What is here keeps its names and meanings within a version of the package's first number; what the names of
`dynamo_core.model` and `dynamo_core.findings` hold may get further fields.
"""

from collections.abc import Container
from pathlib import Path

from .case import Case
from .findings import CONTENTS
from .recording.read import read

__all__ = ["Case", "open"]


def open(path: str | Path, contents: Container[str] = frozenset()) -> Case:
    """Read a recording of `dynamo run`, or a TORCH_TRACE file or folder. Nothing in it is ever run.

    `contents` names further records whose texts are wanted in the model (`dynamo_core.shared.names`).

    Raises, all of them `dynamo_core.shared.errors.DynamoError`: NoRecording where there is none at `path`,
    NotARecording where it is something else, DamagedRecording where nothing of it can be read.
    """
    return Case(read(Path(path), _Both(contents)))


class _Both:
    """What findings need, and what is wanted besides."""

    def __init__(self, wanted: Container[str]) -> None:
        self._wanted = wanted

    def __contains__(self, name: object) -> bool:
        return name in CONTENTS or name in self._wanted
