"""One trial: what one way of torch's to export makes of one module. It runs in a process of its own.

Source: torch/export/__init__.py (export, draft_export, save, load), torch/_inductor/__init__.py
(aoti_compile_and_package, aoti_load_package); read and run in 2.13.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...shared.export_trials import AOTI, COMPILE, DONE, DRAFT, EXPORT, FAILED, RAISED, STRICT
from ...shared.our_record import OurRecord
from ...shared.records import ExportTried
from .agreement import Call, compared, run
from .dynamic_shapes import Varied, dynamic_shapes
from .inputs import bound, inputs_of, unregistered_dataclasses
from .obstacles import described_error, obstacles_of

Tell = Callable[[OurRecord], None]


class ToExport(NamedTuple):
    """A module with its calls, the first of which it is exported with; `threads` are the program's."""

    module: Any
    calls: Sequence[Call]
    varied: Varied
    threads: int


class Way(NamedTuple):
    """What is tried. The exported program is saved to `file`; AOTInductor's package is made of that one."""

    kind: str
    is_dynamic: bool
    file: str | None = None
    exported_file: str | None = None


def try_it(subject: ToExport, way: Way, tell: Tell) -> str:
    """Try one way; what came of it."""
    begun = time.perf_counter()

    def note(outcome: str, **more: Any) -> None:
        seconds = time.perf_counter() - begun
        tell(ExportTried(kind=way.kind, is_dynamic=way.is_dynamic, outcome=outcome, seconds=seconds, **more))

    try:
        outputs = run(subject.module, subject.module, subject.calls[0]).outputs
    except BaseException as error:  # sys.exit, too
        note(RAISED, **described_error(error))
        return RAISED
    try:
        _register_dataclasses(subject.calls[0], outputs)
        made = _WAYS[way.kind](subject, way)
    except BaseException as error:
        note(FAILED, **described_error(error))
        return FAILED
    if way.kind in (DRAFT, COMPILE):
        note(DONE, obstacles=obstacles_of(made._report) if way.kind == DRAFT else None)
        return DONE
    if way.kind != AOTI:
        note(DONE, **_save(made, way.file))
        made = made.module()
    else:
        note(DONE, saved=way.file)
    for call in _calls_for(subject, way):
        tell(compared(subject.module, made, call))
    return DONE


def _save(exported: Any, file: str | None) -> dict[str, Any]:
    """The fields of a record that say what came of it; not all that is exported can be saved."""
    import torch

    if file is None:
        return {}
    try:
        torch.export.save(exported, file)
    except Exception as error:
        if os.path.exists(file):
            os.unlink(file)
        return {"error": str(error), "error_kind": type(error).__qualname__}
    return {"saved": file}


def _calls_for(subject: ToExport, way: Way) -> Iterator[Call]:
    """Those that the exported program is made for: others must differ from the first in what is dynamic."""
    first = inputs_of(bound(subject.module, *subject.calls[0]))
    for call in subject.calls:
        inputs = inputs_of(bound(subject.module, *call))
        differ = {name for name, value in inputs.constants.items() if value != first.constants.get(name)}
        if (way.is_dynamic and differ <= subject.varied.keys()) or call is subject.calls[0]:
            yield call


def _register_dataclasses(call: Call, outputs: Any) -> None:
    from torch.export import register_dataclass

    for kind in unregistered_dataclasses([call.args, call.kwargs, outputs]):
        register_dataclass(kind, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}")


def _arguments(subject: ToExport, way: Way) -> dict[str, Any]:
    call = subject.calls[0]
    shapes = dynamic_shapes(bound(subject.module, *call), subject.varied) if way.is_dynamic else None
    args, kwargs = call.cloned()
    return {"mod": subject.module, "args": args, "kwargs": kwargs, "dynamic_shapes": shapes}


def _exported(subject: ToExport, way: Way) -> Any:
    import torch

    return torch.export.export(**_arguments(subject, way), strict=way.kind == STRICT)


def _drafted(subject: ToExport, way: Way) -> Any:
    import torch

    return torch.export.draft_export(**_arguments(subject, way))


def _compiled(subject: ToExport, way: Way) -> Any:
    """The module under Dynamo with graph breaks allowed, which our probes record."""
    import torch

    args, kwargs = subject.calls[0].cloned()
    return torch._dynamo.optimize("eager")(subject.module)(*args, **kwargs)


def _packaged(subject: ToExport, way: Way) -> Any:
    """AOTInductor's package; a fork has one thread, and the package is to have the program's."""
    import torch
    import torch._inductor as inductor

    settings = {"compile_threads": 1, "cpp.threads": subject.threads}
    exported = torch.export.load(way.exported_file)
    inductor.aoti_compile_and_package(exported, package_path=way.file, inductor_configs=settings)
    return inductor.aoti_load_package(way.file)


_WAYS: dict[str, Callable[[ToExport, Way], Any]] = {
    EXPORT: _exported,
    STRICT: _exported,
    DRAFT: _drafted,
    COMPILE: _compiled,
    AOTI: _packaged,
}
