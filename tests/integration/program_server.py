"""Runs programs, each in a process of its own that is forked from one which has imported torch already.

    python program_server.py MODULE… < requests > answers

A request is a line of JSON: {"program": FILE, "stdout": FILE, "stderr": FILE}. The answer is a line with the
exit code as subprocess has it. Importing torch and its compiler takes seconds, and so does taking them down
at the end: that is done once.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import threading
from typing import NoReturn

_TIME_LIMIT = 120


def _answer_requests() -> None:
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.alarm(_TIME_LIMIT)
            write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(os.open(request["stdout"], write), 1)
            os.dup2(os.open(request["stderr"], write), 2)
            _be_captured()
            _be(request["program"])
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _be_captured() -> None:
    """`dynamo run` leaves forked children alone; these are to be captured like programs that it starts."""
    if "dynamo_core.capture" in sys.modules:
        from dynamo_core.capture.whole_program.frame_callback import FrameCallback

        (frames,) = (thing for thing in gc.get_objects() if type(thing) is FrameCallback)
        frames.is_active = True
        frames.enter_this_thread()


def _be(program: str) -> NoReturn:
    """Run the program and end as Python does, but for taking modules down."""
    sys.argv = [program]
    sys.path[0] = os.path.dirname(program)
    exit_code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        exit_code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


for _module in sys.argv[1:]:
    importlib.import_module(_module)
_answer_requests()
