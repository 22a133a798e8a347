"""Answer the question of the command line: the last line of stdout is JSON."""

import importlib.util
import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from ..shared.backend_choice import OURS, PACKAGES, BackendChoice, import_package_of, why_unknown
from ..shared.our_record import OurRecord
from ..shared.records import GraphTaken
from ..shared.settings import Settings
from .chain import Autotuned, Chain, NoBackendTookGraph
from .compilers import ofi

# What is wrong with the backends that the user named, in torch's own words.


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


# What a backend needs on each type of device, and whether it is here.
#
# Sources: torch/_inductor/cpp_builder.py (get_cpp_compiler, which runs the compiler), torch/utils/_triton.py,
# torch/_dynamo/backends/tvm.py, torchxla.py and cudagraphs.py; 2.8 to 2.15. Of somebody else's package it is
# known only that it imports.


# Why a requirement is not met; None where it is.
Problem = Callable[[], str | None]


def devices_of(name: str) -> dict[str, str | None]:
    """Why the backend cannot run on each type of device that it is for; None where it can.

    Empty for a backend about which nothing is known.
    """
    from torch._dynamo.backends.registry import lookup_backend

    needs = _NEEDS.get(name)
    if needs is None:
        known_to_torch = (
            getattr(lookup_backend(name), "__module__", "").startswith("torch.") if name else False
        )
        needs = _ANYWHERE if known_to_torch else {}
    return {device: _first_problem(problems) for device, problems in needs.items()}


def _first_problem(problems: Sequence[Problem]) -> str | None:
    return next((problem for check in problems if (problem := check())), None)


def _module(name: str) -> Problem:
    return lambda: None if find_spec(name) else f"the package {name} is not installed"


def _cuda() -> str | None:
    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return "this torch is built without CUDA"
    return None if torch.cuda.is_available() else "there is no CUDA device"


def _cpp_compiler() -> str | None:
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        get_cpp_compiler()
    except InvalidCxxCompiler as error:
        return f"no C++ compiler: {error}"
    return None


def _triton() -> str | None:
    from torch.utils._triton import has_triton_package

    return None if has_triton_package() else "the package triton is not installed"


_ANYWHERE: dict[str, Sequence[Problem]] = {"cpu": (), "cuda": (_cuda,)}
_NEEDS: dict[str, dict[str, Sequence[Problem]]] = {
    "inductor": {"cpu": (_cpp_compiler,), "cuda": (_cuda, _triton)},
    "cudagraphs": {"cuda": (_cuda,)},
    "tensorrt": {"cuda": (_cuda, _module("tensorrt"))},
    "torch_tensorrt": {"cuda": (_cuda, _module("tensorrt"))},
    "openvino": {"cpu": (_module("openvino"),)},
    "onnxrt": {
        "cpu": (_module("onnxruntime"), _module("onnxscript")),
        "cuda": (_cuda, _module("onnxruntime"), _module("onnxscript")),
    },
    "tvm": {"cpu": (_module("tvm"),), "cuda": (_cuda, _module("tvm"))},
    "openxla": {"xla": (_module("torch_xla"),)},
    "openxla_eval": {"xla": (_module("torch_xla"),)},
    "ofi": _ANYWHERE,
    "autotuned": _ANYWHERE,
}


# Every backend that there is: torch's registry, entry points of installed packages, and ours.
#
# Source: torch/_dynamo/backends/registry.py (_BACKENDS, _COMPILER_FNS, list_backends), 2.8 to 2.15.


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


def _tags_of(name: str, compiler: Any) -> list[str]:
    """Its tags: an attribute of its function up to 2.13, a table in 2.15."""
    from torch._dynamo.backends import registry

    tags: Any = getattr(registry, "_BACKEND_TAGS", None)
    return list(getattr(compiler, "_tags", ()) if tags is None else tags.get(name, ()))


def _of_registry(name: str, entry_point: Any) -> dict[str, Any]:
    from torch._dynamo.backends.registry import lookup_backend

    error = _error_of(lambda: lookup_backend(name))
    described = _loaded(name) if entry_point is None else _of_entry_point(entry_point)
    compiler = None if error else lookup_backend(name)
    return {
        "name": name,
        **described,
        "tags": _tags_of(name, compiler),
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


# What a backend can be told: Inductor's modes and options, a function's signature and its docstring.
#
# Source: torch/_inductor/__init__.py (list_mode_options), torch/_inductor/config.py; 2.8 to 2.15.


def details(name: str) -> dict[str, Any]:
    """All that is known of the backend of this name, which is there."""
    all_names()
    choices = _inductor() if name == "inductor" else {"modes": None, "options": None}
    return surroundings() | {"backend": described(name)} | choices | _function(name)


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


# Compile and run a tiny graph with a backend, for --check.


def try_out(name: str, device: str) -> dict[str, Any]:
    """Whether it took the graph and computed what eager computes, and how long that took.

    `seconds` has the compile in it. `reason` says what was wrong.
    """
    import torch

    records: list[OurRecord] = []
    settings = Settings(recording="", backend=name, strict=True)
    chain = Chain([BackendChoice(name)], settings, records.append)

    def compute(x: Any, weight: Any) -> Any:
        return torch.relu(x @ weight + 1.0)

    with torch.no_grad():
        x, weight = (torch.randn(8, 8, device=device) for _ in range(2))
        expected = compute(x, weight)
        start = time.perf_counter()
        try:
            result = torch.compile(compute, backend=chain, fullgraph=True)(x, weight)
            torch.testing.assert_close(result, expected)
        except Exception as error:
            return {"works": False, "seconds": None, "reason": _reason(error, records)}
    return {"works": True, "seconds": time.perf_counter() - start, "reason": None}


def _reason(error: Exception, records: Sequence[OurRecord]) -> str:
    inner = getattr(error, "inner_exception", error)
    taken = records[-1] if records else None
    if isinstance(inner, NoBackendTookGraph) and isinstance(taken, GraphTaken):
        return taken.declined[-1]["reason"]
    return f"{type(error).__name__}: {error}"


# Answer the question of the command line:


_QUESTIONS: dict[str, Callable[..., Any]] = {
    "check": check,
    "details": details,
    "registered": registered,
    "try_out": try_out,
}


def main() -> None:
    """The arguments are ours: a folder, the question, and what it is about as JSON."""
    question, about = sys.argv[2:]
    answer = _QUESTIONS[question](**json.loads(about))
    print("\n" + json.dumps(answer))
