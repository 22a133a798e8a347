"""A symbolic stack machine for bytecode: the effect of instructions on a stack of expressions.

Covers Python 3.10 to 3.14. An instruction that is not known here raises NotUnderstood.
Source: the documentation of dis, and Lib/opcode.py of each version.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import field

from ...shared.quick_dataclass import dataclass

NULL = "<NULL>"  # CPython pushes it beside a callable that has no self
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")")}
_OPERATORS = {
    "ADD": "+",
    "AND": "&",
    "FLOOR_DIVIDE": "//",
    "LSHIFT": "<<",
    "MATRIX_MULTIPLY": "@",
    "MODULO": "%",
    "MULTIPLY": "*",
    "OR": "|",
    "POWER": "**",
    "RSHIFT": ">>",
    "SUBTRACT": "-",
    "TRUE_DIVIDE": "/",
    "XOR": "^",
}  # for BINARY_ADD and the like, before Python 3.11
_SLICE = re.compile(r"slice\((None|-?\d+), (None|-?\d+), None\)")
_UNARY = {"NEGATIVE": "-", "POSITIVE": "+", "NOT": "not ", "INVERT": "~"}
_TESTS = {
    ("IS_OP", "0"): "is",
    ("IS_OP", "1"): "is not",
    ("CONTAINS_OP", "0"): "in",
    ("CONTAINS_OP", "1"): "not in",
}


class NotUnderstood(Exception):
    """An instruction, or a use of the stack, that is not supported here."""


@dataclass(eq=False)
class Items:
    """A list or tuple whose items are known; mutable and shared, as the object in the program would be."""

    kind: str
    items: list["Value"]

    def __str__(self) -> str:
        opening, closing = _BRACKETS[self.kind]
        comma = "," if self.kind == "tuple" and len(self.items) == 1 else ""
        return f"{opening}{', '.join(map(str, self.items))}{comma}{closing}"


class Compound(str):
    """An expression that needs parentheses as part of another one."""


Value = str | Items | slice


@dataclass
class Stack:
    """The stack, and the names of keyword arguments that KW_NAMES sets for the next call (3.11, 3.12)."""

    values: list[Value] = field(default_factory=list)
    keywords: tuple[str, ...] = ()

    def push(self, *values: Value) -> None:
        """Push values; the last one is on top."""
        self.values.extend(values)

    def pop(self) -> Value:
        """Pop the value on top."""
        if not self.values:
            raise NotUnderstood("the stack is empty")
        return self.values.pop()

    def take(self, count: int) -> list[Value]:
        """Pop the `count` values on top, the lowest first."""
        if not 0 <= count <= len(self.values):
            raise NotUnderstood("the stack is too small")
        taken = self.values[len(self.values) - count :]
        del self.values[len(self.values) - count :]
        return taken

    def at(self, depth: int) -> Value:
        """The value `depth` places down; 1 is the top."""
        if not 1 <= depth <= len(self.values):
            raise NotUnderstood("the stack is too small")
        return self.values[-depth]


def operand(value: Value) -> str:
    """The text of a value as part of another expression, in parentheses where needed."""
    return f"({value})" if isinstance(value, Compound) else str(value)


def index_of(key: Value) -> int | slice | None:
    """A subscript as an int or a slice; None if it is not a constant."""
    if isinstance(key, slice):
        return key
    return int(key) if isinstance(key, str) and re.fullmatch(r"-?\d+", key) else None


def subscript(key: Value) -> str:
    """The text of a subscript."""
    if isinstance(key, slice):
        return ":".join("" if part is None else str(part) for part in (key.start, key.stop))
    return str(key)


def apply(stack: Stack, opcode: str, argument: str) -> None:
    """Apply an instruction that only moves and combines values to the stack."""
    if opcode in _EFFECTS:
        _EFFECTS[opcode](stack, argument)
    elif opcode.removeprefix("BINARY_") in _OPERATORS:
        _binary(stack, _OPERATORS[opcode.removeprefix("BINARY_")])
    elif opcode.startswith("UNARY_") and opcode.removeprefix("UNARY_") in _UNARY:
        stack.push(Compound(f"{_UNARY[opcode.removeprefix('UNARY_')]}{operand(stack.pop())}"))
    elif opcode in ("IS_OP", "CONTAINS_OP"):
        _binary(stack, _TESTS.get((opcode, argument), argument))
    else:
        raise NotUnderstood(opcode)


def pop_call(stack: Stack, opcode: str, argument: str) -> tuple[str, str]:
    """Pop the callee and the arguments of a call, as text."""
    if opcode == "CALL_FUNCTION_EX":
        return _call_function_ex(stack, argument)
    if opcode.endswith("_KW"):
        stack.keywords = _names_in(str(stack.pop()))
    values = stack.take(int(argument))
    keywords, stack.keywords = stack.keywords, ()
    callee = stack.pop()
    if not opcode.startswith("CALL_FUNCTION"):  # from 3.11 on, and for methods before
        callee = _beside_null(callee, stack.pop())
    return operand(callee), _arguments(values, keywords)


CALLS = frozenset({"CALL", "CALL_KW", "CALL_METHOD", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_FUNCTION_EX"})


def _beside_null(upper: Value, lower: Value) -> Value:
    """The callable of the two values. The NULL is below it up to Python 3.12, and above it from 3.13 on."""
    if (upper == NULL) == (lower == NULL):
        raise NotUnderstood("a call of neither a function nor a method")
    return lower if upper == NULL else upper


def _call_function_ex(stack: Stack, argument: str) -> tuple[str, str]:
    """Callee and arguments of `f(*a, **k)`.

    From Python 3.14 on the instruction has no argument, and keywords or a NULL are always on the stack.
    """
    keywords = stack.pop() if argument in ("", "1") else NULL
    values = stack.pop()
    callee = stack.pop()
    if callee == NULL or (stack.values and stack.values[-1] == NULL):
        callee = _beside_null(callee, stack.pop())
    parts = list(map(str, values.items)) if isinstance(values, Items) else [f"*{operand(values)}"]
    if keywords != NULL:
        parts.append(f"**{operand(keywords)}")
    return operand(callee), ", ".join(parts)


def _arguments(values: Sequence[Value], keywords: Sequence[str]) -> str:
    first = len(values) - len(keywords)
    named = [f"{name}={value}" for name, value in zip(keywords, values[first:], strict=True)]
    return ", ".join([*map(str, values[:first]), *named])


def _names_in(constant: str) -> tuple[str, ...]:
    """The strings in the repr of a tuple."""
    found = tuple(re.findall(r"'(\w+)'", constant))
    if not found:
        raise NotUnderstood("the names of keywords were not recorded")
    return found


def _binary(stack: Stack, operator: str) -> None:
    right, left = stack.pop(), stack.pop()
    if operator == "[]":
        stack.push(_subscripted(left, right))
    elif operator.endswith("=") and operator not in ("==", "!=", "<=", ">="):
        raise NotUnderstood("an operation in place")
    else:
        stack.push(Compound(f"{operand(left)} {operator} {operand(right)}"))


def _compare(stack: Stack, argument: str) -> None:
    _binary(stack, argument.removeprefix("bool(").removesuffix(")"))


def _subscripted(owner: Value, key: Value) -> Value:
    index = index_of(key)
    if isinstance(owner, Items) and index is not None:
        return Items(owner.kind, owner.items[index]) if isinstance(index, slice) else owner.items[index]
    return f"{operand(owner)}[{subscript(key)}]"


def _attribute(stack: Stack, name: str) -> None:
    stack.push(f"{operand(stack.pop())}.{name}")


def _method(stack: Stack, name: str) -> None:
    stack.push(NULL, f"{operand(stack.pop())}.{name}")


def _swap(stack: Stack, argument: str) -> None:
    depth = int(argument)
    values = stack.values
    lower = stack.at(depth)
    values[-depth], values[-1] = values[-1], lower


def _rotate(stack: Stack, argument: str) -> None:
    """Move the value on top below the others."""
    *others, uppermost = stack.take(int(argument))
    stack.push(uppermost, *others)


def _duplicate_two(stack: Stack, argument: str) -> None:
    stack.push(stack.at(2), stack.at(1))


def _build(kind: str) -> Callable[[Stack, str], None]:
    return lambda stack, argument: stack.push(Items(kind, stack.take(int(argument))))


def _build_map(stack: Stack, argument: str) -> None:
    values = stack.take(2 * int(argument))
    pairs = zip(values[::2], values[1::2], strict=True)
    stack.push("{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}")


def _build_slice(stack: Stack, argument: str) -> None:
    if argument != "2":
        raise NotUnderstood("a slice with a step")
    stack.push(_slice(*stack.take(2)))


def _constant(stack: Stack, argument: str) -> None:
    known = _SLICE.fullmatch(argument)  # a constant from Python 3.14 on
    stack.push(argument if known is None else _slice(*known.groups()))


def _slice(start: Value, stop: Value) -> slice:
    bounds = [None if bound == "None" else index_of(bound) for bound in (start, stop)]
    if any(bound is None and text != "None" for bound, text in zip(bounds, (start, stop), strict=True)):
        raise NotUnderstood("a slice that is not known")
    return slice(*bounds)


def _binary_slice(stack: Stack, argument: str) -> None:
    owner, start, stop = stack.take(3)
    stack.push(_subscripted(owner, _slice(start, stop)))


def _store_slice(stack: Stack, argument: str) -> None:
    value, owner, start, stop = stack.take(4)
    store(owner, _slice(start, stop), value)


def store(owner: Value, key: Value, value: Value) -> None:
    """Do `owner[key] = value` on a list whose items are known."""
    index = index_of(key)
    if not isinstance(owner, Items) or index is None:
        raise NotUnderstood("an assignment to what is not known")
    if isinstance(index, int):
        owner.items[index] = value
    elif isinstance(value, Items):
        owner.items[index] = value.items
    else:
        raise NotUnderstood("a slice of what is not known")


def _extend(stack: Stack, argument: str) -> None:
    more = stack.pop()
    owner = stack.at(int(argument))
    if not isinstance(owner, Items):
        raise NotUnderstood("a list that is not known")
    if isinstance(more, Items):
        owner.items.extend(more.items)
    elif more != "()":
        owner.items.append(f"*{operand(more)}")


def _list_to_tuple(stack: Stack, argument: str) -> None:
    owner = stack.pop()
    if not isinstance(owner, Items):
        raise NotUnderstood("a list that is not known")
    stack.push(Items("tuple", list(owner.items)))


def _intrinsic(stack: Stack, argument: str) -> None:
    if argument != "INTRINSIC_LIST_TO_TUPLE":
        raise NotUnderstood(argument)
    _list_to_tuple(stack, argument)


def _keyword_names(stack: Stack, argument: str) -> None:
    stack.keywords = _names_in(argument)


def _name(stack: Stack, argument: str) -> None:
    stack.push(argument)


def _nothing(stack: Stack, argument: str) -> None:
    pass


_EFFECTS: dict[str, Callable[[Stack, str], None]] = {
    "BINARY_OP": _binary,
    "BINARY_SLICE": _binary_slice,
    "BINARY_SUBSCR": lambda stack, argument: _binary(stack, "[]"),
    "BUILD_LIST": _build("list"),
    "BUILD_MAP": _build_map,
    "BUILD_SLICE": _build_slice,
    "BUILD_TUPLE": _build("tuple"),
    "CALL_INTRINSIC_1": _intrinsic,
    "COMPARE_OP": _compare,
    "COPY": lambda stack, argument: stack.push(stack.at(int(argument))),
    "COPY_FREE_VARS": _nothing,
    "DELETE_FAST": _nothing,
    "DUP_TOP": lambda stack, argument: stack.push(stack.at(1)),
    "DUP_TOP_TWO": _duplicate_two,
    "KW_NAMES": _keyword_names,
    "LIST_EXTEND": _extend,
    "LIST_TO_TUPLE": _list_to_tuple,
    "LOAD_ATTR": _attribute,
    "LOAD_CLOSURE": _name,
    "LOAD_CONST": _constant,
    "LOAD_DEREF": _name,
    "LOAD_METHOD": _method,
    "LOAD_SMALL_INT": _name,
    "MAKE_CELL": _nothing,
    "POP_BLOCK": _nothing,
    "PUSH_NULL": lambda stack, argument: stack.push(NULL),
    "ROT_FOUR": lambda stack, argument: _rotate(stack, "4"),
    "ROT_N": _rotate,
    "ROT_THREE": lambda stack, argument: _rotate(stack, "3"),
    "ROT_TWO": lambda stack, argument: _rotate(stack, "2"),
    "SETUP_FINALLY": _nothing,
    "STORE_SLICE": _store_slice,
    "SWAP": _swap,
    "TO_BOOL": _nothing,
}
