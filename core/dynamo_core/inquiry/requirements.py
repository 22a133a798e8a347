"""What a backend needs on each type of device, and whether it is here.

Sources: torch/_inductor/cpp_builder.py (get_cpp_compiler, which runs the compiler), torch/utils/_triton.py,
torch/_dynamo/backends/tvm.py, torchxla.py and cudagraphs.py; 2.8 to 2.15. Of somebody else's package it is
known only that it imports.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

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
