"""Give torch's own settings other values, as `--config` asks; the program's own assignments come later.

Source: torch/utils/_config_module.py (ConfigModule: an unknown name is an AttributeError, and a value of
another type is taken), the same in 2.8, 2.13 and 2.15.
"""

import builtins
import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import ConfigChanged
from ...shared.torch_config import ConfigChange

if TYPE_CHECKING:
    from ..engine_parts import EngineParts

_LONGEST_VALUE = 200


def install_for(changes: list[ConfigChange]) -> Callable[[ModuleType, "EngineParts"], None]:
    """What is to be done once the module of these changes is there."""

    def install(module: ModuleType, parts: "EngineParts") -> None:
        for change in changes:
            parts.stream.record(_changed(module, change))

    return install


def _changed(module: ModuleType, change: ConfigChange) -> ConfigChanged:
    *way, name = change.name.split(".")
    try:
        holder = functools.reduce(getattr, way, module)
        was = getattr(holder, name)
        now = _added_to(was, change.text) if change.is_added else _fitting(was, change.value)
        setattr(holder, name, now)
    except AttributeError:
        return ConfigChanged(change=str(change), problem="this torch has no such setting")
    except Exception as error:
        return ConfigChanged(change=str(change), problem=f"{type(error).__name__}: {error}"[:_LONGEST_VALUE])
    return ConfigChanged(change=str(change), was=_shown(was), now=_shown(now))


def _fitting(was: Any, value: Any) -> Any:
    """The value, if the setting can hold it; torch itself would take anything, and trip over it later."""
    numbers = (int, float)
    is_number = isinstance(was, numbers) and isinstance(value, numbers) and not isinstance(was, bool)
    if was is None or value is None or is_number or isinstance(value, type(was)):
        return value
    raise TypeError(f"it is {type(was).__name__} and cannot become {value!r}")


def _added_to(was: Any, name: str) -> Any:
    """A set or list of functions with the one of this name as well."""
    if not isinstance(was, set | frozenset | list | tuple):
        raise TypeError(f"it is {type(was).__name__}, to which nothing can be added")
    return type(was)([*was, _named(name)])


def _named(name: str) -> Any:
    """What a dotted name stands for: `print`, `warnings.warn`, `logging.Logger.info`."""
    first, *rest = name.split(".")
    if not rest:
        return getattr(builtins, first)
    for count in range(len(rest), 0, -1):
        try:
            module = importlib.import_module(".".join([first, *rest[: count - 1]]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, rest[count - 1 :], module)
    raise ValueError(f"{name} is not there")


def _shown(value: Any) -> str:
    return repr(value)[:_LONGEST_VALUE]
