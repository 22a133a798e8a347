"""Programs that look into, or change, how Python runs. The arguments name them."""

import faulthandler
import gc
import inspect
import logging
import os
import signal
import sys
import threading
import time
import traceback
import tracemalloc
import warnings
from types import FrameType
from typing import Any

import in_sequence

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401


def _fail() -> None:
    raise ValueError("here")


def _square(number: int) -> int:
    return number * number


def traced() -> None:
    seen = []

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename == __file__:
            seen.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    sys.settrace(trace)
    _square(2)
    sys.settrace(None)
    print(seen)


def profiled() -> None:
    seen = []

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code.co_filename == __file__:
            seen.append((frame.f_code.co_name, event))

    sys.setprofile(profile)
    _square(2)
    sys.setprofile(None)
    print(seen)


def recursion_limit() -> None:
    sys.setrecursionlimit(60)

    def depth(count: int = 1) -> int:
        try:
            return depth(count + 1)
        except RecursionError:
            return count

    reached = depth()
    sys.setrecursionlimit(1000)
    print(reached)


def collector() -> None:
    print(gc.isenabled(), gc.get_threshold(), gc.callbacks, gc.get_freeze_count())
    gc.disable()
    gc.freeze()
    print(gc.isenabled())


def collector_debugged() -> None:
    gc.collect()
    gc.callbacks.append(lambda phase, info: print(phase, sorted(info)))
    gc.collect()
    gc.callbacks.clear()


def stack() -> None:
    print("".join(traceback.format_stack()))
    print([frame.function for frame in inspect.stack()], sys._getframe().f_back is not None)


def frames_are_the_same() -> None:
    def ids() -> list[int]:
        return [id(frame) for frame, _ in traceback.walk_stack(sys._getframe())][1:]

    print(ids() == ids(), len(ids()))


def traceback_printed() -> None:
    try:
        _fail()
    except ValueError:
        traceback.print_exc()
        logging.exception("logged")
        trace = sys.exc_info()[2]
        print([frame.name for frame in traceback.extract_tb(trace)])


def warning() -> None:
    warnings.warn("shown with its line", stacklevel=1)
    warnings.warn("a deprecation", DeprecationWarning, stacklevel=1)
    warnings.warn("with the caller's line", stacklevel=2)


def warning_as_error() -> None:
    warnings.simplefilter("error")
    warnings.warn("raised", stacklevel=1)


def warnings_recorded() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("kept", stacklevel=1)
    print([(str(w.message), w.lineno) for w in caught])


def file_left_open() -> None:
    file = open(__file__)  # noqa: SIM115
    print(file.readline())
    del file


def memory_traced() -> None:
    tracemalloc.start()
    kept = [bytes(1000)]
    print(len(kept), tracemalloc.is_tracing())
    tracemalloc.stop()


def faults_shown() -> None:
    faulthandler.enable()
    os.kill(os.getpid(), signal.SIGSEGV)


def faults_shown_for_all_threads() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    time.sleep(0.1)  # for it to be waiting
    faulthandler.dump_traceback(all_threads=True)
    stop.set()
    thread.join()


def faults_shown_on_a_signal() -> None:
    faulthandler.register(signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    print("goes on")


def standard_streams() -> None:
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        print(stream.name, stream.encoding, stream.errors, stream.line_buffering, stream.isatty())
    print(sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)


def standard_input() -> None:
    print(input("first line: "))
    print(sys.stdin.read())
    print(input())


def audited() -> None:
    events = []
    sys.addaudithook(lambda event, arguments: events.append(event))
    import json  # noqa: F401

    print([event for event in events if event != "object.__getattr__"])


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
