"""Graph breaks: torch's explanation text taken apart, and the builder of `Process.breaks`.

Source of the text: torch/_dynamo/symbolic_convert.py (log_graph_break), torch/_dynamo/exc.py
(format_graph_break_message). It changes from release to release; a part that is not found is None. Read with
2.8, 2.13 and 2.15.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..model import BreakExplanation, CompileId, GraphBreak, Place, Process, StackFrame
from ..model.guards import NOT_RESUMED
from ..shared.records import GraphBroke
from .compile_context import CompileContext
from .structured import Handler, RecordClock, around_of, stack_of, structured
from .trace_format import Record

# Torch's explanation of a graph break.
_WHERE = re.compile(r"^Graph break in user code at (.+):(\d+)$", re.MULTILINE)
# From 2.10 on, "Encountered graph break when attempting to trace CALL: …" can stand before the kind.
_KIND = re.compile(r"^(?:Graph Break Reason: )?(\S.*)\n {2}Explanation: ", re.MULTILINE)
# Some reasons begin with a sentence on what torch does; the reason itself stands below it.
_REASON = re.compile(
    r"^Graph Break Reason: (?:Failed to handle graph break gracefully\.[^\n]*:\n\s*)?(.+)$", re.MULTILINE
)
_EXPLANATION = re.compile(r"^ {2}Explanation: ", re.MULTILINE)
_SECOND = re.compile(
    r"\n\*\*\* While handling this graph break, another graph break occurred: \*\*\*\n\s*"
    r"(\S[^\n]*)\n {2}Explanation: ",
    re.MULTILINE,
)
_END_OF_EXPLANATION = re.compile(r"^ {2}(?:Hint: |Developer debug)", re.MULTILINE)
_HINT = re.compile(r"\n {2}Hint: (.+?)(?=\n {2}Hint: |\n[^\S\n]*$)", re.MULTILINE | re.DOTALL)
_STACK = re.compile(r"^User code traceback:\n", re.MULTILINE)
# It begins with what is searched for fast. Of a call on several lines, Python 3.14 shows the first line, and
# then one of four spaces.
_NOT_OF_A_STACK = re.compile(r"\n(?=\S|[^\S\n]{0,3}$)", re.MULTILINE)
_FRAME_BEGINS = '\n  File "'
_FRAME = re.compile(r'([^"\n]+)", line (\d+), in (.+)(?:\n    (.+))?')
_USUAL_FRAME = 1000  # characters
_LINK = re.compile(r"https://[^\s:]+/gb(\d+)\.html")
LONGEST_TEXT = 1_000_000  # characters of the text on one break, or one guard; the rest is not read


def parse_break_text(text: str) -> BreakExplanation | None:
    """The parts of torch's explanation of a break; None where a frame was skipped as a whole."""
    text = text[:LONGEST_TEXT]
    where, kind = _WHERE.search(text), _KIND.search(text) or _REASON.search(text)
    if where is None or kind is None:
        return None
    explanation, link = _explanation(_EXPLANATION.search(text)), _LINK.search(text)
    return BreakExplanation(
        place=Place(where[1], int(where[2])),
        kind=kind[1].strip().removeprefix("torch._dynamo.exc.Unsupported: "),  # in an operator
        explanation=_with_second(explanation, text) if explanation is not None else None,
        hints=tuple(dict.fromkeys(hint.strip() for hint in _HINT.findall(text))),  # a hint may be repeated
        registry_id=f"GB{link[1]}" if link else None,
        link=link[0] if link else None,
        stack=parse_user_stack(text),
    )


def _explanation(begin: re.Match[str] | None) -> str | None:
    """What stands between `begin` and torch's hints; None if either is missing."""
    end = _END_OF_EXPLANATION.search(begin.string, begin.end() + 1) if begin else None
    return begin.string[begin.end() : end.start()].strip() if begin and end else None


def _with_second(explanation: str, text: str) -> str:
    """The explanation; with that of a second break, where one occurred while torch handled the first."""
    second = _SECOND.search(text)
    also_explained = _explanation(second)
    if second is None or also_explained is None:
        return explanation
    also = f"On top of it: {second[1].strip()}. {also_explained}"
    first, blank, rest = explanation.partition("\n\n")
    return f"{first} {also}{blank}{rest}"


def parse_user_stack(text: str) -> tuple[StackFrame, ...]:
    """The user's stack, outermost first; empty where the text has none."""
    text = text[:LONGEST_TEXT]
    begin = _STACK.search(text)
    if begin is None:
        return ()
    end = _NOT_OF_A_STACK.search(text, begin.end() - 1)
    stack = text[begin.end() - 1 : end.start() if end else None]
    frames = [
        _cached_frame(part) if len(part) <= _USUAL_FRAME else _frame(part)
        for part in stack.split(_FRAME_BEGINS)[1:]
    ]
    return tuple(frame for frame in frames if frame is not None)


def _frame(text: str) -> StackFrame | None:
    found = _FRAME.match(text)
    if found is None:
        return None
    return StackFrame(Place(found[1], int(found[2])), found[3], (found[4] or "").strip())


_cached_frame = lru_cache(1024)(_frame)  # stacks have most of their frames in common


# torch/fx/experimental/symbolic_shapes.py (produce_guards_verbose), torch/_dynamo/exc.py
# (augment_exc_message_with_hop_name), torch/_dynamo/guards.py (get_guard_fail_reason_helper), read in 2.13.
_STACK_IN_AN_ERROR = re.compile(r"\n(?:User stack(?: trace)?|from user code):\n {2,3}File ")
_ON_A_BREAK = "Graph break in user code at "


class BreakBuilder:
    """Fills `Process.breaks`, and keeps torch's last explanation of each compile for frames that failed."""

    def __init__(self, process: Process, context: CompileContext, clock: RecordClock) -> None:
        self._process = process
        self._clock = clock
        self._context = context
        self._last_text: dict[CompileId | None, str] = {}  # for breaks whose own record says less

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {GraphBroke.NAME: self._graph_break, "dynamo_graph_break_reason": self._break_explanation}

    def last_explanation(self, compile_id: CompileId | None) -> BreakExplanation | None:
        """Torch's explanation of the last break of a compile."""
        return parse_break_text(self._last_text.get(compile_id, ""))

    def break_from_error(
        self, content: Mapping[str, Any] | None, compile_id: CompileId | None
    ) -> GraphBreak | None:
        """The graph break that was raised as an error. Its text has the explanation, but not the place."""
        if content is None or not content["user_stack"]:
            return None
        stack, reason = stack_of(content["user_stack"]), str(content["reason"])
        explanation = parse_break_text(f"Graph break in user code at {stack[-1].place}\n{reason}")
        callers = self._process.callers.get(compile_id, ())
        around, grad_enabled = around_of(content.get("around")), content.get("grad_enabled")
        return GraphBreak(reason, stack, compile_id, explanation, callers, around, grad_enabled)

    def break_named_in(self, reason: str, compile_id: CompileId | None) -> GraphBreak | None:
        """The break at the user's line that the text of an error names, if it does."""
        stack = parse_user_stack(_STACK_IN_AN_ERROR.sub("\nUser code traceback:\n  File ", reason, count=1))
        callers = self._process.callers.get(compile_id, ())
        return GraphBreak(reason, stack, compile_id, callers=callers) if stack else None

    def _graph_break(self, record: Record) -> GraphBreak:
        broke, compile_id = structured(GraphBroke, record), self._context.id_of(record)
        stack, around = stack_of(broke.user_stack), around_of(broke.around)
        explanation: BreakExplanation | None = None
        if broke.reason == NOT_RESUMED and (last := self.last_explanation(compile_id)) is not None:
            explanation, stack, around = last, self._within_frame(last, compile_id), {}
        elif stack:
            explanation = self._explanation(broke.reason, stack, compile_id)
        at_ns = self._clock.moment(record)
        return self._add(broke.reason, stack, compile_id, explanation, around, broke.grad_enabled, at_ns)

    def _add(
        self,
        reason: str,
        stack: tuple[StackFrame, ...],
        compile_id: CompileId | None,
        explanation: BreakExplanation | None,
        around: Mapping[int, str],
        grad_enabled: bool | None = None,
        at_ns: int | None = None,
    ) -> GraphBreak:
        callers = self._process.callers.get(compile_id, ())
        test = self._process.tests.get(compile_id)
        graph_break = GraphBreak(
            reason, stack, compile_id, explanation, callers, around, grad_enabled, at_ns, test
        )
        self._process.breaks.append(graph_break)
        return graph_break

    def _explanation(
        self, reason: str, stack: tuple[StackFrame, ...], compile_id: CompileId | None
    ) -> BreakExplanation | None:
        """The explanation from our own record; else torch's, if that is of a break at the same place."""
        place = stack[-1].place
        own = parse_break_text(f"Graph break in user code at {place}\n{reason}")
        if own is not None and own.explanation is not None:
            return own
        last = self.last_explanation(compile_id)
        return last if last is not None and last.place == place else own

    def _break_explanation(self, record: Record) -> GraphBreak | None:
        """Take torch's explanation of a break; in a plain trace, it is the only record of the break."""
        compile_id, text = self._context.id_of(record), record.payload() or ""
        if self._process.is_ours:
            if _ON_A_BREAK in text:  # not: on a frame that is skipped as a whole
                self._last_text[compile_id] = text
            return None
        explanation = parse_break_text(text)
        if explanation is None:
            return None
        stack = self._within_frame(explanation, compile_id)
        return self._add(text, stack, compile_id, explanation, {})

    def _within_frame(
        self, explanation: BreakExplanation, compile_id: CompileId | None
    ) -> tuple[StackFrame, ...]:
        """The stack from the compiled frame to the line that broke."""
        stack = explanation.stack or (StackFrame(explanation.place, "", ""),)
        compiled = self._context.frame(compile_id)
        entered = [i for i, frame in enumerate(stack) if compiled and frame.function == compiled.function]
        return stack[entered[-1] :] if entered else stack[-1:]
