"""Replace arguments of the program's own torch.compile calls, and the backend of single compiles.

Source: torch/__init__.py (compile: as a decorator it comes back by its global name, with the model),
torch/nn/modules/module.py (Module.compile), torch/_dynamo/output_graph.py (OutputGraph.call_user_compiler,
which calls `self.compiler_fn`). The same in 2.8, 2.13 and 2.15; from 2.13 on `debug_backend_override` of
torch._dynamo.config does the second, for the names of backends alone.
"""

import builtins
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...backends.compilers import Tell, compiler_of
from ...shared.backend_choice import BackendChoice
from ...shared.choices import ConfigChange
from ...shared.overrides import Override, merged, parse_override
from ...shared.records import ChangedSetting, OverrideApplied
from ...shared.settings import FULLGRAPH_FIRST, Settings
from ..frames.program_files import place_of_compile_call_in_progress
from ..frames.source import current_compile_id
from ..probe_guard import ProbeGuard
from ..probes.graphs import backend_name
from ..torch_versions import default_backend, set_in_every_thread
from ..writing.occurrences import Occurrences
from .compile_arguments import backend_of

if TYPE_CHECKING:
    from torch._dynamo.output_graph import OutputGraph

    from ...backends.chain import Chain
    from ..engine_parts import EngineParts


_LONGEST_VALUE = 200
# An option that is Dynamo's, whatever the backend. Source: torch/__init__.py (compile), 2.8 to 2.15.
_OF_DYNAMO = "guard_filter_fn"


class Overriding:
    """Puts `--override` to work, and what `--fullgraph` asks of the program's own torch.compile."""

    def __init__(self, settings: Settings, probes: ProbeGuard, tell: Tell) -> None:
        self._settings = settings
        self._probes = probes
        self._tell = tell
        overrides = [parse_override(text) for text in settings.override]
        self._of_compiles = [override for override in overrides if override.frame is not None]
        self._of_calls = [override for override in overrides if override.frame is None]
        audit = [Override({"fullgraph": True})] if settings.fullgraph == FULLGRAPH_FIRST else []
        self._wanted = merged([*self._of_calls, *audit])
        self._calls = Occurrences(probes.stream, OverrideApplied)
        self._backends: dict[bool | None, BackendChoice | Chain] = {}  # the same one shares Dynamo's cache

    def install_on_calls(self, torch: ModuleType, parts: "EngineParts") -> None:
        """Wrap `torch.compile`, if any of its arguments are to be replaced."""
        if self._wanted is None:
            return
        original = torch.compile
        own = {name: each.default for name, each in inspect.signature(original).parameters.items()}

        @self._probes.guarded("overrides")
        def with_overrides(model: Any, named: Mapping[str, Any]) -> dict[str, Any] | None:
            place = place_of_compile_call_in_progress()
            if place is None:
                return None
            values = {key: value for key, value in self._replacements(named).items() if key in own}
            was = {key: named.get(key, own.get(key)) for key in values}
            if "backend" in was:
                was["backend"] = was["backend"] or default_backend()
            self._record_call(place, model, was, values)
            return {**named, **values}

        @functools.wraps(original)
        def compile(model: Any = None, **named: Any) -> Any:
            if model is not None:  # else it is a decorator, which comes back here with the model
                named = with_overrides(model, named) or named
            return original(model, **named)

        torch.compile = compile  # type: ignore[attr-defined]

    def install_on_compiles(self, output_graph: ModuleType, parts: "EngineParts") -> None:
        """Give compiles other backends by a hook into `OutputGraph.call_user_compiler`, if need be."""
        if not self._of_compiles:
            return

        def call_user_compiler(proceed: Callable[..., Any], graph: "OutputGraph", *rest: Any) -> Any:
            own: Any = graph.compiler_fn
            graph.compiler_fn = self._compiler_instead_of(own) or own
            try:
                return proceed(graph, *rest)
            finally:
                graph.compiler_fn = own

        self._probes.hook(output_graph.OutputGraph, "call_user_compiler", "overrides", call_user_compiler)

    def finish(self) -> None:
        """The process ends."""
        self._calls.finish()

    def _replacements(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """New values for arguments of a call. Another backend takes the call's own mode and options off it.

        A mode or options without a backend are Inductor's, and leave calls of other backends alone. torch
        takes only one of the two, so one takes the place of the other.
        """
        wanted = self._wanted
        assert wanted is not None
        values: dict[str, Any] = dict(wanted.others)
        own_options = named.get("options") or {}
        if wanted.backend is not None:
            kept = {_OF_DYNAMO: own_options[_OF_DYNAMO]} if _OF_DYNAMO in own_options else {}
            dynamic = values.get("dynamic", named.get("dynamic"))
            backend = self._backends.get(dynamic)
            if backend is None:  # another thread may have made one meanwhile
                backend = self._backends.setdefault(dynamic, self._backend_of(wanted, dynamic))
            values |= {"backend": backend, "mode": None, "options": kept or None}
            if isinstance(backend, BackendChoice):
                options = kept | dict(backend.options) if backend.mode is None else {}
                values |= {"backend": backend.name, "mode": backend.mode, "options": options or None}
        elif wanted.names_backend and (named.get("backend") or default_backend()) == "inductor":
            if wanted.mode is not None:
                values |= {"mode": wanted.mode, "options": None}
            else:
                values |= {"mode": None, "options": {**own_options, **wanted.options}}
        return values

    def _backend_of(self, override: Override, dynamic: bool | None) -> "BackendChoice | Chain":
        choices = override.choices()
        name = ",".join(map(str, choices))
        return backend_of(choices, self._settings._replace(backend=name, dynamic=dynamic), self._tell)

    def _record_call(self, place: str, model: Any, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        file, _, line = place.rpartition(":")
        name = _name(model)
        changes = [[key, _shown(was[key]), _shown(value)] for key, value in now.items()]
        replaced = [change for change in changes if change[1] != change[2]]
        self._calls.add(
            (place, name, str(replaced)),
            lambda: {
                "overrides": [str(override) for override in self._of_calls],
                "of": name,
                "file": file,
                "line": int(line),
                "replaced": replaced,
            },
        )

    def _compiler_instead_of(self, own: Callable[..., Any]) -> Callable[..., Any] | None:
        """The backend for the compile in progress, if it is to have another."""
        compile_id = current_compile_id()
        frame, compile_ = compile_id.get("frame_id"), compile_id.get("frame_compile_id")
        if frame is None or compile_ is None:
            return None
        fitting = [override for override in self._of_compiles if override.is_of(frame, compile_)]
        if not fitting:
            return None
        self._probes.stream.record(
            OverrideApplied(
                overrides=[str(override) for override in fitting],
                replaced=[["backend", backend_name(own), ",".join(map(str, fitting[-1].choices()))]],
                times=1,
            ),
            compile_id,
        )
        backend = self._backend_of(fitting[-1], self._settings.dynamic)
        return compiler_of(backend) if isinstance(backend, BackendChoice) else backend


def _name(model: Any) -> str:
    """The function, or the module's class. Module.compile hands over a method of the module."""
    if getattr(model, "__name__", None) == "_call_impl":
        model = model.__self__
    return str(getattr(model, "__qualname__", None) or type(model).__qualname__)


def _shown(value: Any) -> str:
    """A value of torch.compile's as the user knows it."""
    if isinstance(value, Mapping):
        text = ", ".join(f"{key}={_shown(item)}" for key, item in value.items())
    elif callable(value):
        text = backend_name(value)
    else:
        text = str(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


# Give torch's own settings other values, as `--config` asks; the program's own assignments come later.
#
# Source: torch/utils/_config_module.py (ConfigModule: an unknown name is an AttributeError, and a value of
# another type is taken), the same in 2.8, 2.13 and 2.15.


def install_for(changes: list[ConfigChange]) -> Callable[[ModuleType, "EngineParts"], None]:
    """What is to be done once the module of these changes is there."""

    def install(module: ModuleType, parts: "EngineParts") -> None:
        for change in changes:
            parts.stream.record(changed_setting(module, change))

    return install


def changed_setting(module: ModuleType, change: ConfigChange) -> ChangedSetting:
    """Change a setting; what was there before and now, or why it could not be changed."""
    *way, name = change.name.split(".")
    try:
        holder = functools.reduce(getattr, way, module)
        was = getattr(holder, name)
        now = _added_to(was, change.text) if change.is_added else _fitting(was, change.value)
        set_in_every_thread(holder, name, now)
    except AttributeError:
        return ChangedSetting(change=str(change), problem="this torch has no such setting")
    except Exception as error:
        return ChangedSetting(change=str(change), problem=f"{type(error).__name__}: {error}"[:_LONGEST_VALUE])
    return ChangedSetting(change=str(change), was=_shown_setting(was), now=_shown_setting(now))


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


def _shown_setting(value: Any) -> str:
    return repr(value)[:_LONGEST_VALUE]
