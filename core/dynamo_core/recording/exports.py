"""Records of `dynamo export` as parts of the model; what is wrong with them raises."""

from collections.abc import Iterable
from typing import Any

from ..model import (
    UNKNOWN_FILE,
    VERIFY_OUTCOMES,
    CalledModule,
    ConstantSeen,
    DraftedObstacle,
    ExportComparison,
    ExportTrial,
    GraphBreak,
    InputSeen,
    Place,
    Process,
)
from ..shared.export_trials import FAILED, KINDS, OUTCOMES, RAISED
from ..shared.records import ExportCompared, ExportTried, ModulesCalled, ModuleToExport
from .break_text import parse_break_text
from .payloads import Handler, around_of, stack_of
from .records import Record
from .structured import structured
from .verified import compared_value


class ExportBuilder:
    """Fills what a process has of them."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            ModulesCalled.NAME: self._modules_called,
            ModuleToExport.NAME: self._module,
            ExportTried.NAME: self._tried,
            ExportCompared.NAME: self._compared,
        }

    def _modules_called(self, record: Record) -> None:
        self._process.modules_called = structured(ModulesCalled, record)

    def _module(self, record: Record) -> None:
        self._process.called_module = called_module(structured(ModuleToExport, record))

    def _tried(self, record: Record) -> None:
        self._process.export_trials.append(export_trial(structured(ExportTried, record)))

    def _compared(self, record: Record) -> None:
        self._process.export_comparisons.append(export_comparison(structured(ExportCompared, record)))


def called_module(noted: ModuleToExport) -> CalledModule:
    """What was noted of a module."""
    called_at = None if noted.called_at is None else stack_of([noted.called_at])[0]
    return CalledModule(
        name=noted.name,
        place=None if noted.file is None or noted.line is None else Place(noted.file, noted.line),
        called_at=called_at,
        training=noted.training,
        parameters=noted.parameters,
        calls=noted.calls,
        other_forms=noted.other_forms,
        inputs=tuple(
            InputSeen(str(each["name"]), str(each["dtype"]), tuple(map(_sizes, each["sizes"])))
            for each in noted.inputs
        ),
        constants=tuple(
            ConstantSeen(str(each["name"]), tuple(map(str, each["values"]))) for each in noted.constants
        ),
        dynamic_shapes=noted.dynamic_shapes,
        arguments=noted.arguments,
        dataclasses=tuple(noted.dataclasses),
    )


def export_trial(tried: ExportTried) -> ExportTrial:
    """What came of a trial."""
    if tried.kind not in KINDS or tried.outcome not in OUTCOMES:
        raise ValueError(f"{tried.kind!r}: {tried.outcome!r} is no trial's outcome")
    return ExportTrial(
        kind=tried.kind,
        is_dynamic=tried.is_dynamic,
        outcome=tried.outcome,
        seconds=tried.seconds,
        error_kind=tried.error_kind,
        error=tried.error,
        failed_at=_failed_at(tried),
        obstacles=tuple(
            DraftedObstacle(str(each["kind"]), str(each["text"]), stack_of(each["user_stack"]))
            for each in tried.obstacles or ()
        ),
        saved=tried.saved,
    )


def export_comparison(compared: ExportCompared) -> ExportComparison:
    """How far an exported program's values were from eager's."""
    if compared.outcome not in VERIFY_OUTCOMES:
        raise ValueError(f"{compared.outcome!r} is no outcome")
    return ExportComparison(
        sizes={name: _sizes(each) for name, each in compared.sizes.items()},
        outcome=compared.outcome,
        compared=compared.compared,
        why=compared.why,
        worst=compared_value(compared.worst),
    )


def _failed_at(tried: ExportTried) -> GraphBreak | None:
    """The error as a graph break, so that what is known of those can be said of it."""
    if tried.error is None or tried.outcome not in (FAILED, RAISED):
        return None
    stack = stack_of(tried.user_stack or ())
    place = stack[-1].place if stack else Place(UNKNOWN_FILE, 0)
    explanation = parse_break_text(f"Graph break in user code at {place}\n{tried.error}")
    return GraphBreak(tried.error, stack, None, explanation, around=around_of(tried.around))


def _sizes(dimensions: Iterable[Any]) -> tuple[int, ...]:
    return tuple(map(int, dimensions))
