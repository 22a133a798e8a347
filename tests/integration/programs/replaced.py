"""Programs that replace what others build on. The argument names one, or `each_in_a_child`."""

import atexit
import builtins
import gc
import hashlib
import io
import json
import linecache
import logging
import logging.config
import os
import random
import sys
import threading
import time
import traceback
import warnings
from typing import Any

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch


def _broken(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("replaced by the program")


def _open() -> None:
    builtins.open = io.open = _broken


def _time() -> None:
    time.time = lambda: 0.0
    time.time_ns = lambda: 0


def _clocks() -> None:
    time.perf_counter = time.monotonic = lambda: 0.0
    time.perf_counter_ns = time.monotonic_ns = lambda: 0
    time.localtime = time.strftime = _broken


def _write() -> None:
    os.write = os.read = os.open = os.close = _broken


def _process_id() -> None:
    os.getpid = os.getppid = lambda: 1


def _path_functions() -> None:
    os.path.isfile = os.path.exists = lambda path: False


def _stdout() -> None:
    sys.stdout = io.StringIO()
    atexit.register(lambda: sys.__stdout__.write(sys.stdout.getvalue()))  # type: ignore


def _logging_off() -> None:
    logging.disable(logging.CRITICAL)


def _logging_configured() -> None:
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})


def _logging_to_stdout() -> None:
    logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, force=True)


def _logger_class() -> None:
    logging.setLoggerClass(type("Own", (logging.Logger,), {}))
    logging.Logger.manager.loggerDict.clear()


def _json() -> None:
    json.dumps = lambda *args, **kwargs: b"{}"  # type: ignore # as orjson does


def _hashes() -> None:
    hashlib.md5 = _broken


def _exit_functions() -> None:
    atexit.register = _broken
    atexit._clear()


def _environment() -> None:
    os.environ.clear()


def _import_machinery() -> None:
    imported = builtins.__import__
    builtins.__import__ = lambda *args, **kwargs: imported(*args, **kwargs)
    sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]


def _warnings() -> None:
    warnings.showwarning = _broken
    warnings.simplefilter("error")


def _sources() -> None:
    linecache.getlines = linecache.getline = lambda *args: []  # type: ignore[assignment]
    linecache.cache.clear()


def _printing() -> None:
    builtins.print, real = (lambda *args: real("printed:", *args)), print


def _stack_functions() -> None:
    traceback.format_exc = traceback.format_stack = _broken


def _chance() -> None:
    random.seed(0)
    random.random = lambda: 0.5  # type: ignore[method-assign]


def _threads() -> None:
    threading.Thread = type("Own", (threading.Thread,), {})  # type: ignore


def _collector() -> None:
    gc.collect = gc.get_objects = _broken  # type: ignore[assignment]


def _compute() -> None:
    import torch

    print(torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.zeros(2)).tolist())


REPLACEMENTS = [
    _open, _time, _clocks, _write, _process_id, _path_functions, _stdout, _logging_off,
    _logging_configured, _logging_to_stdout, _logger_class, _json, _hashes, _exit_functions,
    _environment, _import_machinery, _warnings, _sources, _printing, _stack_functions, _chance,
    _threads, _collector,
]  # fmt: skip


def each_in_a_child() -> None:
    torch.compile(lambda x: x + 1, backend="eager")(torch.zeros(2))
    for replace in REPLACEMENTS:
        print(replace.__name__, flush=True)
        if os.fork() == 0:
            replace()
            _compute()
            return
        print(os.waitstatus_to_exitcode(os.wait()[1]))


def some_before_torch_is_imported() -> None:
    for replace in (_time, _process_id, _stdout, _logging_off, _hashes, _warnings, _json):
        replace()
    _compute()


def first_compile_after_all_but_imports() -> None:
    for replace in (_time, _clocks, _stdout, _logging_off, _hashes, _exit_functions, _environment):
        replace()
    _compute()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
