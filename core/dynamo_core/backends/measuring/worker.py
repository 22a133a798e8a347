"""The process that measures one backend: answers requests, a JSON object a line, over pipes of its own.

    {"do": "hello"}                                   what is here, and why the backend is not usable, if so
    {"do": "prepare", program, modes, threads}        compile a graph, check it against eager
    {"do": "time", calls, processor}                  time a batch of calls of the graph prepared last

What a backend prints goes nowhere. Whatever goes wrong is an answer; what cannot answer any more (a crash, a
hang) is for the parent to notice.
"""

import contextlib
import ctypes
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from ...shared.backend_choice import BackendChoice, parse_choice
from ..agreement import (
    Comparison,
    clone_with_aliases,
    compare,
    draws_random_numbers,
    in_float64,
    rounded_otherwise,
)
from ..chain import compiler_settings, hardware
from ..compilers import Compiler, compiler_of
from ..results import Declined
from .calls import (
    CompiledGraph,
    NotCompiled,
    NotRunnable,
    TimedGraph,
    Values,
    called,
    compile_program,
    in_a_line,
    modes_set,
)

# Whether a compiled graph computes what eager does: outputs, inputs changed in place, and gradients.


@dataclass(frozen=True)
class Check:
    """What disagrees with eager, in words, or None; and how many seconds the first call took.

    That call has compiled what is compiled when it is first needed, like most backwards.
    """

    disagreement: str | None
    first_call_seconds: float


def check(compiled: CompiledGraph) -> Check:
    """Call the graph as compiled, in eager and in float64, on the same inputs and random numbers.

    NotRunnable if eager fails; an error of the compiled graph goes on to the caller.
    """
    inputs = compiled.arguments
    try:
        eager = called(compiled.graph.forward, clone_with_aliases(inputs))
    except Exception as error:
        raise NotRunnable(f"eager fails on it: {in_a_line(error)}") from error
    own_inputs = clone_with_aliases(inputs)
    began = time.perf_counter()
    candidate = called(compiled.function, own_inputs)
    seconds = time.perf_counter() - began
    return Check(_disagreement(candidate, eager, compiled.graph, inputs), seconds)


def _disagreement(candidate: Values, eager: Values, graph: Any, inputs: Sequence[Any]) -> str | None:
    if candidate.names != eager.names:
        return f"it has {len(candidate.names)} outputs and gradients where eager has {len(eager.names)}"
    is_random = draws_random_numbers(graph)
    reference = None if is_random else _in_float64(graph, inputs)
    exact = None if reference is None or reference.names != eager.names else reference.values

    def again(seed: int) -> Sequence[Any]:
        return rounded_otherwise(lambda values: called(graph.forward, values).values, inputs, seed)

    for comparison in compare(eager.names, candidate.values, eager.values, exact, again):
        if not comparison.agrees:
            return _words(comparison) + (
                "; it draws random numbers, perhaps not as eager does" if is_random else ""
            )
    return None


def _in_float64(graph: Any, inputs: Sequence[Any]) -> Values | None:
    made = in_float64(graph, inputs)
    if made is None:
        return None
    try:
        return called(*made)
    except Exception:  # an operator that has no float64
        return None


def _words(comparison: Comparison) -> str:
    if comparison.detail is not None:
        return f"{comparison.name}: {comparison.detail}"
    return (
        f"{comparison.name} is off by {comparison.error:.2g} from {comparison.against} "
        f"(values up to {comparison.size:.2g}), where {comparison.allowed:.2g} is allowed"
    )


# One processor for all candidates of a round.
#
# Two processors can differ by a factor of two for seconds, by what others do on the cores that they share.
# The system leaves a process that computes in one thread where it is: it would differ from another process by
# that.
#
# Source: Linux, sched_setaffinity(2) and sched_getcpu(3).


@contextmanager
def staying_on(processor: int | None) -> Iterator[int | None]:
    """This thread stays on a processor, without one on that where it is; gives its number.

    None where the system does not allow it: then the thread is wherever the system puts it.
    """
    try:
        before = os.sched_getaffinity(0)
        processor = ctypes.CDLL(None).sched_getcpu() if processor is None else processor
        os.sched_setaffinity(0, {processor})
    except (OSError, AttributeError, ValueError, OverflowError):
        yield None
        return
    try:
        yield processor
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)


# The process that measures one backend:


_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG in linux/prctl.h


def main(requests: int, answers: int, backend: str) -> None:
    """Serve the file descriptors until the first is closed."""
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when this ends
    worker = _Worker(parse_choice(backend))
    serve: dict[str, Callable[..., dict[str, Any]]] = {
        "hello": worker.hello,
        "prepare": worker.prepare,
        "time": worker.time_calls,
    }
    with os.fdopen(requests) as lines, os.fdopen(answers, "w") as out:
        for line in lines:
            request = json.loads(line)
            try:
                answer = serve[request.pop("do")](**request)
            except Exception as error:
                answer = {"status": "failed", "reason": in_a_line(error)}
            out.write(json.dumps(answer) + "\n")
            out.flush()


class _Worker:
    def __init__(self, choice: BackendChoice) -> None:
        self._choice = choice
        self._compiler: Compiler | None = None
        self._graph: TimedGraph | None = None
        self._modes = contextlib.ExitStack()

    def hello(self) -> dict[str, Any]:
        """`unusable` is None if the backend can be used here."""
        import torch
        import torch._dynamo

        unusable = None
        try:
            self._compiler = compiler_of(self._choice)
        except (Exception, SystemExit) as error:
            unusable = in_a_line(error)
        needs_cuda = self._choice.name == "cudagraphs" or self._choice.mode == "reduce-overhead"
        if needs_cuda and not torch.cuda.is_available():
            unusable = "it is about CUDA graphs, and torch finds no CUDA device"
        _draw_random_numbers_as_eager_does()
        return {
            "torch": str(torch.__version__),
            "hardware": hardware(),
            "settings": compiler_settings(),
            "unusable": unusable,
        }

    def prepare(self, program: str, modes: dict[str, Any], threads: int | None) -> dict[str, Any]:
        """`status` is ready, disagrees, declined, failed, or not runnable; `reason` says why it is not ready.

        `compile_seconds` has the first call in it, since backwards are compiled when they are first needed.
        """
        assert self._compiler is not None
        self._graph = None
        self._modes.close()
        self._modes.enter_context(modes_set(modes, threads))
        gc.collect()
        try:
            compiled = compile_program(program, self._choice, self._compiler)
            checked = check(compiled)
            if checked.disagreement is not None:
                return {"status": "disagrees", "reason": checked.disagreement}
            self._graph = TimedGraph(compiled)
        except Declined as error:
            return {"status": "declined", "reason": str(error)}
        except NotCompiled as error:
            return {"status": "failed", "reason": str(error)}
        except NotRunnable as error:
            return {"status": "not runnable", "reason": str(error)}
        return {
            "status": "ready",
            "reason": None,
            "compile_seconds": compiled.seconds + checked.first_call_seconds,
            "call_seconds": self._graph.estimate(),
        }

    def time_calls(self, calls: int, processor: int | None) -> dict[str, Any]:
        """Seconds of a call's forward and, where anything flows back, of its backward, on average.

        `processor` is where to call it, and then where it was called, if one thread computes.
        """
        assert self._graph is not None
        with staying_on(processor) if self._graph.is_of_one_thread else nullcontext() as there:
            timed = self._graph.batch(calls)
        backward = timed.seconds - timed.forward if self._graph.trains else None
        return {
            "status": "timed",
            "forward": timed.forward,
            "backward": backward,
            "busy": timed.busy,
            "counts": timed.counts,
            "processor": there,
        }


def _draw_random_numbers_as_eager_does() -> None:
    """Have Inductor draw as eager does, as `dynamo run` does: else dropout could not be compared."""
    import torch._inductor.config

    torch._inductor.config.fallback_random = True


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
