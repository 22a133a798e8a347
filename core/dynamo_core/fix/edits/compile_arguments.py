"""Arguments of the program's own call of torch.compile."""

import ast
from collections.abc import Iterable

import libcst as cst

from ...analysis.remedies.advice import Assignment
from .source import Source, dotted, expression


def with_arguments(text: str, line: int, arguments: Iterable[Assignment]) -> str | None:
    """The source with these arguments in the call of torch.compile on this line, by name."""
    source = Source(text)
    wanted = {each.name: each.value for each in arguments}
    for each in source.expressions_at(line):
        if isinstance(each, cst.Call) and (dotted(each.func) or "").rpartition(".")[2] == "compile":
            kept = [a for a in each.args if a.keyword is None or a.keyword.value not in wanted]
            new = [_argument(name, value) for name, value in wanted.items()]
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            arguments_now = [a.with_changes(comma=comma) for a in [*kept, *new][:-1]] + [new[-1]]
            return source.with_changes({each: each.with_changes(args=arguments_now)})
    for each in source.expressions_at(line):  # @torch.compile, without a call
        is_decorator = isinstance(source.parent(each), cst.Decorator)
        if is_decorator and dotted(each) == "torch.compile":
            call = cst.Call(each, [_argument(name, value) for name, value in wanted.items()])
            return source.with_changes({each: call})
    return None


def _argument(name: str, value: str) -> cst.Arg:
    """A value is what `dynamo run --override` takes: Python's literal, or a string without its quotes."""
    return cst.Arg(
        expression(value if _is_literal(value) else repr(value)),
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )


def _is_literal(value: str) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return False
    return True
