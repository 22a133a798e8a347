"""What is done with a call of the program in a copy of its process: eager, compiled, or with one thing else.

Source: torch/_dynamo/eval_frame.py (set_stance), torch/_dynamo/backends/debugging.py (eager, aot_eager,
aot_eager_decomp_partition), read in 2.13.
"""

import io
import json
import random
import re
import sys
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from types import FunctionType
from typing import Any, BinaryIO

from ...backends.agreement import change_last_bits, rounding_mode
from ...shared.names import GRADIENT
from ..errors import text_of
from ..frames.program_files import is_own
from ..frames.source import is_wrapper_of_modules
from ..probes.graphs import inner_backend
from .folded_values import folded, other_values
from .fork_server import CannotTry, TooLittleMemory, is_out_of_memory, refuse_to_reach_out
from .how_a_call_runs import filling_mode, keep_to_this_rank, let_compile
from .observed_state import (
    RAISED,
    RAISED_AT,
    RAISED_CLASSES,
    RESULT,
    TENSOR,
    TORCH_NUMBERS,
    VALUE,
    Leaves,
    has_gradient,
    observe,
    random_states,
    roots_of,
    torch_random_states,
)
from .operation_alone import searching_backend
from .operation_log import OperationLog, memory_of, noting
from .own_decompositions import with_own_decompositions
from .printed_text import noting_printed
from .saved_state import SavedState
from .variable_log import VariableLog, WritesLog, steps_of_call, traced_here
from .wrong_beginning import beginning_backend

# What a backward raises in a copy of a process in which autograd has started its threads for devices.
# Source: torch/csrc/autograd/engine.cpp (Engine::execute), 2.15 with CUDA, where there is no GPU.
_NO_BACKWARD = "autograd's threading in combination with fork-based multiprocessing"
EAGER, COMPILED, STAGE, ROUNDED, LINES = "eager", "compiled", "stage", "rounded", "lines"
FILLED = "filled"  # eager, with something in all memory that nothing has filled yet
TRACED, OF_ENTRY = "traced", "of the entry"
ALONE = "alone with "  # before a backend
BEGINNING = "+beginning"  # behind a backend, before a number: only so many operations are compiled
NODES = "operations of graphs"
WRITES = "writes of "  # before the path of a value of Python's own
STEPS_OF_TRACING, STEPS_OF_ENTRY, STEPS = "steps of tracing", "steps of the entry", "steps"
SAVED = "saved for the backward"
FOLDED = "with other values of what is folded"
OPERATIONS, MEMORY, RETURNED, PLACE = "operations", "memory", "returned", "place"
EARLIER, WITH_NUMPY = "lines before a write", "operations with numpy's"
WITH_CASTS = "+casts"  # behind a backend: with Inductor's setting that keeps the casts of the program
ALL_VALUES = "all values"
AS_CAPTURED = "as captured"  # each graph of an entry as Dynamo captured it, in eager
WITH_DYNAMIC = "+dynamic"  # behind a backend: with sizes and integers that may differ from call to call
Version = tuple[weakref.ref[Any], int, int]  # the tensor, its version and its address
Versions = dict[int, Version]  # by the id of the tensor
_IN_A_CONTAINER = re.compile(r"(\[[^\[\]]*\]|\{\})$")
_LINE_IN_TEXT = re.compile(r'File "([^"]+)", line (\d+)')


class ProgramCall:
    """One call of what the program compiled: the function, its arguments, torch's context, the backend."""

    def __init__(
        self, compiled: Any, context: Any, backend: Any, args: tuple[Any, ...], named: dict[str, Any]
    ) -> None:
        self.compiled = compiled
        self.original = compiled._torchdynamo_orig_callable
        self._context = context
        self._backend = backend
        self.args, self.named = args, named
        self.versions_when_compiled: Versions = {}
        self.returned_before: dict[str, Any] = {}  # by the call before, and still in use
        self.outcome: dict[str, Any] = {}  # of the program's own call, once it has been made
        self._passes: list[dict[str, Any]] = []
        self._python_state = random.getstate()  # Python seeds its numbers anew in a fork
        self._torch_states = torch_random_states()

    def roots(self) -> dict[str, Any]:
        """The values that the call is given or can reach."""
        return roots_of(program_function(self.compiled), self.args, self.named)

    def versions(self) -> Versions:
        """The versions of the tensors that the call can reach, gradients among them."""
        return {id(value): _version(value) for _, value in tensors_in(self.roots())}

    def draws_otherwise(self, compiled: Leaves, eager: Leaves) -> bool:
        """Whether eager draws random numbers of torch's, and compiled code draws others."""
        import torch

        for name, before in self._torch_states.items():
            own, eagers = compiled[name][-1], eager[name][-1]
            # On a GPU the state is how many numbers were drawn, which may be as many of other ones.
            has_same = torch.equal(own, eagers) and (name == TORCH_NUMBERS or _draws_eagers_numbers())
            if not has_same and not torch.equal(eagers, before):
                return True
        return False

    def work(self, request: str, file: BinaryIO) -> None:
        """Do what a request asks for, in a fork, and write the leaves; ValueError for what none knows.

        The leaves are those of the call, or, where the file holds passes of a backward, its gradients.
        """
        what, _, detail = request.partition(":")
        random.setstate(self._python_state)
        sys.dont_write_bytecode = True
        self._passes = _passes_in(file)
        keep_to_this_rank(self.roots(), is_backward=bool(self._passes))
        if what in (EAGER, FILLED, ROUNDED):
            refuse_to_reach_out()
            leaves = self.made_in_eager(request)
        elif what == LINES:
            leaves = {LINES: [VALUE, json.dumps(self._lines(detail))]}
        elif what == COMPILED:
            let_compile()
            noting[:] = [OperationLog()] if detail == AS_CAPTURED else []
            leaves = self._observed(self.compiled, leave_out=detail != ALL_VALUES)
        elif what == STAGE:
            let_compile()
            import torch._inductor.config as inductor

            backend, _, how = detail.partition("+")
            if f"+{how}" == WITH_CASTS:
                inductor.emulate_precision_casts = True
            compiler = self._named(backend)
            if f"+{how}".startswith(BEGINNING):
                compiler = beginning_backend(compiler, int(how.split()[1]), [])
            leaves = self._observed(self._compile(compiler, is_dynamic=f"+{how}" == WITH_DYNAMIC))
        else:
            raise ValueError(request)
        file.write(saved(leaves))

    def made_in_eager(self, request: str) -> Leaves:
        """The leaves of the call in eager: as it is, with other rounding errors, or with memory filled."""
        what, _, detail = request.partition(":")
        if what == ROUNDED:
            return self._rounded_otherwise(int(detail))
        mode = filling_mode() if what == FILLED else None
        return self._observed(self._in_eager, leave_out=detail != ALL_VALUES, mode=mode)

    def saved_state(self) -> SavedState:
        """What the call can reach, and what came of it, to be put back. Raises CannotTry."""
        return SavedState(program_function(self.compiled), self.args, {**self.roots(), **self.outcome})

    def _named(self, backend: str) -> Any:
        """The backend of this name: one of torch's registry, or else the program's own function."""
        import torch

        own = inner_backend(self._backend)
        try:
            return with_own_decompositions(backend, own) or torch._dynamo.lookup_backend(backend)
        except Exception:  # InvalidBackend
            return own

    def _compile(self, backend: Any, *, is_dynamic: bool = False) -> Any:
        """The program's function compiled anew, as the program asks for it, but by this backend."""
        import torch

        torch._dynamo.reset()
        torch.compiler.set_stance("default")  # whatever the program promises of what it has compiled
        return torch.compile(
            self.original,
            backend=backend,
            fullgraph=getattr(self._context, "fullgraph", False),
            dynamic=is_dynamic or getattr(self._context, "_dynamic", None),
        )

    def _lines(self, which: str) -> dict[str, Any]:
        """The operations of a call in eager, freshly traced, or of the graphs that it was compiled to; or the
        place of the first that a backend gets wrong alone.

        Of eager there are also the memory of each tensor afterwards, the line at which the call returned, and
        its steps, with those that Dynamo had traced when it compiled the function.
        """
        log = OperationLog()
        if which == TRACED:
            let_compile()
            outcome_of(self._compile(log.backend), self.args, self.named)
        elif which == NODES:
            let_compile()
            operations: list[Any] = []
            outcome_of(
                self._compile(beginning_backend(self._named("eager"), 0, operations)), self.args, self.named
            )
            return {OPERATIONS: operations}
        elif which.startswith(WRITES):
            refuse_to_reach_out()
            written = self._writes_in_eager(which.removeprefix(WRITES))
            return {OPERATIONS: written.lines, EARLIER: sorted(written.before)}
        elif which == STEPS_OF_TRACING:
            let_compile()
            variables = VariableLog()
            with variables.of_tracing():
                outcome_of(self._compile("eager"), self.args, self.named)
            return {STEPS: variables.steps}
        elif which.startswith(ALONE):
            let_compile()
            found: list[Any] = []
            name = which.removeprefix(ALONE)
            backend = searching_backend(
                None if name == "eager" else self._named(name), found, lambda call: outcome_of(call, (), {})
            )
            outcome_of(self._compile(backend), self.args, self.named)
            return {PLACE: found}
        elif which == SAVED:
            refuse_to_reach_out()
            return self._written_after_saving()
        elif which == FOLDED:
            let_compile()
            self._run_without_folded(log)
        elif which == OF_ENTRY:
            noting.append(log)
            outcome_of(self.compiled, self.args, self.named)
        else:
            refuse_to_reach_out()
            return self._lines_in_eager()
        return {OPERATIONS: log.operations, WITH_NUMPY: log.with_numpy}

    def _lines_in_eager(self) -> dict[str, Any]:
        returned: list[Any] = []
        variables = VariableLog()
        log = OperationLog(variables)

        def note_return(frame: Any, event: str, _: Any) -> None:
            if event == "return" and is_own(frame.f_code.co_filename):
                returned[:] = frame.f_code.co_filename, frame.f_lineno

        sys.setprofile(note_return)
        with variables.of_eager():
            outcome = outcome_of(self._in_eager, self.args, self.named, log.mode())
        sys.setprofile(None)
        memory = {path: memory_of(value) for path, value in tensors_in({**self.roots(), **outcome})}
        return {
            OPERATIONS: log.operations,
            MEMORY: memory,
            RETURNED: returned,
            STEPS: variables.steps,
            STEPS_OF_ENTRY: steps_of_call(variables.steps, traced_here.roots.values(), traced_here.end),
        }

    def _written_after_saving(self) -> dict[str, Any]:
        """The operations of eager, and the memory of what was written since it was saved for the backward."""
        import torch

        log, kept = OperationLog(), []

        def keep(value: Any) -> Any:
            kept.append((value, value._version))
            return value

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
            outcome_of(self._in_eager, self.args, self.named, log.mode())
        memory = {str(at): memory_of(value) for at, (value, was) in enumerate(kept) if value._version != was}
        return {OPERATIONS: log.operations, MEMORY: memory}

    def _run_without_folded(self, log: OperationLog) -> None:
        """Note what eager does with other values in what was folded and has changed since; else nothing."""
        then = self.versions_when_compiled
        changed = [
            value
            for _, value in tensors_in(self.roots())
            if then and value.is_floating_point() and then.get(id(value)) != _version(value)
        ]
        found = folded(lambda: observe(outcome_of(self.compiled, self.args, self.named), set()), changed)
        if found:
            with other_values(found):
                outcome_of(self._in_eager, self.args, self.named, log.mode())

    def _writes_in_eager(self, path: str) -> WritesLog:
        """The program's lines after which a value of Python's own at a path is another one, in eager.

        Of what is in a container, it is the container.
        """
        roots = {name: root for name, root in self.roots().items() if path.startswith(name)}
        whole = _IN_A_CONTAINER.sub("", path)

        def leaves() -> Leaves:
            return {name: leaf for name, leaf in observe(roots, set()).items() if name.startswith(whole)}

        written = WritesLog(leaves)
        with written.of_eager():
            outcome_of(self._in_eager, self.args, self.named)
        return written

    def _in_eager(self, *args: Any, **named: Any) -> Any:
        import torch

        torch.compiler.set_stance("force_eager")
        return self.original(*args, **named)

    def _rounded_otherwise(self, seed: int) -> Leaves:
        import torch

        known: set[int] = set()
        with torch.no_grad():
            for index, (_, value) in enumerate(tensors_in(self.roots())):
                memory = value.untyped_storage()._cdata if value.layout is torch.strided else None
                if memory is not None and memory not in known:
                    known.add(memory)
                    change_last_bits(value.detach(), seed * 10_007 + index)
        mode = rounding_mode(seed)
        leaves = self._observed(self._in_eager, mode=mode)
        leaves["short"] = [VALUE, repr(sorted(mode.short_dtypes))]
        return leaves

    def _observed(self, call: Callable[..., Any], *, leave_out: bool = True, mode: Any = None) -> Leaves:
        """The leaves after a call; without the values of parameters that it has not written, if wanted."""
        versions = self.versions()
        outcome = outcome_of(call, self.args, self.named, mode)
        if not self._passes:
            return self.observed(outcome, versions if leave_out else {})
        with mode if mode is not None else nullcontext():
            return self._gradients(outcome[RESULT], versions)

    def observed(self, outcome: dict[str, Any], versions: Versions) -> Leaves:
        """The leaves of the state after a call, and of what it returned or raised."""
        roots = self.roots()
        untouched = {
            id(value) for value in _parameters_in(roots) if versions.get(id(value)) == _version(value)
        }
        return observe({**roots, **random_states(), **outcome, **self.returned_before}, untouched)

    def _gradients(self, result: Any, before: Versions) -> Leaves:
        """The gradients of all parameters and inputs after the passes of a backward, or what one raised.

        Those of outputs are there that the program keeps, or looks at by a hook.
        An input that was made by other operations, and written by the call, has none of its own afterwards.
        Those that the backward writes, as a hook may that takes a step of the optimizer, are there as well.
        """
        import torch

        outputs = dict(tensors_in({RESULT: result}))
        inputs = {
            f"{GRADIENT}{path}": value
            for path, value in tensors_in(self.roots())
            if has_gradient(value) or (value.requires_grad and before.get(id(value)) == _version(value))
        }
        kept = [path for each in self._passes for path in each["kept"] if outputs[path].requires_grad]
        inputs |= {f"{GRADIENT}{path}": outputs[path] for path in kept}
        for value in inputs.values():
            value.retain_grad()
        versions = {path: _version(value) for path, value in inputs.items()}
        for each in self._passes:
            for path in each["written"]:  # what was saved of it is no longer what it was
                torch.autograd.graph.increment_version(outputs[path])
            outcome = outcome_of(partial(_backward, each, outputs, list(inputs.values())), (), {})
            if RAISED in outcome:
                return observe(outcome, set())
        written = {
            path.removeprefix(GRADIENT): value
            for path, value in inputs.items()
            if _version(value) != versions[path]
        }
        return observe({**{path: value.grad for path, value in inputs.items()}, **written}, set())


def _backward(each: dict[str, Any], outputs: dict[str, Any], inputs: list[Any]) -> None:
    """One pass of a backward: from the outputs into which something flowed, or from the gradients so far."""
    import torch

    given = {path: gradient for path, gradient in each["seeds"].items() if outputs[path].requires_grad}
    starts, seeds = [outputs[path] for path in given], list(given.values())
    if each["is_of_gradients"]:
        gradients = [value.grad for value in inputs]
        starts = [value for value in gradients if value is not None and value.requires_grad]
        seeds = [torch.ones_like(value) for value in starts]
    with warnings.catch_warnings(), torch.autocast("cpu", enabled=each["is_autocast"]):
        warnings.simplefilter("ignore")  # torch warns of the cycle that gradients of gradients make
        torch.autograd.backward(starts, seeds, each["keeps_graph"], each["creates_graph"])


def _passes_in(file: BinaryIO) -> list[dict[str, Any]]:
    """The passes that were given with a request; what was given is taken out of the file."""
    import torch

    given = file.read()
    file.seek(0)
    file.truncate()
    passes: list[dict[str, Any]] = torch.load(io.BytesIO(given), weights_only=True) if given else []
    return passes


def saved(content: Any) -> memoryview:
    """What torch.save writes; each tensor alone where tensors of several dtypes share memory."""
    import torch
    from torch.utils._pytree import tree_map_only

    buffer = io.BytesIO()
    try:
        torch.save(content, buffer)
    except RuntimeError:
        buffer = io.BytesIO()
        torch.save(tree_map_only(torch.Tensor, torch.clone, content), buffer)
    return buffer.getbuffer()


def program_function(compiled: Any) -> Any:
    """The program's function behind what torch.compile made, without torch's wrapper around modules."""
    function = compiled._torchdynamo_orig_callable
    if isinstance(function, FunctionType) and is_wrapper_of_modules(function.__code__):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        return cells["fn"].cell_contents if "fn" in cells else function
    return function


def outcome_of(
    call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any], mode: Any = None
) -> dict[str, Any]:
    """What a call returned or raised, and what it printed, as roots. Raises CannotTry.

    The program's own modes see the call, and nothing else that a copy does.
    """
    seen = sys.modules["torch"]._C._EnableTorchFunction()
    with noting_printed() as printed:
        try:
            with seen, mode if mode is not None else nullcontext():
                outcome = {RESULT: call(*args, **named)}
        except Exception as error:
            if is_out_of_memory(error):  # a copy may have less of it than the program
                raise TooLittleMemory from None
            if _NO_BACKWARD in str(error):
                raise CannotTry("torch runs no backward in a copy, where autograd has threads") from None
            outcome = raised(error)
    return {**outcome, **printed.roots()}


def raised(error: Exception) -> dict[str, Any]:
    """What an exception is observed as: its text, the names of its classes, and the program's line."""
    # In code that Dynamo made, the line is that of the function's definition: it says nothing.
    lines = [
        (frame.f_code.co_filename, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if number != frame.f_code.co_firstlineno or frame.f_code.co_name == "<lambda>"
    ]
    lines += [(file, int(number)) for file, number in _LINE_IN_TEXT.findall(text_of(error))]
    line = next((each for each in reversed(lines) if is_own(each[0]) and not _is_generated(each[0])), None)
    classes = tuple(each.__qualname__ for each in type(error).__mro__)
    return {RAISED: text_of(error), RAISED_CLASSES: classes, RAISED_AT: line}


def _draws_eagers_numbers() -> bool:
    """Whether Inductor is told to draw the random numbers that eager draws."""
    inductor = sys.modules.get("torch._inductor.config")
    return inductor is not None and bool(inductor.fallback_random)


def _is_generated(file: str) -> bool:
    """Whether Inductor has written a file; its folder may be in one of the program's."""
    caches = sys.modules.get("torch._inductor.codecache")
    return caches is not None and any(each.__file__ == file for each in caches.PyCodeCache.modules)


def tensors_in(roots: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The plain tensors among these values, each once, with its path."""
    for path, leaf in observe(roots, set(), keep=True).items():
        if leaf[0] == TENSOR and leaf[-1] is not None:
            yield path, leaf[-1]


def _parameters_in(roots: dict[str, Any]) -> Iterator[Any]:
    """The parameters among these values, and their gradients."""
    import torch

    for path, value in tensors_in(roots):
        if isinstance(value, torch.nn.Parameter) or path.startswith(GRADIENT):
            yield value


def _version(value: Any) -> Version:
    """Another one once the tensor is written; a gradient's id may be that of one that is gone."""
    return weakref.ref(value), 0 if value.is_inference() else value._version, value.data_ptr()
