"""Find a bad backend in an `--override` before the program starts."""

from ..shared.overrides import Override, parse_override
from ..shared.settings import Settings
from .backend_check import check_backend
from .program import Program


def check_overrides(settings: Settings, program: Program, python: str) -> Settings:
    """`settings` as the engine shall have them, backend files' paths made absolute; or BackendProblem."""
    overrides = [_checked(parse_override(text), settings, program, python) for text in settings.override]
    return settings._replace(override=tuple(map(str, overrides)))


def _checked(override: Override, settings: Settings, program: Program, python: str) -> Override:
    if not override.names_backend:
        return override
    wanted = settings._replace(
        backend=override.backend or "inductor", mode=override.mode, options=override.options
    )
    checked = check_backend(wanted, program, python)
    return override if override.backend is None else override.with_backend(checked.backend)
