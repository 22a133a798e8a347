"""Parses the values of `--freeze-after` (`100`, `2.5s`, `forward=100`) and of `--config`.

Both sides of the process boundary import this module, so it needs the standard library only.
"""

import ast
import re
from typing import Any, NamedTuple

from .quick_dataclass import dataclass

_SECONDS = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*s")


@dataclass(frozen=True)
class FreezeAfter:
    """When to freeze: after `calls` of all graphs, or of one `function`; or `seconds` without a compile."""

    calls: int | None = None
    seconds: float | None = None
    function: str | None = None


def parse_freeze_after(text: str) -> FreezeAfter:
    """The value of `--freeze-after`; ValueError says what is wrong."""
    in_seconds = _SECONDS.fullmatch(text.strip())
    if in_seconds and float(in_seconds[1]) > 0:
        return FreezeAfter(seconds=float(in_seconds[1]))
    function, equals, number = text.strip().rpartition("=")
    if not number.isdecimal() or int(number) < 1 or (equals and not function):
        raise ValueError(
            f"{text!r} is neither a number of calls (100), a time without a compile (5s) "
            "nor a function's calls (forward=100)"
        )
    return FreezeAfter(calls=int(number), function=function or None)


def is_named_by(whole: str, name: str) -> bool:
    """Whether a function's whole name, `build.<locals>.Net.forward`, is or ends in `name`: `Net.forward`."""
    return whole == name or whole.endswith(f".{name}")


# The modules whose values are settings. Source: torch/utils/_config_module.py (install_config_module), whose
# users these are; the same in 2.8, 2.13 and 2.15.
CONFIG_MODULES = (
    "torch._dynamo.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.fx.experimental._config",
    "torch.compiler.config",
)


class ConfigChange(NamedTuple):
    """A value of `--config`: what to assign, or add, to the setting `name` (may have dots) of `module`."""

    module: str
    name: str
    text: str
    is_added: bool

    def __str__(self) -> str:
        """The choice as one would type it."""
        return f"{self.module}.{self.name}{'+' if self.is_added else ''}={self.text}"

    @property
    def value(self) -> Any:
        """The new value: a Python literal, or else the text itself."""
        try:
            return ast.literal_eval(self.text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return self.text


def parse_config(text: str) -> ConfigChange:
    """Read `torch._dynamo.config.NAME=VALUE`, or `…NAME+=FUNCTION`; ValueError says what is wrong."""
    key, equals, value = text.partition("=")
    is_added = key.endswith("+")
    key = key.removesuffix("+").strip()
    module = next((module for module in CONFIG_MODULES if key.startswith(f"{module}.")), None)
    if not equals or module is None:
        known = ", ".join(CONFIG_MODULES)
        raise ValueError(f"{text!r} is not MODULE.NAME=VALUE, with a setting of one of {known}")
    name = key.removeprefix(f"{module}.")
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"{key!r} names no setting")
    return ConfigChange(module, name, value.strip(), is_added)
