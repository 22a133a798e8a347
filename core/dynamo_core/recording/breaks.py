"""Graph breaks, from the records of where they are and torch's words on why."""

from collections.abc import Mapping
from typing import Any

from ..model import BreakExplanation, CompileId, GraphBreak, Place, Process, StackFrame
from ..model.breaks import NOT_RESUMED
from ..shared.records import GraphBroke
from .begun import BegunCompiles
from .break_text import parse_break_text
from .payloads import Handler, around_of, stack_of
from .record_clock import RecordClock
from .records import Record
from .structured import structured


class BreakBuilder:
    """Fills `breaks`, and keeps torch's explanations for those who need them."""

    def __init__(self, process: Process, begun: BegunCompiles, clock: RecordClock) -> None:
        self._process = process
        self._clock = clock
        self._begun = begun
        self._explanations: dict[tuple[CompileId | None, Place], BreakExplanation] = {}
        self._last_explanation: dict[CompileId | None, BreakExplanation] = {}

    def handlers(self) -> dict[str, Handler]:
        """Who takes which record."""
        return {GraphBroke.NAME: self._graph_break, "dynamo_graph_break_reason": self._break_explanation}

    def last_explanation(self, compile_id: CompileId | None) -> BreakExplanation | None:
        """torch's words on the break that a compile met last."""
        return self._last_explanation.get(compile_id)

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
        broke = structured(GraphBroke, record)
        return self._add_break(
            broke.reason,
            stack_of(broke.user_stack),
            self._begun.id_of(record),
            around_of(broke.around),
            broke.grad_enabled,
            self._clock.moment(record),
        )

    def _add_break(
        self,
        reason: str,
        stack: tuple[StackFrame, ...],
        compile_id: CompileId | None,
        around: Mapping[int, str],
        grad_enabled: bool | None = None,
        at_ns: int | None = None,
    ) -> GraphBreak:
        explanation = self._explanations.get((compile_id, stack[-1].place)) if stack else None
        if explanation is None and stack and self._process.is_ours:
            explanation = parse_break_text(f"Graph break in user code at {stack[-1].place}\n{reason}")
        if reason == NOT_RESUMED and compile_id in self._last_explanation:
            explanation = self._last_explanation[compile_id]
            stack, around = self._within_frame(explanation, compile_id), {}
        callers = self._process.callers.get(compile_id, ())
        test = self._process.tests.get(compile_id)
        graph_break = GraphBreak(
            reason, stack, compile_id, explanation, callers, around, grad_enabled, at_ns, test
        )
        self._process.breaks.append(graph_break)
        return graph_break

    def _break_explanation(self, record: Record) -> GraphBreak | None:
        """torch's words on a break; in a trace that is not ours, all that there is of it."""
        text = record.payload() or ""
        explanation = parse_break_text(text)
        if explanation is None:
            return None
        compile_id = self._begun.id_of(record)
        self._explanations[compile_id, explanation.place] = explanation
        self._last_explanation[compile_id] = explanation
        if self._process.is_ours:
            return None
        return self._add_break(text, self._within_frame(explanation, compile_id), compile_id, {})

    def _within_frame(
        self, explanation: BreakExplanation, compile_id: CompileId | None
    ) -> tuple[StackFrame, ...]:
        """The stack from the compiled frame to the line that broke."""
        stack = explanation.stack or (StackFrame(explanation.place, "", ""),)
        begun = self._begun.frame(compile_id)
        entered = [i for i, frame in enumerate(stack) if begun and frame.function == begun.function]
        return stack[entered[-1] :] if entered else stack[-1:]
