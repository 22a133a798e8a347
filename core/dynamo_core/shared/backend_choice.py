"""Backends as the user names them: `inductor`, `inductor:max-autotune`, `module:function`, `A,B,C`.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import importlib
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import NamedTuple

Option = str | int | float | bool

# torch.compile's modes are Inductor's (torch/__init__.py, compile; torch/_inductor/__init__.py,
# list_mode_options; 2.8 to 2.15; `lite` is in 2.13 and not in 2.8).
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")

# Our own backends, which are not in torch's registry.
OURS = ("ofi", "autotuned")

# Backends for inference only. They accept a graph that trains without an error, but their results have no
# gradients, so `backward` fails later. Seen with openvino 2026.4; read in
# torch/_dynamo/backends/tvm.py (2.8 to 2.15) and torch_tensorrt 2.13.
FOR_INFERENCE = ("openvino", "tensorrt", "torch_tensorrt", "tvm")


class BackendChoice(NamedTuple):
    """A backend as the user named it, with torch.compile's `mode` or `options` for it."""

    name: str
    mode: str | None = None
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def is_function(self) -> bool:
        """Whether it is `module:function` or `file.py:function` rather than a name."""
        return ":" in self.name

    @property
    def module(self) -> str:
        """The module or file of a function; empty for a name."""
        return self.name.rpartition(":")[0]

    def __str__(self) -> str:
        """The choice as one would type it; options stand in brackets."""
        options = ",".join(f"{key}={value}" for key, value in self.options)
        mode = "" if self.mode is None else f":{self.mode}"
        return f"{self.name}{mode}" + (f"[{options}]" if options else "")


def option_value(text: str) -> Option:
    """The value of an option as typed: true, false, a number, or else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_choice(text: str) -> BackendChoice:
    """The choice of one backend. After the last colon stands a mode if it is in MODES, else a function."""
    name, colon, mode = text.strip().rpartition(":")
    return BackendChoice(name, mode) if colon and mode in MODES else BackendChoice(text.strip())


def parse_chain(
    text: str, mode: str | None = None, options: Mapping[str, Option] | None = None
) -> tuple[BackendChoice, ...]:
    """The backends of `A,B,C`, in order; ValueError says what is wrong.

    `mode` is for Inductor where it has no mode of its own. An option `NAME:KEY` is for that backend; `KEY`
    alone is for the only backend.
    """
    choices = [parse_choice(part) for part in text.split(",")]
    if not all(choice.name for choice in choices):
        raise ValueError(f"{text!r} names a backend with no name: write A,B,C")
    if mode is not None:
        choices = [
            choice._replace(mode=choice.mode or mode)
            if choice.name == "inductor" or len(choices) == 1
            else choice
            for choice in choices
        ]
    for key, value in (options or {}).items():
        choices = list(_add_option(choices, key, value))
    return tuple(choices)


def _add_option(choices: Iterable[BackendChoice], key: str, value: Option) -> Iterable[BackendChoice]:
    choices = list(choices)
    backend, colon, own_key = key.rpartition(":")
    if not colon and len(choices) > 1:
        raise ValueError(f"say which backend the option {key!r} is for: {choices[0].name}:{key}=VALUE")
    if colon and all(choice.name != backend for choice in choices):
        raise ValueError(f"the option {key!r} is for {backend!r}, which is not among the backends")
    for choice in choices:
        if not colon or choice.name == backend:
            if choice.mode is not None:
                raise ValueError(f"{choice} has a mode: torch.compile takes a mode or options, not both")
            choice = choice._replace(options=(*choice.options, (own_key, value)))
        yield choice


# Backends from other packages: the name -> the module whose import registers it. torch knows none of these
# names before that. Read in torch-tensorrt 2.13 and openvino 2026.4 (which has an
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
    """Import the package that registers a backend, if there is such a package and it is installed.

    Any error of the package is raised.
    """
    module = PACKAGES.get(name)
    if module is not None and find_spec(module.partition(".")[0]) is not None:
        importlib.import_module(module)


def why_unknown(name: str) -> str | None:
    """Why torch does not know a backend from another package; None for any other name."""
    module = PACKAGES.get(name)
    if module is None:
        return None
    package = module.partition(".")[0]
    if find_spec(package) is None:
        return f"the package {package} is not installed"
    return f"the package {package} registers no backend {name!r} with this torch"
