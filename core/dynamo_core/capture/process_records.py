"""The records about a process as a whole: versions and environment, imports, state, timeline, end."""

import os
import platform
import resource
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..shared.bisection import bisection
from ..shared.early_records import (
    Import,
    ProcessEnd,
    ProcessInfo,
    ProcessState,
    Timeline,
)
from ..shared.launchers import attempt_of, job_of, rank_of
from ..shared.masking import masked_arguments, masked_environment
from .frames.source import is_library_file
from .import_hook import import_hook
from .primitives import process_time_ns, time_ns
from .probe_guard import ProbeGuard
from .probes.optimizers import OptimizerNotes
from .writing.stream import Stream

if TYPE_CHECKING:
    from .engine_parts import EngineParts

_AROUND_COMPILED_CODE = "torch._functorch._aot_autograd."

# What a graph saved for its backward is freed by it: an attribute (`saved_tensors`) refuses a second one.
# Source: torch/csrc/autograd/saved_variable.cpp (ERR_BACKWARD_TWICE), read in 2.8 to 2.15.
_FREED = "Trying to backward through the graph a second time"


class ProcessRecords:
    """Writes the records that are written more than once, or that depend on a fork."""

    def __init__(self, stream: Stream, probes: ProbeGuard) -> None:
        self._stream = stream
        self._note_optimizers = probes.guarded("optimizers")(OptimizerNotes(stream).note)
        self._exception = probes.guarded("the exception that ended the program")(uncaught_exception)
        self._inherited_totals: dict[str, int] = {}  # what a forked child's parent had counted
        self.state = probes.guarded("devices and torch settings")(self._state)
        self._cpu_ns = 0  # of this process, when the engine was ready
        self.forked = probes.guarded("fork")(self._forked)

    def _forked(self) -> None:
        self._inherited_totals.update(torch_totals())
        self._cpu_ns = 0  # a child's begins anew

    def _state(self) -> None:
        self._note_optimizers()
        self._stream.record(process_state())

    def end(self) -> None:
        """Write the last record of the process."""
        inherited = self._inherited_totals
        totals = {name: count - inherited.get(name, 0) for name, count in torch_totals().items()}
        self._stream.record(
            ProcessEnd(
                torch_totals=totals,
                ended_ns=time_ns(),
                peak_memory=peak_memory(),
                cpu_ns=process_time_ns() - self._cpu_ns,
                **(self._exception() or {}),
            )
        )
        self._stream.counters.allow_writing()

    def timeline(self, armed_ns: int | None) -> None:
        """Record when the process was armed, when torch was imported, and that the engine is ready now."""
        self._cpu_ns = process_time_ns()
        torch_began_ns, torch_ended_ns = import_hook.times.get("torch", (None, None))
        self._stream.record(
            Timeline(
                armed_ns=armed_ns,
                torch_began_ns=torch_began_ns,
                torch_ended_ns=torch_ended_ns,
                ready_ns=time_ns(),
            )
        )


def record_import(module: ModuleType, parts: "EngineParts") -> None:
    """Record how long one of the compiler's modules took to import."""
    times = import_hook.times.get(module.__name__)
    if times is not None:  # None: it was imported before the import hook was there
        parts.stream.record(Import(module=module.__name__, began_ns=times[0], ended_ns=times[1]))


def process_at_start() -> ProcessInfo:
    """The process, its versions and its environment, without its devices: that would initialise CUDA."""
    import torch

    rank, unsure = rank_of(os.environ) or (None, None)
    return ProcessInfo(
        host=os.uname().nodename,
        job=job_of(os.environ),
        attempt=attempt_of(os.environ),
        rank=rank,
        rank_unsure=unsure,
        argv=masked_arguments(sys.orig_argv),
        executable=sys.executable,
        python=platform.python_version(),
        torch=str(torch.__version__),
        torch_git=getattr(torch.version, "git_version", None),
        cuda_build=torch.version.cuda,
        hip_build=getattr(torch.version, "hip", None),
        environment=masked_environment(os.environ),
    )


def process_state() -> ProcessState:
    """The devices in use so far, the settings of the compile stack that are not the defaults, a bisection."""
    return ProcessState(
        devices=_or_none(_devices_in_use),
        torch_config=_or_none(_changed_settings),
        bisecting=_or_none(_bisecting),
    )


def torch_totals() -> dict[str, int]:
    """What torch itself has counted so far; empty if Dynamo was never imported.

    Source: torch/_dynamo/utils.py (counters, graph_break_reasons), 2.8 to 2.15.
    """
    dynamo_utils = sys.modules.get("torch._dynamo.utils")
    if dynamo_utils is None:
        return {}
    counters = dynamo_utils.counters
    return {
        "unique_graphs": counters["stats"]["unique_graphs"],
        "calls_captured": counters["stats"]["calls_captured"],
        "frames_total": counters["frames"]["total"],
        "frames_ok": counters["frames"]["ok"],
        "graph_break_reasons": len(dynamo_utils.graph_break_reasons),
    }


def uncaught_exception() -> dict[str, Any]:
    """The uncaught exception and the innermost line of the program that raised it; empty without one.

    The traceback of an exception in a prompt or in a notebook's cell does not begin in `__main__`.
    Source: Python/pythonrun.c (PyErr_PrintEx sets sys.last_value, from 3.12 on sys.last_exc, before exit
    functions run); torch/_inductor/runtime/compile_tasks.py (_reload_python_module: Inductor's code may be in
    any folder, but is a module below torch's), read in 2.13.
    """
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    traceback = error.__traceback__ if isinstance(error, BaseException) else None
    if traceback is None or traceback.tb_frame.f_globals.get("__name__") != "__main__":
        return {}
    own, refused_by = traceback, None
    while traceback is not None:
        frame = traceback.tb_frame
        module = str(frame.f_globals.get("__name__"))
        is_programs = not module.startswith(("torch.", "dynamo_core."))
        if module.startswith(_AROUND_COMPILED_CODE):
            is_freed = str(error).startswith(_FREED)
            refused_by = f"{module}.{'saved_tensors' if is_freed else frame.f_code.co_name}"
        elif module != "torch" and not _is_written_around(frame.f_code.co_filename):  # torch has the checks
            is_of_names = _names_of_a_checkpoint(error, module, frame.f_code.co_name)
            # What it called raised: a kernel, a compiler.
            refused_by = f"{module}.{frame.f_code.co_name}" if is_of_names else None
        if is_programs and not is_library_file(frame.f_code.co_filename):
            own = traceback
        traceback = traceback.tb_next
    code = own.tb_frame.f_code
    return {
        "raised": type(error).__qualname__,
        "raised_file": code.co_filename,
        "raised_line": own.tb_lineno,
        "raised_in": code.co_name,
        **({} if refused_by is None else {"refused_by": refused_by}),
    }


def _is_written_around(file: str) -> bool:
    """Whether torch generated this code around compiled code, in no module.

    Source: torch/_functorch/_aot_autograd/subclass_codegen.py (codegen), read in 2.13.
    """
    return "_aot_autograd/" in file and ":codegen(" in file


def _names_of_a_checkpoint(error: object, module: str, function: str) -> bool:
    """Whether this function refuses a `state_dict` for names, of which a compiled module's begin otherwise.

    Source: torch/nn/modules/module.py (load_state_dict), torch/_dynamo/eval_frame.py (OptimizedModule); read
    in 2.8 to 2.15.
    """
    is_refusal = (module, function) == ("torch.nn.modules.module", "load_state_dict")
    return is_refusal and "_orig_mod." in str(error)


def peak_memory() -> dict[str, int]:
    """The peak memory of this process in bytes: resident, and allocated on each CUDA device in use.

    torch's own peaks are reset where the program calls `torch.cuda.reset_peak_memory_stats`.
    """
    import torch

    devices = torch.cuda.device_count() if torch.cuda.is_initialized() else 0
    cuda = {f"cuda:{i}": torch.cuda.max_memory_allocated(i) for i in range(devices)}
    return {"resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, **cuda}


def _or_none(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception:
        return None


def _bisecting() -> str | None:
    """What torch's compiler bisector is at; torch has set the variable when it looked for the status file."""
    if "torch._inductor.compiler_bisector" not in sys.modules:
        return None
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return None if folder is None else bisection(os.environ, folder)


def _devices_in_use() -> list[str]:
    import torch

    devices = [f"cpu: {os.cpu_count()} cores, {torch.get_num_threads()} threads"]
    if torch.cuda.is_initialized():
        devices += [f"cuda:{i}: {torch.cuda.get_device_name(i)}" for i in range(torch.cuda.device_count())]
    return devices


def _changed_settings() -> dict[str, dict[str, str]]:
    """Settings of torch's compile stack that differ from their defaults, by module; none that are ours.

    Source: torch/utils/_config_module.py (ConfigModule), 2.8 to 2.15.
    """
    changed: dict[str, dict[str, str]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # reading a deprecated setting warns
        for name in ("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config"):
            module = sys.modules.get(name)
            if module is None:
                continue
            entries: dict[str, Any] = module._config
            values = {s: getattr(module, s) for s, entry in entries.items() if not entry.alias}
            changed[name] = {
                setting: repr(value)
                for setting, value in values.items()
                if value != entries[setting].default and not type(value).__module__.startswith("dynamo_core.")
            }
    return changed
