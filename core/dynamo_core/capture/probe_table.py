"""The list of all probes, each with the module of torch that it waits for.

Probes that wait for one module are installed in the order of this list. The order of those that hook into one
function of torch stands in `torch_hooks.py`.

Probes of Dynamo are imported when Dynamo is, so that a program that compiles nothing does not pay for them.
"""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

from .engine_parts import EngineParts
from .import_hook import import_hook
from .imports import import_later
from .probes import cache_bundles, trace_handler
from .process_records import record_import

Install = Callable[[ModuleType, EngineParts], None]


class Probe:
    """A probe that is installed right after `module` was imported; `name` is what is missing if it fails.

    `install` is None where the settings do not request the probe. The module of a `late` probe is waited for
    only while a backend may import it. This is a plain class: a named tuple would cost every process a fifth
    of a millisecond.
    """

    def __init__(self, module: str, name: str, install: Install | None, late: bool = False) -> None:
        self.module = module
        self.name = name
        self.install = install
        self.late = late


def later(module: str, function: str = "install") -> Install:
    """An installer that stands in a module of `probes/`, which is imported when the installer is called."""

    def install(torch_module: ModuleType, parts: EngineParts) -> None:
        (probe,) = import_later(f"{__package__}.probes.{module}")
        getattr(probe, function)(torch_module, parts)

    return install


def all_probes(parts: EngineParts) -> tuple[Probe, ...]:
    """All probes, in the order of installation."""
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
        Probe("torch.nn.parallel.distributed", "exchange of gradients", later("gradient_exchange")),
        Probe("torch", "modules to export", exports.install if exports else None),
        Probe(
            "torch._dynamo.eval_frame", "torch.compile is off", exports.install_on_stance if exports else None
        ),
        Probe("torch._dynamo.eval_frame", "calls of torch.compile", parts.compile_calls.install),
        Probe(
            "torch._dynamo.eval_frame",
            "calls of the program beside eager",
            parts.program_verifier.install if parts.program_verifier else None,
        ),
        Probe("torch", "overrides", overriding.install_on_calls if overriding else None),
        Probe("torch._dynamo.output_graph", "calls of torch.compile", parts.compile_calls.install_on_graphs),
        Probe("torch._dynamo.output_graph", "hooks that compiled code does not call", later("late_hooks")),
        Probe("torch._dynamo.output_graph", "graphs", later("graphs")),
        Probe(
            "torch._dynamo.output_graph", "overrides", overriding.install_on_compiles if overriding else None
        ),
        Probe("torch._dynamo.output_graph", "steps", step_marks.install if step_marks else None),
        Probe("torch._dynamo.output_graph", "graph breaks", later("breaks")),
        Probe("torch._dynamo.output_graph", "resume functions", later("bytecode", "install_on_resuming")),
        Probe("torch._dynamo.guards", "guards", later("guards")),
        Probe("torch._dynamo", "imports", record_import),
        Probe("torch._dynamo", "Inductor", lambda module, parts: parts.late_modules.wait()),
        Probe("torch._dynamo.convert_frame", "bytecode", later("bytecode")),
        Probe("torch._dynamo.convert_frame", "frames", later("frames")),
        Probe(
            "torch._dynamo.convert_frame",
            "changes that are tried",
            parts.trials.install if parts.trials else None,
        ),
        Probe("torch._dynamo.convert_frame", "freeze", freeze.install if freeze else None),
        Probe("torch._dynamo.symbolic_convert", "tracing time", None if brief else later("tracing_time")),
        Probe("torch._inductor.compile_fx", "imports", record_import, late=True),
        Probe(
            "torch._functorch._aot_autograd.graph_compile",
            "forward and backward graphs",
            later("autograd"),
            late=True,
        ),
        Probe(  # of torch 2.8
            "torch._functorch._aot_autograd.jit_compile_runtime_wrappers",
            "forward and backward graphs",
            later("autograd"),
            late=True,
        ),
        Probe(
            "torch._inductor.output_code",
            "backward calls",
            later("autograd", "install_on_backward"),
            late=True,
        ),
        Probe("torch._inductor.cudagraph_utils", "CUDA graphs", later("cuda_graphs"), late=True),
        Probe(
            "torch._inductor.cudagraph_trees",
            "CUDA graphs",
            later("cuda_graphs", "install_on_trees"),
            late=True,
        ),
        Probe("torchgen.utils", "texts of torch's trace", trace_handler.let_texts_fail, late=True),
        Probe("torch._inductor.output_code", "caches", later("caches"), late=True),
        Probe(
            "torch._inductor.codecache",
            "what bypasses a cache",
            later("caches", "install_on_inductor"),
            late=True,
        ),
        Probe(
            "torch._functorch._aot_autograd.autograd_cache",
            "what bypasses a cache",
            later("caches", "install_on_aot_autograd"),
            late=True,
        ),
        Probe(
            "torch._functorch._aot_autograd.autograd_cache",
            "parts of AOTAutograd's keys",
            later("caches", "install_on_keys"),
            late=True,
        ),
    )


def _config_probes(parts: EngineParts) -> Iterator[Probe]:
    """One probe for each module whose settings `--config` changes."""
    if not parts.settings.config:
        return
    from ..shared.choices import parse_config
    from .interventions import override

    changes = [parse_config(text) for text in parts.settings.config]
    for module in dict.fromkeys(change.module for change in changes):
        install = override.install_for([change for change in changes if change.module == module])
        yield Probe(module, f"--config {module}", install)


def install_probes(parts: EngineParts) -> None:
    """Have each requested probe installed when its module is imported; one that fails affects no other."""
    for probe in all_probes(parts):
        if probe.install is not None:
            wait = parts.late_modules.add if probe.late else import_hook.when_imported
            wait(probe.module, parts.probes.guarded(probe.name)(_bind(parts, probe.install)))


def _bind(parts: EngineParts, install: Install) -> Callable[[ModuleType], None]:
    return lambda module: install(module, parts)


def _note_notebook_cells(torch: ModuleType, parts: EngineParts) -> None:
    """Install the probe of notebook cells where a notebook runs; other processes do not import its module."""
    if "IPython" in sys.modules:
        from .probes import notebook_cells

        notebook_cells.install(torch, parts)
