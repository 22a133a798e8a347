"""For programs that read recordings: open one, and ask for its counts, figures and findings.

    import dynamo_core

    case = dynamo_core.open()  # the newest, or one by its path
    for finding in case.findings:
        print(finding.kind, finding.place, finding.cost.saves_at_most.seconds, finding.title)

What is here keeps its names and meanings within a version of the package's first number; what the names of
`dynamo_core.model` and `dynamo_core.findings` hold may get further fields.
"""

from collections.abc import Container
from pathlib import Path

from .capture.in_process import own_recording
from .case import Case
from .findings import CONTENTS
from .recording import files
from .recording.read import read

__all__ = ["Case", "open"]


def open(path: str | Path | None = None, contents: Container[str] = frozenset()) -> Case:
    """Read a recording of `dynamo run`, or a TORCH_TRACE file or folder. Nothing in it is ever run.

    Without a path it is the newest one: in a process that is recorded its own, as far as that is written;
    elsewhere the one in `.dynamo`, in the working directory, that was started last.

    `contents` names further records whose texts are wanted in the model (`dynamo_core.shared.names`).

    Raises, all of them `dynamo_core.shared.errors.DynamoError`: NoRecording where there is none,
    NotARecording where it is something else, DamagedRecording where nothing of it can be read.
    """
    place = own_recording() or files.newest() if path is None else Path(path)
    return Case(read(place, _Both(contents)))


class _Both:
    """What findings need, and what is wanted besides."""

    def __init__(self, wanted: Container[str]) -> None:
        self._wanted = wanted

    def __contains__(self, name: object) -> bool:
        return name in CONTENTS or name in self._wanted
