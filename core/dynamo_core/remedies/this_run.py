"""What is advised, as it suits the run: without what it had already, with the thread that a setting is for.

In a cell of a notebook, torch's settings stand for the variables that it reads when it is imported.

Sources: torch/utils/_config_module.py (user_override, a ContextVar), read in 2.13 and 2.15; 2.8 has none.
torch/_dynamo/config.py and torch/compiler/config.py, which read each variable when they are imported.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Protocol, TypeVar

from ..analysis.source_lines import CELL
from ..analysis.words import version_numbers
from ..model import Place, Process, Recording
from .rules import Assignment, Change

_SETTINGS_OF_A_THREAD = (2, 13)  # the first version, of those that were read, in which a thread has its own
# Environment variables that torch reads a setting from, and the setting.
SETTINGS_OF_VARIABLES = {
    "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": "torch._dynamo.config.capture_scalar_outputs",
    "TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS": "torch._dynamo.config.capture_dynamic_output_shape_ops",
    "TORCH_COMPILE_DYNAMIC_SOURCES": "torch.compiler.config.dynamic_sources",
    "TORCH_COMPILE_UNBACKED_SOURCES": "torch.compiler.config.unbacked_sources",
}


class _Advised(Protocol):
    """Something to do: an advice, or the remedy of a finding."""

    @property
    def text(self) -> str: ...

    @property
    def change(self) -> Change | None: ...


_Any = TypeVar("_Any", bound=_Advised)


def suited_to_the_run(
    advised: Iterable[_Any],
    recording: Recording,
    processes: Iterable[Process],
    compile_ids: Iterable[object],
    place: Place | None,
) -> tuple[_Any, ...]:
    """What is advised for these compiles of what is at `place`, without what the run had already."""
    suited = in_its_thread(processes, compile_ids, not_in_use(advised, recording))
    return tuple(map(in_cell, suited)) if is_of_cell(place) else suited


def is_of_cell(place: Place | None) -> bool:
    """Whether the line is in a cell of a notebook."""
    return place is not None and place.file.startswith(CELL)


def in_cell(advised: _Any) -> _Any:
    """What is advised for a line of a cell: a setting, where it was a variable of the environment."""
    variables = () if advised.change is None else advised.change.environment
    if not variables or not all(each.name in SETTINGS_OF_VARIABLES for each in variables):
        return advised
    settings = tuple(
        Assignment(SETTINGS_OF_VARIABLES[each.name], "True" if each.value == "1" else repr(each.value))
        for each in variables
    )
    typed = "; ".join(f"{each.name} = {each.value}" for each in settings)
    text = f"run `{typed}` in a cell, before the first call of what is compiled."
    return replace(advised, text=text, change=Change(settings=settings))  # type: ignore[type-var]


def not_in_use(advised: Iterable[_Any], recording: Recording) -> tuple[_Any, ...]:
    """What is advised, without what the run had already: by `--config`, by itself, or in its environment."""
    compiles = chain.from_iterable(each.compiles for each in recording.processes)
    own = chain.from_iterable(each.settings for each in compiles)
    settings = {*(recording.settings.config or ()), *own}
    environments = [each.info.environment or {} for each in recording.processes]

    def is_in_use(change: Change | None) -> bool:
        if change is None or not (change.settings or change.environment):
            return False
        return settings.issuperset(map(str, change.settings)) and all(
            set(each.value.split(",")) <= set(environment.get(each.name, "").split(","))
            for each in change.environment
            for environment in environments
        )

    return tuple(each for each in advised if not is_in_use(each.change))


def in_its_thread(
    processes: Iterable[Process], compile_ids: Iterable[object], advised: Sequence[_Any]
) -> tuple[_Any, ...]:
    """What is advised. It names the thread, where each of these compiles was in another than the main one."""
    if not any("`torch._" in each.text for each in advised):
        return tuple(advised)
    threads = {
        str(frame.compile_id): frame.thread
        for process in processes
        if version_numbers(process.torch_version) >= _SETTINGS_OF_A_THREAD
        for frame in process.frames
        if frame.thread is not None
    }
    names = {threads.get(str(each)) for each in compile_ids}
    if None in names or not names:
        return tuple(advised)
    where = f"in thread `{names.pop()}`" if len(names) == 1 else "in each thread that compiles it"
    return tuple(replace(each, text=_with_thread(each, where)) for each in advised)  # type: ignore[type-var]


def _with_thread(advised: _Advised, where: str) -> str:
    change = advised.change or Change()
    if change.environment:  # that holds in all threads
        return advised.text.replace(" before the first call)", f" {where}, before the first call)")
    if change.settings:
        return f"{where}, which has settings of its own, {advised.text}"
    return advised.text
