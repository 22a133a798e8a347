"""Programs that call torch.compile themselves. The arguments name them."""

import os
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import in_sequence
import torch


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def _compile(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(function, **{"backend": "eager", **options})


def works() -> None:
    print(_compile(_double)(torch.arange(3.0)), len(sys.meta_path))


def breaks() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        print("a break")
        return x * 2 if x.sum() > 0 else x

    print(_compile(function)(torch.arange(3.0)))


def fails_to_be_one_graph() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        print("a break")
        return x * 2

    _compile(function, fullgraph=True)(torch.arange(3.0))


def fails_in_a_frame() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        raise ValueError(f"with {tuple(y.shape)}")

    _compile(function)(torch.arange(3.0))


def fails_in_a_shape() -> None:
    _compile(lambda x: x @ torch.ones(4, 4))(torch.arange(3.0))


def fails_in_the_backend() -> None:
    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        raise RuntimeError("in the backend")

    _compile(_double, backend=backend)(torch.arange(3.0))


def compiles_in_the_backend() -> None:
    """Dynamo takes torch.compile off what a backend returns: nothing is compiled once more."""

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        return torch.compile(graph.forward, backend="eager")

    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    print(_compile(lambda x: x * 3, backend=backend)(torch.arange(3.0)))
    print(torch._dynamo.utils.counters["stats"]["unique_graphs"] - before)


def fails_in_the_compiled_graph() -> None:
    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        def run(*arguments: torch.Tensor) -> Any:
            raise RuntimeError("in the compiled graph")

        return run

    _compile(_double, backend=backend)(torch.arange(3.0))


def unknown_backend() -> None:
    torch.compile(_double, backend="no_such_backend")(torch.arange(3.0))


def recompiles_too_often() -> None:
    def function(x: torch.Tensor, number: int) -> torch.Tensor:
        return x + number

    compiled = _compile(function, dynamic=False)
    for number in range(12):
        compiled(torch.ones(1), number)


def tells_its_totals() -> None:
    _compile(_double)(torch.arange(3.0))
    _compile(_double)(torch.arange(4.0))
    print(torch._dynamo.utils.counters)
    print(torch._dynamo.explain(_double)(torch.ones(2)).graphs)


def runs_in_a_thread() -> None:
    def work() -> None:
        print(_compile(_double)(torch.arange(3.0)))
        traceback.print_stack(file=sys.stdout)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def compiles_in_a_forked_child() -> None:
    print(_compile(_double)(torch.arange(3.0)))
    sys.stdout.flush()
    if os.fork() == 0:
        print(_compile(lambda x: x + 7)(torch.arange(3.0)))
        print(_compile(_double)(torch.arange(4.0)))
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))


def turns_warnings_into_errors() -> None:
    warnings.simplefilter("error")
    print(_compile(_double)(torch.arange(3.0)))


def uses_a_compiled_module() -> None:
    net = torch.nn.Sequential(torch.nn.ReLU())
    net.compile(backend="eager")
    print(net(torch.arange(-1.0, 2.0)), net)


def is_distributed() -> None:
    """Dynamo looks at every frame that runs around the buckets of a DistributedDataParallel."""
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group("gloo", f"file://{folder}/store", rank=0, world_size=1)
        net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
        compiled = _compile(net, backend="aot_eager")
        for _ in range(3):
            compiled(torch.ones(2, 8)).sum().backward()
        torch.distributed.destroy_process_group()
    print(torch._dynamo.utils.counters["frames"])


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
