"""Programs that fork, and ways for the child to end. The argument names one."""

import atexit
import os
import signal
import sys
import threading

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401

atexit.register(lambda: print("at exit of the", "parent" if os.getpid() == PARENT else "child"))
PARENT = os.getpid()


def _fork() -> bool:
    """Fork; in the parent, wait and tell how the child ended."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        return True
    waited_for, status = os.waitpid(child, 0)
    print("the child", waited_for == child, os.waitstatus_to_exitcode(status), flush=True)
    return False


def child_exits_at_once() -> None:
    if _fork():
        print("lost, because it is not flushed")
        os._exit(7)


def child_exits() -> None:
    if _fork():
        sys.exit(3)


def child_fails() -> None:
    if _fork():
        raise ValueError("in the child")


def child_dies_of_a_signal() -> None:
    if _fork():
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()


def child_segfaults() -> None:
    if _fork():
        os.kill(os.getpid(), signal.SIGSEGV)


def child_goes_on_to_the_end() -> None:
    print("in the child" if _fork() else "in the parent")


def unflushed_output_is_doubled() -> None:
    print("printed before the fork, flushed after it")
    if os.fork():
        os.wait()
        print("parent")
    else:
        print("child")


def grandchild() -> None:
    if _fork():
        print("in the child, grandchild" if _fork() else "in the child")


def no_child_left() -> None:
    try:
        os.wait()
    except ChildProcessError as error:
        print(error)


def children_reaped_by_the_system() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if os.fork() == 0:
        os._exit(1)
    try:
        os.wait()
    except ChildProcessError as error:
        print(error)


def signal_at_the_end_of_a_child() -> None:
    signal.signal(signal.SIGCHLD, lambda number, frame: print("a child ended"))
    if os.fork() == 0:
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.wait()[1]))


def fork_in_a_thread() -> None:
    def in_thread() -> None:
        if _fork():
            print("in the child of a thread", flush=True)
            os._exit(4)

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()


def hooks_around_a_fork() -> None:
    seen = []  # printed once the child has ended: which of the two comes first after a fork is open
    os.register_at_fork(
        before=lambda: print("before"),
        after_in_parent=lambda: seen.append("after, in the parent"),
        after_in_child=lambda: print("after, in the child", flush=True),
    )
    if _fork():
        os._exit(0)
    print(seen)


def parent_fails() -> None:
    if _fork():
        os._exit(0)
    raise ValueError("in the parent")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
