"""Decompile a frame's modified bytecode into Python statements.

Dynamo packs what a resume function needs into lists and takes it out again. The items of those lists are
known, so they are evaluated, and only the calls are left. An instruction that is not understood ends the
reading; the statements before it are correct. Exception handlers are not followed.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from ...model import Instruction
from ...shared.quick_dataclass import dataclass
from .decompile import CALLS, NULL, Items, NotUnderstood, Stack, Value, apply, pop_call, store, subscript

# Recorded instructions, made comparable and readable for every Python from 3.10 to 3.14.

# Instructions of the interpreter that say nothing about the program.
_NOISE = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "NOT_TAKEN", "PRECALL", "RESUME"})
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
# dis writes a global that is called as `NULL + f` in 3.11 and 3.12, `f + NULL` from 3.13; a method:
# `NULL|self`.
_NULL = re.compile(r"^NULL(?:\|self)? \+ | \+ NULL(?:\|self)?$")
# The suffix that makes a global of torch's unique; 2.8 gives it to resume functions as well.
_UUID = re.compile(r"_[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}\b")


def short_name(text: str) -> str:
    """A name that Dynamo generated, or a text with such names, without the unique suffix."""
    return _UUID.sub("", text)


def is_noise(instruction: Instruction) -> bool:
    """Whether an instruction says nothing about the program."""
    return instruction.opcode in _NOISE


def plain_argument(instruction: Instruction) -> str:
    """The name or value in an argument, without the NULL that is pushed along with it."""
    return _NULL.sub("", instruction.argument)


def instruction_text(instruction: Instruction, width: int = 0) -> str:
    """An instruction as `LOAD_FAST (a)`; a jump shows the offset, also where dis writes a label."""
    argument = instruction.argument
    if instruction.jump is not None:
        argument = f"to {instruction.jump}"
    shown = f"({argument})" if argument else ""
    return f"{instruction.opcode:<{width}} {shown}".rstrip()


def goes_on(instruction: Instruction) -> bool:
    """Whether the next instruction can follow this one."""
    return instruction.opcode not in _ENDS and not is_plain_jump(instruction)


def is_plain_jump(instruction: Instruction) -> bool:
    """Whether an instruction always jumps."""
    return instruction.opcode.startswith("JUMP_") and "_IF_" not in instruction.opcode


def index_at(instructions: Sequence[Instruction], offset: int | None) -> int | None:
    """The index of the instruction at `offset`, or of the next one where that is not listed."""
    if offset is None:
        return None
    return next((i for i, instruction in enumerate(instructions) if instruction.offset >= offset), None)


def reachable(instructions: Sequence[Instruction]) -> set[int]:
    """The indices of the instructions that can be reached from the first one without an exception."""
    found: set[int] = set()
    at_offset = {instruction.offset: i for i, instruction in enumerate(instructions)}
    pending = [0] if instructions else []
    while pending:
        index = pending.pop()
        if index in found or index >= len(instructions):
            continue
        found.add(index)
        instruction = instructions[index]
        if instruction.jump in at_offset:
            pending.append(at_offset[instruction.jump])
        if goes_on(instruction):
            pending.append(index + 1)
    return found


def prologue(instructions: Sequence[Instruction]) -> range:
    """The prologue of a resume function: it restores the stack, and jumps over what has run already."""
    jump = next((i for i, instruction in enumerate(instructions) if is_plain_jump(instruction)), None)
    if jump is None:
        return range(0)
    reached = reachable(instructions)
    return range(next((i for i in range(jump + 1, len(instructions)) if i in reached), len(instructions)))


# The decompiler.

_DEEPEST = 40  # nested branches
# Globals that Dynamo adds for itself (torch/_dynamo: import_source, install_builtins_dict_in_fglobals).
_BUILTIN = re.compile(r"__builtins_dict__\w{0,40}\['(\w+)'\]")
_IMPORT = re.compile(r"__import_(\w+)")
_PROFILER = re.compile(r"record_pregraph_bytecode_(enter|exit)$")
# A temporary name of Dynamo's for one of these is replaced by it: they do not change while the frame runs.
_LASTING = re.compile(r"\._(modules|parameters|buffers)\b|^__import_|\._is_profiler_enabled$")
_OF_MODULE = re.compile(r"\.(?:__dict__\[')?_(?:modules|parameters|buffers)(?:'\])?\['(\w+)'\]")


@dataclass(frozen=True)
class Statement:
    """One statement, and the instructions from `start` up to `end` that it was read from.

    `calls` is the function that it calls, if any. `is_mark` says that it only marks a range for a profiler.
    """

    text: str
    start: int
    end: int
    depth: int = 0
    calls: str | None = None
    is_mark: bool = False


@dataclass
class Rewritten:
    """The statements that could be read; `stopped_at` is the first instruction that was not understood."""

    statements: list[Statement] = field(default_factory=list)
    stopped_at: int | None = None


def read_rewritten(instructions: Sequence[Instruction], names: Mapping[str, str]) -> Rewritten:
    """Decompile modified bytecode. `names` has the names to show for globals: `graph_1` for a graph, say."""
    reader = _Reader(instructions, names)
    try:
        reader.block(0, len(instructions), Stack(), 0)
    except (NotUnderstood, IndexError, ValueError):
        reader.result.stopped_at = reader.reached
    return reader.result


def without_marks(rewritten: Rewritten) -> list[Statement]:
    """The statements without those that only mark a range for a profiler."""
    statements = rewritten.statements
    names = {statement.text.partition(" = ")[0] for statement in statements if statement.is_mark}
    kept: list[Statement] = []
    for statement in reversed(statements):
        name, _, value = statement.text.partition(" = ")
        has_body = kept[-1].depth > statement.depth if kept else rewritten.stopped_at is not None
        is_empty = statement.text.endswith(":") and not has_body
        if not (statement.is_mark or is_empty or (value == "None" and name in names)):
            kept.append(statement)
    return kept[::-1]


class _Reader:
    """Reads instructions in order; each branch of an `if` is read with its own copy of the stack."""

    def __init__(self, instructions: Sequence[Instruction], names: Mapping[str, str]) -> None:
        self.result = Rewritten()
        self.reached = 0
        self._aliases: dict[str, str] = {}
        self._instructions = instructions
        self._names = names
        self._offsets = {instruction.offset: i for i, instruction in enumerate(instructions)}
        self._start = 0
        self._made_up = 0
        self._callees: dict[str, str] = {}

    def block(self, index: int, end: int, stack: Stack, depth: int) -> int | None:
        """Read from `index` up to `end`; returns the next index, None after a return."""
        while index < end:
            self.reached = index
            instruction = self._instructions[index]
            if is_noise(instruction):
                index += 1
            elif instruction.opcode in ("RETURN_VALUE", "RETURN_CONST"):
                is_constant = instruction.opcode == "RETURN_CONST"
                value = instruction.argument if is_constant else str(stack.pop())
                self._add(f"return {value}", index, depth, self._callees.get(value))
                return None
            elif "POP_JUMP" in instruction.opcode:
                after = self._branch(index, stack, depth)
                if after is None:
                    return None
                index = after
            elif is_plain_jump(instruction):
                index = self._target(index)
            elif instruction.opcode in CALLS:
                index = self._call(index, stack, depth)
            else:
                self._step(index, stack, depth)
                index += 1
        return index

    def _branch(self, index: int, stack: Stack, depth: int) -> int | None:
        """Read an `if`, with an `else` where its body jumps over one; returns the index after it."""
        target = self._target(index)
        condition = _condition(self._instructions[index].opcode, stack.pop())
        if depth > _DEEPEST:
            raise NotUnderstood("too many branches")
        self._add(f"if {condition}:", index, depth)
        inside = copy.deepcopy(stack)
        after = self.block(index + 1, target, inside, depth + 1)
        if after is None:
            return target
        if after > target:
            self._add("else:", target - 1, depth)
            if self.block(target, after, stack, depth + 1) != after:
                raise NotUnderstood("a branch that does not join the other one")
        if list(map(str, inside.values)) != list(map(str, stack.values)):
            raise NotUnderstood("branches that leave different values")
        return after

    def _target(self, index: int) -> int:
        jump = self._instructions[index].jump
        target = -1 if jump is None else self._offsets.get(jump, -1)
        if target <= index:
            raise NotUnderstood("a loop")
        return target

    def _step(self, index: int, stack: Stack, depth: int) -> None:
        """Read an instruction that is neither a jump nor a call."""
        instruction = self._instructions[index]
        opcode, argument = instruction.opcode, plain_argument(instruction)
        has_null = argument != instruction.argument
        if opcode in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = self._names.get(argument, argument)
            stack.push(*([NULL, name] if has_null else [name]))
        elif opcode == "LOAD_ATTR" and has_null:
            apply(stack, "LOAD_METHOD", argument)
        elif opcode.startswith("LOAD_FAST") and opcode != "LOAD_FAST_AND_CLEAR":
            stack.push(*(self._aliases.get(name, name) for name in argument.split(", ")))
        elif opcode.startswith("STORE_FAST"):
            self._store_fast(index, opcode, argument, stack, depth)
        elif opcode in ("STORE_ATTR", "STORE_DEREF", "STORE_GLOBAL"):
            owner = f"{stack.pop()}." if opcode == "STORE_ATTR" else ""
            stored = stack.pop()
            self._refuse_stale(stack, argument)
            self._add(f"{owner}{argument} = {stored}", index, depth)
        elif opcode == "STORE_SUBSCR":
            self._store_subscript(index, stack, depth)
        elif opcode == "DELETE_SUBSCR":
            key, changed = stack.pop(), stack.pop()
            if isinstance(changed, Items):
                del changed.items[int(str(key))]
            else:
                self._add(f"del {changed}[{subscript(key)}]", index, depth)
        elif opcode == "UNPACK_SEQUENCE":
            self._unpack(index, int(argument), stack, depth)
        elif opcode == "POP_TOP":
            stack.pop()
        else:
            apply(stack, opcode, argument)

    def _call(self, index: int, stack: Stack, depth: int) -> int:
        """Read a call; the statement depends on what the next instruction does with the result."""
        instruction = self._instructions[index]
        callee, arguments = pop_call(stack, instruction.opcode, instruction.argument)
        is_mark = _PROFILER.search(callee) is not None
        text = f"{callee}({arguments})"
        after = index + 1
        while after < len(self._instructions) and _is_between(self._instructions[after]):
            after += 1
        following = self._instructions[after] if after < len(self._instructions) else instruction
        if following.opcode == "RETURN_VALUE":
            self._callees[text] = callee
            stack.push(text)
            return after
        if following.opcode == "POP_TOP":
            self._add(text, after, depth, callee, is_mark)
            return after + 1
        if following.opcode == "STORE_FAST":
            self._refuse_stale(stack, following.argument)
            self._add(f"{following.argument} = {text}", after, depth, callee, is_mark)
            return after + 1
        name = self._new_name("result")
        self._add(f"{name} = {text}", index, depth, callee, is_mark)
        stack.push(name)
        return index + 1

    def _store_fast(self, index: int, opcode: str, argument: str, stack: Stack, depth: int) -> None:
        """Read STORE_FAST, or one of the two combined instructions of Python 3.13 with a second name."""
        first, _, second = argument.partition(", ")
        self._store(index, first, stack, depth)
        if opcode == "STORE_FAST_STORE_FAST":
            self._store(index, second, stack, depth)
        elif opcode == "STORE_FAST_LOAD_FAST":
            stack.push(second)

    def _store(self, index: int, name: str, stack: Stack, depth: int) -> None:
        value = stack.pop()
        self._refuse_stale(stack, name)
        if isinstance(value, Items) and any(other is value for other in stack.values):
            raise NotUnderstood("a list with two names")
        text = str(value)
        self._aliases.pop(name, None)
        if name.startswith("tmp_") and depth == 0 and _LASTING.search(text):
            self._aliases[name] = text
        elif text not in (name, NULL):
            self._add(f"{name} = {text}", index, depth)

    def _store_subscript(self, index: int, stack: Stack, depth: int) -> None:
        value, owner, key = stack.take(3)
        if isinstance(owner, Items):
            store(owner, key, value)
        else:
            self._add(f"{owner}[{subscript(key)}] = {value}", index, depth)

    def _unpack(self, index: int, count: int, stack: Stack, depth: int) -> None:
        value = stack.pop()
        items: Sequence[Value]
        if isinstance(value, Items):
            items = value.items
            if len(items) != count:
                raise NotUnderstood("items of another number")
        else:
            items = [self._new_name("item") for _ in range(count)]
            self._add(f"{', '.join(map(str, items))}{',' * (count == 1)} = {value}", index, depth)
        stack.push(*reversed(items))

    def _refuse_stale(self, stack: Stack, name: str) -> None:
        """Raise if an expression on the stack uses `name`, which changes now: its text would be wrong."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        if any(word.search(str(value)) for value in [*stack.values, *self._aliases.values()]):
            raise NotUnderstood("an old value")

    def _new_name(self, stem: str) -> str:
        self._made_up += 1
        return f"{stem}_{self._made_up}"

    def _add(
        self, text: str, index: int, depth: int, callee: str | None = None, is_mark: bool = False
    ) -> None:
        """Add a statement that ends with the instruction at `index`."""
        called_name = None if callee is None else _spelled(callee)
        statement = Statement(_spelled(text), self._start, index + 1, depth, called_name, is_mark)
        self.result.statements.append(statement)
        self._start = index + 1


def _spelled(text: str) -> str:
    """A text with Dynamo's globals and paths of submodules written as the program writes them."""
    text = _BUILTIN.sub(r"\1", short_name(text))
    text = _OF_MODULE.sub(lambda found: f"[{found[1]}]" if found[1].isdigit() else f".{found[1]}", text)
    return _IMPORT.sub(lambda found: found[1].replace("_dot_", "."), text)


def _is_between(instruction: Instruction) -> bool:
    """Whether an instruction may stand between a call and what is done with its result."""
    return is_noise(instruction) or instruction.opcode == "DELETE_FAST"


def _condition(opcode: str, value: Value) -> str:
    """The condition under which a conditional jump does not jump."""
    text = f"({value})" if " " in str(value) else str(value)
    for ending, condition in (
        ("IF_FALSE", str(value)),
        ("IF_TRUE", f"not {text}"),
        ("IF_NOT_NONE", f"{text} is None"),
        ("IF_NONE", f"{text} is not None"),
    ):
        if opcode.endswith(ending):
            return condition
    raise NotUnderstood(opcode)
