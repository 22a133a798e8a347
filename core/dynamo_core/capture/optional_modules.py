"""Import the modules that only some runs need, so that other runs start sooner."""

import importlib
import os

from ..shared.launchers import rank_of
from ..shared.settings import FULLGRAPH_FIRST, Settings
from .interventions.compile_arguments import is_torchs_own
from .isolation import StandardLibraryOnly


def replaces_arguments(settings: Settings) -> bool:
    """Whether arguments of the program's torch.compile calls, or backends of compiles, are replaced."""
    return bool(settings.override) or settings.fullgraph == FULLGRAPH_FIRST


def import_optional_modules(settings: Settings) -> None:
    """Import the modules that these settings need, while only the standard library is visible."""
    needed = {
        "dynamo_core.backends.chain": settings.override or not is_torchs_own(settings.choices()),
        "dynamo_core.capture.exporting.observer": settings.export is not None,
        "dynamo_core.capture.interventions.stop": settings.stop_after is not None,
        "dynamo_core.capture.interventions.freeze": settings.freeze_after is not None,
        "dynamo_core.capture.interventions.override": replaces_arguments(settings) or settings.config,
        "dynamo_core.capture.interventions.trials": settings.try_changes,
        "dynamo_core.capture.probes.steps": settings.step_frames,
        "dynamo_core.capture.interventions.verified_program": settings.verify,
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
