"""Programs that spend known times, and print what they know of it, in seconds. The argument names one."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import torch

spent = {"compiling": 0.0, "in_graphs": 0.0, "eager": 0.0}
calls = 0


@contextmanager
def _timed(what):
    start = time.perf_counter()
    try:
        yield
    finally:
        spent[what] += time.perf_counter() - start


def _backend(compile_s=0.2, call_s=0.005, inside=lambda: None):
    """A backend that sleeps when it compiles, and whose graphs sleep when they run."""

    def backend(gm, example_inputs):
        time.sleep(compile_s)

        def compiled(*inputs):
            global calls
            calls += 1
            with _timed("in_graphs"):
                time.sleep(call_s)
                inside()
            return gm.forward(*inputs)

        return compiled

    return backend


def _first(function, *arguments):
    """Call for the first time: what that takes beside the graph is compiling."""
    inside = spent["in_graphs"]
    with _timed("compiling"):
        function(*arguments)
    spent["compiling"] -= spent["in_graphs"] - inside


def _rest(seconds):
    with _timed("eager"):
        time.sleep(seconds)


def never_compiles():
    _rest(1.0)
    with _timed("eager"):
        end = time.perf_counter() + 0.5
        while time.perf_counter() < end:
            torch.ones(10).sum()


def compiles_for_long():
    work = torch.compile(lambda x: x + 1, backend=_backend(compile_s=1.5))
    _first(work, torch.ones(3))
    for _ in range(10):
        work(torch.ones(3))


def runs_steadily():
    work = torch.compile(lambda x: x.sin() + 1, backend=_backend())
    x = torch.ones(3)
    _first(work, x)
    for _ in range(200):
        work(x)
        _rest(0.003)


def recompiles():
    work = torch.compile(lambda x: x.sin() + 1, backend=_backend(), dynamic=False)
    for size in range(1, 7):
        _first(work, torch.ones(size))
        for _ in range(5):
            work(torch.ones(size))
        _rest(0.05)


def breaks():
    @torch.compile(backend=_backend(compile_s=0.05, call_s=0.002))
    def work(x):
        x = x + 1
        time.sleep(0.003)
        return x * 2

    _first(work, torch.ones(3))
    spent["compiling"] -= 0.003
    for _ in range(100):
        work(torch.ones(3))
    spent["eager"] += 101 * 0.003


def nests_calls():
    inner = torch.compile(lambda x: x + 1, backend=_backend(call_s=0.005))
    outer = torch.compile(lambda x: x * 2, backend=_plain(lambda: inner(torch.ones(4))))
    _first(inner, torch.ones(4))
    _first(outer, torch.ones(3))
    for _ in range(60):
        outer(torch.ones(3))


def _plain(inside):
    """A backend whose graphs do something first; what that takes is timed by what it calls."""

    def backend(gm, example_inputs):
        def compiled(*inputs):
            global calls
            calls += 1
            inside()
            return gm.forward(*inputs)

        return compiled

    return backend


def calls_in_two_threads():
    work = torch.compile(lambda x: x + 1, backend=_backend(call_s=0.01))
    _first(work, torch.ones(3))

    def call():
        for _ in range(60):
            work(torch.ones(3))

    inside = spent["in_graphs"]
    start = time.perf_counter()
    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent["in_graphs"] = inside + time.perf_counter() - start  # both at once


def yields_between_calls():
    work = torch.compile(lambda x: x + 1, backend=_backend())

    def steps():
        for _ in range(60):
            yield work(torch.ones(3))

    _first(work, torch.ones(3))
    for _ in steps():
        _rest(0.005)


def raises_in_graphs():
    def fail():
        raise ValueError("in a graph")

    work = torch.compile(lambda x: x + 1, backend=_backend(inside=fail))

    def call():
        try:
            work(torch.ones(3))
        except ValueError:
            pass

    _first(call)
    for _ in range(60):
        call()


def compiles_inside_a_graph():
    inner = torch.compile(lambda x: x + 1, backend=_backend(compile_s=0.5))
    made = []

    def compile_once():
        if not made:
            made.append(True)
            inner(torch.ones(4))

    outer = torch.compile(lambda x: x * 2, backend=_plain(compile_once))
    _first(outer, torch.ones(3))  # in which both are compiled
    for _ in range(10):
        outer(torch.ones(3))


def forks():
    work = torch.compile(lambda x: x + 1, backend=_backend())
    _first(work, torch.ones(3))
    if os.fork() == 0:
        for _ in range(40):
            work(torch.ones(3))
        os._exit(0)
    os.wait()


def leaves_at_once():
    runs_steadily()
    _say()
    sys.stdout.flush()
    os._exit(0)


def is_killed():
    runs_steadily()
    _say()
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


def two_processes():
    child = subprocess.Popen([sys.executable, __file__, "runs_steadily"], stdout=subprocess.DEVNULL)
    recompiles()
    child.wait()


def _say():
    print(json.dumps({**spent, "calls": calls}))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    _say()
