"""All probes, each with the module of torch that it waits for: the one list of them.

Probes that wait for one module are installed in the order in which they stand here; one that wraps the same
function as another is around those that stand before it.

Those of Dynamo are imported when it is: what imports torch and compiles nothing does not pay for them.
"""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from .engine_parts import EngineParts
from .import_hook import import_hook
from .imports import import_later
from .probes import cache_bundles
from .process_records import record_import

Install = Callable[[ModuleType, EngineParts], None]


class Probe:
    """Installed right after `module` was imported; `name` is what the user misses if that fails.

    Without `install` these settings do not ask for it. A `late` one has its module looked for only while a
    backend may load it. A plain class: a named tuple takes every process a fifth of a millisecond to make.
    """

    def __init__(self, module: str, name: str, install: Install | None, late: bool = False) -> None:
        self.module = module
        self.name = name
        self.install = install
        self.late = late


def later(module: str, function: str = "install") -> Install:
    """An installer in a module of `probes/`, which is imported when it is called for the first time."""

    def install(torchs: ModuleType, parts: EngineParts) -> None:
        (probe,) = import_later(f"{__package__}.probes.{module}")
        getattr(probe, function)(torchs, parts)

    return install


def probes_of(parts: EngineParts) -> tuple[Probe, ...]:
    """Every probe there is, in the order of installation."""
    overriding, step_marks, freeze, exports = (
        parts.overriding,
        parts.step_marks,
        parts.freeze,
        parts.exports,
    )
    brief = parts.settings.brief
    return (
        *_config_probes(parts),
        Probe("torch", "cells of a notebook", _note_notebook_cells),
        Probe("torch.compiler", "bundles of caches", cache_bundles.install),
        Probe("torch", "modules to export", exports.install if exports else None),
        Probe(
            "torch._dynamo.eval_frame", "torch.compile is off", exports.install_on_stance if exports else None
        ),
        Probe("torch", "overrides", overriding.install_on_calls if overriding else None),
        Probe("torch._dynamo.output_graph", "graphs", later("graphs")),
        Probe(
            "torch._dynamo.output_graph", "overrides", overriding.install_on_compiles if overriding else None
        ),
        Probe("torch._dynamo.output_graph", "steps", step_marks.install if step_marks else None),
        Probe("torch._dynamo.output_graph", "graph breaks", later("breaks")),
        Probe("torch._dynamo.output_graph", "resume functions", later("bytecode", "install_on_resuming")),
        Probe("torch._dynamo.guards", "guards", later("guards")),
        Probe("torch._dynamo", "imports", record_import),
        Probe("torch._dynamo", "Inductor", _look_for_late_modules),
        Probe("torch._dynamo.convert_frame", "bytecode", later("bytecode")),
        Probe("torch._dynamo.convert_frame", "frames", later("frames")),
        Probe("torch._dynamo.convert_frame", "freeze", freeze.install if freeze else None),
        Probe("torch._dynamo.symbolic_convert", "tracing time", None if brief else later("tracing_time")),
        Probe("torch._inductor.compile_fx", "imports", record_import, late=True),
        Probe("torch._functorch.aot_autograd", "forward and backward graphs", later("autograd"), late=True),
        Probe(
            "torch._inductor.output_code",
            "backward calls",
            later("autograd", "install_on_backward"),
            late=True,
        ),
        Probe("torch._inductor.output_code", "caches", later("caches"), late=True),
        Probe(
            "torch._functorch._aot_autograd.autograd_cache",
            "parts of AOTAutograd's keys",
            later("caches", "install_on_keys"),
            late=True,
        ),
    )


def _config_probes(parts: EngineParts) -> Iterator[Probe]:
    """One for each module whose settings are to have other values."""
    if not parts.settings.config:
        return
    from ..shared.choices import parse_config
    from .interventions import override

    changes = [parse_config(text) for text in parts.settings.config]
    for module in dict.fromkeys(change.module for change in changes):
        install = override.install_for([change for change in changes if change.module == module])
        yield Probe(module, f"--config {module}", install)


def install_probes(parts: EngineParts) -> None:
    """Have each probe that is wanted installed when its module comes; one that fails harms no other."""
    for probe in probes_of(parts):
        if probe.install is not None:
            wait = parts.late_modules.add if probe.late else import_hook.when_imported
            wait(probe.module, parts.probes.guarded(probe.name)(_with(parts, probe.install)))


def _with(parts: EngineParts, install: Install) -> Callable[[ModuleType], None]:
    return lambda module: install(module, parts)


def _look_for_late_modules(dynamo: ModuleType, parts: EngineParts) -> None:
    parts.late_modules.wait()


def _note_notebook_cells(torch: ModuleType, parts: EngineParts) -> None:
    """Where a notebook runs; no other process pays for the module."""
    if "IPython" in sys.modules:
        from .probes import notebook_cells

        notebook_cells.install(torch, parts)
