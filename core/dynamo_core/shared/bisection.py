"""Whether torch's compiler bisector changes what a program compiles to, by its variables or its status file.

A bisection that nobody ended goes on in every later program: torch.compile then takes the bisector's backend,
and leaves out a part of the compiler.

Source: torch/_inductor/compiler_bisector.py (CompilerBisector.get_backend, get_subsystem), torch/__init__.py
(compile); read in 2.13.
"""

import os
from collections.abc import Mapping

BISECTED = (
    "the program is not compiled as it asks for, and may compute something else; "
    "`python -m torch._inductor.compiler_bisector end` ends a bisection"
)
_VARIABLES = {"backend": "TORCH_BISECT_BACKEND", "subsystem": "TORCH_BISECT_SUBSYSTEM"}
_LARGEST = 1 << 16  # bytes of the status file


def bisection(environment: Mapping[str, str], cache_folder: str) -> str | None:
    """What is bisected, and what says so: `backend inductor, subsystem lowerings (FILE)`.

    `cache_folder` is Inductor's. None where no bisection is under way.
    """
    file = os.path.join(cache_folder, "bisect", "bisect_status.txt")
    by_file = _status(file)
    chosen = {name: environment.get(variable) for name, variable in _VARIABLES.items()}
    active = [f"{name} {value}" for name in _VARIABLES if (value := chosen[name] or by_file.get(name))]
    sources = [_VARIABLES[name] for name in _VARIABLES if chosen[name]]
    sources += [file] if any(by_file.get(name) and not chosen[name] for name in _VARIABLES) else []
    return f"{', '.join(active)} ({', '.join(sources)})" if active else None


def _status(file: str) -> dict[str, str]:
    if not os.path.isfile(file):
        return {}
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = opened.read(_LARGEST).splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition("=") for line in lines)
    return {name: value for name, _, value in pairs}
