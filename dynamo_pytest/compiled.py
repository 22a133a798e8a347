"""What the fixture `dynamo` is: what torch.compile has made of the test so far."""

from collections.abc import Callable, Container

from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings import CONTENTS, OF_THE_COMPILER, Finding
from dynamo_core.analysis.summary import Summary
from dynamo_core.api import OpenedRecording
from dynamo_core.model import Graph, Recording


class Compiled:
    """What was compiled since the test function began. Each access looks anew."""

    def __init__(self, read: Callable[[Container[str]], Recording]) -> None:
        self._read = read

    @property
    def recording(self) -> OpenedRecording:
        """All that was recorded, as `dynamo_core.open` gives it of a whole run."""
        return OpenedRecording(self._read(CONTENTS))

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
