"""The parts of the engine that the probes of one process share; every probe is given all of them."""

import importlib
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..shared.launchers import rank_of
from ..shared.our_record import OurRecord
from ..shared.settings import FULLGRAPH_FIRST, VERIFY_STAGE, Settings
from .frames.source import current_compile_id
from .hidden_modules import hide_from_dynamo
from .imports import LateModules
from .interventions.compile_arguments import is_torchs_own
from .isolation import StandardLibraryOnly
from .probe_guard import ProbeGuard
from .probes.compile_calls import CompileCalls
from .probes.trace_handler import attach
from .process_records import ProcessRecords, process_at_start
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
    from .probes.gradient_exchange import GradientExchanges
    from .probes.late_hooks import LateHooks
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
        self.late_modules = LateModules()
        self.compile_calls = CompileCalls(self.probes)
        self.records = ProcessRecords(self.stream, self.probes)
        self.stack_file = StackFile(self.stream)
        self.record_of_backend = self.probes.guarded("backends")(self._record_of_backend)
        self.frame_method: str | None = None  # of the frame that Dynamo is compiling
        self.window: ProfileWindow | None = None
        self.verifier: Verifier | None = None
        self.program_verifier: ProgramVerifier | None = None
        self.step_marks: StepMarks | None = None
        self.freeze: Freeze | None = None
        self.overriding: Overriding | None = None
        self.stop: StopAfter | None = None
        self.trials: ChangeTrials | None = None
        self.saving_inputs: Callable[[Any, int], Any] | None = None  # around a graph's calls
        self.exports: ModuleObserver | None = None
        self.calls_at_limit: CallsAtLimitCounter | None = None  # made where torch refuses a frame
        self.gradient_exchanges: GradientExchanges | None = None  # made where torch has such modules
        self.late_hooks: LateHooks | None = None  # made where Dynamo is imported
        self._make_optional_parts()
        self.whole_program = WholeProgramCapture(settings, self.probes, self.record_of_backend, self.limits)
        if self.program_verifier is not None:
            self.whole_program.verify(self.program_verifier)

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
        if self.late_hooks is not None:
            self.late_hooks.finish()
        if self.calls_at_limit is not None:
            self.probes.guarded("calls at torch's recompile limit")(self.calls_at_limit.finish)()
        if self.exports is not None:
            self.exports.finish()
        if self.gradient_exchanges is not None:
            guarded = self.probes.guarded("exchange of gradients")
            guarded(self.gradient_exchanges.finish)(self.stream.record)
        self.records.end()
        self.probes.guarded("stack at a signal")(self.stack_file.finish)()
        if self.settings.carried_to is not None:
            from .writing.upload import wait_for_uploader

            guarded = self.probes.guarded("time for the last files to be carried")
            guarded(wait_for_uploader)(self.settings, self.stream.opened())

    def _record_of_backend(self, record: OurRecord) -> None:
        """Write a record that one of our backends makes of the graph it is given."""
        self.stream.record(record, current_compile_id())

    def _make_optional_parts(self) -> None:
        """Make the parts that the settings ask for; `import_optional_modules` has imported their modules."""
        settings, probes = self.settings, self.probes
        if settings.profile:
            from .profiling.window import profile_window

            self.window = profile_window(settings, probes)
        if settings.verify:
            from .interventions.verified_program import ProgramVerifier
            from .interventions.verify import Verifier
            from .interventions.verify_budget import VerifyBudget

            budget = VerifyBudget(settings.verify_budget)
            self.verifier = Verifier(probes, budget, settings.verify != VERIFY_STAGE)
            self.program_verifier = ProgramVerifier(probes, settings, budget)
        if settings.step_frames:
            from .probes.steps import StepMarks

            self.step_marks = StepMarks(settings.step_frames, probes)
        if settings.freeze_after is not None:
            from .interventions.freeze import Freeze

            self.freeze = Freeze(settings, probes, self.trace_handler)
        if replaces_arguments(settings):
            from .interventions.override import Overriding

            self.overriding = Overriding(settings, probes, self.record_of_backend)
        if settings.stop_after is not None:
            from .interventions.stop import StopAfter

            self.stop = StopAfter(settings.stop_after, probes, self.finish)
        if settings.save_inputs is not None:
            from .interventions.graph_inputs import saving_inputs

            self.saving_inputs = partial(saving_inputs, settings.save_inputs)
        if settings.try_changes:
            from .interventions.trials import ChangeTrials

            self.trials = ChangeTrials(self)
        if settings.export is not None:
            from .exporting.observer import ModuleObserver

            self.exports = ModuleObserver(settings.export, self)


def replaces_arguments(settings: Settings) -> bool:
    """Whether arguments of the program's torch.compile calls, or backends of compiles, are replaced."""
    return bool(settings.override) or settings.fullgraph == FULLGRAPH_FIRST


def import_optional_modules(settings: Settings) -> None:
    """Import the modules that these settings need, while only the standard library is visible."""
    needed = {
        "dynamo_core.backends.chain": settings.override or not is_torchs_own(settings.choices()),
        "dynamo_core.capture.exporting.observer": settings.export is not None,
        "dynamo_core.capture.interventions.graph_inputs": settings.save_inputs is not None,
        "dynamo_core.capture.interventions.stop": settings.stop_after is not None,
        "dynamo_core.capture.interventions.freeze": settings.freeze_after is not None,
        "dynamo_core.capture.interventions.override": replaces_arguments(settings) or settings.config,
        "dynamo_core.capture.interventions.trials": settings.try_changes,
        "dynamo_core.capture.probes.steps": settings.step_frames,
        "dynamo_core.capture.interventions.verified_frame": settings.verify,
        "dynamo_core.capture.interventions.verify": settings.verify,
        "dynamo_core.capture.profiling.window": settings.profile,
        "dynamo_core.capture.writing.run_file": settings.makes_folder,
        "dynamo_core.capture.writing.upload": settings.carried_to is not None,
        "dynamo_core.capture.writing.rank_digest": rank_of(os.environ) is not None,
    }
    modules = [module for module, is_needed in needed.items() if is_needed]
    if modules:
        with StandardLibraryOnly():
            for module in modules:
                importlib.import_module(module)
