"""Be the program that `python ARGUMENTS` is, in a process that runs already."""

import atexit
import builtins
import os
import runpy
import signal
import sys
import threading
import types
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from types import TracebackType
from typing import NoReturn


def be_program(arguments: Sequence[str]) -> NoReturn:
    """Be `SCRIPT …`, `-c CODE …` or `-m MODULE …`, and end as Python does, but for taking things down.

    No object of the program is freed at its end, as little as its modules. A DistributedDataParallel that
    is freed may wait for ever: its Reducer, where it is the last owner of a ProcessGroupGloo, joins gloo's
    threads without letting go of the GIL, and one of them may need it to free its last tensor (seen with
    torch 2.13; in torch/csrc/distributed/c10d/init.cpp only ProcessGroup's own destructor lets go of it).
    """
    try:
        exit_code = _run(arguments)
    except KeyboardInterrupt as error:
        _show(error)
        exit_code = -signal.SIGINT
    except BaseException as error:
        _show(error)
        exit_code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if exit_code < 0:
        signal.signal(-exit_code, signal.SIG_DFL)
        os.kill(os.getpid(), -exit_code)
    os._exit(exit_code & 0xFF)


def _run(arguments: Sequence[str]) -> int:
    try:
        _execute(arguments)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    return 0


def _execute(arguments: Sequence[str]) -> None:
    kind, *rest = arguments
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    names = main.__dict__
    names["__builtins__"] = builtins
    if kind == "-m":
        sys.argv, sys.path[0] = ["-m", *rest[1:]], os.getcwd()
        runpy._run_module_as_main(rest[0])  # type: ignore[attr-defined]
    elif kind == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        exec(compile(rest[0], "<string>", "exec"), names)
    else:
        sys.argv, sys.path[0] = list(arguments), os.path.dirname(os.path.realpath(kind))
        names.update(__file__=kind, __cached__=None, __loader__=SourceFileLoader("__main__", kind))
        with open(kind, "rb") as file:
            text = file.read()
        exec(compile(text, kind, "exec"), names)


def _show(error: BaseException) -> None:
    """Its traceback, which begins in the program."""
    sys.excepthook(type(error), error, _in_the_program(error.__traceback__))


def _in_the_program(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback
