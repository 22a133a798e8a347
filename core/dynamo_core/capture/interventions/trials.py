"""`--try`: a frame that broke or was compiled again, traced once more with one thing changed.

The process is copied when Dynamo is about to compile the frame (`fork_server.py`). If the compile then has a
graph break, or is a recompile, the copy calls the frame's function with each change, compiled by a backend
that runs the graphs as they are; where sizes may be unknown, once AOTAutograd has made a backward of them.
The program's own compile and call are made once, as they are.

Source: torch/_dynamo/convert_frame.py (ConvertFrame.__call__), torch/_dynamo/utils.py (graph_break_reasons);
read and run in 2.13.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ...shared.change_tried import RAISED, ChangeTried
from ...shared.choices import parse_config
from ..frames.program_files import is_own
from ..frames.source import is_resumed, is_wrapper_of_modules
from ..primitives import perf_counter_ns
from .fork_server import ForkServer, NoAnswer, refuse_to_reach_out, why_no_copy
from .override import changed_setting

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

DYNAMIC = "dynamic=True"
_DYNAMO = "torch._dynamo.config."
# Settings that let Dynamo trace what breaks the graph without them; those that this torch has are tried.
# With `graph_break_on_nn_param_ctor` off a program was ended by a segmentation fault (2.13, Inductor).
FOR_BREAKS = (
    f"{_DYNAMO}capture_scalar_outputs=True",
    f"{_DYNAMO}capture_dynamic_output_shape_ops=True",
    f"{_DYNAMO}reorderable_logging_functions+=print",
    f"{_DYNAMO}reorderable_logging_functions+=warnings.warn",
    f"{_DYNAMO}trace_autograd_ops=True",
    f"{_DYNAMO}allow_rnn=True",
    f"{_DYNAMO}trace_numpy=True",
    f"{_DYNAMO}use_numpy_random_stream=True",
    f"{_DYNAMO}enable_trace_load_build_class=True",
    f"{_DYNAMO}enable_trace_unittest=True",
)
# With these, graphs have sizes and numbers that no operator knows, and some of these raise for it: in Dynamo,
# in AOTAutograd, or in Inductor, which a trial does not come to.
_UNKNOWN_SIZES = frozenset(FOR_BREAKS[:2])
FOR_RECOMPILES = (
    DYNAMIC,
    f"{_DYNAMO}allow_unspec_int_on_nn_module=True",
    f"{_DYNAMO}force_parameter_static_shapes=False",
)
_SIZES = ("torch.compiler.config.dynamic_sources", "torch.compiler.config.unbacked_sources")
_SECONDS = 10.0  # that one trial may take
_MOST_RECOMPILES = 3  # of one function that are tried
_MOST_BREAKS = 200  # places of breaks in one record


class ChangeTrials:
    """Tries changes in this process, until the time for it is spent."""

    def __init__(self, parts: "EngineParts") -> None:
        self._parts = parts
        self._budget = parts.settings.try_budget  # seconds of a process, for all trials
        self._spent_ns = 0
        self._earlier: dict[CodeType, list[dict[str, Any]]] = {}
        self._tried_places: set[tuple[str, int]] = set()
        self._is_busy = threading.Lock()

    def install(self, convert_frame: ModuleType, parts: "EngineParts") -> None:
        """Wrap both converters, around the probe of frames."""
        for converter in (convert_frame.ConvertFrame, convert_frame.ConvertFrameAssert):
            self._wrap(converter)

    def _wrap(self, converter: Any) -> None:
        original = converter.__call__
        begin = self._parts.probes.guarded("changes that are tried")(self._begin)
        finish = self._parts.probes.guarded("changes that are tried")(self._finish)

        def __call__(own: Any, frame: Any, *rest: Any, **named: Any) -> Any:
            named["skip"] = named.get("skip", 0) + 1
            if not self._is_busy.acquire(blocking=False):
                return original(own, frame, *rest, **named)
            copied, breaks, result = begin(frame), len(_reasons()), None
            try:
                result = original(own, frame, *rest, **named)
                return result
            finally:
                if copied is not None:
                    finish(copied, breaks, getattr(result, "guarded_code", None) is None)
                self._is_busy.release()

        converter.__call__ = __call__

    def _begin(self, frame: Any) -> "_CopiedFrame | None":
        """A copy of the process that can call the frame's function; None where nothing is to be tried."""
        code = frame.f_code
        is_own_code = is_own(code.co_filename) or is_wrapper_of_modules(code)
        if self._is_spent() or is_resumed(code) or not is_own_code:
            return None
        began = perf_counter_ns()
        call = frame_call(frame)
        given = described(call)
        earlier = self._earlier.setdefault(code, [])
        if len(earlier) > _MOST_RECOMPILES:
            return None
        copied = _CopiedFrame(code, call, [*earlier], given, self._parts.stream.end)
        earlier.append(given)
        self._spent_ns += perf_counter_ns() - began
        return copied

    def _is_spent(self) -> bool:
        return self._spent_ns > self._budget * 1e9

    def _finish(self, copied: "_CopiedFrame", breaks: int, is_left_eager: bool) -> None:
        """Try changes, if the compile had a break that is new, left the frame eager, or was a recompile."""
        compile_id = self._parts.trace_handler.last_compile
        made = [reason for reason in _reasons()[breaks:] if reason.graph_break]
        places = {place for reason in made for place in _stack(reason)[-1:]}
        try:
            if is_left_eager or places - self._tried_places:
                self._try(copied, FOR_BREAKS, compile_id)
            if copied.earlier and not is_left_eager:
                self._try(copied, copied.changes_for_recompiles(), compile_id)
        finally:
            copied.end()

    def _try(
        self, copied: "_CopiedFrame", changes: Iterable[str], compile_id: Mapping[str, int] | None
    ) -> None:
        """Record what comes of each change, beside the frame traced again without one.

        Of changes that change nothing together, none is tried by itself: of many, first each half is tried.
        """
        began = perf_counter_ns()

        def record(tried: tuple[str, ...], after: Traced) -> None:
            nonlocal began
            ended = perf_counter_ns()
            self._parts.stream.record(
                ChangeTried(
                    file=copied.code.co_filename,
                    line=copied.code.co_firstlineno,
                    changes=list(tried),
                    before=before._asdict(),
                    after=after._asdict(),
                    ns=ended - began,
                ),
                compile_id,
            )
            began = ended

        def try_each(tried: tuple[str, ...], after: Traced) -> None:
            if len(tried) == 1 or before.why is not None or (after.why is None and after == before):
                record(tried, after)
                return
            half = len(tried) // 2
            for some in (tried[:half], tried[half:]):
                try_each(some, self._traced(copied, some))

        before = self._traced(copied, ())
        self._tried_places |= {(file, line) for stack in before.breaks for file, line in stack}
        known = tuple(filter(_is_known, changes))
        if known:
            try_each(known, before if before.why is not None else self._traced(copied, known))

    def _traced(self, copied: "_CopiedFrame", changes: tuple[str, ...]) -> "Traced":
        if self._is_spent():
            return Traced(why=f"the {self._budget:g} s for what is tried were over")
        began = perf_counter_ns()
        traced = copied.traced(changes)
        self._spent_ns += perf_counter_ns() - began
        return traced


class Traced(NamedTuple):
    """What tracing a function gave. `why` says why nothing is known of it.

    `breaks` are the stacks of its graph breaks, `recompiled` counts the graphs of calls after the first,
    `left_eager` the frames that could not be compiled, `ops` those of all graphs.
    """

    breaks: list[list[tuple[str, int]]] = []  # never mutated
    recompiled: int = 0
    left_eager: int = 0
    ops: int = 0
    why: str | None = None


class Call(NamedTuple):
    """A function and the arguments that a frame of it was called with."""

    function: Any
    args: tuple[Any, ...]
    named: dict[str, Any]


class _CopiedFrame:
    """A copy of the process that waits with a frame that is about to be compiled."""

    def __init__(
        self,
        code: CodeType,
        call: Call,
        earlier: list[dict[str, Any]],
        given: dict[str, Any],
        prepare: Callable[[], None],
    ) -> None:
        self.code = code
        self.earlier = earlier
        self._given = given

        def work(request: str, file: BinaryIO) -> None:
            file.write(json.dumps(_trace(call, earlier, request.split("\t"))).encode())

        self._server = ForkServer(work, prepare) if _why_no_copy() is None else None

    def traced(self, changes: tuple[str, ...]) -> Traced:
        """What comes of tracing the function with these changes."""
        if self._server is None:
            return Traced(why=_why_no_copy() or "the process cannot be copied")
        try:
            return Traced(*json.loads(self._server.ask("\t".join(changes), _SECONDS)))
        except NoAnswer as error:
            return Traced(why=str(error))

    def changes_for_recompiles(self) -> Iterator[str]:
        """The changes for a recompile; the sizes that differ from earlier calls are named."""
        yield from FOR_RECOMPILES
        differing = [
            f"L['{path}']:{dimension}"
            for path, now in self._given.items()
            for dimension in range(len(now[0]) if isinstance(now, tuple) else 0)
            if any(_size(then.get(path), dimension) not in (None, now[0][dimension]) for then in self.earlier)
        ]
        if differing:
            yield from (f"{name}={','.join(differing)}" for name in _SIZES)

    def end(self) -> None:
        """Let the copy end."""
        if self._server is not None:
            self._server.end()


def _why_no_copy() -> str | None:
    """Why nothing can be tried in a copy of the process; None if it can be."""
    distributed = sys.modules["torch"].distributed
    if distributed.is_available() and distributed.is_initialized():
        return "it may communicate with other ranks"
    return why_no_copy()


def _size(described_value: Any, dimension: int) -> int | None:
    is_tensor = isinstance(described_value, tuple) and dimension < len(described_value[0])
    return described_value[0][dimension] if is_tensor else None


def frame_call(frame: Any) -> Call:
    """The function of a frame that has not begun, and its arguments."""
    code, values = frame.f_code, dict(frame.f_locals)
    count, only_named = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    args = tuple(values[name] for name in names[:count])
    named = {name: values[name] for name in names[count : count + only_named]}
    at = count + only_named
    if code.co_flags & CO_VARARGS:
        args += tuple(values[names[at]])
        at += 1
    if code.co_flags & CO_VARKEYWORDS:
        named |= values[names[at]]
    function = FunctionType(code, frame.f_globals, code.co_name, None, tuple(frame.closure) or None)
    return Call(function, args, named)


def described(call: Call) -> dict[str, Any]:
    """The arguments by name: sizes, dtype and requires_grad of a tensor, and the value of a plain one.

    Numbers on a module that is an argument are there as `self.count`.
    """
    import torch

    found: dict[str, Any] = {}
    for name, value in _named_arguments(call).items():
        if isinstance(value, torch.Tensor):
            found[name] = (tuple(map(int, value.shape)), value.dtype, value.requires_grad)
        elif type(value) in (int, float, bool, str):
            found[name] = value
        elif isinstance(value, torch.nn.Module):
            numbers = {key: each for key, each in vars(value).items() if type(each) in (int, float)}
            found |= {f"{name}.{key}": each for key, each in numbers.items()}
    return found


def _named_arguments(call: Call) -> dict[str, Any]:
    names = call.function.__code__.co_varnames[: call.function.__code__.co_argcount]
    return {**dict(zip(names, call.args, strict=False)), **call.named}


def _as_earlier(call: Call, given: Mapping[str, Any]) -> Call:
    """The call with arguments as an earlier one had them: tensors of zeros of those sizes, plain values."""
    import torch

    named = _named_arguments(call)
    for path, then in given.items():
        name, _, attribute = path.partition(".")
        if attribute:
            setattr(named[name], attribute, then)
        elif isinstance(then, tuple):
            sizes, dtype, requires_grad = then
            now = named[name]
            if tuple(now.shape) != sizes or now.dtype != dtype or now.requires_grad != requires_grad:
                named[name] = torch.zeros(sizes, dtype=dtype, device=now.device, requires_grad=requires_grad)
        elif name in named:
            named[name] = then
    names = call.function.__code__.co_varnames[: call.function.__code__.co_argcount]
    args = tuple(named[name] for name in names) + call.args[len(names) :]
    return Call(call.function, args, {name: named[name] for name in call.named})


def _trace(call: Call, earlier: Sequence[Mapping[str, Any]], changes: Sequence[str]) -> Traced:
    """Call the function as it was called before and now, compiled with changes; in a copy of the process."""
    import torch

    torch._dynamo.reset()
    for change in changes:
        if change not in ("", DYNAMIC):
            config = parse_config(change)
            changed_setting(sys.modules[config.module], config)
    ops, graphs = 0, 0
    compile_graph = _by_autograd() if _UNKNOWN_SIZES.intersection(changes) else None

    def backend(gm: Any, inputs: Any) -> Any:
        nonlocal ops, graphs
        graphs += 1
        ops += sum(node.op.startswith("call_") for node in gm.graph.nodes)
        return gm.forward if compile_graph is None else compile_graph(gm, inputs)

    begin = len(_reasons())
    frames = sys.modules["torch._dynamo.utils"].counters["frames"]
    frames.clear()
    dynamic = True if DYNAMIC in changes else None
    compiled: Any = torch.compile(call.function, backend=backend, dynamic=dynamic)
    refuse_to_reach_out()  # torch.compile makes the folder of torch's caches
    made_by_first = 0
    for number, given in enumerate([*earlier, described(call)]):
        each = _as_earlier(call, given)
        try:
            compiled(*each.args, **each.named)
        except Exception as error:
            return Traced(why=f"{RAISED}{type(error).__name__}: {str(error).partition(chr(10))[0]}")
        made_by_first = graphs if number == 0 else made_by_first
    stacks = [_stack(reason) for reason in _reasons()[begin:] if reason.graph_break][:_MOST_BREAKS]
    return Traced(stacks, graphs - made_by_first, frames["total"] - frames["ok"], ops)


def _by_autograd() -> Callable[[Any, Any], Any]:
    """A backend that runs the graphs as they are, once AOTAutograd has made a backward of them."""
    from torch._dynamo.backends.debugging import aot_eager

    compile_graph: Callable[[Any, Any], Any] = aot_eager
    return compile_graph


def _reasons() -> list[Any]:
    reasons: list[Any] = sys.modules["torch._dynamo.utils"].graph_break_reasons
    return reasons


def _stack(reason: Any) -> list[tuple[str, int]]:
    return [(frame.filename, frame.lineno) for frame in reason.user_stack]


def _is_known(change: str) -> bool:
    """Whether this torch has the setting, with another value than this."""
    if change == DYNAMIC:
        return True
    config = parse_config(change)
    value = getattr(sys.modules.get(config.module), config.name, config)
    return value is not config and value != config.value
