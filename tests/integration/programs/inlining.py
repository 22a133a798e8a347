"""Functions that Dynamo inlines into the one it compiles; the argument says what is odd about them."""

import sys
from collections.abc import Iterator
from typing import Any

import in_sequence
import torch


def leaf(x: torch.Tensor) -> torch.Tensor:
    for _ in range(20):
        x = torch.sin(x) + 1
    return x


def middle(x: torch.Tensor) -> torch.Tensor:
    return leaf(leaf(x)) * 2


def _breaks(x: torch.Tensor) -> torch.Tensor:
    y = leaf(x)
    print("in an inlined function")
    return y + 1


def _raises(x: torch.Tensor) -> torch.Tensor:
    raise ValueError(f"inlined, with {tuple(leaf(x).shape)}")


def _parts(x: torch.Tensor) -> Iterator[torch.Tensor]:
    for number in range(3):
        yield leaf(x) * number


def _down(x: torch.Tensor, depth: int) -> torch.Tensor:
    return x + 1 if depth == 0 else _down(torch.cos(x), depth - 1)


def _without_gradients(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        try:
            return _raises(x)
        except ValueError:
            return leaf(x)


class Net(torch.nn.Module):
    """A module that calls what it is given."""

    def __init__(self, what: Any) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.what(middle(x)) + 1


def _show(what: Any) -> None:
    print(Net(what)(torch.arange(3.0)))


def inlines() -> None:
    _show(leaf)


def breaks_in_an_inlined_function() -> None:
    _show(_breaks)


def raises_in_an_inlined_function() -> None:
    try:
        _show(_raises)
    except ValueError as error:
        print("caught:", error)


def resumes_a_generator() -> None:
    _show(lambda x: sum(_parts(x)))


def recurses() -> None:
    _show(lambda x: _down(x, 8))


def leaves_by_a_context_manager() -> None:
    _show(_without_gradients)


def compiled_as_a_whole() -> None:
    print(torch.compile(middle, fullgraph=True, backend="eager")(torch.arange(3.0)))


def breaks_where_it_must_not() -> None:
    torch.compile(_breaks, fullgraph=True, backend="eager")(torch.arange(3.0))


def recurses_too_deep() -> None:
    try:
        _show(lambda x: _down(x, 100_000))
    except RecursionError:
        print("too deep")


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
