"""Programs that compute with torch and leave compiling to `dynamo run`. The arguments name them."""

import atexit
import inspect
import os
import pickle
import sys
import tempfile
import threading
import traceback
import warnings
from typing import Any

import in_sequence
import torch


class Net(torch.nn.Module):
    """A module whose `forward` is captured."""

    def __init__(self, what: Any = None) -> None:
        super().__init__()
        self.what = what

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if self.what is not None:
            self.what(y)
        return y + 1


def _fail(y: torch.Tensor) -> None:
    raise ValueError(f"in the model, with {tuple(y.shape)}")


def _show(what: Any) -> None:
    print(Net(what)(torch.arange(3.0)))


def plain_model() -> None:
    _show(None)


def prints() -> None:
    _show(print)


def fails() -> None:
    _show(_fail)


def fails_in_a_shape() -> None:
    _show(lambda y: y @ torch.ones(4, 4))


def fails_and_recovers() -> None:
    try:
        _show(_fail)
    except ValueError as error:
        print("caught:", error)
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])


def fails_in_backward() -> None:
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            raise ValueError("in backward")

    Failing.apply(torch.ones(2, requires_grad=True)).sum().backward()


def exits() -> None:
    _show(lambda y: sys.exit(3))


def exits_at_once() -> None:
    _show(lambda y: os._exit(4))


def interrupts() -> None:
    def interrupt(y: torch.Tensor) -> None:
        raise KeyboardInterrupt

    _show(interrupt)


def asserts() -> None:
    def check(y: torch.Tensor) -> None:
        assert y.shape[0] == 7, f"a shape of {y.shape[0]}"

    _show(check)


def warns() -> None:
    def warn(y: torch.Tensor) -> None:
        warnings.warn("from the model", stacklevel=2)

    _show(warn)
    _show(warn)


def looks_at_its_stack() -> None:
    def look(y: torch.Tensor) -> None:
        print([frame.function for frame in inspect.stack()])

    _show(look)


def goes_too_deep() -> None:
    def deeper(y: torch.Tensor) -> torch.Tensor:
        return deeper(y + 1)

    sys.setrecursionlimit(300)
    try:
        deeper(torch.ones(1))
    except RecursionError as error:
        sys.setrecursionlimit(1000)
        print(type(error).__name__, error)


def uses_hooks() -> None:
    net = Net()
    net.register_forward_pre_hook(lambda module, inputs: print("before", inputs))
    net.register_forward_hook(lambda module, inputs, output: print("after", output))
    print(net(torch.arange(3.0)))


def works_in_threads() -> None:
    def work() -> None:
        _show(None)
        traceback.print_stack(file=sys.stdout)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def fails_in_a_thread() -> None:
    thread = threading.Thread(target=_show, args=(_fail,))
    thread.start()
    thread.join()


def forks() -> None:
    # Said from Python 3.12 on where Dynamo was imported, since that imports numpy, which starts threads.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    sys.stdout.flush()
    if os.fork() == 0:
        _show(print)
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    _show(None)


def works_at_exit() -> None:
    atexit.register(_show, print)


def generates() -> None:
    def halves(x: torch.Tensor) -> Any:
        for _ in range(3):
            x = x / 2
            yield x

    print(list(halves(torch.ones(1))))


def pickles() -> None:
    net = Net()
    net(torch.ones(2))
    print(type(pickle.loads(pickle.dumps(net))), sorted(vars(net)))
    print(net, list(net.state_dict()), net.forward.__name__)


def trains() -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = layer(torch.rand(4, 3)).square().mean()
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.5f}")


def has_no_working_directory() -> None:
    """What Dynamo imports cannot be imported then: capture ends before it has begun."""
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
    _show(None)


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
