"""Programs that compile for themselves, to be frozen and to have their arguments replaced."""

import functools
import sys
import threading
from collections.abc import Iterator

import in_sequence
import torch


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def other_sizes() -> None:
    double = torch.compile(_double, backend="eager", dynamic=False)
    for size in (2, 3, 4, 2, 5):
        print(double(torch.arange(float(size))))


def training() -> None:
    """The first backward, and so the compile of its graph, comes after other frames were refused."""
    torch.manual_seed(0)
    layer = torch.compile(torch.nn.Linear(3, 2), backend="aot_eager", dynamic=False)
    loss = layer(torch.ones(2, 3)).sum()
    layer(torch.ones(5, 3))
    loss.backward()
    print([parameter.grad for parameter in layer.parameters()])


def threads() -> None:
    double = torch.compile(_double, backend="eager", dynamic=False)
    double(torch.ones(2))
    results: dict[int, float] = {}

    def work(size: int) -> None:
        for _ in range(5):
            results[size] = double(torch.ones(size)).sum().item()

    workers = [threading.Thread(target=work, args=(size,)) for size in range(1, 6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sorted(results.items()))


def reset() -> None:
    double = torch.compile(_double, backend="eager")
    print(double(torch.ones(2)))
    torch._dynamo.reset()
    print(double(torch.ones(2)), double(torch.ones(3)))


def whole_graphs() -> None:
    """torch raises an error where a whole graph was asked for and no frame was compiled."""
    double = torch.compile(_double, backend="eager", dynamic=False, fullgraph=True)
    print(double(torch.ones(2)), double(torch.ones(3)), double(torch.ones(2)))


def generators() -> None:
    double = torch.compile(_double, backend="eager", dynamic=False)

    def numbers() -> Iterator[torch.Tensor]:
        for size in (1, 2, 1):
            yield double(torch.ones(size))

    print(list(numbers()), [double(x) for x in numbers()])


def stances() -> None:
    double = torch.compile(_double, backend="eager", dynamic=False)
    print(double(torch.ones(2)))
    with torch.compiler.set_stance("force_eager"):
        print(double(torch.ones(3)))
    with torch.compiler.set_stance("eager_on_recompile"):
        print(double(torch.ones(4)))
    try:
        with torch.compiler.set_stance("fail_on_recompile"):
            print(double(torch.ones(5)))
    except RuntimeError as error:
        print(str(error).splitlines()[0][:60])
    print(double(torch.ones(6)))


def every_way_to_compile() -> None:
    @torch.compile
    def decorated(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    @torch.compile(mode="max-autotune", dynamic=False)
    def with_arguments(x: torch.Tensor) -> torch.Tensor:
        return x + 2

    partial = functools.partial(torch.compile, backend="aot_eager")(_double)
    module = torch.nn.ReLU()
    module.compile(options={"max_autotune": True})

    @torch.compile
    def outer(x: torch.Tensor) -> torch.Tensor:
        return torch.compile(_double)(x) + 1

    x = torch.arange(3.0) - 1
    print(decorated(x), with_arguments(x), partial(x), module(x), outer(x))


def compiling_at_once() -> None:
    """Each thread gets a compiled function, and torch is left as it was."""
    compiled: list[bool] = []
    sys.setswitchinterval(1e-5)

    def work(dynamic: bool | None) -> None:
        compiled.append(torch.compile(_double, dynamic=dynamic) is not _double)

    workers = [threading.Thread(target=work, args=(dynamic,)) for dynamic in (None, False, True) * 4]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(all(compiled), len(compiled), torch._dynamo.optimize.__qualname__)


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
