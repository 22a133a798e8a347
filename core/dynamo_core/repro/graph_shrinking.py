"""Makes the program of a graph smaller as long as it fails in the same way: statements, then the rest."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ..model import TensorInfo
from .graph_program import GraphProgram, Input, is_contiguous, statement_of
from .shrinking import Shrinker, least, minimal
from .trials import Candidate

_MOST_SIZES = 12  # distinct sizes of a program that are made smaller


class GraphShrinker(Shrinker[GraphProgram]):
    """Shrinks the program of a graph."""

    def candidate(self, program: GraphProgram) -> Candidate:
        """The texts to try of a program."""
        return program.candidate()

    def shrink(self) -> None:
        """Shrink until nothing gets smaller; BudgetSpent ends it earlier."""
        self._take_options()
        self._take_random()
        self._take_beginning()
        self._take_end()
        before = None
        while before != self.program:
            before = self.program
            self._take_statements()
            self._take_outputs()
            self._take_options()
            self._take_inputs()
            self._take_sizes()
            self._take_arguments()

    def rename(self) -> None:
        """Replace the names of the user's by plain ones, if it fails with those as well."""
        self.take_first([_without_unread(_renamed(self.program)), _renamed(self.program)])

    def _take_options(self) -> None:
        """Leave out what surrounds the graph: gradients, comparisons, settings."""
        for change in (
            {"gradients": False, "inputs": tuple(map(_without_gradient, self.program.inputs))},
            {"gradients": False},
            {"afterwards": False},
            {"strides": False},
            {"dynamic": False},
        ):
            changed = replace(self.program, **change)
            if changed != self.program:
                self.take_first([changed])
        for line in self.program.prelude[self.program.backend_lines :]:
            rest = tuple(each for each in self.program.prelude if each != line)
            self.take_first([replace(self.program, prelude=rest)])

    def _take_random(self) -> None:
        """Random numbers in place of the program's values."""
        inputs = [replace(each, saved="") for each in self.program.inputs]
        random = replace(self.program, inputs=tuple(inputs), saved=frozenset())
        if random != self.program:
            self.take_first([replace(random, seed=seed) for seed in range(3)])

    def _take_beginning(self) -> None:
        """Leave out the statements behind the first with which it fails."""
        program = self.program
        least(1, len(program.statements), lambda tried: self.take_first([program.until(n) for n in tried]))

    def _take_end(self) -> None:
        """Leave out as many statements in front as it fails without."""
        program = self.program
        statements = program.statements
        least(
            1, len(statements), lambda tried: self.take_first([program.only(statements[-n:]) for n in tried])
        )

    def _take_statements(self) -> None:
        program = self.program
        minimal(program.statements, lambda parts: self.take_first([program.only(each) for each in parts]))

    def _take_outputs(self) -> None:
        program = self.program

        def only(outputs: Sequence[str]) -> GraphProgram | None:
            return program.only(program.statements, outputs) if outputs else None

        minimal(program.outputs, lambda parts: self.take_first([only(each) for each in parts]))

    def _take_inputs(self) -> None:
        """Contiguous strides, no gradient, plain numbers, float32, for each input for itself."""
        for each in self.program.inputs:
            for simpler in _simpler_inputs(each):
                inputs = [simpler if one.name == each.name else one for one in self.program.inputs]
                if self.take_first([replace(self.program, inputs=tuple(inputs))]) is not None:
                    break

    def _take_sizes(self) -> None:
        shapes = (each.tensor.shape for each in self.program.inputs if each.tensor is not None)
        sizes = sorted({size for size in chain(*shapes) if isinstance(size, int) and size > 1}, reverse=True)
        for size in sizes[:_MOST_SIZES]:
            smaller = sorted({1, 2, 3, 4, 8, size // 2} & set(range(1, size)))
            self.take_first([_resized(self.program, size, each) for each in smaller])

    def _take_arguments(self) -> None:
        """Leave out arguments of calls: keywords, and positional ones at the end."""
        for index, statement in enumerate(self.program.statements):
            for text in _with_fewer_arguments(statement.text):
                changed = statement_of(ast.parse(text).body[0])
                statements = list(self.program.statements)
                statements[index] = changed
                if self.take_first([self.program.only(statements)]) is not None:
                    break


def _without_gradient(each: Input) -> Input:
    if each.tensor is None:
        return each
    return replace(each, tensor=replace(each.tensor, requires_grad=False))


def _simpler_inputs(each: Input) -> Iterator[Input]:
    tensor = each.tensor
    if tensor is None:
        return
    if each.saved:
        yield replace(each, saved="")
        if tensor.requires_grad:
            yield _without_gradient(each)
        return
    plain = replace(tensor, stride=None, requires_grad=False)
    kinds = [replace(plain, dtype="float32"), plain]
    kinds += [replace(tensor, requires_grad=False), replace(tensor, stride=None)]
    for kind in kinds:
        if kind.stride is None and (tensor.stride is None or is_contiguous(tensor)):
            kind = replace(kind, stride=tensor.stride)
        simpler = replace(each, tensor=kind, calls="" if kind.dtype != tensor.dtype else each.calls)
        if simpler != each:
            yield simpler
    if each.calls:
        yield replace(each, calls="")


def _resized(program: GraphProgram, size: int, smaller: int) -> GraphProgram:
    """The program with a size replaced: of inputs, and where a statement has the same number."""

    def tensor(each: TensorInfo) -> TensorInfo:
        shape = tuple(smaller if one == size else one for one in each.shape)
        return replace(each, shape=shape, stride=_strides(each, shape))

    def resized(each: Input) -> Input:
        if each.tensor is None or size not in each.tensor.shape:
            return each
        new = tensor(each.tensor)
        part = ", ".join(f":{one}" for one in new.shape)
        value = each.saved.partition("]")[0]
        return replace(each, tensor=new, saved=f"{value}][{part}].contiguous()" if each.saved else "")

    inputs = [resized(each) for each in program.inputs]
    statements = []
    for each in program.statements:
        tree = _NumberReplaced(size, smaller).visit(ast.parse(each.text))
        statements.append(replace(each, text=ast.unparse(tree)))
    values = {name: tensor(each) for name, each in program.values.items()}
    changed = {name for name, each in program.values.items() if size in each.shape}
    return replace(
        program,
        inputs=tuple(inputs),
        statements=tuple(statements),
        values=values,
        saved=program.saved - changed,
    )


def _strides(tensor: TensorInfo, shape: Sequence[int | str]) -> tuple[int | str, ...] | None:
    """Strides of another shape in the same order of dimensions; an expanded dimension stays one."""
    if tensor.stride is None:
        return None
    strides: list[int | str] = [0] * len(shape)
    step = 1
    for dimension in sorted(range(len(shape)), key=lambda each: (int(tensor.stride[each]), -each)):  # type: ignore[index]
        if tensor.stride[dimension] != 0:
            strides[dimension] = step
            step *= max(int(shape[dimension]), 1)
    return tuple(strides)


class _NumberReplaced(ast.NodeTransformer):
    def __init__(self, number: int, instead: int) -> None:
        self._number, self._instead = number, instead

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        is_it = type(node.value) is int and node.value == self._number
        return ast.Constant(self._instead) if is_it else node


def _with_fewer_arguments(text: str) -> Iterator[str]:
    tree = ast.parse(text).body[0]
    call: Any = getattr(tree, "value", None)
    if not isinstance(call, ast.Call):
        return
    positional, keywords = call.args, call.keywords
    if keywords:
        call.keywords = []
        yield ast.unparse(tree)
    for keyword in keywords:
        call.keywords = [each for each in keywords if each is not keyword]
        yield ast.unparse(tree)
    call.keywords = keywords
    if len(positional) > 1:
        call.args = positional[:-1]
        yield ast.unparse(tree)


def _without_unread(program: GraphProgram) -> GraphProgram:
    """The program without names for what nothing reads."""
    read = {name for each in program.statements for name in each.reads} | set(program.outputs)
    statements = []
    for each in program.statements:
        tree = ast.parse(each.text).body[0]
        if isinstance(tree, ast.Assign) and not each.binds & read:
            each = statement_of(ast.Expr(tree.value))
        statements.append(each)
    return replace(program, statements=tuple(statements))


def _renamed(program: GraphProgram) -> GraphProgram:
    """The program with names of our own: the graph's are made of the user's."""
    names = [each.name for each in program.inputs]
    names += [name for each in program.statements for name in sorted(each.binds)]
    letters = "abcdeghijklmnopqrstuvwxyz"  # f is the function
    numbered = [f"v{number}" for number in range(len(names))]
    fresh = dict(zip(dict.fromkeys(names), letters if len(set(names)) <= len(letters) else numbered))  # noqa: B905

    def renamed(text: str) -> str:
        tree = ast.parse(text)
        for each in ast.walk(tree):
            if isinstance(each, ast.Name):
                each.id = fresh.get(each.id, each.id)
        return ast.unparse(tree)

    return replace(
        program,
        inputs=tuple(replace(each, name=fresh[each.name]) for each in program.inputs),
        statements=tuple(statement_of(ast.parse(renamed(each.text)).body[0]) for each in program.statements),
        outputs=tuple(fresh[each] for each in program.outputs),
        values={fresh[name]: each for name, each in program.values.items() if name in fresh},
    )
