"""What programs do when they end. The argument names one."""

import atexit
import logging
import os
import pickle
import sys
import threading
import warnings
import weakref
from types import TracebackType

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401


class Point:
    """Something of `__main__` to pickle."""


def _fail() -> None:
    raise ValueError("at exit")


def order() -> None:
    for number in range(3):
        atexit.register(print, "registered as", number)
    print("main ends")


def unregistered() -> None:
    atexit.register(print, "never printed")
    atexit.unregister(print)


def fails() -> None:
    atexit.register(print, "registered before")
    atexit.register(_fail)
    atexit.register(print, "registered after")


def exits() -> None:
    atexit.register(print, "registered before")
    atexit.register(sys.exit, 3)


def exits_at_once() -> None:
    atexit.register(print, "never reached")
    atexit.register(os._exit, 5)


def registers_more() -> None:
    atexit.register(lambda: atexit.register(print, "registered at exit"))


def runs_early() -> None:
    atexit.register(print, "once")
    atexit._run_exitfuncs()
    print("main ends")


def cleared() -> None:
    atexit.register(print, "never printed")
    atexit._clear()


def after_an_exception() -> None:
    atexit.register(print, "at exit")
    raise ValueError("in main")


def pickles() -> None:
    atexit.register(lambda: print(type(pickle.loads(pickle.dumps(Point())))))


def starts_a_thread() -> None:
    def work() -> None:
        thread = threading.Thread(target=print, args=("from a thread",))
        thread.start()
        thread.join()

    atexit.register(work)


def warns() -> None:
    atexit.register(lambda: warnings.warn("at exit", stacklevel=1))


def logs() -> None:
    logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
    atexit.register(logging.error, "at exit")


def finalizes() -> None:
    globals()["kept"] = Point()
    weakref.finalize(globals()["kept"], print, "finalized")


def imports() -> None:
    atexit.register(lambda: print(__import__("json").dumps([1])))


def own_hook() -> None:
    def hook(kind: type, error: BaseException, trace: TracebackType | None) -> None:
        print("hook:", kind.__name__, error, trace is not None)

    sys.excepthook = hook
    raise ValueError("for the hook")


def own_hook_that_fails() -> None:
    def hook(*args: object) -> None:
        raise KeyError("in the hook")

    sys.excepthook = hook
    raise ValueError("for the hook")


def own_hook_that_exits() -> None:
    sys.excepthook = lambda *args: sys.exit(6)
    raise ValueError("for the hook")


def own_hook_that_is_none() -> None:
    sys.excepthook = None  # type: ignore[assignment]
    raise ValueError("for no hook")


def own_hook_in_front_of_the_usual_one() -> None:
    usual = sys.excepthook
    print("the usual one:", usual is sys.__excepthook__)
    sys.excepthook = lambda *args: (print("hook"), usual(*args))  # type: ignore[assignment]
    raise ValueError("for both hooks")


def own_unraisable_hook() -> None:
    class Failing:
        def __del__(self) -> None:
            _fail()

    sys.unraisablehook = lambda args: print("hook:", args.exc_value)
    Failing()


def arguments_deleted() -> None:
    del sys.argv
    print(hasattr(sys, "argv"))


def main_deleted() -> None:
    del sys.modules["__main__"]


def stdout_closed() -> None:
    sys.stdout.close()
    print("to nobody")


def stdout_closed_in_silence() -> None:
    print("flushed by closing")
    sys.stdout.close()


def stdout_descriptor_closed() -> None:
    print("cannot be flushed")
    os.close(1)


def stderr_closed() -> None:
    sys.stderr.close()
    raise ValueError("nowhere to show it")


def stdout_is_none() -> None:
    sys.stdout = None  # type: ignore[assignment]
    print("to nobody")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
