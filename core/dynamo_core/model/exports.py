"""Modules that a program called, and torch.export's results for them: the records of `dynamo export`."""

from collections.abc import Mapping
from dataclasses import field

from ..shared.quick_dataclass import dataclass
from .guards import GraphBreak
from .ids import Place, StackFrame
from .interventions import ComparedValue


@dataclass(frozen=True)
class InputSeen:
    """A tensor that a module was called with, and the sizes that it had."""

    name: str
    dtype: str
    sizes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ConstantSeen:
    """An argument that is no tensor, and the values that it had, as Python writes them."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class CalledModule:
    """A module as it was when the program called it.

    `place` is its `forward`, `called_at` the user's line of the call. `other_forms` counts calls whose
    arguments have another structure than the first call's; they were not tried. `dynamic_shapes` and
    `arguments` are code for the call; `dataclasses` are argument types that must be registered with torch.
    """

    name: str
    place: Place | None
    called_at: StackFrame | None
    training: bool
    parameters: int
    calls: int
    other_forms: int
    inputs: tuple[InputSeen, ...]
    constants: tuple[ConstantSeen, ...]
    dynamic_shapes: str | None
    arguments: str
    dataclasses: tuple[str, ...]


@dataclass(frozen=True)
class DraftedObstacle:
    """An obstacle to export, from torch.export.draft_export; `kind` and `text` are torch's."""

    kind: str
    text: str
    stack: tuple[StackFrame, ...]


@dataclass
class TracedExport:
    """A call of torch.export in a trace of torch's own. `began` is the month and day, and the time of day.

    `program` is the exported program as torch prints it; None where the export did not finish.
    """

    began: str
    program: str | None = None
    obstacles: list[DraftedObstacle] = field(default_factory=list)


@dataclass(frozen=True)
class ExportTrial:
    """One trial of exporting a module. `error` is torch's text, `failed_at` the error as a graph break."""

    kind: str
    is_dynamic: bool
    outcome: str
    seconds: float
    error_kind: str | None
    error: str | None
    failed_at: GraphBreak | None
    obstacles: tuple[DraftedObstacle, ...]
    saved: str | None


@dataclass(frozen=True)
class ExportComparison:
    """The exported program compared with eager on one call's inputs; the fields are as in `VerifiedCall`."""

    sizes: Mapping[str, tuple[int, ...]]
    outcome: str
    compared: int
    why: str | None
    worst: ComparedValue | None
