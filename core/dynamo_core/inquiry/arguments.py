"""What is wrong with the backends that the user named, in torch's own words."""

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..shared.backend_packages import import_package_of, why_unknown


def check(choices: Sequence[Mapping[str, Any]], path: Sequence[str]) -> list[dict[str, Any]]:
    """What is wrong with each choice, as torch.compile words it, without running any module of the user's.

    `path` is where the program's modules are. For a backend that torch does not know, `known` has the others.
    """

    sys.path[:1] = path
    return [_checked(**choice) for choice in choices]


def _checked(name: str, mode: str | None, options: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    import torch

    answer: dict[str, Any] = {"error": None, "known": None, "file": None}
    module, colon, _ = name.rpartition(":")
    try:
        if colon and not module.endswith(".py"):
            spec = importlib.util.find_spec(module)
            if spec is None:
                raise ModuleNotFoundError(f"No module named {module!r}")
            answer["file"] = spec.origin
        if not colon:
            import_package_of(name)
            known = torch._dynamo.list_backends(exclude_tags=())
            if name not in known:
                return answer | {"error": why_unknown(name), "known": known}
        backend = "eager" if colon else name  # which may be the program itself
        torch.compile(lambda: None, backend=backend, mode=mode, options=dict(options) or None)
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    return answer
