"""Our records, typed once: a probe writes one of these, and the reader gets the same back.

Both sides of the process boundary import this module, so it needs the standard library only. A field that
is renamed on one side alone is a type error. Where a field changes its meaning, goes, or joins without a
default, `VERSION` rises, and the reader is told how older ones are read; a record without a version is of
the first. Nobody compares or prints records: dataclasses without those methods are made in half the time,
which counts in every program that is run.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from . import names


class OurRecord:
    """A kind of record that we write: its name in the stream, and the version of its fields."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    def payload(self) -> dict[str, Any]:
        """What is written, as JSON."""
        return {**vars(self), "version": self.VERSION}


@dataclass(eq=False, repr=False)
class ProbeFailed(OurRecord):
    """A probe does not work with this torch; `at` is the innermost line of the error, if it is known."""

    NAME = names.PROBE_FAILED

    probe: str
    error: str
    at: str | None = None


@dataclass(eq=False, repr=False)
class BackwardCompiled(OurRecord):
    """A backward graph was compiled, whose calls are on this page of the counters."""

    NAME = names.BACKWARD_COMPILED

    calls_index: int


@dataclass(eq=False, repr=False)
class ResumeFunctionMade(OurRecord):
    """A global `__resume_at_<offset>_<n>` was made, for code of this name and fingerprint."""

    NAME = names.RESUME_FUNCTION

    name: str
    code_name: str
    fingerprint: str


@dataclass(eq=False, repr=False)
class OptimizerMade(OurRecord):
    """The program made an optimizer of this class; `file` is where its `step` is written."""

    NAME = names.OPTIMIZER

    name: str
    module: str
    file: str


@dataclass(eq=False, repr=False)
class NotebookCell(OurRecord):
    """IPython compiles the cell with this number of execution under this file name."""

    NAME = names.NOTEBOOK_CELL

    file: str
    number: int


@dataclass(eq=False, repr=False)
class ConfigChanged(OurRecord):
    """What became of a `--config`: the setting's value before and after it, or why it was not set."""

    NAME = names.CONFIG_CHANGED

    change: str
    was: str | None = None
    now: str | None = None
    problem: str | None = None
