"""The backends of a Python: which are registered, whether each can run, and on request whether it does."""

import ast
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from ..shared.backend_choice import BackendChoice, parse_choice
from ..shared.conversion import from_json
from ..shared.errors import BackendProblem
from ..shared.quick_dataclass import dataclass
from ..shared.settings import Settings
from ..shared.text import printable_values
from .checks import NoAnswer, ask, check_backend
from .program import Program


@dataclass(frozen=True)
class FunctionSource:
    """A function's signature and docstring; None where the source does not have them.

    They are read from the source, since the file may be a program, which must not run.
    """

    signature: str | None
    docstring: str | None
    place: str | None


def read_function(file: str | None, name: str) -> FunctionSource:
    """The function `name` (`…:function`) of an existing file with valid Python."""
    if file is None:
        return FunctionSource(None, None, None)
    function = name.rpartition(":")[2]
    with open(file, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            signature = f"({ast.unparse(node.args)}){returns}"
            return FunctionSource(signature, ast.get_docstring(node), f"{file}:{node.lineno}")
        if isinstance(node, ast.ClassDef) and node.name == function:
            return FunctionSource(None, ast.get_docstring(node), f"{file}:{node.lineno}")
    return FunctionSource(None, None, file)


_NOT_TRIED = "autotuned"  # which runs other backends, as an autotune file says
# What torch's own list_backends leaves out (torch/_dynamo/backends/registry.py).
HIDDEN_TAGS = frozenset({"debug", "experimental"})
_AT_ONCE = 2  # trials at a time: compilers use all cores
_NO_PROGRAM = Program(("-",), is_python=True)


Origin = Literal["torch", "package", "dynamo"]


@dataclass(frozen=True)
class Trial:
    """What became of a tiny graph."""

    device: str
    works: Annotated[bool, "it compiled, ran and agreed with eager"]
    seconds: Annotated[float | None, "compiling and the first call"]
    reason: Annotated[str | None, "what was wrong"]


@dataclass(frozen=True)
class Backend:
    """A backend by its name."""

    in_common: ClassVar[str] = "backend"

    name: str
    origin: Origin
    source: Annotated[str, "torch's file, the package with its function, or what ours is"]
    version: Annotated[str | None, "of the package; null where it has none or is not here"]
    tags: Annotated[tuple[str, ...], "torch's: debug, experimental"]
    is_registered: Annotated[bool, "false: known by name, but its package is not here"]
    import_error: Annotated[str | None, "why it cannot be had at all"]
    devices: Annotated[
        Mapping[str, str | None] | None,
        "why it cannot run on each type of device, null where all that it needs is here; null as a whole: "
        "not known",
    ]
    trial: Annotated[Trial | None, "what became of a tiny graph, with --check; null: not tried"] = None

    @property
    def is_hidden(self) -> bool:
        """Whether it is for developers of torch, or part of a package that is not installed."""
        return not self.is_registered or bool(HIDDEN_TAGS.intersection(self.tags))

    @property
    def runs_on(self) -> list[str]:
        """The types of device on which it can run here."""
        return [device for device, problem in (self.devices or {}).items() if problem is None]


@dataclass(frozen=True)
class Registry:
    """All backends of a Python, with its torch's version."""

    python: str
    torch: str
    backends: tuple[Backend, ...]


@dataclass(frozen=True)
class Details:
    """The parameters of a backend. `registered` is None for a function; `modes` and `options` are Inductor's.

    `options` has the default values, which the user's environment may have changed.
    """

    name: str
    registered: Backend | None
    source: FunctionSource
    modes: Mapping[str, Mapping[str, Any]] | None = None
    options: Mapping[str, Any] | None = None


def registry_of(python: str) -> Registry:
    """The backends that are registered in that Python; BackendProblem if it has no working torch."""
    answer = _answer(python, "registered")
    backends = tuple(_backend(each) for each in answer["backends"])
    return Registry(answer["python"], answer["torch"], backends)


def details_of(name: str, python: str) -> Details:
    """The parameters of a backend; BackendProblem if there is none. A function's module is not run."""
    checked = check_backend(Settings(recording="", backend=name), _NO_PROGRAM, python)
    choice = parse_choice(checked.backend)
    if choice.is_function:
        return Details(choice.name, None, read_function(_file_of(choice, python), choice.name))
    answer = _answer(python, "details", name=choice.name)
    source = FunctionSource(answer["signature"], answer["docstring"], answer["place"])
    return Details(choice.name, _backend(answer["backend"]), source, answer["modes"], answer["options"])


def with_trials(
    backends: Sequence[Backend], python: str, time_limit: float, tried: Callable[[int, int], None]
) -> tuple[Backend, ...]:
    """The backends with trials: each registered one compiles and runs a tiny graph in a process of its own.

    `tried(done, all)` is called after each trial.
    """
    wanted = [each for each in backends if each.is_registered and each.name != _NOT_TRIED]
    found: dict[str, Trial] = {}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        trials = pool.map(lambda backend: _trial(backend, python, time_limit, folder), wanted)
        for backend, trial in zip(wanted, trials, strict=True):
            found[backend.name] = trial
            tried(len(found), len(wanted))
    return tuple(replace(each, trial=found.get(each.name)) for each in backends)


def _trial(backend: Backend, python: str, time_limit: float, folder: str) -> Trial:
    device = (backend.runs_on or ["cpu"])[0]
    try:
        answer = ask(
            python, "try_out", time_limit=time_limit, folder=folder, name=backend.name, device=device
        )
    except NoAnswer as error:
        return Trial(device, works=False, seconds=None, reason=str(error))
    return Trial(device, **printable_values(answer))


def _answer(python: str, question: str, **about: Any) -> Any:
    try:
        return printable_values(ask(python, question, **about))
    except NoAnswer as error:
        raise BackendProblem(f"{python} cannot say which backends there are: {error}") from error


def _backend(content: Mapping[str, Any]) -> Backend:
    return from_json(Backend, {**content, "devices": content["devices"] or None})


def _file_of(choice: BackendChoice, python: str) -> str | None:
    place = choice.name.rpartition(":")[0]
    if place.endswith(".py"):
        return place
    choices: list[dict[str, Any]] = [{"name": choice.name, "mode": None, "options": []}]
    file = _answer(python, "check", choices=choices, path=[os.getcwd()])[0]["file"]
    return file if isinstance(file, str) and file.endswith(".py") else None
