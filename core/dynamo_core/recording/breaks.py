"""Graph breaks, from the records of where they are and torch's words on why."""

from collections.abc import Mapping
from typing import Any

from ..model import BreakExplanation, CompileId, GraphBreak, Process, StackFrame
from ..model.breaks import NOT_RESUMED
from ..shared.records import GraphBroke
from .begun import BegunCompiles
from .break_text import parse_break_text
from .payloads import Handler, around_of, stack_of
from .record_clock import RecordClock
from .records import Record
from .structured import structured

_ON_A_BREAK = "Graph break in user code at "


class BreakBuilder:
    """Fills `breaks`, and keeps torch's explanations for those who need them."""

    def __init__(self, process: Process, begun: BegunCompiles, clock: RecordClock) -> None:
        self._process = process
        self._clock = clock
        self._begun = begun
        self._last_text: dict[CompileId | None, str] = {}  # read where our own record does not say as much

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {GraphBroke.NAME: self._graph_break, "dynamo_graph_break_reason": self._break_explanation}

    def last_explanation(self, compile_id: CompileId | None) -> BreakExplanation | None:
        """torch's words on the break that a compile of ours met last."""
        return parse_break_text(self._last_text.get(compile_id, ""))

    def that_raised(
        self, content: Mapping[str, Any] | None, compile_id: CompileId | None
    ) -> GraphBreak | None:
        """torch's explanation is in the error's text, which does not say where."""
        if content is None or not content["user_stack"]:
            return None
        stack, reason = stack_of(content["user_stack"]), str(content["reason"])
        explanation = parse_break_text(f"Graph break in user code at {stack[-1].place}\n{reason}")
        callers = self._process.callers.get(compile_id, ())
        around, grad_enabled = around_of(content.get("around")), content.get("grad_enabled")
        return GraphBreak(reason, stack, compile_id, explanation, callers, around, grad_enabled)

    def _graph_break(self, record: Record) -> GraphBreak:
        broke, compile_id = structured(GraphBroke, record), self._begun.id_of(record)
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
        """As our own record has it; else torch's words, if they are on a break at this place."""
        place = stack[-1].place
        own = parse_break_text(f"Graph break in user code at {place}\n{reason}")
        if own is not None and own.explanation is not None:
            return own
        last = self.last_explanation(compile_id)
        return last if last is not None and last.place == place else own

    def _break_explanation(self, record: Record) -> GraphBreak | None:
        """torch's words on a break; in a trace that is not ours, all that there is of it."""
        compile_id, text = self._begun.id_of(record), record.payload() or ""
        if self._process.is_ours:
            if _ON_A_BREAK in text:  # and not on a frame that is skipped as a whole
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
        begun = self._begun.frame(compile_id)
        entered = [i for i, frame in enumerate(stack) if begun and frame.function == begun.function]
        return stack[entered[-1] :] if entered else stack[-1:]
