"""The parts of a line of source that advice names: the condition of a branch, a call, what is assigned.

The line may be a piece of a statement over several lines, or anything else: then there are no parts. It is
parsed, never executed.
"""

import ast
import functools
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..model import CompileId, Frame, Place, Process, StackFrame
from .summary import ByCompile, by_compile

_LONGEST_LINE = 300  # characters; Python's parser is not to be given more of a stranger's text
_LONGEST_PART = 80  # what is longer is not worth repeating
# The methods of lists, dictionaries, sets and deques that change how many elements there are.
_CHANGING = re.compile(
    r"append|appendleft|extend|insert|pop|popleft|popitem|remove|clear|add|discard|update|setdefault"
)
_WAITING = frozenset(("sleep", "input"))
_Branch = (ast.If, ast.While, ast.IfExp, ast.Assert)


@functools.lru_cache(maxsize=256)
def _parsed(line: str) -> ast.AST | None:
    text = line.strip()
    if not text or len(text) > _LONGEST_LINE:
        return None
    if text.startswith("elif"):
        text = text.removeprefix("el")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in a string
        for form in (text, f"{text}\n pass", f"class _:\n {text}\n  pass"):
            try:
                return ast.parse(form)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                continue
    return None


def condition_of(line: str) -> str | None:
    """What `if`, `while`, `assert` or a conditional expression on this line tests."""
    branch = next((node for node in _nodes(line) if isinstance(node, _Branch)), None)
    return None if branch is None else _text(branch.test)


def is_made_of_conditions(line: str) -> bool:
    """Whether that is made with `and`, `or`, `not`, `in` or a comparison of three: each asks for a bool."""
    branch = next((node for node in _nodes(line) if isinstance(node, _Branch)), None)
    return branch is not None and any(map(_asks_for_a_bool, ast.walk(branch.test)))


def is_bare(line: str) -> bool:
    """Whether the line gives no name a value: a call whose result nobody takes, an entry of a dictionary."""
    is_statement = any(isinstance(node, ast.Expr | ast.Assign) for node in _nodes(line))
    return is_statement and not targets_of(line)


def has_made_message(line: str) -> bool:
    """Whether it is an assert whose message is not a constant."""
    return any(
        isinstance(node, ast.Assert) and node.msg is not None and not isinstance(node.msg, ast.Constant)
        for node in _nodes(line)
    )


def call_on(line: str, names: frozenset[str]) -> str | None:
    """The call of one of these on the line; the only call, where none of them is called there."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    named = [call for call in calls if _last_name(call.func) in names]
    chosen = named or (calls if len(calls) == 1 else [])
    return _text(chosen[0]) if chosen else None


def targets_of(line: str) -> tuple[str, ...]:
    """The names that the line gives a value."""
    found = [
        target.id
        for node in _nodes(line)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)
        for assigned in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(assigned)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(found))


def changed_by(line: str) -> tuple[str, ...]:
    """The lists, dictionaries and sets that the line puts something into or takes something out of."""
    found = [_text(owner) for node in _nodes(line) for owner in _containers_changed(node)]
    return tuple(dict.fromkeys(name for name in found if name is not None))


def waiting_call(line: str) -> str | None:
    """The call on the line that only waits, or asks the user: `time.sleep(0.1)`."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    return next((_text(call) for call in calls if _last_name(call.func) in _WAITING), None)


def compared_in(line: str, attribute: str) -> tuple[str, str] | None:
    """The two objects whose results of a method are compared: `a`, `b` of `a.data_ptr() == b.data_ptr()`."""
    for node in _nodes(line):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [_owner(side, attribute) for side in (node.left, node.comparators[0])]
            if sides[0] and sides[1]:
                return sides[0], sides[1]
    return None


def _asks_for_a_bool(node: ast.AST) -> bool:
    match node:
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=operators):
            return len(operators) > 1 or isinstance(operators[0], ast.In | ast.NotIn)
    return False


def _containers_changed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _CHANGING.fullmatch(method):
            return [owner]
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return [target.value for target in targets if isinstance(target, ast.Subscript)]
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=ast.Add() | ast.BitOr()):
            return [target]
    return []


def _owner(node: ast.AST, method: str) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr == method:
            return _text(owner)
    return None


def _nodes(line: str) -> Iterator[ast.AST]:
    tree = _parsed(line)
    return iter(()) if tree is None else ast.walk(tree)


def _last_name(node: ast.AST) -> str | None:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return None


def _text(node: ast.AST) -> str | None:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return None
    return text if len(text) <= _LONGEST_PART else None


# Whose a line is: the user's own, or an installed package's, as far as its path tells.


CELL = (
    "In["  # with which the name of a notebook's cell begins, `In[3]`; other files of the user's are absolute
)
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "/dynamo_core/", "<frozen ", "<string>")
# Inductor's, wherever its cache is. Source: torch/_inductor/codecache.py (code_hash, get_path), read in 2.13.
_GENERATED = re.compile(r"/(\w\w)/c\1[a-z2-7]{49}\.py$")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/([^/.]{1,100})")
_STANDARD = re.compile(r"(?:/lib/python3[^/]{0,20}/|<frozen )([A-Za-z_]\w{0,99})")


def is_library(place: Place) -> bool:
    """Whether a place is in an installed package, the standard library, or code that Inductor wrote."""
    return any(part in place.file for part in _LIBRARY) or _GENERATED.search(place.file) is not None


def package_of(place: Place) -> str | None:
    """The package, or the module of the standard library, that a place is in; None for the user's own."""
    found = _PACKAGE.search(place.file) or _STANDARD.search(place.file)
    return found[1] if found else None


# The program's own lines that call compiled frames, where a frame is torch's or another library's.
#
# A compiled `nn.Sequential` is a frame in torch's container.py or external_utils.py, which says nothing of
# where in the program it is.


class UserCallSites:
    """The program's own calls of library frames in one process."""

    def __init__(self, process: Process) -> None:
        self._process = process.entire

    def of(self, compile_id: CompileId | None, where: Place | None) -> StackFrame | None:
        """The line that called the frame at `where`; None where that is the program's own, or unknown."""
        if where is None or not is_library(where):
            return None
        called = [frame.called_from for frame in self._frames.get(compile_id, ())]
        stack = [*self._process.callers.get(compile_id, ()), *called]
        own = (each for each in reversed(stack) if each is not None and not is_library(each.place))
        return next(own, None)

    @cached_property
    def _frames(self) -> ByCompile[list[Frame]]:
        return by_compile(self._process.frames)


# Whole paths for the file names that torch cuts short in the text of guards.


def whole_places(process: Process) -> dict[str, str | None]:
    """For the names that torch cut short in the guards of a process: the file, if only one can be meant.

    Source: torch/utils/_traceback.py (shorten_filename): what the file's path has in common with torch's own
    goes, and one character more, which is the slash unless they share nothing but the root.
    """
    files = set(_known_files(process))
    cut = {
        check.place.file
        for guard_set in (*process.guard_sets, *process.recompiled_entries)
        for check in guard_set.checks or ()
        if check.place is not None
    }
    cut |= {
        failure.place.file
        for reasons in process.recompile_reasons
        for failure in reasons.failures
        if failure.place is not None
    }
    return {name: _only(file for file in files if _is_cut_of(name, file)) for name in cut}


def _is_cut_of(name: str, file: str) -> bool:
    return file.endswith(name) and (file[: -len(name)].endswith("/") or len(file) - len(name) in (0, 2))


def _only(files: Iterable[str]) -> str | None:
    found = set(files)
    return found.pop() if len(found) == 1 else None


def _known_files(process: Process) -> Iterable[str]:
    for guard_set in process.guard_sets:
        yield from (guard.place.file for guard in guard_set.guards or () if guard.place is not None)
    places: list[Place | None] = [
        *(compile_.place for compile_ in process.compiles),
        *(frame.place for frame in process.frames),
        *(bytecode.place for bytecode in process.bytecodes),
        *(graph.frame_place for graph in process.graphs),
        *(symbol.place for symbol in process.symbols),
        *(caller.place for callers in process.callers.values() for caller in callers),
        *(frame.place for break_ in process.breaks for frame in (*break_.stack, *break_.callers)),
    ]
    yield from (place.file for place in places if place is not None)
