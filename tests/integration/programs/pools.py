"""Pools and processes whose workers use classes of `__main__`. The argument names one."""

import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import sys

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401

print("running as", __name__, flush=True)


class Point:
    """Something to send back and forth."""

    def __init__(self, x: int) -> None:
        self.x = x

    def __repr__(self) -> str:
        return f"{type(self).__module__}.Point({self.x})"


def _double(point: Point) -> Point:
    return Point(2 * point.x)


def _fail(point: Point) -> Point:
    raise ValueError(f"no {point}")


def _end(how: str) -> None:
    if how == "exit":
        sys.exit(3)
    if how == "at once":
        os._exit(7)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exception":
        raise ValueError("in the worker")


def _answer(queue: "multiprocessing.Queue[Point]") -> None:
    queue.put(Point(7))


def _use_pool(method: str) -> None:
    with multiprocessing.get_context(method).Pool(1) as pool:
        print(pool.map(_double, [Point(1), Point(2), Point(3)]))
        try:
            pool.apply(_fail, (Point(4),))
        except ValueError as error:
            print("ValueError:", error)


def spawn_pool() -> None:
    _use_pool("spawn")


def forkserver_pool() -> None:
    _use_pool("forkserver")


def fork_pool() -> None:
    _use_pool("fork")


def failing_pool() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.apply(_fail, (Point(4),))


def _end_each_way(method: str) -> None:
    for how in ("exit", "at once", "signal", "exception", "return"):
        process = multiprocessing.get_context(method).Process(target=_end, args=(how,))
        process.start()
        process.join()
        print(how, process.exitcode, flush=True)


def endings_of_spawned_processes() -> None:
    _end_each_way("spawn")


def endings_of_forked_processes() -> None:
    _end_each_way("fork")


def queue() -> None:
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_answer, args=(answers,))
    process.start()
    print(answers.get())
    process.join()


def executors() -> None:
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        print(list(pool.map(_double, [Point(1), Point(2)])))
        print(repr(pool.submit(_fail, Point(3)).exception()))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        print(list(threads.map(_double, [Point(1), Point(2)])))


def executor_whose_worker_dies() -> None:
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        print(repr(pool.submit(_end, "at once").exception()))


def executor_left_open() -> None:
    pool = concurrent.futures.ThreadPoolExecutor(1)
    pool.submit(print, "printed by the pool")


def main_class_survives_pickling() -> None:
    print(pickle.loads(pickle.dumps(Point(5))))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
