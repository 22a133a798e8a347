"""One trial: what one way of torch's to export makes of one module. It runs in a process of its own.

Source: torch/export/__init__.py (export, draft_export, save, load), torch/_inductor/__init__.py
(aoti_compile_and_package, aoti_load_package); read and run in 2.13.
"""

import linecache
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...backends.agreement import RandomState, clone_with_aliases, compare
from ...shared.export_records import ExportCompared, ExportTried
from ...shared.names import AOTI, COMPILE, DONE, DRAFT, EXPORT, FAILED, RAISED, STRICT
from ...shared.our_record import OurRecord
from ..probes.breaks import described_break
from .inputs import Varied, bound, dynamic_shapes, inputs_of, leaves, unregistered_dataclasses

# The exported program beside eager, on the inputs that the module was called with.


AGREES, DISAGREES, NOT_COMPARABLE = "agrees", "disagrees", "not comparable"


class Call(NamedTuple):
    """What a module was called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def cloned(self) -> "Call":
        """The call with clones of its tensors, which a run may change."""
        from torch.utils._pytree import tree_flatten, tree_unflatten

        values, form = tree_flatten((self.args, self.kwargs))
        return Call(*tree_unflatten(clone_with_aliases(values), form))


class Ran(NamedTuple):
    """What a run gave; `values` are outputs, inputs as they are after it, and the buffers, by name."""

    outputs: Any
    values: Mapping[str, Any]
    drew_random_numbers: bool


def run(module: Any, runs: Callable[..., Any], call: Call) -> Ran:
    """Run it on clones of the inputs; afterwards, buffers and random numbers are as they were."""
    cloned = call.cloned()
    tensors = [*module.parameters(), *module.buffers()]
    random = RandomState(tensors)
    buffers = dict(module.named_buffers())
    before = dict(zip(buffers, clone_with_aliases(list(buffers.values())), strict=True))
    try:
        outputs = runs(*cloned.args, **cloned.kwargs)
        after = dict(zip(buffers, clone_with_aliases(list(buffers.values())), strict=True))
        drew = random.has_changed()
    finally:
        _restore(buffers, before)
        random.restore()
    named = {
        **{f"output{name}": value for name, value in leaves({"": outputs})},
        **{f"input {name}": value for name, value in leaves(bound(module, *cloned))},
        **{f"buffer {name}": value for name, value in after.items()},
    }
    return Ran(outputs, {name: value for name, value in named.items() if _is_comparable(value)}, drew)


def _restore(buffers: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    import torch

    with torch.no_grad():
        for name, buffer in buffers.items():
            buffer.copy_(before[name])


def _is_comparable(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor | bool | int | float)


def compared(module: Any, exported: Callable[..., Any], call: Call) -> ExportCompared:
    """How far the exported program's values are from eager's.

    The exported program has the module's own buffers; a package of AOTInductor's has others, which are not
    compared: what it does to them nobody can read.
    """
    sizes = {name: list(each) for name, each in inputs_of(bound(module, *call)).sizes.items()}
    eager = run(module, module, call)
    try:
        candidate = run(module, exported, call)
    except Exception as error:
        text = f"it raises {type(error).__name__}: {' '.join(str(error).split())}"
        return ExportCompared(sizes=sizes, outcome=DISAGREES, compared=0, why=text)
    try:
        return _compared(eager, candidate, sizes)
    except Exception as error:
        text = f"comparing raises {type(error).__name__}: {' '.join(str(error).split())}"
        return ExportCompared(sizes=sizes, outcome=NOT_COMPARABLE, compared=0, why=text)


def _compared(eager: Ran, candidate: Ran, sizes: dict[str, list[int]]) -> ExportCompared:
    names = list(eager.values)
    if not names:
        why = "it gives neither a tensor nor a number"
        return ExportCompared(sizes=sizes, outcome=NOT_COMPARABLE, compared=0, why=why)
    if names != list(candidate.values):
        why = f"it gives {', '.join(candidate.values)} where eager gives {', '.join(names)}"
        return ExportCompared(sizes=sizes, outcome=DISAGREES, compared=0, why=why)
    found = compare(names, list(candidate.values.values()), list(eager.values.values()), None)
    if eager.drew_random_numbers and not all(each.agrees for each in found):
        why = "it draws random numbers, and not in eager's order"
        return ExportCompared(sizes=sizes, outcome=NOT_COMPARABLE, compared=0, why=why)
    wrong = [each for each in found if not each.agrees]
    worst = max(wrong or found, key=lambda each: (each.error or 0.0) / (each.allowed or 1.0))
    return ExportCompared(
        sizes=sizes,
        outcome=DISAGREES if wrong else AGREES,
        compared=len(found),
        worst=vars(worst),
    )


# What an export failed at: torch's words, and the line of the program's that it was at.
#
# Source: torch/_dynamo/exc.py (TorchDynamoException.real_stack), torch/export/_draft_export.py
# (FailureReport: `user_stack` names files by number); read in 2.13. Where Dynamo does not trace
# (`strict=False`), the program's own frames are in the traceback.


_LONGEST_ERROR = 6000  # characters
_MOST_OBSTACLES = 50
_STACK_IN_ERROR = "User stack:"


def described_error(error: BaseException) -> dict[str, Any]:
    """The fields of a failed trial's record."""
    text = str(error)[:_LONGEST_ERROR]
    broke = described_break(text, _stack_of(error))
    return {
        "error": text,
        "error_kind": type(error).__qualname__,
        "user_stack": broke.user_stack,
        "around": broke.around,
    }


def obstacles_of(report: Any) -> list[dict[str, Any]]:
    """What torch.export.draft_export found, each thing once."""
    found = []
    for failure in report.failures[:_MOST_OBSTACLES]:
        files = report.str_to_filename
        frames = [
            {
                "file": files[frame["filename"]],
                "line": frame["line"],
                "name": frame["name"],
                "text": frame["loc"],
            }
            for frame in failure.data.get("user_stack") or failure.data.get("stack") or ()
            if frame["filename"] in files and not _is_of_torch(files[frame["filename"]])
        ]
        text = failure.data.get("expr") or failure.data.get("op") or failure.data.get("reason") or ""
        found.append({"kind": str(failure.failure_type), "text": str(text), "user_stack": frames})
    return found


def _stack_of(error: BaseException) -> list[traceback.FrameSummary]:
    """The program's frames, outermost first: as Dynamo knows them, else those of the traceback."""
    traced: Iterable[traceback.FrameSummary] = getattr(error, "real_stack", None) or ()
    stack = [frame for frame in traced if not _is_of_torch(frame.filename)]
    if not stack:
        stack = _stack_in_words(str(error))
    seen: BaseException | None = error
    while seen is not None and not stack:
        frames = traceback.extract_tb(seen.__traceback__)
        stack = [frame for frame in frames if not _is_ours(frame.filename)]
        stack = [frame for frame in stack if not _is_of_torch(frame.filename)]
        seen = seen.__cause__ or seen.__context__
    return stack if not all(_is_of_python(frame.filename) for frame in stack) else []


def _stack_in_words(text: str) -> list[traceback.FrameSummary]:
    """The frames that stand in the error's text, where torch writes them there."""
    stack = []
    for line in text.partition(_STACK_IN_ERROR)[2].splitlines():
        file, _, rest = line.strip().removeprefix('File "').partition('", line ')
        number, _, name = rest.partition(", in ")
        if number.isdigit() and not _is_of_torch(file):
            stack.append(
                traceback.FrameSummary(
                    file, int(number), name, line=linecache.getline(file, int(number)).strip()
                )
            )
    return stack


def _is_of_torch(file: str) -> bool:
    import torch

    return file.startswith((os.path.dirname(torch.__file__) + os.sep, "<"))


def _is_of_python(file: str) -> bool:
    return file.startswith(os.path.dirname(os.__file__) + os.sep) and "-packages" not in file


def _is_ours(file: str) -> bool:
    return file.startswith(str(__spec__.origin).rpartition(f"{os.sep}capture{os.sep}")[0])


# One trial:


Tell = Callable[[OurRecord], None]


class ToExport(NamedTuple):
    """A module with its calls, the first of which it is exported with; `threads` are the program's."""

    module: Any
    calls: Sequence[Call]
    varied: Varied
    threads: int


class Way(NamedTuple):
    """What is tried. The exported program is saved to `file`; AOTInductor's package is made of that one."""

    kind: str
    is_dynamic: bool
    file: str | None = None
    exported_file: str | None = None


def try_it(subject: ToExport, way: Way, tell: Tell) -> str:
    """Try one way; what came of it."""
    begun = time.perf_counter()

    def note(outcome: str, **more: Any) -> None:
        seconds = time.perf_counter() - begun
        tell(ExportTried(kind=way.kind, is_dynamic=way.is_dynamic, outcome=outcome, seconds=seconds, **more))

    try:
        outputs = run(subject.module, subject.module, subject.calls[0]).outputs
    except BaseException as error:  # sys.exit, too
        note(RAISED, **described_error(error))
        return RAISED
    try:
        _register_dataclasses(subject.calls[0], outputs)
        made = _WAYS[way.kind](subject, way)
    except BaseException as error:
        note(FAILED, **described_error(error))
        return FAILED
    if way.kind in (DRAFT, COMPILE):
        note(DONE, obstacles=obstacles_of(made._report) if way.kind == DRAFT else None)
        return DONE
    if way.kind != AOTI:
        note(DONE, **_save(made, way.file))
        made = made.module()
    else:
        note(DONE, saved=way.file)
    for call in _calls_for(subject, way):
        tell(compared(subject.module, made, call))
    return DONE


def _save(exported: Any, file: str | None) -> dict[str, Any]:
    """The fields of a record that say what came of it; not all that is exported can be saved."""
    import torch

    if file is None:
        return {}
    try:
        torch.export.save(exported, file)
    except Exception as error:
        if os.path.exists(file):
            os.unlink(file)
        return {"error": str(error), "error_kind": type(error).__qualname__}
    return {"saved": file}


def _calls_for(subject: ToExport, way: Way) -> Iterator[Call]:
    """The calls that the exported program is made for: others may differ only in what is dynamic."""
    first = inputs_of(bound(subject.module, *subject.calls[0]))
    for call in subject.calls:
        inputs = inputs_of(bound(subject.module, *call))
        differ = {name for name, value in inputs.constants.items() if value != first.constants.get(name)}
        if (way.is_dynamic and differ <= subject.varied.keys()) or call is subject.calls[0]:
            yield call


def _register_dataclasses(call: Call, outputs: Any) -> None:
    from torch.export import register_dataclass

    for kind in unregistered_dataclasses([call.args, call.kwargs, outputs]):
        register_dataclass(kind, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}")


def _arguments(subject: ToExport, way: Way) -> dict[str, Any]:
    call = subject.calls[0]
    shapes = dynamic_shapes(bound(subject.module, *call), subject.varied) if way.is_dynamic else None
    args, kwargs = call.cloned()
    return {"mod": subject.module, "args": args, "kwargs": kwargs, "dynamic_shapes": shapes}


def _exported(subject: ToExport, way: Way) -> Any:
    import torch

    return torch.export.export(**_arguments(subject, way), strict=way.kind == STRICT)


def _drafted(subject: ToExport, way: Way) -> Any:
    import torch

    return torch.export.draft_export(**_arguments(subject, way))


def _compiled(subject: ToExport, way: Way) -> Any:
    """The module under Dynamo with graph breaks allowed, which our probes record."""
    import torch

    args, kwargs = subject.calls[0].cloned()
    return torch._dynamo.optimize("eager")(subject.module)(*args, **kwargs)


def _packaged(subject: ToExport, way: Way) -> Any:
    """AOTInductor's package; a fork has one thread, and the package is to have the program's."""
    import torch
    import torch._inductor as inductor

    assert way.exported_file is not None and way.file is not None
    settings = {"compile_threads": 1, "cpp.threads": subject.threads}
    exported = torch.export.load(way.exported_file)
    inductor.aoti_compile_and_package(exported, package_path=way.file, inductor_configs=settings)
    return inductor.aoti_load_package(way.file)


_WAYS: dict[str, Callable[[ToExport, Way], Any]] = {
    EXPORT: _exported,
    STRICT: _exported,
    DRAFT: _drafted,
    COMPILE: _compiled,
    AOTI: _packaged,
}
