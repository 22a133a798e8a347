"""Programs with threads. The arguments name them."""

import _thread
import os
import pickle
import sys
import threading
import time
import traceback
from types import FrameType
from typing import Any

import in_sequence

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401


class Point:
    """Something of `__main__` to pickle."""


def _run(function: object, **options: object) -> None:
    thread = threading.Thread(target=function, **options)  # type: ignore[arg-type]
    thread.start()
    thread.join()


def _fail() -> None:
    raise ValueError("in a thread")


def outlives_main() -> None:
    def work() -> None:
        threading.main_thread().join()
        time.sleep(0.1)
        print("after main", threading.main_thread().is_alive())

    threading.Thread(target=work).start()


def outlives_a_failing_main() -> None:
    outlives_main()
    raise ValueError("in main")


def outlives_an_exiting_main() -> None:
    outlives_main()
    sys.exit(3)


def pickles_after_main() -> None:
    def work() -> None:
        threading.main_thread().join()
        time.sleep(0.1)
        print(type(pickle.loads(pickle.dumps(Point()))))

    threading.Thread(target=work).start()


def daemon() -> None:
    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    print("main ends")


def daemon_that_works() -> None:
    def work() -> None:
        while True:
            sum(range(1000))

    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.05)


def fails() -> None:
    _run(_fail, name="a thread")


def fails_in_a_raw_thread() -> None:
    _thread.start_new_thread(_fail, ())
    time.sleep(0.2)


def exits() -> None:
    _run(lambda: sys.exit(3))
    print("main goes on")


def raises_system_exit_with_text() -> None:
    _run(lambda: sys.exit("not shown"))


def interrupts_main() -> None:
    threading.Timer(0.05, _thread.interrupt_main).start()
    for _ in range(1000):
        time.sleep(0.01)


def own_hook() -> None:
    threading.excepthook = lambda args: print(
        "hook:", args.exc_type.__name__, args.exc_value, args.thread is not None
    )
    _run(_fail)


def stack_of_a_thread() -> None:
    _run(lambda: traceback.print_stack(file=sys.stdout))


def stack_of_a_thread_seen_by_main() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    time.sleep(0.1)
    assert thread.ident is not None
    traceback.print_stack(sys._current_frames()[thread.ident], file=sys.stdout)
    stop.set()
    thread.join()


def subclass() -> None:
    class Worker(threading.Thread):
        def run(self) -> None:
            print("running", self.name)
            traceback.print_stack(file=sys.stdout)

    worker = Worker(name="worker")
    worker.start()
    worker.join()


def traced() -> None:
    called = set()

    def profile(frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code.co_filename == __file__:
            called.add((frame.f_code.co_name, event))

    threading.setprofile(profile)
    _run(lambda: None)
    threading.setprofile(None)
    print(sorted(called))


def timers_and_locals() -> None:
    local = threading.local()
    local.value = 1
    _run(lambda: print(hasattr(local, "value")))
    timer = threading.Timer(0.05, print, ["the timer"])
    timer.start()
    timer.join()


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
