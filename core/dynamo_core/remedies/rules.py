"""Advice, the changes that apply it, and the rules that give it: for breaks, recompiles and exports."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Generic, Protocol, TypeVar

from ..analysis.source_lines import (
    call_on,
    condition_of,
    condition_on_tensors,
    indentation,
    is_library,
    is_of_torch_or_python,
    looped_over,
    package_of,
    targets_of,
    without_comment,
)
from ..analysis.words import version_numbers
from ..model import GraphBreak, Place, StackFrame, function_of
from ..shared.quick_dataclass import dataclass


@dataclass(frozen=True)
class Assignment:
    """The assignment of `value` to `name`; the value of a torch setting is a Python literal."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def list_of_sources(names: Iterable[str]) -> str:
    """The value of a variable with these sources, in torch's syntax, each once.

    A number is dynamic by an entry with a dimension, too (torch/_dynamo/variables/builder.py,
    is_dynamic_source; run with 2.13). One without would make every dimension of a tensor dynamic.
    """
    known = dict.fromkeys(names)
    with_dimension = {name.rpartition(":")[0] for name in known}
    return ",".join(name for name in known if name not in with_dimension)


@dataclass(frozen=True)
class Change:
    """What `dynamo fix` does to try a remedy; one of the fields is filled.

    `environment` are environment variables; `settings` are torch's, by their full name
    (`torch._dynamo.config.…`), as `dynamo run --config` sets them; `arguments` are arguments of the program's
    own calls of torch.compile, as `dynamo run --override` replaces them; `options` are other options of
    `dynamo run`; `edit` names an edit of the source (`dynamo_core/fix/edits`), made at the place of the
    finding; `operand` is the operand of some edits: the name of an argument, or the statement to insert.
    """

    environment: tuple[Assignment, ...] = ()
    settings: tuple[Assignment, ...] = ()
    arguments: tuple[Assignment, ...] = ()
    options: tuple[str, ...] = ()
    edit: str | None = None
    operand: str | None = None


@dataclass(frozen=True)
class Advice:
    """What to do, as a sentence and, if possible, as a change that `dynamo fix` can make.

    `may_change` says what else the change may do to the program; empty where nothing is known.
    """

    text: str
    change: Change | None = None
    may_change: str = ""


def environment(text: str, may_change: str = "", **variables: str) -> Advice:
    """Advice to set environment variables."""
    change = Change(environment=tuple(Assignment(name, value) for name, value in variables.items()))
    return Advice(text, change, may_change)


def setting(text: str, name: str, value: str, may_change: str = "") -> Advice:
    """Advice to change a setting of torch's."""
    return Advice(text, Change(settings=(Assignment(name, value),)), may_change)


def edit(text: str, name: str, may_change: str = "") -> Advice:
    """Advice to change the line, with the edit that does so."""
    return Advice(text, Change(edit=name), may_change)


# Rules: what one matches, what it says, and the remedies.

_OLDEST = (2, 8)


class Context(Protocol):
    """What is in the way: torch's words on it, the user's line, the version of torch or (0, 0)."""

    @property
    def words(self) -> str: ...
    @property
    def line(self) -> str: ...
    @property
    def version(self) -> tuple[int, int]: ...


_Context = TypeVar("_Context", bound=Context)
Parts = Callable[[_Context, Change | None], Mapping[str, str]]
"""The words that the sentences and remedies of a table may name, for one thing in the way and a change."""


@dataclass(frozen=True)
class RemedyTemplate(Generic[_Context]):
    """Advice of a rule, as a text that may name parts: {condition}, {call}, … (`Parts`).

    `cures` names the programs in tests/integration/broken_programs for which it is the first remedy and which
    it cures, `not_for` those for which it would be harmful or change nothing. `since` is the first torch
    version that accepts it, `when` one more test.
    """

    text: str
    cures: tuple[str, ...] = ()
    change: Change | Callable[[_Context], Change | None] | None = None
    may_change: str = ""
    since: tuple[int, int] = _OLDEST
    not_for: tuple[str, ...] = ()
    when: Callable[[_Context], bool] | None = None

    def fits(self, context: _Context) -> bool:
        """Whether the version of torch accepts it; an unknown version counts as the oldest."""
        return max(context.version, _OLDEST) >= self.since and (self.when is None or self.when(context))

    def advice(self, context: _Context, parts: Parts[_Context]) -> Advice:
        """The advice with its parts filled in."""
        change = self.change(context) if callable(self.change) else self.change
        return Advice(self.text.format_map(parts(context, change)), change, self.may_change)


@dataclass(frozen=True)
class Rule(Generic[_Context]):
    """One cause of graph breaks, of recompiles or of failed exports, with its remedies, the surest first.

    `words` must be found in torch's words, `line` in the user's line, and `unless` must not be found there;
    `when` is one more test. `sentence` says why it is in the way; like a remedy's text it may name parts.
    The remedies of a rule that `is_further` are given in addition to those of another rule.
    """

    words: re.Pattern[str] | None = None
    sentence: str = ""
    remedies: tuple[RemedyTemplate[_Context], ...] = ()
    line: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    when: Callable[[_Context], bool] | None = None
    is_further: bool = False

    def matches(self, context: _Context) -> bool:
        """Whether this is the cause."""
        return (
            (self.words is None or self.words.search(context.words) is not None)
            and (self.line is None or self.line.search(context.line) is not None)
            and (self.unless is None or self.unless.search(context.line) is None)
            and (self.when is None or self.when(context))
        )


def first_rule(table: Iterable[Rule[_Context]], context: _Context) -> Rule[_Context] | None:
    """The first rule that matches; None where none does."""
    return next((rule for rule in table if not rule.is_further and rule.matches(context)), None)


def advice_of(
    table: Sequence[Rule[_Context]], context: _Context, parts: Parts[_Context]
) -> list[tuple[RemedyTemplate[_Context], Advice]]:
    """The advice of the first rule that matches, and of all that are further ones."""
    first = first_rule(table, context)
    further = (rule for rule in table if rule.is_further and rule.matches(context))
    rules = (*([] if first is None else [first]), *further)
    remedies = [each for rule in rules for each in rule.remedies if each.fits(context)]
    return [(each, each.advice(context, parts)) for each in remedies]


# The context of a graph break, or of a frame that fell back to eager, that the tables of causes test.

_LONGEST_WORDS = 4000  # characters of torch's text; what distinguishes breaks comes first
_LONGEST_REASON = 20_000
_LONGEST_CONTEXT = 200
_CONTEXT = "Developer debug context: "
_DDP = "torch/nn/parallel/distributed.py"
_MODULE = "torch/nn/modules/module.py"
_CALLS_A_HOOK = re.compile(r"\bhook\(")
_DISTRIBUTION = "torch/distributions/distribution.py"
# What is infinite or undefined for some values: its gradient is then NaN, also where it is not chosen.
_UNDEFINED = re.compile(
    r"(?<!/)/(?!/|\s*\d)|\*\*(?!\s*\d)|\b(?:log|sqrt|rsqrt|pow|reciprocal|acos|asin|norm)\("
)
# A test for there being anything, behind which is mostly divided by how much there is.
_IS_EMPTY = re.compile(r"\.any\(\)|[!=]= 0\b")
_CAREFUL = (
    "; on both sides a divisor, or what goes into a root or logarithm, must be safe, as by "
    "`.clamp(min=1e-9)`: else gradients may be NaN"
)
_REPORTED = (
    "; `{report}` goes behind the call, for which the condition is returned as well: else it comes no more"
)
REPORTS = re.compile(r"\s*(?:print|[\w.]{0,60}(?:log|warn)\w{0,20}(?:\.\w{1,20})?)\(")
_KEPT = re.compile(r"self(?:\.(?!item\b)\w{1,60}){1,4}")
REGISTERS_A_HOOK = re.compile(r"\.register_hook\(")
_DISABLED = re.compile(r"Skip calling function `<function ([\w.<>]{1,200}) at 0x")
_IS_IN = re.compile(r"([\w.]{1,100}) in ([\w.]{1,100})")
_COUNTS = re.compile(r"\s*[\w.]{1,200}\.\w{1,100} [-+]= \d{1,9}\s*(?:#.{0,200})?$")
_NEGATED = re.compile(r"not ((?!.* (?:and|or) ).{1,300})")
NAME = re.compile(r"[A-Za-z_]\w{0,99}")
INDEX_BY_A_NAME = re.compile(r"[\w\])]\[(?!\d)[\w.]{1,100}\]")
_IS_COUNTED = re.compile(r"range\((?:\d|len\()")  # a loop as long as a number, or a list of Python's


@dataclass(frozen=True)
class BreakContext:
    """A graph break with its surroundings, as the tables of causes see it.

    `words` are torch's name for the break and its explanation, `line` is the text of the user's line,
    `before` and `following` the lines before and after it, as far as they are known. If the break is inside
    of a library, `entered` is the library function that the user's line calls, `library` the name of the
    library, and `depth` the number of calls inside of it. `is_in_ddp` says that it is
    DistributedDataParallel, `is_in_distributions` that the line is one of torch.distributions. `context` is
    torch's additional text for its developers.
    `is_outside` says that the user's line only calls what is compiled, so that nothing can be moved out of
    compiled code there. `caller` is the text of the line that calls the function of `line`, and
    `is_called_inside` says whether that line is compiled as well. `is_hook` says that the line is one of a
    hook that a module calls. `innermost` is the function of torch that is interrupted, "" where it is none.
    `is_inlined` says that a frame had inlined the function of `line`, and runs eager for it.
    """

    words: str
    line: str = ""
    following: tuple[str, ...] = ()
    entered: str | None = None
    depth: int = 0
    library: str | None = None
    torch_version: str | None = None
    function: str | None = None
    context: str = ""
    grad_enabled: bool | None = None
    is_in_ddp: bool = False
    is_in_distributions: bool = False
    is_outside: bool = False
    caller: str = ""
    before: tuple[str, ...] = ()
    is_called_inside: bool = False
    is_hook: bool = False
    innermost: str = ""
    is_inlined: bool = False

    @property
    def version(self) -> tuple[int, int]:
        """The version of torch; (0, 0) where it was not recorded."""
        return version_numbers(self.torch_version)

    @cached_property
    def parts(self) -> dict[str, str]:
        """The parts of the line that advice can name, or words in their place."""
        called = frozenset(NAME.findall(self.words[:300]))
        if self.entered is not None:
            called = frozenset((self.entered,))
        line = without_comment(self.line) or "the line"
        call = call_on(self.line, called)
        targets = targets_of(self.line)
        condition = condition_of(self.line)
        return {
            "line": line,
            "branch": condition or line,
            "condition": condition or "condition",
            "kept": kept[0] if (kept := _KEPT.search(condition or "")) else "it",
            "tensor_condition": self._condition_on_tensors(condition or "condition"),
            "call": call or line.removeprefix("return "),
            "disabled": self.disabled or (call or self.entered or line).partition("(")[0],
            "called": (call or self.entered or line).partition("(")[0],
            "target": ", ".join(targets) or line.removeprefix("return "),
            "loop": self.loop,
            "around": self.around,
            "caller": without_comment(self.caller),
            "function": self.function or "the function",
            "careful": (_CAREFUL if self._may_lose_gradients else "") + self._reported,
            "library": self.library or "the library",
            "counts": self.counts,
        }

    @property
    def disabled(self) -> str:
        """The function that torch is told not to trace, as torch names it; "" where it names none.

        Source: torch/_dynamo/variables/functions.py (SkipFunctionVariable.call_function), 2.8 to 2.13.
        """
        found = _DISABLED.search(self.words)
        return "" if found is None else found[1].rpartition(".")[2]

    def _condition_on_tensors(self, condition: str) -> str:
        """The condition as a tensor; that torch takes a value out for `a in b` shows that `b` is one."""
        is_in = _IS_IN.fullmatch(condition) if "Tensor.item()" in self.words else None
        if is_in:
            return f"({is_in[2]} == {is_in[1]}).any()"
        negated = _NEGATED.fullmatch(condition)
        return f"torch.logical_not({negated[1]})" if negated else condition_on_tensors(condition)

    @property
    def block(self) -> list[str]:
        """The lines of the block that the line begins, as far as they are known."""
        lines = [each for each in self.following if each.strip()]
        depth = indentation(lines[0]) if lines else 0
        return list(takewhile(lambda each: indentation(each) >= depth, lines))

    @property
    def _reported(self) -> str:
        report = next((each.strip() for each in self.block if REPORTS.match(each)), None)
        return "" if report is None else _REPORTED.format(report=report)

    @property
    def counts(self) -> str:
        """The line of the block that adds a number to an attribute, or ""."""
        return next((each.strip() for each in self.block if _COUNTS.match(each)), "")

    @property
    def behind_the_block(self) -> list[str]:
        """The lines of the function behind that block, as far as they are known."""
        lines = [each for each in self.following if each.strip()]
        return lines[len(self.block) :]

    @property
    def loop(self) -> str:
        """The head of the innermost loop around the line, or of its function, or ""."""
        return self._around("while ", "for ", "def ")

    @property
    def around(self) -> str:
        """The head of the innermost block around the line, or ""."""
        return self._around("if ", "elif ", "else:", "for ", "while ", "with ", "try:", "except", "def ")

    @property
    def is_tried(self) -> bool:
        """Whether a `try` of its function is around the line."""
        return self._around("try:", "def ").startswith("try:")

    def _around(self, *heads: str) -> str:
        """The innermost line around this one that begins in one of these ways, or ""."""
        deep = indentation(self.before[-1]) if self.before else 0
        for line in reversed(self.before[:-1]):
            if line.strip() and indentation(line) < deep:
                deep = indentation(line)
                if line.lstrip().startswith(heads):
                    return line.strip()
        return ""

    @property
    def is_in_library(self) -> bool:
        """Whether the break is inside of a library other than torch."""
        return self.entered is not None and self.library not in (None, "torch")

    @property
    def _may_lose_gradients(self) -> bool:
        """Whether a side of the branch may have no gradient for the values of the other."""
        is_undefined = any(map(_UNDEFINED.search, (self.line, *self.following)))
        return self.grad_enabled is not False and (is_undefined or bool(_IS_EMPTY.search(self.line)))

    @property
    def counts_a_loop(self) -> bool:
        """Whether a `range` here, or on a later line that uses its value, has a length from a tensor."""
        targets = targets_of(self.line)
        calls = [call_on(line, frozenset({"range"})) or "" for line in self.following]
        ranges = [call for call in calls if call.startswith("range(")]
        return "range(" in self.line or any(
            target in NAME.findall(call) for call in ranges for target in targets
        )

    @property
    def any_target(self) -> str:
        """A pattern for the names that the line assigns to; one that fits nothing where there are none."""
        return "|".join(map(re.escape, targets_of(self.line))) or r"(?!)"

    @property
    def is_looped_over(self) -> bool:
        """Whether a `for` here, or on a later line over what this line assigns, takes values of a tensor."""
        targets = targets_of(self.line)
        later = (each for line in self.following for each in looped_over(line))
        here = (each for each in looped_over(self.line) if not _IS_COUNTED.match(each))
        return any(here) or any(target in NAME.findall(each) for each in later for target in targets)

    @property
    def is_branched_on_next(self) -> bool:
        """Whether a later line branches on what this line assigns, or the caller on what it returns."""
        if self.line.startswith("return "):
            return condition_of(self.caller) is not None
        targets = targets_of(self.line)
        tested = [condition_of(line) for line in self.following]
        return any(target in NAME.findall(condition or "") for condition in tested for target in targets)


def break_context_of(graph_break: GraphBreak, torch_version: str | None) -> BreakContext:
    """The context of one graph break."""
    explanation = graph_break.explanation
    words = f"{graph_break.kind}\n{(explanation and explanation.explanation) or graph_break.reason}"
    own, entered = user_line(graph_break)
    stack = [*graph_break.callers, *graph_break.stack]  # the user's call may be outside of what is compiled
    outer = [each for each in (stack[: stack.index(own)] if own else ()) if not is_library(each.place)]
    lines = graph_break.around
    behind = sorted(n for n in lines if own is not None and n > own.place.line) if entered is None else []
    return BreakContext(
        words[:_LONGEST_WORDS],
        own.text.strip() if own is not None else "",
        tuple(lines[n] for n in behind),
        None if entered is None else entered.function,
        0 if entered is None else len(stack) - stack.index(entered),
        None if entered is None else package_of(entered.place),
        torch_version,
        _compiled_function(graph_break),
        graph_break.reason[:_LONGEST_REASON].partition(_CONTEXT)[2][:_LONGEST_CONTEXT],
        graph_break.grad_enabled,
        _is_in_ddp(graph_break),
        bool(stack) and stack[-1].place.file.endswith(_DISTRIBUTION),
        bool(stack) and all(is_library(frame.place) for frame in graph_break.stack),
        outer[-1].text.strip() if outer else "",
        tuple(lines[n] for n in sorted(lines) if own is not None and entered is None and n <= own.place.line),
        bool(outer) and outer[-1] in graph_break.stack,
        own is not None and _is_called_as_a_hook(stack[: stack.index(own)]),
        stack[-1].function if stack and package_of(stack[-1].place) == "torch" else "",
        graph_break.is_inlined,
    )


def _is_called_as_a_hook(callers: Sequence[StackFrame]) -> bool:
    """Whether the last of them is a module's call of a hook.

    Source: torch/nn/modules/module.py (Module._call_impl), 2.8 to 2.13.
    """
    last = callers[-1] if callers else None
    return (
        last is not None and last.place.file.endswith(_MODULE) and _CALLS_A_HOOK.search(last.text) is not None
    )


def _compiled_function(graph_break: GraphBreak) -> str | None:
    """The user's function that is compiled; None where what is compiled is a library's."""
    own = (frame for frame in graph_break.stack if not is_library(frame.place))
    first = next(own, None)
    if first is None:
        return None
    # Of several classes each has a `forward`.
    method = graph_break.method if first is graph_break.stack[0] else None
    return method or function_of(first.function)


def _is_in_ddp(graph_break: GraphBreak) -> bool:
    """Whether DistributedDataParallel itself broke the graph, and not the module that it calls."""
    stack = [*graph_break.callers, *graph_break.stack]
    inside = [at for at, frame in enumerate(stack) if frame.place.file.endswith(_DDP)]
    is_its_own = (graph_break.method or "").startswith("DistributedDataParallel")
    if not inside and not is_its_own:
        return False
    begin = inside[-1] if inside else len(graph_break.callers)
    return all(is_of_torch_or_python(frame.place) for frame in stack[begin:])


def user_line(graph_break: GraphBreak) -> tuple[StackFrame | None, StackFrame | None]:
    """The innermost frame of the user's code, and the library frame that it called, if that has the break.

    Of a hook on a tensor it is the line that registers it.
    """
    stack = [*graph_break.callers, *graph_break.stack]
    own = (frame for frame in graph_break.stack if not is_library(frame.place))
    registers = next((frame for frame in own if REGISTERS_A_HOOK.search(frame.text)), None)
    if registers is not None:
        return registers, None
    for position in range(len(stack) - 1, -1, -1):
        if not is_library(stack[position].place):
            return stack[position], stack[position + 1] if position + 1 < len(stack) else None
    return (stack[-1], None) if stack else (None, None)


def place_of(graph_break: GraphBreak) -> Place | None:
    """The user's line for a graph break."""
    own, _ = user_line(graph_break)
    return own.place if own is not None else graph_break.place


BreakRules = tuple[Rule[BreakContext], ...]
