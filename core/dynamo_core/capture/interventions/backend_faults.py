"""What a backend did to a whole graph, where the compared values show it: then no operation is wrong.

It gave something else than a tensor, exchanged outputs, wrote an input, or gave again what it gave before.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_MOST_KEPT = 64 << 20  # bytes of a call whose values are kept, to be compared with those of the next one
# Dynamo's names of graph inputs that are parameters, buffers or attributes (torch/_dynamo/output_graph.py).
_OF_A_MODULE = re.compile(r"_(?:modules|parameters|buffers|self)_")
_Agree = Callable[[int, int], bool]


class KeptCall:
    """What a call was given and gave, as copies; `inputs` and `outputs` are empty where that is too large."""

    def __init__(self, arguments: Sequence[Any], outputs: Sequence[Any]) -> None:
        size = sum(map(_bytes, (*arguments, *outputs)))
        self.inputs, self.outputs = (
            [_copy(each) for each in values] if size <= _MOST_KEPT else [] for values in (arguments, outputs)
        )


def what_it_did(
    names: Sequence[str],
    outputs: Sequence[Any],
    eager: Sequence[Any],
    wrong: Sequence[int],
    agree: _Agree,
    written: Sequence[str],
    is_given_again: bool,
) -> str | None:
    """What the backend did, in words; None where the values do not show it.

    `wrong` are the outputs that differ. `agree(i, j)` says whether output i has the values of eager's output
    j. `written` are inputs that it changed, and eager did not.
    """
    return next(_found(names, outputs, eager, wrong, agree, written, is_given_again), None)


def _found(
    names: Sequence[str],
    outputs: Sequence[Any],
    eager: Sequence[Any],
    wrong: Sequence[int],
    agree: _Agree,
    written: Sequence[str],
    is_given_again: bool,
) -> Iterator[str]:
    import torch

    for i in wrong:
        if isinstance(eager[i], torch.Tensor) and not isinstance(outputs[i], torch.Tensor):
            yield f"the backend returned {_kind_of(outputs[i])} for {names[i]}, where the graph has a tensor"
    for i in wrong:
        for j in wrong:
            if i < j and agree(i, j) and agree(j, i):
                yield f"the backend returned {names[i]} and {names[j]} exchanged"
    sources = [next((j for j in wrong if j != i and agree(i, j)), None) for i in wrong]
    if len(wrong) > 1 and sorted(each for each in sources if each is not None) == sorted(wrong):
        moved = ", ".join(
            f"{names[j]} as output {i}" for i, j in zip(wrong, sources, strict=True) if j is not None
        )
        yield f"the backend returned its outputs in another order: {moved}"
    if is_given_again and wrong:
        yield f"the backend returned in this call what it gave in the first one, for {names[wrong[0]]}"
    if written:
        yield f"the backend wrote {' and '.join(written)}, which the graph leaves as it is"


def is_of_the_first_call(
    first: KeptCall | None, given: Mapping[str, Any], outputs: Sequence[Any], wrong: Sequence[int]
) -> bool:
    """Whether the outputs that differ are those of the first call, bit by bit, though data differs.

    What belongs to a module does not count: a backend may have folded it into its code, in good faith.
    """
    if first is None or not wrong or max(wrong) >= len(first.outputs):
        return False
    has_other_data = any(
        not _OF_A_MODULE.search(name) and _bytes(now) and not _is_equal(was, now)
        for (name, now), was in zip(given.items(), first.inputs, strict=False)
    )
    return has_other_data and all(_is_equal(first.outputs[i], outputs[i]) for i in wrong)


def as_results(returned: Any) -> tuple[Any, ...]:
    """The results of a graph, also where a backend does not put a single one into a tuple.

    That is a fault of its own, which is told apart; it is not to be taken for a wrong number.
    """
    import torch

    return (returned,) if isinstance(returned, torch.Tensor) else tuple(returned)


def is_wrong_for_a_copy(backend: Callable[..., Any], values: Sequence[Any]) -> bool:
    """Whether a backend is wrong for a graph that only copies an input: then for any, whatever is in it."""
    import torch

    value = next((each for each in values if type(each) in (torch.Tensor, torch.nn.Parameter)), None)
    if value is None or value.layout is not torch.strided:
        return False
    graph = torch.fx.Graph()
    graph.output((graph.call_function(torch.clone, (graph.placeholder("x"),)),))
    given = value.detach().clone()
    try:
        (result,) = as_results(backend(torch.fx.GraphModule({}, graph), [given])(given))
        return not (_is_alike(result, value) and _is_alike(given, value))
    except Exception:  # it does not take such a graph
        return False


def _is_alike(result: Any, value: Any) -> bool:
    import torch

    if not isinstance(result, torch.Tensor) or result.shape != value.shape or result.dtype != value.dtype:
        return False
    return bool(torch.allclose(result.detach(), value.detach(), equal_nan=True))


def _kind_of(value: Any) -> str:
    kind = type(value)
    if value is None:
        return "None"
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _is_equal(one: Any, other: Any) -> bool:
    import torch

    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        return False
    if one.layout is not torch.strided or other.layout is not torch.strided:
        return False
    is_alike = (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
    return is_alike and bool(torch.equal(one, other))


def _bytes(value: Any) -> int:
    import torch

    is_plain = isinstance(value, torch.Tensor) and value.layout is torch.strided
    return value.numel() * value.element_size() if is_plain else 0


def _copy(value: Any) -> Any:
    import torch

    is_plain = isinstance(value, torch.Tensor) and value.layout is torch.strided
    return value.detach().clone() if is_plain else None
