"""Ways for a program to end. The argument names one."""

import asyncio
import ctypes
import os
import resource
import signal
import sys
import threading
from types import GeneratorType

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401


class Unprintable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text for you")


class Stop(BaseException):
    """Not an Exception."""


class Failing:
    """Fails when it is destroyed."""

    def __del__(self) -> None:
        raise ValueError("while being destroyed")


def _inner() -> None:
    raise ValueError("from the inner function\nin two lines, with ünïcödé")


def end_normally() -> None:
    print("done")


def exit_with_3() -> None:
    sys.exit(3)


def exit_with_0() -> None:
    sys.exit(0)


def exit_with_none() -> None:
    sys.exit(None)


def exit_with_nothing() -> None:
    raise SystemExit


def exit_with_256() -> None:
    sys.exit(256)


def exit_with_minus_1() -> None:
    sys.exit(-1)


def exit_with_a_huge_number() -> None:
    sys.exit(2**70)


def exit_with_true() -> None:
    sys.exit(True)


def exit_with_a_float() -> None:
    sys.exit(2.5)


def exit_with_a_string() -> None:
    sys.exit("the reason, with ünïcödé and \udcff")


def exit_with_an_object() -> None:
    sys.exit(object())  # type: ignore[arg-type]


def exit_with_a_tuple() -> None:
    sys.exit((1, 2))  # type: ignore[arg-type]


def exit_while_handling() -> None:
    try:
        _inner()
    except ValueError:
        sys.exit(4)


def exit_replaced_in_finally() -> None:
    try:
        sys.exit(3)
    finally:
        sys.exit(5)


def uncaught() -> None:
    _inner()


def chained_from() -> None:
    try:
        _inner()
    except ValueError as error:
        raise KeyError("outer") from error


def chained_during() -> None:
    try:
        _inner()
    except ValueError:
        {}["missing"]  # type: ignore[index]


def chained_from_none() -> None:
    try:
        _inner()
    except ValueError:
        raise KeyError("outer") from None


def unprintable() -> None:
    raise Unprintable


def base_exception() -> None:
    raise Stop("not an Exception")


def too_deep() -> None:
    too_deep()


def out_of_memory() -> None:
    raise MemoryError


def import_of_a_failing_module() -> None:
    import fails_on_import  # noqa: F401


def import_of_a_missing_module() -> None:
    import there_is_no_such_module  # type: ignore[import-not-found] # noqa: F401


def keyboard_interrupt() -> None:
    raise KeyboardInterrupt


def keyboard_interrupt_from_signal() -> None:
    signal.raise_signal(signal.SIGINT)


def keyboard_interrupt_caught() -> None:
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt:
        print("caught")
        sys.exit(130)


def exception_while_destroying() -> None:
    Failing()
    globals()["kept"] = Failing()  # destroyed when the interpreter shuts down


def generator_left_open() -> None:
    def numbers() -> GeneratorType:  # type: ignore[type-arg]
        try:
            yield 1
        finally:
            print("generator closed")

    globals()["kept"] = numbers()
    next(globals()["kept"])


def coroutine_never_awaited() -> None:
    async def nothing() -> None:
        pass

    nothing()


def exception_in_asyncio() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        _inner()

    asyncio.run(fail())


def exit_in_asyncio() -> None:
    async def leave() -> None:
        await asyncio.sleep(0)
        sys.exit(6)

    asyncio.run(leave())


def unhandled_in_task() -> None:
    async def fail() -> None:
        raise ValueError("in a task")

    async def main() -> None:
        task = asyncio.create_task(fail())
        await asyncio.sleep(0.01)
        del task

    asyncio.run(main())


def terminate_itself() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()


def kill_itself() -> None:
    print("lost, because it is not flushed", end="")
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def segfault() -> None:
    ctypes.string_at(0)


def segfault_in_thread() -> None:
    threading.Thread(target=segfault).start()
    signal.pause()


def segfault_by_signal() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def abort() -> None:
    os.abort()


def pipe_signal_by_default() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    read_end, write_end = os.pipe()
    os.close(read_end)
    os.write(write_end, b"x")


def alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()


def out_of_processor_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    os.kill(os.getpid(), signal.SIGXCPU)


def real_time_signal() -> None:
    os.kill(os.getpid(), signal.SIGRTMIN + 3)


def exit_at_once_with_7() -> None:
    print("lost, because it is not flushed", end="")
    sys.stderr.write("written to stderr\n")
    os._exit(7)


def exit_at_once_in_thread() -> None:
    threading.Thread(target=os._exit, args=(8,)).start()
    signal.pause()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
