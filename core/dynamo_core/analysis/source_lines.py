"""Lines of source: the parts that advice names, whose code it is, user call sites, and whole paths.

The parts of a line are the condition of a branch, a call, or what is assigned. A line may also be a piece of
a statement over several lines, or anything else, and then has no parts. It is parsed, never executed.
"""

import ast
import builtins
import functools
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..model import CompileId, Frame, Place, Process, StackFrame
from .summary import ByCompile, by_compile

_LONGEST_LINE = 300  # characters; no longer text of unknown origin is given to Python's parser
_LONGEST_PART = 80  # a longer part is not worth repeating
# The methods of lists, dictionaries, sets and deques that change how many elements there are.
_CHANGING_METHODS = re.compile(
    r"append|appendleft|extend|insert|pop|popleft|popitem|remove|clear|add|discard|update|setdefault"
)
_WAITING = frozenset(("sleep", "input"))
_COMMENT = re.compile(r"\s{0,9}#[^'\"]{0,300}$")
# Functions of `math` that torch has for numbers of the graph (torch/__init__.py, `sym_sqrt` and on; 2.13).
_SYMBOLIC = "sqrt|ceil|floor|trunc|cosh?|sinh?|tanh?|asin|acos|atan|log2|pi|e|inf|nan"
BY_MATH = re.compile(rf"\bmath\.(?!(?:{_SYMBOLIC})\b)\w{{1,20}}\(")
_DECIDES = re.compile(rf"(?:if|elif|while|for|match)\b|.{{0,1000}}(?:\brange\(|{BY_MATH.pattern})")
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


def indentation(line: str) -> int:
    """How many spaces stand before the line's text."""
    return len(line) - len(line.lstrip())


def without_comment(line: str) -> str:
    """The line up to a comment at its end that has no quotes."""
    return _COMMENT.sub("", line)


def condition_of(line: str) -> str | None:
    """The condition of an `if`, `while`, `assert` or conditional expression on this line."""
    test = _condition(line)
    return None if test is None else _text(test)


def _condition(line: str) -> ast.expr | None:
    return next((node.test for node in _nodes(line) if isinstance(node, _Branch)), None)


def needs_the_number(line: str, *, is_int: bool) -> bool:
    """Whether what is computed goes by the very number that the line asks for.

    Of an integer that is dynamic, torch guards a comparison by its range: that makes two versions at most.
    """
    if not _DECIDES.match(line):
        return False
    test = _condition(line)
    asked = [] if test is None or line.startswith("while") else list(ast.walk(test))
    compared = [op for node in asked if isinstance(node, ast.Compare) for op in node.ops]
    in_range = bool(compared) and all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in compared)
    return not (is_int and in_range and not any(isinstance(node, ast.Mod) for node in asked))


def is_made_of_conditions(line: str) -> bool:
    """Whether that condition has `and`, `or`, `not`, `in` or a chained comparison, which need a bool."""
    test = _condition(line)
    return test is not None and any(map(_needs_bool, ast.walk(test)))


def joins_conditions(line: str) -> bool:
    """Whether what the line returns or assigns are conditions with `and` or `or` between them.

    Each is asked by itself: none of them is a guard, behind which alone another may be asked.
    """
    values = (node.value for node in _nodes(line) if isinstance(node, ast.Return | ast.Assign))
    joined = next((value for value in values if isinstance(value, ast.BoolOp)), None)
    return joined is not None and all(map(_is_condition, joined.values))


def _is_condition(value: ast.expr) -> bool:
    match value:
        case ast.BoolOp(values=values):
            return all(map(_is_condition, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_condition(operand)
        case ast.Compare(ops=[operator]):
            return not isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn)
        case ast.Call(func=ast.Attribute(attr="any" | "all")):
            return True
    return False


def begins_with_a_guard(line: str) -> bool:
    """Whether that condition begins with what Python knows: `x is not None and …`, `self.flag and …`."""
    test = _condition(line)
    if not isinstance(test, ast.BoolOp):
        return False
    return _asks_for_a_kind(test.values[0]) or (
        _is_a_name(test.values[0]) and not any(map(_is_a_name, test.values[1:]))
    )


def _is_a_name(test: ast.expr) -> bool:
    """Whether it is a variable or attribute, or its negation: a flag, where a call stands beside it."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    return isinstance(asked, ast.Name | ast.Attribute)


def condition_on_tensors(condition: str) -> str:
    """The condition with what tensors have for `and`, `or` and `not`, and without `.item()`."""
    test = _condition(f"if {condition}:")
    if test is None or not any(isinstance(node, ast.BoolOp) for node in ast.walk(test)):
        return condition.replace(".item()", "")
    return _on_tensors(test).replace(".item()", "")


def _on_tensors(test: ast.expr) -> str:
    match test:
        case ast.BoolOp(op=operator, values=values):
            between = " & " if isinstance(operator, ast.And) else " | "
            return between.join(f"({_on_tensors(value)})" for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"torch.logical_not({_on_tensors(operand)})"
    return _text(test) or ""


def _asks_for_a_kind(test: ast.expr) -> bool:
    """Whether Python knows the answer without the value of any tensor."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=asked):
            return _asks_for_a_kind(asked)
        case ast.BoolOp():
            return all(map(_asks_for_a_kind, test.values))
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "callable")):
            return True
    return False


def assigns_nothing(line: str) -> bool:
    """Whether the line assigns to no name: a call whose result is not used, or an entry of a dictionary."""
    is_statement = any(isinstance(node, ast.Expr | ast.Assign) for node in _nodes(line))
    return is_statement and not targets_of(line)


def is_call_alone(line: str) -> bool:
    """Whether the line is a call whose result is not used."""
    return any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) for node in _nodes(line))


def has_computed_message(line: str) -> bool:
    """Whether the line is an assert whose message is not a constant."""
    return any(
        isinstance(node, ast.Assert) and node.msg is not None and not isinstance(node.msg, ast.Constant)
        for node in _nodes(line)
    )


def call_on(line: str, names: frozenset[str]) -> str | None:
    """The call of one of the `names` on the line; if there is none, the only call on it."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    named = [call for call in calls if _last_name(call.func) in names]
    chosen = named or (calls if len(calls) == 1 else [])
    return _text(chosen[0]) if chosen else None


def targets_of(line: str) -> tuple[str, ...]:
    """The names that the line assigns to."""
    found = [
        target.id
        for node in _nodes(line)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr)
        for assigned in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(assigned)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(found))


def looped_over(line: str) -> tuple[str, ...]:
    """What `for` takes values of on the line, in a loop or a comprehension."""
    loops = (node.iter for node in _nodes(line) if isinstance(node, ast.For | ast.comprehension))
    return tuple(text for each in loops if (text := _text(each)) is not None)


def constants_given(line: str, function: str) -> frozenset[str]:
    """The constants that calls of the function on the line have as arguments, as `str` has them."""
    given = _arguments_given(line, function)
    return frozenset(str(value.value) for value in given if isinstance(value, ast.Constant))


def attributes_given(line: str, function: str) -> frozenset[str]:
    """The attributes of `self` that calls of the function on the line have as arguments: `bits`."""
    return frozenset(
        value.attr
        for value in _arguments_given(line, function)
        if isinstance(value, ast.Attribute) and _text(value.value) == "self"
    )


def _arguments_given(line: str, function: str) -> Iterator[ast.expr]:
    for node in _nodes(line):
        if isinstance(node, ast.Call) and _last_name(node.func) == function:
            yield from (*node.args, *(each.value for each in node.keywords))


def changed_by(line: str) -> tuple[str, ...]:
    """The lists, dictionaries and sets that the line adds something to or removes something from."""
    found = [_text(owner) for node in _nodes(line) for owner in _containers_changed(node)]
    return tuple(dict.fromkeys(name for name in found if name is not None))


def waiting_call(line: str) -> str | None:
    """The call on the line that only waits, for time or for input: `time.sleep(0.1)`."""
    calls = [node for node in _nodes(line) if isinstance(node, ast.Call)]
    return next((_text(call) for call in calls if _last_name(call.func) in _WAITING), None)


def looked_up_in(line: str, key: str) -> str | None:
    """The dictionary that the line asks for a key: `table` of `table[key]` and `table.get(key)`."""
    for node in _nodes(line):
        match node:
            case ast.Subscript(value=owner, slice=asked) if _text(asked) == key:
                return _text(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[asked, *_]) if (
                _text(asked) == key
            ):
                return _text(owner)
    return None


def indexed_by_a_name(line: str) -> str | None:
    """What the line takes an entry of by one index that is a name: `keys` of `keys[layer]`."""
    for node in _nodes(line):
        match node:
            case ast.Subscript(value=owner, slice=ast.Name() | ast.Attribute()):
                return _text(owner)
    return None


def is_made_of_alone(line: str, name: str) -> bool:
    """Whether a line assigns what it makes of a value and of constants: `ids = [CODES[c] for c in text]`."""
    tree = _parsed(line)
    statement = tree.body[0] if isinstance(tree, ast.Module) and tree.body else None
    if not isinstance(statement, ast.Assign):
        return False
    names = [node for node in ast.walk(statement.value) if isinstance(node, ast.Name)]
    made_there = {each.id for each in names if isinstance(each.ctx, ast.Store)} | {*dir(builtins)}
    used = {each.id for each in names} - made_there
    return name in used and all(each == name or each.isupper() for each in used)


def compared_in(line: str, attribute: str) -> tuple[str, str] | None:
    """The two objects whose results of a method are compared: `a`, `b` of `a.data_ptr() == b.data_ptr()`."""
    for node in _nodes(line):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            sides = [_owner(side, attribute) for side in (node.left, node.comparators[0])]
            if sides[0] and sides[1]:
                return sides[0], sides[1]
    return None


def _needs_bool(node: ast.AST) -> bool:
    match node:
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=operators):
            return len(operators) > 1 or isinstance(operators[0], ast.In | ast.NotIn)
    return False


def _containers_changed(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _CHANGING_METHODS.fullmatch(method):
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


# Whose code a line is, by its path: the user's, or that of an installed package.

# The beginning of the name of a notebook's cell, `In[3]`; the user's other files have absolute paths.
CELL = "In["
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python3", "/dynamo_core/", "<frozen ", "<string>")
# What is left of torch's own paths where torch has cut them short (`whole_places`) and nothing has the rest.
_CUT_OF_TORCH = ("nn/modules/", "nn/functional.py", "_refs/", "_subclasses/")
# Files that Inductor wrote, in any cache folder.
# Source: torch/_inductor/codecache.py (code_hash, get_path), read in 2.13.
_GENERATED = re.compile(r"/(\w\w)/c\1[a-z2-7]{49}\.py$")
_PACKAGE = re.compile(r"/(?:site|dist)-packages/([^/.]{1,100})")
_STANDARD = re.compile(r"(?:/lib/python3[^/]{0,20}/|<frozen )([A-Za-z_]\w{0,99})")


def is_library(place: Place) -> bool:
    """Whether a place is in an installed package, the standard library, or code that Inductor wrote."""
    is_in_package = any(part in place.file for part in _LIBRARY) or place.file.startswith(_CUT_OF_TORCH)
    return is_in_package or _GENERATED.search(place.file) is not None


def is_of_torch_or_python(place: Place) -> bool:
    """Whether a place is in torch itself or in the standard library."""
    found = _PACKAGE.search(place.file)
    return found[1] == "torch" if found else _STANDARD.search(place.file) is not None


def package_of(place: Place) -> str | None:
    """The package, or the module of the standard library, that a place is in; None for user code."""
    found = _PACKAGE.search(place.file) or _STANDARD.search(place.file)
    return found[1] if found else None


class UserCallSites:
    """The user call sites of library frames in one process.

    A compiled `nn.Sequential`, say, is a frame in torch's container.py or external_utils.py, which does not
    show where in the program it is.
    """

    def __init__(self, process: Process) -> None:
        self._process = process.entire

    def of(self, compile_id: CompileId | None, where: Place | None) -> StackFrame | None:
        """The user's line that called the frame at `where`; None if the frame is user code, or unknown."""
        if where is None or not is_library(where):
            return None
        called = [frame.called_from for frame in self._frames.get(compile_id, ())]
        stack = [*self._process.callers.get(compile_id, ()), *called]
        own = (each for each in reversed(stack) if each is not None and not is_library(each.place))
        return next(own, None)

    @cached_property
    def _frames(self) -> ByCompile[list[Frame]]:
        return by_compile(self._process.frames)


def whole_places(process: Process) -> dict[str, str | None]:
    """The whole path for each file name that torch cut short in the text of guards; None if it is ambiguous.

    Source: torch/utils/_traceback.py (shorten_filename): the part of the path that it has in common with
    torch's own is removed, and one character more, which is the slash unless only the root is common.
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
    return {name: _only(file for file in files if _may_be_cut_to(file, name)) for name in cut}


def _may_be_cut_to(file: str, name: str) -> bool:
    return file.endswith(name) and (file[: -len(name)].endswith("/") or len(file) - len(name) in (0, 2))


def leads_to(line: StackFrame | None, stack: Iterable[StackFrame]) -> bool:
    """Whether a stack contains a line, whose path torch may have cut short; any stack leads to no line.

    Where a library decides by a size, what uses that size first may be another line.
    """
    here = (each.place for each in stack)
    return line is None or any(
        whole.line == line.place.line and _may_be_cut_to(whole.file, line.place.file) for whole in here
    )


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


def is_user_line(where: Place) -> bool:
    """Whether a line is the user's; no where torch has cut the file's name short, which leaves that open."""
    return where.file.startswith(("/", CELL)) and not is_library(where)
