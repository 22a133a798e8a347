"""What a backend can be told: Inductor's modes and options, a function's signature and its docstring.

Source: torch/_inductor/__init__.py (list_mode_options), torch/_inductor/config.py; 2.8 to 2.15.
"""

import inspect
from typing import Any

from ..backends.autotuned import Autotuned
from ..backends.ofi import ofi
from .registered import all_names, described, surroundings


def details(name: str) -> dict[str, Any]:
    """Of a backend by its name, which is known to be there."""
    all_names()
    told = _inductor() if name == "inductor" else {"modes": None, "options": None}
    return surroundings() | {"backend": described(name)} | told | _function(name)


def _inductor() -> dict[str, Any]:
    import torch._inductor
    from torch._inductor import config

    defaults = config.get_config_copy()
    return {
        "modes": {mode: dict(options) for mode, options in torch._inductor.list_mode_options().items()},
        "options": {option: _plain(defaults[option]) for option in sorted(torch._inductor.list_options())},
    }


def _function(name: str) -> dict[str, Any]:
    from torch._dynamo.backends.registry import lookup_backend

    if name == "autotuned":
        return {"signature": None, "docstring": inspect.getdoc(Autotuned), "place": None}
    compiler: Any = ofi if name == "ofi" else lookup_backend(name)
    function = compiler if inspect.isroutine(compiler) else type(compiler).__call__
    try:
        signature: str | None = str(inspect.signature(compiler))
    except (TypeError, ValueError):  # made by C++
        signature = None
    documented = compiler if inspect.isroutine(compiler) else type(compiler)
    try:
        place: str | None = f"{inspect.getsourcefile(function)}:{inspect.getsourcelines(function)[1]}"
    except (TypeError, OSError):
        place = None
    return {"signature": signature, "docstring": inspect.getdoc(documented), "place": place}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
