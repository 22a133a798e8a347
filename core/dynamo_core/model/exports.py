"""Modules that a program called, and what torch.export makes of them: what `dynamo export` recorded."""

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

    `place` is its `forward`, `called_at` the user's line of the call. `other_forms` counts calls with other
    arguments than those of the first form, which were not tried. `dynamic_shapes` and `arguments`, of the
    call, are code; `dataclasses` are types among them that torch must be told of.
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
    """What torch.export.draft_export lists; `kind` and `text` are torch's words."""

    kind: str
    text: str
    stack: tuple[StackFrame, ...]


@dataclass
class TracedExport:
    """A call of torch.export in a trace of torch's own. `began` is the month and day, and the time of day.

    `program` is the exported program as torch prints it; None where the export did not come to its end.
    """

    began: str
    program: str | None = None
    obstacles: list[DraftedObstacle] = field(default_factory=list)


@dataclass(frozen=True)
class ExportTrial:
    """One way in which a module was tried. `error` is torch's, `failed_at` the same as a graph break."""

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
    """The exported program beside eager on one call's inputs; as `VerifiedCall`."""

    sizes: Mapping[str, tuple[int, ...]]
    outcome: str
    compared: int
    why: str | None
    worst: ComparedValue | None
