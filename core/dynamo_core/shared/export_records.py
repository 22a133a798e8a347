"""The records that `dynamo export` writes."""

from typing import Any

from . import names
from .our_record import OurRecord


class ModulesCalled(OurRecord):
    """`dynamo export`: how many modules the user's code called, how many of them are not tried, and why."""

    NAME = names.MODULES_CALLED

    modules: int
    left_out: int
    cannot_copy: str | None = None


class ModuleToExport(OurRecord):
    """A module that the program called, with the arguments of the calls that are like the first one.

    `inputs` are tensors: `name`, `dtype`, and the `sizes` that occurred. `constants` are other arguments:
    `name`, and the `values` that occurred. `dynamic_shapes` is torch.export's argument for the sizes that
    varied, as code; None where none did. `arguments` are those of the call, as code. `called_at` is a frame
    of the user's. `dataclasses` are argument types that must be registered with torch.
    """

    NAME = names.MODULE_TO_EXPORT

    name: str
    file: str | None
    line: int | None
    called_at: dict[str, Any] | None
    training: bool
    parameters: int
    calls: int
    other_forms: int
    inputs: list[dict[str, Any]]
    constants: list[dict[str, Any]]
    dynamic_shapes: str | None
    arguments: str
    dataclasses: list[str]


class ExportTried(OurRecord):
    """The outcome of one trial. `user_stack` and `around` are as for a graph break, where it failed.

    `obstacles` are those of torch.export.draft_export: `kind`, `text`, `user_stack`. `saved` is the file of
    the program; a successful trial has an error where the file could not be written.
    """

    NAME = names.EXPORT_TRIED

    kind: str
    is_dynamic: bool
    outcome: str
    seconds: float
    error: str | None = None
    error_kind: str | None = None
    user_stack: list[dict[str, Any]] | None = None
    around: dict[Any, str] | None = None
    obstacles: list[dict[str, Any]] | None = None
    saved: str | None = None


class ExportCompared(OurRecord):
    """The exported program compared with eager, on inputs of these sizes.

    `outcome` is as for `--verify`, `why` says why nothing was compared, `compared` counts values, and `worst`
    is the value nearest to its limit, or furthest beyond it.
    """

    NAME = names.EXPORT_COMPARED

    sizes: dict[str, list[int]]
    outcome: str
    compared: int
    why: str | None = None
    worst: dict[str, Any] | None = None
