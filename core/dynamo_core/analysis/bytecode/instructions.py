"""Recorded instructions as every Python from 3.10 to 3.14 spells them, made comparable and readable."""

import re
from collections.abc import Sequence

from ...model import Instruction

# What the interpreter needs for itself, and what says nothing about the program.
_NOISE = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "NOT_TAKEN", "PRECALL", "RESUME"})
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
# A global that is called: `NULL + f` in 3.11 and 3.12, `f + NULL` from 3.13; a method: `NULL|self`.
_NULL = re.compile(r"^NULL(?:\|self)? \+ | \+ NULL(?:\|self)?$")
# What torch makes a global's name unique with; 2.8 does so with resume functions as well.
_UUID = re.compile(r"_[0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}\b")


def short_name(text: str) -> str:
    """A name of Dynamo's, or a text with such names, without what only makes them unique."""
    return _UUID.sub("", text)


def is_noise(instruction: Instruction) -> bool:
    """Whether an instruction does nothing that a reader of the program minds."""
    return instruction.opcode in _NOISE


def plain_argument(instruction: Instruction) -> str:
    """The name or value that an argument stands for, without the NULL that is pushed along with it."""
    return _NULL.sub("", instruction.argument)


def instruction_text(instruction: Instruction, width: int = 0) -> str:
    """`LOAD_FAST (a)`, as a listing has it; jumps go to an offset, also where dis writes a label."""
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
    """The indices that control can reach from the first instruction, other than by an exception."""
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
    """How a resume function begins: it restores the stack, and jumps over what has run already."""
    jump = next((i for i, instruction in enumerate(instructions) if is_plain_jump(instruction)), None)
    if jump is None:
        return range(0)
    reached = reachable(instructions)
    return range(next((i for i in range(jump + 1, len(instructions)) if i in reached), len(instructions)))
