"""Programs to compare backends on; the first argument chooses one."""

import sys
import time

import torch

STEPS = 60


def _as_it_is(function):
    return function


@_as_it_is
def _sleepy(x):
    time.sleep(0.005)
    return x.sin() + 1


def _sleeping_outside(x):
    return x.sin() + 1


def five_milliseconds():
    """A step of known length, without a compiled operation before its break."""
    x = torch.ones(8)
    for _ in range(STEPS):
        x = _sleepy(x)
    print(f"{x.sum().item():.4f}")


def compiles_itself():
    step = torch.compile(_sleeping_outside, backend="eager")
    x = torch.ones(8)
    for _ in range(STEPS):
        x = step(x)
        time.sleep(0.005)
    print(f"{x.sum().item():.4f}")


def no_steps():
    print(_sleeping_outside(torch.ones(8)).sum().item())


def fails():
    raise RuntimeError("the data are not there")


if __name__ == "__main__":
    torch.set_num_threads(1)
    globals()[sys.argv[1]]()
