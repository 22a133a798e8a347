"""Find a missing or damaged autotune file before the program starts that needs it."""

from pathlib import Path

from ..shared.errors import AutotuneFileProblem
from ..shared.settings import Settings
from ..tuned.winners import DEFAULT_FILE, read


def check_autotune_file(settings: Settings) -> Settings:
    """`settings` with the file's absolute path, if a backend needs it; AutotuneFileProblem if it is bad."""
    if not _is_needed(settings):
        return settings
    path = Path(settings.autotune_file or DEFAULT_FILE).absolute()
    try:
        read(path)
    except AutotuneFileProblem as error:
        raise AutotuneFileProblem(f"the backend `autotuned` cannot work: {error}") from error
    return settings._replace(autotune_file=str(path))


def _is_needed(settings: Settings) -> bool:
    if settings.capture != "none" and any(choice.name == "autotuned" for choice in settings.choices()):
        return True
    return any("=autotuned" in text.replace(" ", "") for text in settings.override)
