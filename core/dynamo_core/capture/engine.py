"""Start the engine once torch is imported: its parts, the probes, the whole-program capture.

Every module of the engine is imported from here, because only the standard library is visible during this
import (`isolation.py`). Modules that only some runs need are imported by `import_optional_modules`; modules
of torch where they are used.
"""

import atexit
import os
from collections.abc import Callable, Mapping

from ..shared.settings import Settings
from .engine_parts import EngineParts, import_optional_modules
from .probe_table import install_probes

running: EngineParts | None = None  # the engine of this process


def start(
    environment: Mapping[str, str], armed_ns: int | None, note_this_process: Callable[[str], None]
) -> None:
    """Begin to record this process. Called once, right after `import torch`.

    `environment` is the one in which the process started, with our settings in it. `armed_ns` is the time
    just before the program's first line, None where the program itself began to record. `note_this_process`
    is called for a folder that is created only now.
    """
    global running
    settings = Settings.from_environment(environment)
    import_optional_modules(settings)
    if settings.makes_folder:
        from .writing.run_file import begin_recording

        begin_recording(settings, note_this_process)
    problem = _start_uploading(settings) if settings.carried_to is not None else None
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


def _start_uploading(settings: Settings) -> Exception | None:
    """Start the uploader; the error where that fails.

    It must be called before the stream is opened, which takes another file name where an uploader is there.
    """
    from .writing.upload import start_uploader

    try:
        start_uploader(settings)
    except Exception as error:  # the recording is still written locally
        return error
    return None
