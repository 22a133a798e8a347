"""`dynamo backends`: the backends of a Python, and what one of them can be told."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from dynamo_core.analysis.words import first_line, number, seconds
from dynamo_core.launch.backend_list import Backend, Details, Registry
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count
from dynamo_core.shared.quick_dataclass import dataclass

from .page.blocks import Block, Bullets, Code, Heading, Paragraph, table
from .report import Report

_SHARED = 3  # backends with one problem: it is said once


def listing_report(show_all: bool) -> Report[Registry]:
    """The report of `dynamo backends`; with `show_all`, of the hidden ones too."""
    return Report(
        "backends",
        lambda registry: listing_blocks(registry, show_all),
        lambda registry: listing_document(registry, show_all),
    )


def details_report(show_all: bool) -> Report[Details]:
    """The report of `dynamo backends NAME`; with `show_all`, every mode and option."""
    return Report(
        "backend",
        lambda details: details_blocks(details, show_all),
        lambda details: from_fields(BackendDocument, details),
    )


def listing_blocks(registry: Registry, show_all: bool) -> Iterator[Block]:
    """A row for each backend; those for work on torch itself, and those not here, only with `show_all`."""
    shown = [backend for backend in registry.backends if show_all or not backend.is_hidden]
    shared = _shared_problems(shown)
    yield Heading(f"{number(len(shown), 'backend')} of torch {registry.torch}, {registry.python}", 1)
    was_tried = any(backend.trial for backend in shown)
    headings = "backend|from|can run on|tried|why not" if was_tried else "backend|from|can run on|why not"
    rows = []
    for backend in shown:
        tried = [_tried(backend)] if was_tried else []
        rows.append([backend.name, _origin(backend), _runs_on(backend), *tried, _why_not(backend, shared)])
    yield table(headings, rows)
    yield Bullets([f"{device}: {problem}" for device, problem in shared])
    if not was_tried:
        yield Paragraph(
            "What it can run on is read off what it needs: packages, devices, compilers. --check tries it.",
            "dim",
        )
    tagged = sum(backend.is_registered for backend in registry.backends if backend not in shown)
    absent = sum(not backend.is_registered for backend in registry.backends if backend not in shown)
    if tagged or absent:
        yield Paragraph(
            f"Hidden: {tagged} for debugging or experimental, {absent} of packages that are not here; "
            "--all shows them.",
            "dim",
        )
    yield Paragraph("dynamo backends NAME shows the options of one.", "dim")


def details_blocks(details: Details, show_all: bool) -> Iterator[Block]:
    """What one backend is, and what it can be told."""
    yield Heading(f"backend {details.name}", 1)
    if details.registered is not None:
        yield from _about(details.registered)
    source = details.source
    if source.place is not None:
        yield Paragraph(f"at {source.place}", "dim")
    if details.options is None and source.signature is not None:
        yield Code(f"def {details.name.rpartition(':')[2]}{source.signature}: ...")
    if source.docstring:
        yield Paragraph(source.docstring)
    if details.modes is not None and details.options is not None:
        yield from _inductor(details.name, details.modes, details.options, show_all)
    elif source.signature is not None:
        yield Paragraph(_keywords(source.signature))


def _about(backend: Backend) -> Iterator[Block]:
    tags = f" ({', '.join(backend.tags)})" if backend.tags else ""
    runs_on = _runs_on(backend)
    yield Paragraph(f"from {_origin(backend)}{tags}; can run on: {runs_on}")
    problems = _why_not(backend, [])
    yield from [Paragraph(problems, "warning")] if problems else []
    if backend.trial is not None:
        yield Paragraph(f"tried: {_tried(backend)} {backend.trial.reason or ''}".rstrip())


def _inductor(name: str, modes: Any, options: Any, show_all: bool) -> Iterator[Block]:
    yield Heading("Modes")
    yield table(
        "mode|sets",
        [
            [mode, ", ".join(f"{option}={value}" for option, value in sets.items()) or "nothing"]
            for mode, sets in modes.items()
        ],
    )
    yield Paragraph(f"--backend {name}:MODE, or --mode MODE", "dim")
    of_modes = {option for sets in modes.values() for option in sets}
    shown = {option: value for option, value in options.items() if show_all or option in of_modes}
    yield Heading(f"Options: {number(len(shown), 'option')}" + ("" if show_all else f" of {len(options)}"))
    yield table("option|default here", [[option, repr(value)] for option, value in shown.items()])
    rest = "" if show_all else "; --all shows the options that no mode sets"
    yield Paragraph(f"--option {name}:KEY=VALUE{rest}", "dim")


def _keywords(signature: str) -> str:
    takes = [word for word in ("mode", "options") if word in signature or "**" in signature]
    if not takes:
        return "It takes neither a mode nor options."
    return f"It takes {' and '.join(takes)}, as torch.compile hands them over: --option KEY=VALUE."


def _origin(backend: Backend) -> str:
    if backend.origin == "dynamo":
        return f"dynamo: {backend.source}"
    return f"{backend.source} {backend.version}" if backend.version else backend.source


def _runs_on(backend: Backend) -> str:
    if backend.import_error is not None:
        return "nothing"
    if not backend.devices:
        return "not known"
    return ", ".join(backend.runs_on) or "nothing"


def _tried(backend: Backend) -> str:
    if backend.trial is None:
        return "not tried"
    if not backend.trial.works:
        return "fails"
    return f"works on {backend.trial.device}, {seconds(backend.trial.seconds)}"


def _why_not(backend: Backend, shared: Sequence[tuple[str, str]]) -> str:
    if backend.trial is not None and backend.trial.reason is not None:
        return first_line(backend.trial.reason)
    if backend.import_error is not None:
        return backend.import_error
    problems = [
        f"{device}: {problem}"
        for device, problem in (backend.devices or {}).items()
        if problem is not None and ((device, problem) not in shared or not backend.runs_on)
    ]
    return "; ".join(problems)


def _shared_problems(backends: Sequence[Backend]) -> list[tuple[str, str]]:
    """What keeps several of them from a type of device: said once, below the table."""
    met = Counter(
        (device, problem)
        for backend in backends
        for device, problem in (backend.devices or {}).items()
        if problem is not None
    )
    return [problem for problem, times in met.items() if times >= _SHARED]


@dataclass(frozen=True)
class BackendsDocument:
    """The backends of a Python."""

    python: Annotated[str, "whose backends they are"]
    torch: str
    hidden: Annotated[Count, "how many are left out without --all"]
    backends: list[Backend]


@dataclass(frozen=True)
class BackendDocument:
    """The modes and options of one backend."""

    name: str
    backend: Annotated[Backend | None, At("registered"), "null for module:function and file.py:function"]
    signature: Annotated[str | None, At("source.signature")]
    docstring: Annotated[str | None, At("source.docstring")]
    place: Annotated[str | None, At("source.place"), "file:line"]
    modes: Annotated[Mapping[str, Mapping[str, Any]] | None, "Inductor's, with the options that each sets"]
    options: Annotated[
        Mapping[str, Any] | None,
        "all of Inductor's, with their defaults here; what JSON does not know is text",
    ]


def listing_document(registry: Registry, show_all: bool) -> BackendsDocument:
    """The backends as JSON values; `hidden` are left out."""
    shown = [backend for backend in registry.backends if show_all or not backend.is_hidden]
    hidden = len(registry.backends) - len(shown)
    return from_fields(BackendsDocument, registry, hidden=hidden, backends=shown)
