"""The parts of the engine that the probes of one process share; every probe is given all of them."""

import os
from typing import TYPE_CHECKING

from ..shared.our_record import OurRecord
from ..shared.settings import Settings
from .frames.source import current_compile_id
from .hidden_modules import hide_from_dynamo
from .imports import LateModules
from .optional_modules import replaces_arguments
from .probe_guard import ProbeGuard
from .probes.compile_calls import CompileCalls
from .probes.guard_cost import GuardCost
from .probes.process import process_at_start
from .probes.trace_handler import attach
from .process_records import ProcessRecords
from .whole_program.capture import WholeProgramCapture
from .whole_program.limits import TracingLimits
from .writing.stack_file import StackFile
from .writing.stream import Stream

if TYPE_CHECKING:
    from .exporting.observer import ModuleObserver
    from .interventions.freeze import Freeze
    from .interventions.override import Overriding
    from .interventions.stop import StopAfter
    from .interventions.trials import ChangeTrials
    from .interventions.verified_program import ProgramVerifier
    from .interventions.verify import Verifier
    from .probes.frames import CallsAtLimitCounter
    from .probes.steps import StepMarks
    from .profiling.window import ProfileWindow


class EngineParts:
    """The parts of the engine, in the order in which they are made; nothing in Dynamo is wrapped yet.

    A part that only some runs need is None in the others. This is a plain class: a dataclass would cost every
    process half a millisecond.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stream = Stream(settings.recording, process_at_start())
        os.register_at_fork(after_in_child=self.stream.restart_after_fork)
        self.probes = ProbeGuard(self.stream)
        self.probes.guarded("frames of our own left out")(hide_from_dynamo)()
        self.trace_handler = attach(self.stream, brief=settings.brief)
        self.limits = TracingLimits(settings, self.probes)
        self.guard_cost = GuardCost()
        self.window = self._window()
        self.verifier = self._verifier()
        self.program_verifier = self._program_verifier()
        self.late_modules = LateModules()
        self.compile_calls = CompileCalls(self.probes)
        self.records = ProcessRecords(self.stream, self.probes)
        self.stack_file = StackFile(self.stream)
        self.record_of_backend = self.probes.guarded("backends")(self._record_of_backend)
        self.step_marks = self._step_marks()
        self.freeze = self._freeze()
        self.overriding = self._overriding()
        self.stop = self._stop()
        self.trials = self._trials()
        self.exports = self._exports()
        self.calls_at_limit: CallsAtLimitCounter | None = None  # made where torch refuses a frame
        self.whole_program = WholeProgramCapture(settings, self.probes, self.record_of_backend, self.limits)

    def finish(self) -> None:
        """Let each part write what it still holds at the end of the process; then write the last record."""
        if self.window is not None:
            self.probes.guarded("profile window")(self.window.finish)()
        self.records.state()
        if self.overriding is not None:
            self.overriding.finish()
        if self.freeze is not None:
            self.freeze.finish()
        self.whole_program.finish()
        self.compile_calls.finish()
        if self.calls_at_limit is not None:
            self.probes.guarded("calls at torch's recompile limit")(self.calls_at_limit.finish)()
        if self.exports is not None:
            self.exports.finish()
        self.records.end()
        self.probes.guarded("stack at a signal")(self.stack_file.finish)()
        if self.settings.carried_to is not None:
            from .writing.upload import wait_for_uploader

            guarded = self.probes.guarded("time for the last files to be carried")
            guarded(wait_for_uploader)(self.settings, self.stream.opened())

    def _record_of_backend(self, record: OurRecord) -> None:
        """Write a record that one of our backends makes of the graph it is given."""
        self.stream.record(record, current_compile_id())

    def _window(self) -> "ProfileWindow | None":
        if not self.settings.profile:
            return None
        from .profiling.window import profile_window

        return profile_window(self.settings, self.probes)

    def _verifier(self) -> "Verifier | None":
        if not self.settings.verify:
            return None
        from .interventions.verify import Verifier

        return Verifier(self.probes)

    def _program_verifier(self) -> "ProgramVerifier | None":
        if not self.settings.verify:
            return None
        from .interventions.verified_program import ProgramVerifier

        return ProgramVerifier(self.probes)

    def _step_marks(self) -> "StepMarks | None":
        if not self.settings.step_frames:
            return None
        from .probes.steps import StepMarks

        return StepMarks(self.settings.step_frames, self.probes)

    def _freeze(self) -> "Freeze | None":
        if self.settings.freeze_after is None:
            return None
        from .interventions.freeze import Freeze

        return Freeze(self.settings, self.probes, self.trace_handler)

    def _overriding(self) -> "Overriding | None":
        if not replaces_arguments(self.settings):
            return None
        from .interventions.override import Overriding

        return Overriding(self.settings, self.probes, self.record_of_backend)

    def _stop(self) -> "StopAfter | None":
        if self.settings.stop_after is None:
            return None
        from .interventions.stop import StopAfter

        return StopAfter(self.settings.stop_after, self.probes, self.finish)

    def _trials(self) -> "ChangeTrials | None":
        if not self.settings.try_changes:
            return None
        from .interventions.trials import ChangeTrials

        return ChangeTrials(self)

    def _exports(self) -> "ModuleObserver | None":
        if self.settings.export is None:
            return None
        from .exporting.observer import ModuleObserver

        return ModuleObserver(self.settings.export, self)
