"""Every backend that there is: torch's registry, entry points of installed packages, and ours.

Source: torch/_dynamo/backends/registry.py (_BACKENDS, _COMPILER_FNS, list_backends), 2.8 to 2.15.
"""

import sys
from types import FunctionType
from typing import Any

from ..shared.backend_choice import OURS
from ..shared.backend_packages import PACKAGES, import_package_of, why_unknown
from .requirements import devices_of

_ABOUT_OURS = {
    "ofi": "TorchScript's optimize_for_inference",
    "autotuned": "the best backend for each graph, as `dynamo autotune` found it",
}


def registered() -> dict[str, Any]:
    """torch's version, and of each backend where it comes from, whether it imports and what it misses."""
    return surroundings() | {"backends": [described(name) for name in all_names()]}


def described(name: str) -> dict[str, Any]:
    """One of them; a name that nothing is known of has an error."""
    from torch._dynamo.backends.registry import _BACKENDS

    if name in OURS:
        return _ours(name)
    import_error = _error_of(lambda: import_package_of(name))
    if name in _BACKENDS:
        return _of_registry(name, _BACKENDS[name])
    return _absent(name, import_error)


def surroundings() -> dict[str, Any]:
    """Whose backends they are."""
    import torch

    return {"torch": str(torch.__version__), "python": sys.executable}


def all_names() -> list[str]:
    """Ours first, then torch's and those of packages, then those of packages that are not here."""
    import torch._dynamo

    for name in PACKAGES:
        _error_of(lambda name=name: import_package_of(name))
    return list(dict.fromkeys([*OURS, *torch._dynamo.list_backends(exclude_tags=()), *PACKAGES]))


def _ours(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "origin": "dynamo",
        "source": _ABOUT_OURS[name],
        "version": None,
        "tags": [],
        "is_registered": True,
        "import_error": None,
        "devices": devices_of(name),
    }


def _of_registry(name: str, entry_point: Any) -> dict[str, Any]:
    from torch._dynamo.backends.registry import lookup_backend

    error = _error_of(lambda: lookup_backend(name))
    described = _loaded(name) if entry_point is None else _of_entry_point(entry_point)
    compiler = None if error else lookup_backend(name)
    return {
        "name": name,
        **described,
        "tags": list(getattr(compiler, "_tags", ())),
        "is_registered": True,
        "import_error": error,
        "devices": {} if error else devices_of(name),
    }


def _of_entry_point(entry_point: Any) -> dict[str, Any]:
    package = entry_point.dist
    return {
        "origin": "package",
        "source": f"{package.name} ({entry_point.value})" if package else entry_point.value,
        "version": package.version if package else None,
    }


def _loaded(name: str) -> dict[str, Any]:
    """A backend that the import of a module has registered: torch's own, or a package's."""
    from torch._dynamo.backends.registry import lookup_backend

    module = _module_of(lookup_backend(name))
    package = module.partition(".")[0]
    if package == "torch":
        return {"origin": "torch", "source": module.replace(".", "/") + ".py", "version": None}
    version = getattr(sys.modules.get(package), "__version__", None)
    return {"origin": "package", "source": f"{package} ({module})", "version": version and str(version)}


def _module_of(compiler: Any) -> str:
    """Where it was defined. What aot_autograd made knows only where that is: look who holds it."""
    if isinstance(compiler, FunctionType):
        return compiler.__module__
    for name, module in list(sys.modules.items()):
        if name.startswith("torch._dynamo.") and any(value is compiler for value in vars(module).values()):
            return name
    return type(compiler).__module__


def _absent(name: str, import_error: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "origin": "package",
        "source": PACKAGES.get(name, name).partition(".")[0],
        "version": None,
        "tags": [],
        "is_registered": False,
        "import_error": import_error or why_unknown(name),
        "devices": {},
    }


def _error_of(load: Any) -> str | None:
    """What it raises, in a line; a package may end the process as it is imported."""
    try:
        load()
    except (Exception, SystemExit) as error:
        return " ".join(f"{type(error).__name__}: {error}".split())
    return None
