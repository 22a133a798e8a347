"""Programs that replace what others build on. The arguments name what.

One by one, each in a child that is forked after a first compile; `a+b` in this process, together.
"""

import atexit
import builtins
import hashlib
import io
import json
import logging
import logging.config
import os
import random
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import in_sequence

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch


def _broken(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("replaced by the program")


def file_opening() -> None:
    builtins.open = io.open = _broken


def the_time() -> None:
    time.time = lambda: 0.0
    time.time_ns = lambda: 0


def the_clocks() -> None:
    time.perf_counter = time.monotonic = lambda: 0.0
    time.perf_counter_ns = time.monotonic_ns = lambda: 0
    time.localtime = time.strftime = _broken


def low_level_files() -> None:
    os.write = os.read = os.open = os.close = _broken


def process_ids() -> None:
    os.getpid = os.getppid = lambda: 1


def path_functions() -> None:
    os.path.isfile = os.path.exists = lambda path: False


def standard_output() -> None:
    sys.stdout = io.StringIO()
    atexit.register(lambda: sys.__stdout__.write(sys.stdout.getvalue()))  # type: ignore


def logging_off() -> None:
    logging.disable(logging.CRITICAL)


def logging_configured() -> None:
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})


def logging_to_stdout() -> None:
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, force=True)


def logger_class() -> None:
    logging.setLoggerClass(type("Own", (logging.Logger,), {}))
    logging.Logger.manager.loggerDict.clear()


def json_output() -> None:
    json.dumps = lambda *args, **kwargs: b"{}"  # type: ignore # as orjson does


def hashes() -> None:
    hashlib.md5 = _broken


def exit_functions() -> None:
    atexit.register = _broken
    atexit._clear()


def environment() -> None:
    os.environ.clear()


def import_machinery() -> None:
    imported = builtins.__import__
    builtins.__import__ = lambda *args, **kwargs: imported(*args, **kwargs)
    sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]


def warning_display() -> None:
    warnings.showwarning = _broken
    warnings.simplefilter("error")


def printing() -> None:
    builtins.print, real = (lambda *args: real("printed:", *args)), print


def stack_functions() -> None:
    traceback.format_exc = traceback.format_stack = _broken


def chance() -> None:
    random.seed(0)
    random.random = lambda: 0.5  # type: ignore[method-assign]


def thread_class() -> None:
    threading.Thread = type("Own", (threading.Thread,), {})  # type: ignore


def _compute() -> None:
    import torch

    print(torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.zeros(2)).tolist())


def _end_at_once_after(replace: Callable[[], None]) -> None:
    """Compute, run what is registered to run at exit, and skip the second that torch takes to go."""
    exit_code = 0
    try:
        replace()
        _compute()
    except BaseException:
        traceback.print_exc()
        exit_code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(exit_code)


def _each_in_a_child(names: list[str]) -> None:
    torch.compile(lambda x: x + 1, backend="eager")(torch.zeros(2))
    for name in names:
        in_sequence.mark(name)
        if os.fork() == 0:
            _end_at_once_after(globals()[name])
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    in_sequence.mark("the_end")


if __name__ == "__main__":
    if "+" in sys.argv[1]:
        for name in sys.argv[1].split("+"):
            globals()[name]()
        _compute()
    else:
        _each_in_a_child(sys.argv[1:])
