"""Ways to import torch. The argument names one."""

import atexit
import importlib.util
import os
import sys
import threading


def _import() -> None:
    import torch

    print(torch.ones(1))


def in_two_threads() -> None:
    made = []

    def make() -> None:
        import torch

        made.append(torch.ones(1))

    threads = [threading.Thread(target=make) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(made)  # by one thread: a line and its end are two writes, which two threads would mingle


def in_a_forked_child() -> None:
    if os.fork() == 0:
        _import()
        sys.exit(3)
    print(os.waitstatus_to_exitcode(os.wait()[1]))


def at_exit() -> None:
    atexit.register(_import)


def a_submodule_first() -> None:
    import torch.nn.functional as functional

    print(functional.__name__)


def only_found() -> None:
    spec = importlib.util.find_spec("torch")
    print(spec is not None and spec.name, "torch" in sys.modules)


def loaded_by_hand() -> None:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.loader is not None
    torch = importlib.util.module_from_spec(spec)
    print(torch.__spec__ is spec, type(spec.loader).__name__)


def as_the_program_finds_it() -> None:
    try:
        import torch
    except ImportError as error:
        print("ImportError:", error)
    import torch

    print(torch.__name__)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
