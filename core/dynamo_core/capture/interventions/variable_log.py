"""The lines of a call, each with the variables that it has changed: in eager, and as Dynamo traced it.

With them goes what functions returned to them.

What went wrong while tracing shows here even where no operation of a tensor has a part in it.

Source: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase.starts_line, whose translators keep what
they return in `symbolic_result`), read in 2.13.
"""

import inspect
import itertools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..frames.program_files import is_own
from ..frames.source import compile_id_text, current_compile_id

_MOST_STEPS = 20_000
_MOST_PARTS = 16  # of a container
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONTAINERS = (list, tuple, dict, set, deque)
_ITERATORS: tuple[type, ...] = (type(iter([])), type(iter(())))
_RETURNED = "returned at "  # in place of a variable's name, before the place of the `return`
# A line that begins: file, line and function, the line before it there, what that one has changed (None for
# what is not known any more), the line at which the function begins, and the number of its frame.
Step = list[Any]
Place = tuple[str, int, str]


class _Frame(NamedTuple):
    """A frame of Python's or of Dynamo's: what `get` gives while it is there."""

    get: Callable[[], Any]
    number: int
    line: int
    variables: dict[str, str]


class VariableLog:
    """The steps of one call in eager, or of what Dynamo traces: each frame that it compiles is a root."""

    def __init__(self) -> None:
        self.roots: dict[str, list[Step]] = {}  # by the ids of compiles, in order
        self._current: list[Step] = []
        self._root: Callable[[], Any] = lambda: None  # what Dynamo has begun last
        self._frames: dict[int, _Frame] = {}  # by id
        self._numbers = itertools.count()
        self._returned: dict[str, str] = {}  # since the last step
        self._unseen_returned: dict[str, Any] = {}  # of those, what Dynamo had not looked at
        self._unseen: dict[str, Any] = {}  # variables of the last step that Dynamo had not looked at

    @property
    def steps(self) -> list[Step]:
        """All steps, in order."""
        return [step for root in self.roots.values() for step in root] + self.end

    @property
    def end(self) -> list[Step]:
        """A last step without a line, where nothing came after what a function returned."""
        return [["", 0, "", 0, {**self._returned}, 0, 0]] if self._returned else []

    def __len__(self) -> int:
        return len(self._current)

    @contextmanager
    def of_eager(self) -> Iterator[None]:
        """Note the lines that Python runs."""
        self._current = self.roots.setdefault("", [])

        def trace(frame: Any, event: str, value: Any) -> Any:
            if not _is_written(frame.f_code):
                return None
            if len(self) >= _MOST_STEPS:
                sys.settrace(None)
            elif event == "line":
                variables = _described(_with_parts(frame.f_locals, _parts_of_value), _of_value)
                self._begin(lambda: frame, frame.f_code, frame.f_lineno, variables)
            elif event == "return":
                self._return(frame.f_code, frame.f_lineno, _of_value(value))
                self._let_go(frame)
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)

    @contextmanager
    def of_tracing(self) -> Iterator[None]:
        """Note the lines that Dynamo traces."""
        from torch._dynamo import symbolic_convert

        translators: Any = symbolic_convert.InstructionTranslatorBase
        inlining: Any = symbolic_convert.InliningInstructionTranslator
        starts_line, inline_call = translators.starts_line, inlining.inline_call_
        translators.starts_line = lambda *given: self.note_line(starts_line, *given)
        inlining.inline_call_ = lambda tracing: self.note_return(inline_call, tracing)
        try:
            yield
        finally:
            translators.starts_line, inlining.inline_call_ = starts_line, inline_call
            self.forget()

    def note_line(self, starts_line: Callable[..., Any], tracing: Any, line: int) -> Any:
        """A line begins that Dynamo traces. What calls the program's functions may be torch's own code."""
        if getattr(tracing, "parent", None) is None and self._root() is not tracing:
            self._root = weakref.ref(tracing)
            self._begin_root()
        if line != tracing.lineno and _is_written(tracing.f_code):
            self.forget()
            variables = _described(_with_parts(tracing.symbolic_locals, _parts_of_tracker), _of_tracker)
            if self._begin(weakref.ref(tracing), tracing.f_code, line, variables):
                self._unseen = {
                    name: each for name, each in tracing.symbolic_locals.items() if name not in variables
                }
        return starts_line(tracing, line)

    def forget(self) -> None:
        """Hold nothing of the program's; what the last line has looked at was there before it."""
        if self._current:
            seen = {name: each for name, each in self._unseen.items() if _is_looked_at(each)}
            self._current[-1][4].update(_described(seen, _of_tracker))
        self._unseen = {}
        seen = {name: each for name, each in self._unseen_returned.items() if _is_looked_at(each)}
        self._returned.update(_described(seen, _of_tracker))
        self._unseen_returned = {}

    def note_return(self, inline_call: Callable[..., Any], tracing: Any) -> Any:
        """A function has been traced that another one calls. At a graph break it gives no value."""
        result = inline_call(tracing)
        if _is_written(tracing.f_code) and not tracing.output.should_exit:
            self._return(tracing.f_code, tracing.lineno, _of_tracker(result))
            name = _name_of_return(tracing.f_code, tracing.lineno)
            if name not in self._returned:
                self._unseen_returned[name] = result
        return result

    def _is_new(self, frame: Any) -> bool:
        return id(frame) not in self._frames or self._frames[id(frame)].get() is not frame

    def _let_go(self, frame: Any) -> None:
        """Hold nothing that a function had: the program may see when an object goes. A generator goes on."""
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            self._frames.pop(id(frame), None)

    def _begin_root(self) -> None:
        """Dynamo begins a frame; where it does so anew, what it had noted of it goes."""
        self._frames.clear()
        self._returned.clear()
        self._unseen_returned = {}
        self._current = []
        self.roots[compile_id_text(current_compile_id())] = self._current

    def _begin(self, get: Callable[[], Any], code: Any, line: int, variables: dict[str, str]) -> bool:
        """Whether a step begins: not where a line goes on."""
        key = id(get())
        if self._is_new(get()):
            self._frames[key] = _Frame(get, next(self._numbers), 0, {})
        _, number, before, known = self._frames[key]
        self._frames[key] = _Frame(get, number, line, variables)
        changed = {
            name: variables.get(name)
            for name in (*variables, *known)
            if variables.get(name) != known.get(name)
        }
        is_new = line not in (before, code.co_firstlineno) or bool(before and changed)
        if not is_new or len(self) >= _MOST_STEPS:
            return False
        changed = {**self._returned, **changed}
        self._returned.clear()
        first = code.co_firstlineno
        self._current.append([code.co_filename, line, code.co_name, before, changed, first, number])
        return True

    def _return(self, code: Any, line: int, value: str | None) -> None:
        """Note what a function gives; a generator gives several values."""
        if value is not None and not code.co_flags & inspect.CO_GENERATOR:
            name = _name_of_return(code, line)
            self._returned[name] = "; ".join(filter(None, (self._returned.get(name), value)))


class WritesLog:
    """The lines of a call in eager after which a value is another one, which `value` gives, and those that
    had begun `before` the first of them.
    """

    def __init__(self, value: Callable[[], Any]) -> None:
        self.lines: list[tuple[str, int]] = []
        self.before: set[tuple[str, int]] = set()
        self._value = value
        self._last = value()
        self._at: tuple[str, int] | None = None  # the line that is running

    @contextmanager
    def of_eager(self) -> Iterator[None]:
        """Look at the value before and after each line of the program's."""

        def trace(frame: Any, event: str, _: Any) -> Any:
            if not _is_written(frame.f_code):
                return None
            value = self._value()
            if value != self._last and self._at is not None:
                self.lines.append(self._at)
            self._last = value
            self._at = frame.f_code.co_filename, frame.f_lineno
            if not self.lines:
                self.before.add(self._at)
            return trace

        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)


traced_here = VariableLog()  # of what this process compiles, where calls of the program are compared


def steps_of_call(eager: Sequence[Step], roots: Iterable[list[Step]], end: Sequence[Step] = ()) -> list[Step]:
    """What was traced of a call and of what it goes on with, by its steps in eager.

    Nothing where its function was traced more than once: then it is not known which of them is used.
    """
    traced = [root for root in roots if root]
    of_call = [at for at, root in enumerate(traced) if eager and _function(root[0]) == _function(eager[0])]
    if len(of_call) != 1:
        return []
    return [step for root in traced[of_call[0] :] for step in root] + [*end]


def _function(step: Step) -> tuple[str, int]:
    return step[0], step[5]


def first_different_step(
    eager: Sequence[Step], traced: Sequence[Step], *, is_stale: bool = False
) -> tuple[Place, int] | None:
    """The line that gave a variable another value than in eager, or after which another line came.

    With it goes at which step it shows. What one side alone runs of a function is left out: Dynamo does not
    trace all of them, and where an entry `is_stale` what it calls may be another function now.
    """
    traced_values: dict[int, dict[str, str | None]] = {}  # of each frame
    at = other_at = 0
    while at < len(eager) and other_at < len(traced):
        own, other = eager[at], traced[other_at]
        is_same_line = own[:2] == other[:2]
        values = traced_values.setdefault(other[6], {})
        values.update(other[4])
        for name, text in own[4].items():
            is_returned = name.startswith(_RETURNED)
            expected = (other[4] if is_returned else values).get(name)
            if (is_same_line or is_returned) and text not in (None, expected or text):
                return _place_of(name, own, at, {*other[4]} if is_stale else {*own[4]})
        if is_same_line:
            at, other_at = at + 1, other_at + 1
        elif own[3] and own[3] == other[3] and own[0] == other[0]:
            return (own[0], own[3], ""), at
        elif not at or not (_begins(own) or _begins(other)):
            return None
        elif _begins(own) and _begins(other) and not is_stale:
            return ((*eager[at - 1][:2], ""), at) if other[1] else None
        else:
            at = _after_call(eager, at) if _begins(own) else at
            other_at = _after_call(traced, other_at) if _begins(other) else other_at
    return None


def _begins(step: Step) -> bool:
    """Whether a function begins with a step: Dynamo has been at the line of its definition before.

    The end of all of them has no line.
    """
    return bool(step[1]) and step[3] in (0, step[5])


def _after_call(steps: Sequence[Step], begin: int) -> int:
    """Where a frame goes on that was there before the function which begins with a step: its caller, if that
    does not end with the call.
    """
    callers = {step[6] for step in steps[:begin]}
    return next((at for at in range(begin + 1, len(steps)) if steps[at][6] in callers), len(steps))


def _place_of(name: str, step: Step, at: int, traced: Set[str]) -> tuple[Place, int] | None:
    """The line that has returned a value, or given a variable one, before a step began.

    Where a variable has what a function of the program's has just returned, it is that one's line. Of a
    function whose return was not `traced`, since it is another one now, it is the line that has called it.
    """
    returns = [each for each in step[4] if each.startswith(_RETURNED) and each in traced]
    same = [each for each in returns if step[4][each].rpartition("; ")[2] == step[4][name]]
    if name in returns or same:
        line, _, file = (name if name in returns else same[0]).removeprefix(_RETURNED).partition(" in ")
        return (file, int(line), ""), at
    return ((step[0], step[3], ""), at) if step[3] else None


def _name_of_return(code: Any, line: int) -> str:
    return f"{_RETURNED}{line} in {code.co_filename}"


def _is_written(code: Any) -> bool:
    """Whether code stands in a file of the program's; that of a dataclass does not."""
    return is_own(code.co_filename) and not code.co_filename.startswith("<")


def _described(variables: Mapping[str, Any], describe: Any) -> dict[str, str]:
    """What is known of variables; those of which nothing is are left out."""
    texts = ((name, describe(value)) for name, value in [*variables.items()])
    return {name: text for name, text in texts if text is not None}


def _with_parts(variables: Mapping[str, Any], parts_of: Callable[[Any], Any]) -> dict[str, Any]:
    """Variables, and the first parts of the containers among them, as `rates[0]` or `rates['first']`."""
    found = dict(variables)
    for name, value in [*variables.items()]:
        for key, part in itertools.islice(parts_of(value), _MOST_PARTS):
            found[f"{name}[{key!r}]"] = part
    return found


def _parts_of_value(value: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a container, whatever its class makes of them."""
    if isinstance(value, dict):
        return ((key, value) for key, value in [*dict.items(value)] if type(key) in _PLAIN)
    kind: Any = next((each for each in (list, tuple, deque) if isinstance(value, each)), None)
    return () if kind is None else enumerate([*kind.__iter__(value)])


def _parts_of_tracker(tracker: Any) -> Iterable[tuple[Any, Any]]:
    from torch._dynamo.variables import ConstantVariable, ConstDictVariable, LazyVariableTracker
    from torch._dynamo.variables.lists import BaseListVariable

    if isinstance(tracker, LazyVariableTracker):
        return _parts_of_tracker(tracker.realize()) if tracker.is_realized() else ()
    container = getattr(tracker, "_base_vt", None) or tracker  # of an object of the program's class
    if isinstance(container, ConstDictVariable):
        items = ((key.vt, part) for key, part in container.items.items())
        return ((key.value, part) for key, part in items if isinstance(key, ConstantVariable))
    return enumerate(container.items) if isinstance(container, BaseListVariable) else ()


def _is_looked_at(tracker: Any) -> bool:
    from torch._dynamo.variables import LazyVariableTracker

    return isinstance(tracker, LazyVariableTracker) and tracker.is_realized()


def _of_value(value: Any) -> str | None:
    import torch

    if type(value) in (*_PLAIN, torch.dtype, torch.device, torch.layout, torch.memory_format):
        return repr(value)
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided:
        return _of_array(value, value.stride())
    if _full_name(type(value)) == "numpy.ndarray":
        return _of_array(value, [each // value.itemsize for each in value.strides])
    if type(value) in _ITERATORS:
        return f"an iterator with {value.__length_hint__()} left"
    return _of_type(type(value), value, value.maxlen if type(value) is deque else None)


def _of_tracker(tracker: Any) -> str | None:
    """What Dynamo knows of a variable; None if it has not looked at it, or does not know it itself."""
    from torch._dynamo.variables import (
        ConstantVariable,
        LazyVariableTracker,
        ListIteratorVariable,
        NumpyNdarrayVariable,
        TensorVariable,
    )

    if isinstance(tracker, LazyVariableTracker):
        return _of_tracker(tracker.realize()) if tracker.is_realized() else None
    if isinstance(tracker, ConstantVariable):
        return _of_value(tracker.value)
    if type(tracker) in (TensorVariable, NumpyNdarrayVariable):
        expected = tracker.proxy.node.meta.get("example_value")
        return None if expected is None else _of_array(expected, expected.stride(), tracker.python_type())
    if isinstance(tracker, ListIteratorVariable):
        left = 0 if tracker.is_exhausted else len(tracker.items) - tracker.index
        return f"an iterator with {left} left"
    try:
        kind = tracker.python_type()
    except Exception:  # NotImplementedError, and what an unusual object raises
        return None
    limit = getattr(tracker, "maxlen", None)
    return _of_type(kind, getattr(tracker, "items", None), None if limit is None else limit.value)


def _of_array(value: Any, strides: Sequence[Any], kind: type | None = None) -> str | None:
    """How an array of torch's or numpy's lies in memory, where that is known; how far one element is not."""
    if any(type(each) is not int for each in (*value.shape, *strides)):
        return None
    steps = [step for size, step in zip(value.shape, strides, strict=True) if size > 1]
    kept = steps if 0 not in value.shape else []
    dtype = str(value.dtype).removeprefix("torch.")
    return f"{_full_name(kind or type(value))} of {dtype}, {[*value.shape]}, {kept}"


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_type(kind: type, parts: Any, limit: int | None) -> str | None:
    """What is the same on both sides: how much a container has, and may have, and some types.

    Those are numpy's and the program's own.
    """
    if kind in _CONTAINERS:
        return f"{kind.__qualname__} of {len(parts)}, limit {limit}" if isinstance(parts, Sized) else None
    if kind.__module__ == "numpy" and issubclass(kind, sys.modules["numpy"].generic):
        return f"numpy.ndarray of {kind.__name__}, [], []"  # which Dynamo makes of it
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    is_known = kind.__module__ == "numpy" or (file is not None and is_own(file))
    return _full_name(kind) if is_known else None
