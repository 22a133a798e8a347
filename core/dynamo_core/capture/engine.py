"""Start everything, once torch is imported: the parts, the probes, the capture.

Every module of the engine is imported from here, because this import happens where only the standard
library can be seen (`standard_library.py`); those that only some runs need, by `optional_modules.py`. Modules
of torch are imported when they are used.
"""

import atexit
import os
from collections.abc import Callable, Mapping

from ..shared.settings import Settings
from .engine_parts import EngineParts
from .optional_modules import import_what_is_asked_for
from .probe_table import install_probes

running: EngineParts | None = None  # in this process


def start(environment: Mapping[str, str], armed_ns: int, note_this_process: Callable[[str], None]) -> None:
    """Begin to record this process. Called once, right after `import torch`.

    `environment` is the one in which the process started, with our settings in it; `armed_ns` is when that
    was, just before the program's first line; `note_this_process` is for a folder that is made only now.
    """
    global running
    settings = Settings.from_environment(environment)
    import_what_is_asked_for(settings)
    if settings.makes_folder:
        from .writing.run_file import begin_recording

        begin_recording(settings, note_this_process)
    problem = _start_carrying(settings) if settings.carried_to is not None else None
    parts = EngineParts(settings)
    if problem is not None:
        parts.probes.failed(f"carrying to {settings.carried_to}", problem)
    install_probes(parts)
    atexit.register(parts.probes.guarded("process end")(parts.finish))
    os.register_at_fork(after_in_child=parts.records.forked)
    parts.whole_program.begin()
    if parts.step_marks is not None and settings.capture == "none":
        parts.probes.guarded("steps")(parts.step_marks.watch_eager_frames)()
    parts.records.timeline(armed_ns)
    if not settings.brief:
        parts.probes.guarded("stack at a signal")(parts.stack_file.begin)()
    running = parts


def _start_carrying(settings: Settings) -> Exception | None:
    """Before the first file is there, which is named so that none of another host's is replaced."""
    from .writing.upload import start_carrying

    try:
        start_carrying(settings)
    except Exception as error:  # what is recorded stays here
        return error
    return None
