"""Find the modules that user code calls, and have a copy of the process wait with each.

`torch.nn.Module._call_impl` is replaced by a descriptor: what it gives for a call inside of another module's
is torch's own method, so that no frame of ours is in the program's tracebacks but one. (`__call__` itself is
replaced, and put back, by torch.fx.) The program's own torch.compile is there and runs eager, as after
`torch.compiler.set_stance("force_eager")`, so that its calls come by, too.
Source: torch/nn/modules/module.py (_wrapped_call_impl), torch/_dynamo/eval_frame.py (_set_stance,
OptimizedModule), torch/nn/parallel (DistributedDataParallel, DataParallel); read in 2.8 and 2.13,
run in 2.13.
"""

import importlib
import inspect
import json
import mmap
import os
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.export_records import ModulesCalled, ModuleToExport
from ...shared.names import EXPORT_CALL_SUFFIX, EXPORT_FOLDER
from ...shared.settings import ExportSettings
from ..frames.program_files import is_own
from ..frames.source import stack_line
from ..torch_versions import is_traced_by_fx
from .inputs import (
    Inputs,
    Varied,
    as_code,
    bound,
    dynamic_shapes,
    inputs_of,
    leaves,
    unregistered_dataclasses,
    varied_dimensions,
    written_arguments,
)
from .trial import Call, ToExport
from .trials import Snapshot, Trials, take_snapshot

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


# What the calls of one module were given: the program notes it, and the copy of its process reads it.


_MOST_DIFFERENT = 50  # sizes of one tensor, and values of one constant
_COUNTER = 8  # bytes
_SPECIAL_BELOW = 2  # torch takes sizes of 0 and 1 as they are: it does not make them dynamic


class CallsSeen:
    """Sizes and values by the name of their input, each once.

    The counts are in memory that the program shares with its copy, so that they are known however it ends.
    """

    def __init__(self, first: Inputs, called_at: Mapping[str, Any] | None) -> None:
        self.first = first
        self._called_at = called_at
        self._sizes = {name: [tuple(sizes)] for name, sizes in first.sizes.items()}
        self._constants = {name: [value] for name, value in first.constants.items()}
        self._counts = memoryview(mmap.mmap(-1, 2 * _COUNTER)).cast("q")

    @property
    def varied(self) -> Varied:
        """What was not the same in all calls, and can be dynamic."""
        return varied_dimensions(self._sizes, self._constants)

    def count(self, inputs: Inputs) -> bool:
        """Count a call; whether it is of the first one's form."""
        is_of_form = inputs.form == self.first.form
        self._counts[0 if is_of_form else 1] += 1
        return is_of_form

    def note(self, inputs: Inputs) -> bool:
        """Take what a call was given; whether there is anything new in it."""
        news = [self._add(self._sizes, name, tuple(sizes)) for name, sizes in inputs.sizes.items()] + [
            self._add(self._constants, name, value) for name, value in inputs.constants.items()
        ]
        return any(news)

    def special_sizes(self, inputs: Inputs) -> int:
        """How many of the sizes that must be dynamic are 0 or 1 here: an export with them would fix those."""
        return sum(
            inputs.sizes[name][dimension] < _SPECIAL_BELOW
            for name, dimensions in self.varied.items()
            for dimension in dimensions
        )

    def record(self, module: Any, call: Call) -> ModuleToExport:
        """The record of a module and of the call that was seen."""
        arguments = bound(module, *call)
        forward = inspect.unwrap(type(module).forward)
        code = getattr(forward, "__code__", None)
        return ModuleToExport(
            name=str(module._get_name()),
            file=None if code is None else code.co_filename,
            line=None if code is None else code.co_firstlineno,
            called_at=None if self._called_at is None else dict(self._called_at),
            training=module.training,
            parameters=sum(parameter.numel() for parameter in module.parameters()),
            calls=self._counts[0],
            other_forms=self._counts[1],
            inputs=[
                {"name": name, "dtype": self.first.dtypes[name], "sizes": sizes}
                for name, sizes in self._sizes.items()
            ],
            constants=[{"name": name, "values": values} for name, values in self._constants.items()],
            dynamic_shapes=as_code(dynamic_shapes(arguments, self.varied)) if self.varied else None,
            arguments=written_arguments(module, *call),
            dataclasses=[kind.__qualname__ for kind in unregistered_dataclasses([*call])],
        )

    def _add(self, known: dict[str, list[Any]], name: str, value: Any) -> bool:
        values = known.setdefault(name, [])
        if value in values or len(values) >= _MOST_DIFFERENT:
            return False
        values.append(value)
        return True


def place_of_call(frame: Any) -> dict[str, Any] | None:
    """The line of the user's that led to this frame, as a frame of a stack is recorded."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else stack_line(frame)


def calls_seen(module: Any, call: Call, frame: Any) -> CallsSeen:
    """Begin with the first call of a module."""
    return CallsSeen(inputs_of(bound(module, *call)), place_of_call(frame))


# Calls with other sizes than the one that a module is exported with, handed to the copy in files.
#
# The copy was made before these calls came. It reads what this very run has written, and nobody else's files.


_LARGEST = 64 << 20  # bytes of tensors
MOST = 2


def write_call(call: Call, file: str) -> bool:
    """Whether it could be written; it is not where it is large, or holds what cannot be pickled."""
    import torch

    values = [value for _, value in leaves({"": [call.args, call.kwargs]})]
    size = sum(value.nbytes for value in values if isinstance(value, torch.Tensor))
    if size > _LARGEST:
        return False
    try:
        torch.save(tuple(call), file)
        return True
    except Exception:  # whatever the program's own types raise when they are pickled
        return False


def read_calls(files: Sequence[str]) -> list[Call]:
    """The calls that were written to files, which are deleted: nobody else is to load them."""
    import torch

    calls = []
    for file in files:
        try:
            args, kwargs = torch.load(file, weights_only=False)
        except Exception:
            continue
        calls.append(Call(args, kwargs))
        os.unlink(file)
    return calls


# Find the modules that user code calls, and have a copy of the process wait with each.


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
        self._observe = parts.probes.guarded("modules to export")(self._observe_call)
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
        if observed.further_calls >= MOST:
            return None
        observed.further_calls += 1
        file = f"{self._folder}/{os.getpid()}-{observed.number}-{observed.further_calls}{EXPORT_CALL_SUFFIX}"
        return file if write_call(call, file) else None

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
        calls = [call, *read_calls([each["file"] for each in news if each["file"]])]
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
        or is_traced_by_fx()
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
