"""Instructions that unit tests write by hand, a line each."""

from dynamo_core.model import Instruction

GRAPH = "__compiled_fn_1_b81a8a18_8991_49aa_9395_9178ab8869da"


def code(text: str) -> tuple[Instruction, ...]:
    """`<line> <opcode> <argument or ->index>`, a line each; two bytes an instruction."""
    found = []
    for number, row in enumerate(filter(None, map(str.strip, text.splitlines()))):
        line, opcode, *rest = row.split(" ", 2)
        argument = rest[0] if rest else ""
        jump = 2 * int(argument.removeprefix("->")) if argument.startswith("->") else None
        argument = argument if jump is None else f"to L{jump}"
        found.append(Instruction(2 * number, opcode, argument, int(line), jump))
    return tuple(found)
