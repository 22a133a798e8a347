"""Probe: original and modified bytecode of every compiled frame, and the names of its resume functions.

Source: torch/_dynamo/convert_frame.py, where each new code is put into `orig_code_map`, then `output_codes`
(2.13, and excerpts of versions before it), and torch/_dynamo/output_graph.py (OutputGraph; see
`torch_versions.py`). A hook of `register_bytecode_hook` would add a line to the times that
`TORCH_LOGS=+dynamo` prints, and change the numbers of the program's hooks. No code object is kept: from 2.14
on that prints errors at interpreter exit.
"""

import dis
from collections.abc import Callable
from hashlib import md5
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import FrameRewritten, ResumeFunctionMade
from ..frames.source import current_compile_id, source_lines
from ..torch_versions import resume_function_installer

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph

    from ..engine_parts import EngineParts

_PLAIN_CONSTANTS = (bool, int, float, complex, str, bytes, CodeType)
_LONGEST_ARGUMENT = 2000  # characters; a constant can be a whole file


def install(convert_frame: ModuleType, parts: "EngineParts") -> None:
    """Record each code object that Dynamo adds to its collection of new ones."""
    probes = parts.probes
    output_codes = convert_frame.output_codes
    add = output_codes.add

    @probes.guarded("bytecode")
    def record_bytecode(modified: CodeType) -> None:
        original = convert_frame.orig_code_map[modified]
        probes.stream.record(_frame_rewritten(original, modified), current_compile_id())

    def add_and_record(modified: CodeType) -> None:
        add(modified)
        record_bytecode(modified)

    output_codes.add = add_and_record


def install_on_resuming(output_graph: ModuleType, parts: "EngineParts") -> None:
    """Wrap the place where a resume function gets its global name `__resume_at_<offset>_<n>`."""
    kind = output_graph.OutputGraph

    def install_global(
        proceed: Callable[..., Any], graph: "OutputGraph", name: str, value: Any, *rest: Any, **named: Any
    ) -> Any:
        code = getattr(value, "__code__", value)
        if name.startswith("__resume_at_") and isinstance(code, CodeType):
            made = ResumeFunctionMade(name=name, code_name=code.co_name, fingerprint=_fingerprint(code))
            parts.stream.record(made, current_compile_id())
        return proceed(graph, name, value, *rest, **named)

    parts.probes.hook(kind, resume_function_installer(kind), "resume functions", install_global)


def _frame_rewritten(original: CodeType, modified: CodeType) -> FrameRewritten:
    return FrameRewritten(
        name=original.co_name,
        qualified_name=getattr(original, "co_qualname", original.co_name),
        file=original.co_filename,
        first_line=original.co_firstlineno,
        fingerprint=_fingerprint(original),
        source=source_lines(original),
        original=_instructions(original),
        modified=_instructions(modified),
    )


def _fingerprint(code: CodeType) -> str:
    """A digest that distinguishes resume functions of the same name, which resume at the same line."""
    digest = md5(code.co_code, usedforsecurity=False)
    digest.update(repr((code.co_name, code.co_varnames, code.co_names)).encode("utf-8", "replace"))
    return digest.hexdigest()


class _TypeName:
    """In place of a constant, so that `dis` shows its type and does not call its `repr`."""

    def __init__(self, constant: Any) -> None:
        self._name = type(constant).__name__

    def __repr__(self) -> str:
        return f"<{self._name}>"


def _shown_constant(constant: Any) -> Any:
    """A constant that Python's compiler can make, or the name of its type.

    Dynamo adds objects of the program, its globals say, which can be large or secret, or whose `repr` can run
    the program's code.
    """
    if constant is None or constant is Ellipsis or type(constant) in _PLAIN_CONSTANTS:
        return constant
    if type(constant) in (tuple, frozenset):
        return type(constant)(map(_shown_constant, constant))
    if type(constant) is slice:  # from Python 3.14 on
        return slice(*map(_shown_constant, (constant.start, constant.stop, constant.step)))
    return _TypeName(constant)


def _instructions(code: CodeType) -> list[list[Any]]:
    code = code.replace(co_consts=tuple(map(_shown_constant, code.co_consts)))
    rows = []
    line: int | None = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = _line(instruction, line)
        jump = instruction.argval if instruction.opcode in dis.hasjrel + dis.hasjabs else None
        rows.append([instruction.offset, instruction.opname, _argument(instruction, code), line, jump])
    return rows


def _argument(instruction: dis.Instruction, code: CodeType) -> str:
    """The argument as `dis` shows it; the number itself where it is a count or a depth of the stack."""
    argument = instruction.argrepr
    if not argument and instruction.arg is not None:
        is_constant = instruction.opname == "KW_NAMES"  # of Python 3.11 and 3.12, where dis gives its index
        argument = repr(code.co_consts[instruction.arg]) if is_constant else str(instruction.arg)
    return argument[:_LONGEST_ARGUMENT]


def _line(instruction: dis.Instruction, previous: int | None) -> int | None:
    """The source line of an instruction; None where it has none."""
    positions = getattr(instruction, "positions", None)  # Python 3.11 on
    if positions is not None:
        return positions.lineno  # type: ignore[no-any-return]
    return instruction.starts_line or previous
