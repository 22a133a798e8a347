"""Find the modules that user code calls, and have a copy of the process wait with each.

`torch.nn.Module._call_impl` is replaced by a descriptor: what it gives for a call inside of another module's
is torch's own method, so that no frame of ours is in the program's tracebacks but one. (`__call__` itself is
replaced, and put back, by torch.fx.) The program's own torch.compile is there and runs eager, as after
`torch.compiler.set_stance("force_eager")`, so that its calls come by, too.
Source: torch/nn/modules/module.py (_wrapped_call_impl), torch/_dynamo/eval_frame.py (_set_stance,
OptimizedModule), torch/nn/parallel (DistributedDataParallel, DataParallel), torch/fx/_symbolic_trace.py
(is_fx_tracing, which warns); read in 2.8 and 2.13, run in 2.13.
"""

import importlib
import json
import os
import sys
import threading
import weakref
from collections.abc import Callable
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.names import EXPORT_CALL_SUFFIX, EXPORT_FOLDER
from ...shared.records import ModulesCalled
from ...shared.settings import ExportSettings
from . import further_calls
from .agreement import Call
from .calls_seen import CallsSeen, calls_seen
from .inputs import Inputs, bound, inputs_of
from .snapshot import Snapshot, take_snapshot
from .trial import ToExport
from .trials import Trials

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_MOST_REPLACED = 3
# What an export needs: loaded once, before the first copy is made, not in each.
_LOADED_AHEAD = ("torch._dynamo", "torch.export._trace", "torch._dynamo.testing")
# Modules that call another one as the program would, by their classes, and where they hold it.
_WRAPPERS = {"DistributedDataParallel": "module", "DataParallel": "module", "OptimizedModule": "_orig_mod"}


class _Inside(threading.local):
    """Whether this thread is inside of a module's call."""

    is_so = False


class _Observed:
    """A module with the copy of the process that waits with one of its calls."""

    def __init__(self, number: int, seen: CallsSeen) -> None:
        self.number = number
        self.seen = seen
        self.inputs = seen.first  # of the call that the copy is to export the module with
        self.snapshot: Snapshot | None = None
        self.replaced = 0
        self.further_calls = 0


class ModuleObserver:
    """Watches the calls. What goes wrong in it is noted, and the program's call is made all the same."""

    def __init__(self, settings: ExportSettings, parts: "EngineParts") -> None:
        self._settings = settings
        self._parts = parts
        self._folder = f"{parts.settings.recording}/{EXPORT_FOLDER}"
        self._observed: weakref.WeakKeyDictionary[Any, _Observed] = weakref.WeakKeyDictionary()
        self._snapshots: list[Snapshot] = []  # also of modules that are gone
        self._left_out: weakref.WeakSet[Any] = weakref.WeakSet()
        self._modules = self._modules_left_out = 0
        self._cannot_copy: str | None = None
        self._inside = _Inside()
        self._one_at_a_time = threading.Lock()
        self._is_off = False
        self._threads = 1
        self._original: Callable[..., Any] | None = None
        self._observe = parts.probes.harmless("modules to export")(self._observe_call)
        os.register_at_fork(after_in_child=self._forked)

    def install(self, torch: ModuleType, parts: "EngineParts") -> None:
        """Replace `Module._call_impl`."""
        rank = os.environ.get("RANK", "0")
        if rank != "0":  # all ranks call the same
            return
        os.makedirs(self._folder, 0o700, exist_ok=True)
        self._threads = torch.get_num_threads()
        kind = torch.nn.Module
        self._original = kind._call_impl
        kind._call_impl = _ObservedCall(self._original, self._inside, self._observed_method())

    def install_on_stance(self, eval_frame: ModuleType, parts: "EngineParts") -> None:
        """Let what the program compiles run eager."""
        eval_frame._set_stance(eval_frame.DynamoStance("force_eager"))

    def finish(self) -> None:
        """The process ends."""
        if self._original is not None and not self._is_off:
            self._parts.stream.record(
                ModulesCalled(
                    modules=self._modules, left_out=self._modules_left_out, cannot_copy=self._cannot_copy
                )
            )

    def _observed_method(self) -> Callable[..., Any]:
        """A function, of which a method of a module can be made as of torch's own."""
        original = self._original
        assert original is not None

        def _call_impl(module: Any, *args: Any, **kwargs: Any) -> Any:
            self._inside.is_so = True
            try:
                if not self._is_off:
                    self._observe(module, args, kwargs, sys._getframe(1))
                return original(module, *args, **kwargs)
            finally:
                self._inside.is_so = False

        return _call_impl

    def _observe_call(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: Any) -> None:
        if _is_being_traced():
            return
        while (name := type(module).__name__) in _WRAPPERS:
            module = getattr(module, _WRAPPERS[name])
        with self._one_at_a_time:
            observed = self._observed.get(module)
            if observed is None:
                self._meet(module, Call(args, kwargs), frame)
            else:
                self._meet_again(observed, module, Call(args, kwargs))

    def _meet(self, module: Any, call: Call, frame: Any) -> None:
        if module in self._left_out:
            return
        seen = calls_seen(module, call, frame)  # TypeError where the call itself will raise it
        tried_before = self._modules - self._modules_left_out  # also those that are gone by now
        self._modules += 1
        self._cannot_copy = self._cannot_copy or _why_no_copy()
        if tried_before >= self._settings.most_modules or self._cannot_copy:
            self._leave_out(module)
            return
        if not tried_before:
            _load_ahead()
        observed = _Observed(self._modules, seen)
        seen.count(seen.first)
        try:
            self._copy(observed, module, call)
        except OSError as error:  # no memory for another process, say
            self._cannot_copy = f"the process could not be copied: {error.strerror}"
            self._leave_out(module)
        else:
            self._observed[module] = observed

    def _leave_out(self, module: Any) -> None:
        self._left_out.add(module)
        self._modules_left_out += 1

    def _meet_again(self, observed: _Observed, module: Any, call: Call) -> None:
        inputs = inputs_of(bound(module, *call))
        if not observed.seen.count(inputs):
            return
        if not observed.seen.note(inputs) or observed.snapshot is None:
            return
        if self._is_better(observed, inputs):
            observed.snapshot.replace()
            observed.replaced += 1
            observed.inputs = inputs
            self._copy(observed, module, call)
        else:
            file = self._written(observed, call) if inputs.sizes != observed.inputs.sizes else None
            news = {"sizes": inputs.sizes, "constants": inputs.constants, "file": file}
            observed.snapshot.send(json.dumps(news).encode() + b"\n")

    def _written(self, observed: _Observed, call: Call) -> str | None:
        if observed.further_calls >= further_calls.MOST:
            return None
        observed.further_calls += 1
        file = f"{self._folder}/{os.getpid()}-{observed.number}-{observed.further_calls}{EXPORT_CALL_SUFFIX}"
        return file if further_calls.write_call(call, file) else None

    def _is_better(self, observed: _Observed, inputs: Inputs) -> bool:
        """Whether an export with these inputs can have sizes dynamic that one with the copy's cannot."""
        special = observed.seen.special_sizes
        return observed.replaced < _MOST_REPLACED and special(inputs) < special(observed.inputs)

    def _copy(self, observed: _Observed, module: Any, call: Call) -> None:
        def work(lines: list[bytes]) -> None:
            self._try(observed, module, call, list(map(json.loads, lines)))

        observed.snapshot = take_snapshot(self._folder, work)
        self._snapshots.append(observed.snapshot)

    def _try(self, observed: _Observed, module: Any, call: Call, news: list[dict[str, Any]]) -> None:
        """In the copy, when the program has ended and sent all its news: the trials with this module."""
        for each in news:
            sizes = {name: tuple(dimensions) for name, dimensions in each["sizes"].items()}
            observed.seen.note(observed.inputs._replace(sizes=sizes, constants=each["constants"]))
        assert self._original is not None
        torch = sys.modules["torch"]
        torch.nn.Module._call_impl = self._original
        torch.compiler.set_stance("default")
        stream, records = self._parts.stream, self._parts.records
        stream.record_to(self._folder)
        stream.record(observed.seen.record(module, call))
        calls = [call, *further_calls.read_calls([each["file"] for each in news if each["file"]])]
        subject = ToExport(module, calls, observed.seen.varied, self._threads)
        stem = f"{os.getpid()}-{observed.number}"
        Trials(subject, self._settings, self._folder, stem, stream.record, records.end).run()
        records.end()

    def _forked(self) -> None:
        self._is_off = True
        for snapshot in self._snapshots:
            snapshot.forget()


class _ObservedCall:
    """`Module._call_impl`: of the outermost module on this thread, our own; of all others, torch's."""

    def __init__(self, original: Callable[..., Any], inside: _Inside, observed: Callable[..., Any]) -> None:
        self._original = original
        self._inside = inside
        self._observed = observed

    def __get__(self, module: Any, kind: Any = None) -> Callable[..., Any]:
        if module is None:
            return self._original
        return MethodType(self._original if self._inside.is_so else self._observed, module)


def _is_being_traced() -> bool:
    """Whether the program traces, exports or transforms the module itself: its tensors are not plain ones."""
    torch = sys.modules["torch"]
    return bool(
        torch.compiler.is_compiling()
        or torch._C._get_tracing_state()
        or torch._C._len_torch_dispatch_stack()
        or torch._C._functorch.peek_interpreter_stack()
        or torch.fx._symbolic_trace._is_fx_tracing_flag
    )


def _load_ahead() -> None:
    for module in _LOADED_AHEAD:
        try:
            importlib.import_module(module)
        except Exception:  # the trials will say so
            return


def _why_no_copy() -> str | None:
    torch = sys.modules["torch"]
    return "it uses CUDA, which a copy of a process cannot use" if torch.cuda.is_initialized() else None
