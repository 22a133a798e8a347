"""Backends that come with a package of their own, by the name under which it registers them.

torch knows none of these names until the package is there. Both sides of the process boundary import this
module, so it needs the standard library only.
"""

import importlib
from importlib.util import find_spec

# name -> the module whose import registers it. Read in torch-tensorrt 2.13 and openvino 2026.4 (which has an
# entry point as well); torch up to 2.8 registers `onnxrt` itself. Neither `ipex` nor `hpu_backend` was read
# or run: their packages are for hardware that was not at hand.
PACKAGES = {
    "tensorrt": "torch_tensorrt",
    "torch_tensorrt": "torch_tensorrt",
    "openvino": "openvino.torch",
    "onnxrt": "onnxruntime",
    "ipex": "intel_extension_for_pytorch",
    "hpu_backend": "habana_frameworks.torch",
}


def import_package_of(name: str) -> None:
    """Let the package that a backend comes with register it, if there is one that is installed.

    Whatever the package raises.
    """
    module = PACKAGES.get(name)
    if module is not None and find_spec(module.partition(".")[0]) is not None:
        importlib.import_module(module)


def why_unknown(name: str) -> str | None:
    """Why torch does not know this backend, if it comes with a package; None for any other."""
    module = PACKAGES.get(name)
    if module is None:
        return None
    package = module.partition(".")[0]
    if find_spec(package) is None:
        return f"the package {package} is not installed"
    return f"the package {package} registers no backend {name!r} with this torch"
