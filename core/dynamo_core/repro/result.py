"""The result of `dynamo repro`: the program that fails alone, how that is known, and what was tried."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from ..shared.declared import NOT_IN_JSON
from ..shared.quick_dataclass import dataclass
from .failure import Failure
from .own_passes import OwnPass


@dataclass(frozen=True)
class Trial:
    """A program that was tried: its size, whether it fails as it should, and how it ended instead."""

    number: int
    size: str
    fails: bool
    ended: str
    seconds: float
    is_earlier: bool


@dataclass(frozen=True)
class Proof:
    """How often a file was run alone, how often it failed compiled as it should, and passed in plain Python.

    `ended` is how a compiled run ended that did not fail so.
    """

    rounds: int
    failed: int
    passed_plain: int
    ended: str | None

    @property
    def holds(self) -> bool:
        """Whether each run failed compiled, and passed in plain Python."""
        return self.rounds == self.failed == self.passed_plain > 0


@dataclass(frozen=True)
class OfVersion:
    """How the file ended with a version of torch: "fails", "passes", or in words; `plain` in plain Python."""

    torch: str
    compiled: str
    plain: str


@dataclass(frozen=True)
class Tried:
    """A setting that was tried on the program, and whether it avoids the failure."""

    setting: str
    avoids: bool


@dataclass
class Repro:
    """What `dynamo repro` has found: the smallest program that fails, and how that is known."""

    origin: Annotated[Literal["graph", "source"], "what the program was made of"]
    of: str
    failure: Failure
    text: Annotated[str, "the program"]
    first_size: str
    size: str
    stage: Annotated[str | None, "the first stage with which it fails; null if not known"] = None
    graph: Annotated[int | None, "its number; null where the script was made smaller"] = None
    backend: str | None = None
    proof: Proof | None = None
    trials: list[Trial] = field(default_factory=list)
    stopped: Annotated[str | None, "why it may not be the smallest"] = None
    problem: Annotated[str | None, "what else could not be done"] = None
    torch: str | None = None
    python: str | None = None
    machine: Annotated[str | None, "torch's description of it"] = None
    versions: list[OfVersion] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    own_passes: Annotated[
        tuple[OwnPass, ...], "the program's own passes over Inductor's graphs, without which it does not fail"
    ] = ()
    seconds: float = 0.0
    values: Annotated[int, "the inputs with values of the program's own"] = 0
    values_file: str | None = field(default=None, metadata=NOT_IN_JSON)

    @property
    def lines(self) -> int:
        """The lines of the program that are not empty."""
        return sum(bool(line.strip()) for line in self.text.splitlines())

    @property
    def is_proven(self) -> bool:
        """Whether it was run alone, and failed each time."""
        return self.proof is not None and self.proof.holds


def issue_beside(repro_file: Path) -> Path:
    """The file for the text of the issue: issue.md of repro.py, small-issue.md of small.py."""
    return repro_file.with_name("issue.md" if repro_file.stem == "repro" else f"{repro_file.stem}-issue.md")
