"""Compile nothing more from some moment on (`--freeze-after`), and say what would have been compiled.

The moment needs no watch: it only matters when Dynamo is about to compile, and then the calls that are
counted anyway, or the time since the last compile, tell whether it has come. Calls that find a cache entry
cost nothing.

A frame for which no entry fits then runs eager, this once: its entries, and those of what it calls, go on
being used, and what it calls is not compiled apart (FrameAction.RUN_ONLY). The backward of a graph that was
compiled before is still compiled at its first call: AOTAutograd's forward cannot do without it.

Why not `torch.compiler.set_stance`: it is the program's own to set; it is looked at only where a compiled
region is entered, which a captured program never does; and "eager_on_recompile" keeps the reasons to itself.
Which frames are left to torch (`has_tensor_in_frame`) is as for its "fail_on_recompile".

Source: torch/_dynamo/convert_frame.py (ConvertFrame, ConvertFrameAssert), torch/_dynamo/eval_frame.py
(_callback_from_stance), torch/_dynamo/guards.py (get_guard_fail_reason_helper); 2.8, 2.13 and 2.15.
"""

import ast
import re
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...shared.choices import is_named_by, parse_freeze_after
from ...shared.records import FrameNotCompiled, FreezeNoted
from ...shared.settings import ON_RECOMPILE_ERROR, Settings
from ..errors import NotCompiled
from ..frames.source import caller_of, method_name, torch_folder
from ..primitives import perf_counter_ns, time_ns
from ..probe_guard import ProbeGuard
from ..probes.trace_handler import TraceHandler
from ..torch_versions import allow_no_compiled_frame, guard_failure
from ..writing.occurrences import Occurrences

if TYPE_CHECKING:
    from torch._dynamo.types import DynamoFrameType

    from ..engine_parts import EngineParts


_MOST_NOTED = 16  # the reason can name a size, and so be new each time
_NEVER_COMPILED = "never compiled before"
_NO_LONGER_COMPILED = "what was compiled of it has been thrown away (torch._dynamo.reset)"


_Reasons = tuple[str, ...]
_Came = tuple[str | None, ...]


class _Refused(NamedTuple):
    """Why a frame was not compiled: a reason for each of its cache entries, and the value that came."""

    reasons: _Reasons
    came: _Came


class Freeze:
    """Knows when the moment has come, and what Dynamo does with a frame after that."""

    def __init__(self, settings: Settings, probes: ProbeGuard, handler: TraceHandler) -> None:
        assert settings.freeze_after is not None
        self._after = parse_freeze_after(settings.freeze_after)
        self._is_error = settings.on_recompile == ON_RECOMPILE_ERROR
        self._probes = probes
        self._handler = handler
        self._frozen = False
        self._pages: list[int] = []  # of all calls
        self._named = None if self._after.function is None else NamedFunction(self._after.function)
        self._compiling = threading.local()
        self._compiled: set[object] = set()
        self._noted_of: dict[object, dict[tuple[_Reasons | None, _Came | None], None]] = {}
        self._torch_folder = ""
        self._method_of = probes.guarded("methods of frames not compiled")(method_name)
        self._find_caller = probes.guarded("callers of frames not compiled")(caller_of)
        self._what_came = probes.guarded("the values that came after the freeze")(_what_came)
        self._not_compiled = Occurrences(probes.stream, FrameNotCompiled)

    def watch(self, page: int) -> None:
        """A graph was compiled, and its calls are counted on this page."""
        self._pages.append(page)
        function = getattr(self._compiling, "function", None)
        if self._named is not None and function is not None:
            self._named.add(page, function)

    def install(self, convert_frame: ModuleType, parts: "EngineParts") -> None:
        """Hook into both converters."""
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy
        from torch._dynamo.types import ConvertFrameReturn

        eager_this_once = ConvertFrameReturn(
            frame_exec_strategy=_FrameExecStrategy(_FrameAction.SKIP, _FrameAction.RUN_ONLY),
            apply_to_code=False,
        )
        self._torch_folder = torch_folder(convert_frame)
        method_of = self._probes.guarded("methods that --freeze-after names")(method_name)

        def __call__(
            proceed: Callable[..., Any], converter: Any, frame: "DynamoFrameType", *rest: Any, **named: Any
        ) -> Any:
            refused = self._why_not(converter, frame, convert_frame)
            if refused is not None:
                if self._is_error:
                    raise NotCompiled(_message(frame.f_code, refused))
                allow_no_compiled_frame()
                return eager_this_once
            outer = getattr(self._compiling, "function", None)
            self._compiling.function = CompiledFunction(frame.f_code, method_of(frame))
            try:
                result = proceed(converter, frame, *rest, **named)
            finally:
                self._compiling.function = outer
            if result.guarded_code is not None:
                self._compiled.add(_identity(frame.f_code))
            return result

        for converter in (convert_frame.ConvertFrame, convert_frame.ConvertFrameAssert):
            self._probes.hook(converter, "__call__", "freeze", __call__, NotCompiled)

    def finish(self) -> None:
        """The process ends: write what is not written yet, and how far it was from the freeze."""
        if not self._frozen:
            self._record(self._has_come())
        self._not_compiled.finish()

    def _why_not(
        self, converter: Any, frame: "DynamoFrameType", convert_frame: ModuleType
    ) -> "_Refused | None":
        """Why this frame would be compiled now, were it not for the freeze, which is recorded; else None."""
        if not self._frozen:
            if not self._has_come():
                return None
            self._frozen = True
            self._record(True)
        inner = getattr(converter, "_inner_convert", converter)
        code = frame.f_code
        if (
            inner._export
            or code in convert_frame.output_codes
            or not convert_frame.has_tensor_in_frame(frame)
        ):
            return None
        reasons = self._reasons(converter, frame)
        came = self._what_came(reasons, frame) or (None,) * len(reasons)
        where = {"name": code.co_name, "file": code.co_filename, "line": code.co_firstlineno}
        noted = self._to_note(tuple(where.values()), reasons, came)
        self._not_compiled.add(
            (*where.values(), noted),
            lambda: {
                **where,
                "reasons": noted[0],
                "came": noted[1],
                "method": self._method_of(frame),
                "called_from": self._find_caller(code, self._torch_folder),
            },
        )
        return _Refused(reasons, came)

    def _to_note(self, frame: object, reasons: _Reasons, came: _Came) -> tuple[_Reasons | None, _Came | None]:
        """What is noted of a frame: all of the first reasons; of many, known reasons without values."""
        known = self._noted_of.setdefault(frame, {})
        if len(known) < _MOST_NOTED or (reasons, came) in known:
            noted: tuple[_Reasons | None, _Came | None] = (reasons, came)
        else:
            noted = (reasons if any(reasons == each for each, _ in known) else None, None)
        known[noted] = None
        return noted

    def _reasons(self, converter: Any, frame: "DynamoFrameType") -> tuple[str, ...]:
        """In torch's words, for each cache entry that the frame has, the newest first."""
        from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list

        entries = _debug_get_cache_entry_list(frame.f_code)  # in the order of their use
        entries = sorted(entries, key=lambda entry: entry.compile_id.frame_compile_id or 0, reverse=True)
        if not entries:
            known = _identity(frame.f_code) in self._compiled
            return (_NO_LONGER_COMPILED if known else _NEVER_COMPILED,)
        return tuple(guard_failure(entry, frame.f_locals, converter) for entry in entries)

    def _calls(self) -> int | None:
        """How many calls count so far; None where the function's name is short for several."""
        pages = self._pages if self._named is None else self._named.pages
        return None if pages is None else sum(map(self._probes.stream.counters.calls_of, pages))

    def _seconds(self) -> float | None:
        ended_ns = self._handler.last_compile_ended_ns
        return None if ended_ns is None else (perf_counter_ns() - ended_ns) / 1e9

    def _has_come(self) -> bool:
        if self._after.seconds is not None:
            seconds = self._seconds()
            return seconds is not None and seconds >= self._after.seconds
        assert self._after.calls is not None
        calls = self._calls()
        return calls is not None and calls >= self._after.calls

    def _record(self, frozen: bool) -> None:
        is_timed = self._after.seconds is not None
        self._probes.stream.record(
            FreezeNoted(
                frozen=frozen,
                calls=None if is_timed else self._calls(),
                seconds=self._seconds() if is_timed else None,
                at_ns=time_ns(),
            )
        )


def _what_came(reasons: _Reasons, frame: "DynamoFrameType") -> _Came:

    return tuple(value_that_came(reason, frame.f_locals, frame.f_globals) for reason in reasons)


def _message(code: CodeType, refused: _Refused) -> str:
    """In the words of `dynamo recompiles`, of the newest cache entry."""
    from ...shared.failed_guard import describe_change, failed_guard, guarded

    check = check_of(refused.reasons[0])
    failed = failed_guard(check)
    came = failed.actual or refused.came[0]
    if failed.source and failed.expected and came:
        why = describe_change(guarded(failed.kind, failed.source, failed.index), failed.expected, came)
    elif came:
        why = f"`{check}` held when it was compiled, and then {came} came"
    else:
        why = check
    others = len(refused.reasons) - 1
    return (
        f"--on-recompile error: {code.co_name} ({code.co_filename}:{code.co_firstlineno}) "
        f"would be compiled after the freeze: {why}"
        + (f"; nor does {_earlier(others)} of it fit" if others else "")
    )


def _earlier(count: int) -> str:
    return "the earlier compile" if count == 1 else f"any of {count} earlier compiles"


def _identity(code: CodeType) -> tuple[str, int, str, int]:
    """Resume functions for the two ways on from a line share all but their code."""
    return code.co_filename, code.co_firstlineno, code.co_name, hash(code)


# The compiled function that the user names, `Net.forward` or `forward`, and where its calls are counted.


class CompiledFunction(NamedTuple):
    """A function that is compiled: `code` and, where it is a module's, `method`, as reports name it."""

    code: CodeType
    method: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """Its whole names: of a method, with the instance's class as well as with the defining class."""
        qualified: str | None = getattr(self.code, "co_qualname", None)  # from Python 3.11 on
        return tuple(each for each in (self.method, qualified) if each is not None)

    @property
    def identity(self) -> Hashable:
        """What sets it apart; all of torch's own modules are compiled through one and the same code."""
        return self.method, self.code.co_filename, self.code.co_firstlineno


class NamedFunction:
    """Collects the pages of the calls of what a name means.

    A whole name means every function that has it. A short one means a function as long as it is the only one.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._by_whole_name: list[int] = []
        self._by_short_name: dict[Hashable, list[int]] = {}

    def add(self, page: int, function: CompiledFunction) -> None:
        """A graph of a function was compiled, and its calls are counted on this page."""
        if self._name in function.names:
            self._by_whole_name.append(page)
        elif any(is_named_by(name, self._name) for name in (*function.names, function.code.co_name)):
            self._by_short_name.setdefault(function.identity, []).append(page)

    @property
    def pages(self) -> Iterable[int] | None:
        """The pages of the function that the name means; None where it is short for several."""
        if self._by_whole_name or not self._by_short_name:
            return self._by_whole_name
        of_one, *others = self._by_short_name.values()
        return None if others else of_one


# The value that a failed guard was given, where torch's words have only the one that it was compiled for.
#
# `k == 1` and `len(xs) == 3` name no value that came. The check is an expression over the frame's variables,
# of which the parts that name something are looked up; nothing of the program's own is called for it:
# attributes are read from the `__dict__` of objects, and only plain containers are indexed.
#
# Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper, strip_local_scope: `L['x']` is written `x`),
# and the names of sources in torch/_dynamo/source.py; read with 2.13.


_ENTRY = re.compile(r"(?:!\d+/)?\d+/\d+: ")
_TYPE_CHECK = re.compile(r"___check_type_id\((.+), \d+\)(?:, type=.*)?")
_PLAIN = (bool, int, float, str, type(None))
_LONGEST = 200  # characters
# Of containers whose own code is not Python's.
_GET_ITEMS = (dict.__getitem__, list.__getitem__, tuple.__getitem__)
_LENGTHS = (dict.__len__, list.__len__, tuple.__len__, str.__len__, set.__len__, frozenset.__len__)
# Where a module has what it is asked for by name (torch.nn.Module.__getattr__).
_OF_A_MODULE = ("_parameters", "_buffers", "_modules")


def check_of(reason: str) -> str:
    """The check alone: without the id of the cache entry, and the lines that it comes from."""
    return _ENTRY.sub("", reason.partition("\n")[0], count=1).partition("  # ")[0].strip()


def value_that_came(reason: str, f_locals: Mapping[str, Any], f_globals: Mapping[str, Any]) -> str | None:
    """The value, or the type where that is checked; of several, each with its name. None where not known."""
    check = check_of(reason)
    scope = {"L": dict(f_locals), "G": f_globals, **f_locals}
    is_of_type = _TYPE_CHECK.fullmatch(check)
    try:
        tree = ast.parse(is_of_type[1] if is_of_type else check, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # of a tensor: a sentence, which names the value
    if is_of_type:
        found = list(_looked_up(tree, scope))
        return _name_of_type(type(found[0])) if found else None
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        return next(
            (str(len(value)) for value in _looked_up(tree.operand, scope) if _has_length(value)), None
        )
    named = {ast.unparse(node): text for node in _sources(tree) for text in _texts(node, scope)}
    if len(named) == 1:
        return next(iter(named.values()))
    return ", ".join(f"{name} = {text}" for name, text in named.items()) or None


def _sources(node: ast.AST) -> Iterator[ast.AST]:
    """The outermost parts of an expression that name something."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or _is_len(node):
        yield node
    elif not isinstance(node, ast.Call):
        for child in ast.iter_child_nodes(node):
            yield from _sources(child)


def _is_len(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _texts(node: ast.AST, scope: Mapping[str, Any]) -> Iterator[str]:
    for value in _looked_up(node, scope):
        if type(value) in _PLAIN and len(text := repr(value)) <= _LONGEST:
            yield text


def _looked_up(node: ast.AST, scope: Mapping[str, Any]) -> Iterator[Any]:
    """What a name stands for; nothing where that is not to be known without the program's own code."""
    if isinstance(node, ast.Name):
        if node.id in scope:
            yield scope[node.id]
    elif isinstance(node, ast.Attribute):
        for base in _looked_up(node.value, scope):
            yield from _attribute(base, node.attr)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        for base in _looked_up(node.value, scope):
            if getattr(type(base), "__getitem__", None) in _GET_ITEMS:
                try:
                    yield base[node.slice.value]
                except (LookupError, TypeError):
                    pass
    elif isinstance(node, ast.Call):
        yield from _called(node, scope)


def _attribute(base: Any, name: str) -> Iterator[Any]:
    try:
        own = object.__getattribute__(base, "__dict__")
    except AttributeError:
        return
    if not isinstance(own, dict):
        return
    held = (own, *(within for key in _OF_A_MODULE if isinstance(within := own.get(key), dict)))
    yield from [within[name] for within in held if name in within][:1]


def _called(node: ast.Call, scope: Mapping[str, Any]) -> Iterator[Any]:
    """`len(xs)` and `x.size()`, the only calls that sources have."""
    if _is_len(node) and len(node.args) == 1:
        for value in _looked_up(node.args[0], scope):
            if _has_length(value):
                yield len(value)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "size" and not node.args:
        import torch

        for value in _looked_up(node.func.value, scope):
            if type(value) in (torch.Tensor, torch.nn.Parameter):
                yield tuple(map(int, value.shape))


def _has_length(value: Any) -> bool:
    return getattr(type(value), "__len__", None) in _LENGTHS


def _name_of_type(kind: type) -> str:
    name = kind.__qualname__
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"
