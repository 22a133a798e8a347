"""The exported program beside eager, on the inputs that the module was called with."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...backends.agreement import RandomState, clone_with_aliases, compare
from ...shared.records import ExportCompared
from .inputs import bound, inputs_of, leaves

AGREES, DISAGREES, NOT_COMPARABLE = "agrees", "disagrees", "not comparable"


class Call(NamedTuple):
    """What a module was called with."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def cloned(self) -> "Call":
        """The same, of which a run may change what it likes."""
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
