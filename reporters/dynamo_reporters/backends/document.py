"""`dynamo backends` as JSON: one declaration for each of its two documents and their schemas."""

from typing import Annotated, Any, ClassVar, Literal

from dynamo_core.checks.backend_list import Backend, Details, Origin, Registry, Trial
from dynamo_core.shared.declared import Count
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class BackendValue:
    """A backend by its name."""

    in_common: ClassVar[str] = "backend"

    name: str
    origin: Origin
    source: Annotated[str, "torch's file, the package with its function, or what ours is"]
    version: Annotated[str | None, "of the package; null where it has none or is not here"]
    tags: Annotated[list[str], "torch's: debug, experimental"]
    is_registered: Annotated[bool, "false: known by name, but its package is not here"]
    import_error: Annotated[str | None, "why it cannot be had at all"]
    devices: Annotated[
        dict[str, str | None] | None,
        "why it cannot run on each type of device, null where all that it needs is here; null as a whole: "
        "not known",
    ]
    trial: Annotated[Trial | None, "what became of a tiny graph, with --check; null: not tried"]


@dataclass(frozen=True)
class BackendsDocument:
    """The backends of a Python."""

    schema: Literal["dynamo-backends"]
    version: Literal[1]
    python: Annotated[str, "whose backends they are"]
    torch: str
    hidden: Annotated[Count, "how many are left out without --all"]
    backends: list[BackendValue]


@dataclass(frozen=True)
class BackendDocument:
    """The modes and options of one backend."""

    schema: Literal["dynamo-backend"]
    version: Literal[1]
    name: str
    backend: Annotated[BackendValue | None, "null for module:function and file.py:function"]
    signature: str | None
    docstring: str | None
    place: Annotated[str | None, "file:line"]
    modes: Annotated[dict[str, dict[str, Any]] | None, "Inductor's, with the options that each sets"]
    options: Annotated[
        dict[str, Any] | None,
        "all of Inductor's, with their defaults here; what JSON does not know is text",
    ]


def listing_document(registry: Registry, show_all: bool) -> dict[str, Any]:
    """The backends as JSON values; `hidden` are left out."""
    shown = [backend for backend in registry.backends if show_all or not backend.is_hidden]
    document: dict[str, Any] = json_value(
        BackendsDocument(
            schema="dynamo-backends",
            version=1,
            python=registry.python,
            torch=registry.torch,
            hidden=len(registry.backends) - len(shown),
            backends=list(map(_backend, shown)),
        )
    )
    return document


def details_document(details: Details) -> dict[str, Any]:
    """One backend as JSON values."""
    source, modes, options = details.source, details.modes, details.options
    document: dict[str, Any] = json_value(
        BackendDocument(
            schema="dynamo-backend",
            version=1,
            name=details.name,
            backend=None if details.registered is None else _backend(details.registered),
            signature=source.signature,
            docstring=source.docstring,
            place=source.place,
            modes=None if modes is None else {mode: dict(sets) for mode, sets in modes.items()},
            options=None if options is None else dict(options),
        )
    )
    return document


def _backend(backend: Backend) -> BackendValue:
    return BackendValue(
        name=backend.name,
        origin=backend.origin,
        source=backend.source,
        version=backend.version,
        tags=list(backend.tags),
        is_registered=backend.is_registered,
        import_error=backend.import_error,
        devices=dict(backend.devices) or None,
        trial=backend.trial,
    )
