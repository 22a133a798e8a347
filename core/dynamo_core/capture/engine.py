"""Start everything, once torch is imported: the stream, the trace handler, the probes, the capture.

Every module of the engine is imported from here, because this import happens where only the standard
library can be seen (`standard_library.py`); those that only some runs need, by `asked_for.py`. Modules of
torch are imported when they are used.
"""

import atexit
import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ..names import IMPORTED, PROCESS_END, PROCESS_START, PROCESS_STATE, TIMELINE
from ..settings import Settings
from . import aot_pairs, backward, breaks, bytecode, frames, graphs, guards, tracing_time
from .asked_for import import_what_is_asked_for, replaces_arguments
from .freeze import Freeze
from .guard_cost import GuardCost
from .import_hook import import_hook
from .late_modules import LateModules
from .optimizers import OptimizerNotes
from .primitives import time_ns
from .probes import Probes
from .process import description_at_start, description_of_state, peak_memory, torch_totals
from .profile_window import profile_window
from .stream import Stream
from .trace_handler import attach, current_compile_id
from .whole_program import WholeProgramCapture


def start(environment: Mapping[str, str], armed_ns: int) -> None:
    """Begin to record this process. Called once, right after `import torch`.

    `environment` is the one in which the process started, with our settings in it; `armed_ns` is when that
    was, just before the program's first line.
    """
    settings = Settings.from_environment(environment)
    import_what_is_asked_for(settings)
    stream = Stream(settings.recording, (PROCESS_START, description_at_start()))
    os.register_at_fork(after_in_child=stream.start_anew_after_fork)
    probes = Probes(stream)
    handler = attach(stream)
    guard_cost = GuardCost()
    window = profile_window(settings, probes)
    verifier = None
    if settings.verify:
        from .verify import Verifier

        verifier = Verifier(probes)
    inductor = LateModules(
        {
            "torch._inductor.compile_fx": probes.harmless("imports")(lambda m: _record_import(m, stream)),
            "torch._functorch.aot_autograd": probes.harmless("forward and backward graphs")(
                lambda module: aot_pairs.install(module, probes)
            ),
            "torch._inductor.output_code": probes.harmless("backward calls")(
                lambda module: backward.install(module, probes, window, verifier)
            ),
        }
    )

    note_optimizers = probes.harmless("optimizers")(OptimizerNotes(stream).note)

    @probes.harmless("devices and torch settings")
    def record_state() -> None:
        note_optimizers()
        stream.artifact(PROCESS_STATE, description_of_state())

    @probes.harmless("backends")
    def tell(record: str, payload: dict[str, Any]) -> None:
        number = graphs.graph_in_progress.number
        stream.artifact(record, {"graph": number, **payload}, current_compile_id())

    step_marks = None
    if settings.step_frames:
        from .step_marks import StepMarks

        step_marks = StepMarks(settings.step_frames, probes)
    freeze = None if settings.freeze_after is None else Freeze(settings, probes, handler)
    overriding = None
    if replaces_arguments(settings):
        from .override import Overriding

        overriding = Overriding(settings, probes, tell)
        overriding.install_on_calls(sys.modules["torch"])
    _when_imported(
        "torch._dynamo.output_graph",
        probes,
        {
            "graphs": lambda module: graphs.install(
                module,
                probes,
                guard_cost,
                record_state,
                inductor,
                window,
                wrapper=None if verifier is None else verifier.before,
                freeze=freeze,
            ),
            **({} if overriding is None else {"overrides": overriding.install_on_compiles}),
            **({} if step_marks is None else {"steps": step_marks.install_on_compiles}),
            "graph breaks": lambda module: breaks.install(module, probes),
            "resume functions": lambda module: bytecode.install_on_resume_functions(module, probes),
        },
    )
    _when_imported(
        "torch._dynamo.guards",
        probes,
        {"guards": lambda module: guards.install(module, probes, guard_cost)},
    )
    _when_imported(
        "torch._dynamo",
        probes,
        {"imports": lambda module: _record_import(module, stream), "Inductor": lambda _: inductor.wait()},
    )
    _when_imported(
        "torch._dynamo.convert_frame",
        probes,
        {
            "bytecode": lambda module: bytecode.install(module, probes),
            "frames": lambda module: frames.install(module, probes, handler),
            "freeze": lambda module: None if freeze is None else freeze.install(module),
        },
    )
    _when_imported(
        "torch._dynamo.symbolic_convert",
        probes,
        {"tracing time": lambda module: tracing_time.install(module, probes)},
    )
    totals_at_fork: dict[str, int] = {}  # a forked child inherits its parent's, which are not its own

    @probes.harmless("process end")
    def record_end() -> None:
        if window is not None:
            probes.harmless("profile window")(window.finish)()
        record_state()
        if overriding is not None:
            overriding.finish()
        if freeze is not None:
            freeze.finish()
        inherited = totals_at_fork
        totals = {name: count - inherited.get(name, 0) for name, count in torch_totals().items()}
        stream.artifact(
            PROCESS_END, {"torch_totals": totals, "ended_ns": time_ns(), "peak_memory": peak_memory()}
        )

    atexit.register(record_end)
    os.register_at_fork(after_in_child=probes.harmless("fork")(lambda: totals_at_fork.update(torch_totals())))
    WholeProgramCapture(settings, probes, tell).begin()
    if step_marks is not None and settings.capture == "none":
        probes.harmless("steps")(step_marks.watch_eager_frames)()
    torch_began_ns, torch_ended_ns = import_hook.times.get("torch", (None, None))
    stream.artifact(
        TIMELINE,
        {
            "armed_ns": armed_ns,
            "torch_began_ns": torch_began_ns,
            "torch_ended_ns": torch_ended_ns,
            "ready_ns": time_ns(),
        },
    )


def _record_import(module: ModuleType, stream: Stream) -> None:
    times = import_hook.times.get(module.__name__)
    if times is not None:  # None: it was imported before we came
        stream.artifact(IMPORTED, {"module": module.__name__, "began_ns": times[0], "ended_ns": times[1]})


def _when_imported(name: str, probes: Probes, installers: dict[str, Callable[[ModuleType], None]]) -> None:
    def install_all(module: ModuleType) -> None:
        for probe, install in installers.items():
            probes.harmless(probe)(install)(module)

    import_hook.when_imported(name, install_all)
