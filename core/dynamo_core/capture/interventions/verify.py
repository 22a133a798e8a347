"""`--verify`: the first calls of each compiled graph, beside eager on the same inputs.

The compiled graph is called once on the program's own inputs, and its result returned as it is; what is
compared with it runs on clones (`verified_call.py`). Dynamo switches itself off around a compiled graph
(torch/_dynamo/output_graph.py, compile_and_call_fx_graph: `disable`), so that it does not see our runs
either. Read in torch 2.8 to 2.15; run with 2.13.
"""

import functools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ...backends.agreement import Comparison, compare, is_shielded
from ...backends.compilers import copy_of_graph
from ...shared.records import CallVerified, VerifyOutcome
from ...shared.validation import if_recorded
from ..eager_semantics.replay import AotFunction, is_aligned, node_of, not_captured
from ..forking import has_other_threads
from ..frames.source import current_compile_id, user_line
from ..primitives import perf_counter_ns
from ..probe_guard import ProbeGuard
from ..probes.graphs import target_name
from .backend_faults import KeptCall, is_wrong_for_a_copy
from .operation_log import noting
from .verified_call import (
    COMPARED,
    WHOLE_CALL,
    CallBefore,
    Verdict,
    as_list,
    described,
    names_of_inputs,
    obstacle,
    runner,
    unnoticed,
    verify,
    verify_exception,
)
from .verify_budget import VerifyBudget

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node

# Which node of a graph is compiled wrongly: the first whose value disagrees with eager.
#
# First the graph is compiled anew with every intermediate value as an output as well. Where that hides the
# fault (the values are no longer fused away), the graph is cut after one node and another until the shortest
# part is found that is wrong. As torch's minifier does (torch/_dynamo/repro/after_dynamo.py), the backend is
# called without Dynamo and on real inputs; all of them are clones.


_WRONG_FOR_ALL = "the backend is wrong for a graph that only copies an input, too"
# A cut halves what is left to search, so that this is enough for a graph of 4000 nodes.
MOST_CUTS = 12


class Found(NamedTuple):
    """The node, and its value beside eager's; or why there is none."""

    node: Any = None
    comparison: Comparison | None = None
    reason: str | None = None


def first_wrong_node(gm: "GraphModule", compiler: Callable[..., Any], before: CallBefore) -> Found:
    """Search the graph. Raises what the backend raises; generators and modes are the caller's to restore."""
    nodes = [node for node in gm.graph.nodes if _has_tensor(node)]
    wrong = _first_disagreement(gm, nodes, compiler, before, until=None)
    if wrong is not None:
        return wrong
    low, high, found = 0, len(nodes), None  # the parts that end before nodes[low] are right
    for _ in range(MOST_CUTS):
        if low >= high:
            break
        middle = (low + high) // 2 if found else high - 1
        wrong = _first_disagreement(gm, _alive_after(nodes[: middle + 1]), compiler, before, nodes[middle])
        if wrong is not None:
            found, high = wrong._replace(node=nodes[middle]), middle
        elif found is None:
            break
        else:
            low = middle + 1
    return found or Found(reason="compiled with other outputs, no part of the graph is wrong")


def _first_disagreement(
    gm: "GraphModule", nodes: Sequence[Any], compiler: Callable[..., Any], before: CallBefore, until: Any
) -> Found | None:
    """Compile the graph with the values of these nodes as its outputs; without what comes after `until`."""
    part, wanted = _with_outputs(gm, nodes, until)
    compiled = compiler(copy_of_graph(part), before.arguments())
    candidate, eager = before.run(compiled), before.run(runner(part))
    exact = before.run_in_float64(part)
    comparisons = compare(
        [node.name for node in wanted],
        candidate.outputs,
        eager.outputs,
        None if exact is None else exact.outputs,
        lambda seed: before.rounded_otherwise(runner(part), seed, lambda run: run.outputs),
    )
    for node, comparison in zip(wanted, comparisons, strict=True):
        if not comparison.agrees:
            return Found(node, comparison)
    return None


def _with_outputs(gm: "GraphModule", nodes: Sequence[Any], until: Any) -> tuple[Any, list[Any]]:
    """A copy of the graph that gives clones of these values: what they are before anything changes them."""
    part = copy_of_graph(gm)
    graph = part.graph
    copies = dict(zip(gm.graph.nodes, list(graph.nodes), strict=True))
    output = next(node for node in reversed(graph.nodes) if node.op == "output")
    clones = []
    for node in nodes:
        with graph.inserting_after(copies[node]):
            clones.append(graph.call_method("clone", (copies[node],)))
    output.args = (tuple(clones),)
    if until is not None:
        _erase_after(graph, copies[until], {*clones, output})
    graph.lint()
    part.recompile()
    return part, list(nodes)


def _erase_after(graph: Any, last: Any, kept: set[Any]) -> None:
    """Take what comes after a node off the graph; what leaves autocast stays."""
    import torch

    kept_nodes = [*graph.nodes]
    after = kept_nodes[kept_nodes.index(last) + 1 :]
    for node in reversed(after):
        is_exit = node.target is torch.amp.autocast_mode._exit_autocast and node.args[0] not in after
        if node not in kept and not is_exit and not node.users and node.op != "placeholder":
            graph.erase_node(node)


def _alive_after(nodes: Sequence[Any]) -> list[Any]:
    """The last of these nodes, and those that nodes behind it read, in their order."""
    known = set(nodes)
    return [node for node in nodes if node is nodes[-1] or any(user not in known for user in node.users)]


def _has_tensor(node: "Node") -> bool:
    import torch

    return node.op.startswith("call_") and isinstance(node.meta.get("example_value"), torch.Tensor)


# The program's own backward of a verified call: a gradient of zeros where eager has none is a difference.
#
# An output that no loss uses has no gradient, and nor have, in eager, the inputs that lead to it alone.
# AOTAutograd makes zeros of them, which an optimizer takes for gradients. Source: as `aot_function.py`;
# torch/csrc/autograd/engine.cpp calls a node's hooks before and after it.


def watch_missing_gradients(
    before: CallBefore,
    gm: "GraphModule",
    arguments: Sequence[Any],
    result: Any,
    report: Callable[[Comparison, Any], None],
) -> None:
    """When autograd comes to this call, `report` the first gradient that eager would not have.

    With it goes the first node that uses the input of that gradient; None if none does.
    """
    import torch

    outputs = as_list(result)
    node = node_of(outputs)
    if node is None:
        return
    if not is_aligned(node, arguments):
        return
    positions = AotFunction(node, outputs).positions
    requires_grad = [i for i, needs in enumerate(node.needs_input_grad) if needs]
    tensors = [i for i, value in enumerate(arguments) if hasattr(value, "requires_grad")]
    seeds: dict[int, Any] = {}
    names = names_of_inputs(gm)
    inputs = [node for node in gm.graph.nodes if node.op == "placeholder"]

    def before_backward(gradients: Sequence[Any]) -> None:
        for output, position in positions.items():
            if gradients[position] is not None:
                seeds[output] = gradients[position].detach()

    def after_backward(of_inputs: Sequence[Any], of_outputs: Sequence[Any]) -> None:
        if len(seeds) == len(positions):
            return
        with unnoticed(arguments), not_captured(), torch.enable_grad():
            eager = before.run(runner(gm)).gradients(requires_grad, seeds)
        given = dict(zip(tensors, of_inputs, strict=True))
        for i, gradient in zip(requires_grad, eager, strict=True):
            if gradient is None and given[i] is not None:
                what = "zeros from AOTAutograd, where eager gives None: no loss used what it leads to"
                user = next(iter(inputs[i].users), None)
                report(Comparison(f"gradient of {names[i]}", False, None, None, "eager", what), user)
                return

    is_known = True

    def guarded(function: Callable[..., None]) -> Callable[..., None]:
        def hook(*gradients: Any) -> None:
            nonlocal is_known
            try:
                if is_known:
                    function(*gradients)
            except Exception:  # then it is not known whether they differ, as without us
                is_known = False

        return hook

    node.register_prehook(guarded(before_backward))
    node.register_hook(guarded(after_backward))


# `--verify`:


# A graph's first call has fresh parameters, the second those after a step of the optimizer. A recompile is a
# graph of its own.
CALLS_VERIFIED = 2

# What torch counts while it captures frames, of which a search captures none; other threads may, meanwhile.
# Source: torch/_dynamo (counters, in convert_frame.py, output_graph.py and symbolic_convert.py), 2.8 to 2.15.
_COUNTED_BY_DYNAMO = frozenset({"frames", "graph_break", "inline_call", "resumes", "stats"})

# Graphs that are searched for the node that is wrong, in one process, until one is found.
MOST_SEARCHES = 3


class Verifier:
    """Puts `--verify` to work; where it `finds_lines`, it looks for the node that is wrong."""

    def __init__(self, probes: ProbeGuard, budget: VerifyBudget, finds_lines: bool = True) -> None:
        self._probes = probes
        self.budget = budget
        self._searches_left = MOST_SEARCHES if finds_lines else 0
        self._lock = threading.Lock()

    def before(self, gm: "GraphModule", compiler: Any, number: int) -> Callable[[Any, Any], Any]:
        """Keep a graph as it is handed to its backend.

        What is returned takes what the backend made of it, bare and with its calls counted, and gives what
        shall be called instead.
        """
        return functools.partial(_beside_eager, _VerifiedGraph(self, copy_of_graph(gm), compiler, number))

    def not_counted(self, compiled: Any, counted: Any) -> Any:
        """A backward graph whose calls are counted, unless they are ours."""

        def call(*args: Any) -> Any:
            return (compiled if is_shielded() else counted)(*args)

        return call

    def record(self, verified: CallVerified, compile_id: Mapping[str, int]) -> None:
        """Write what came of one call, and count its time."""
        self.budget.spend(verified.ns)
        self._probes.stream.record(verified, compile_id)

    def may_search(self) -> bool:
        """Whether a further graph may be searched for its wrong node."""
        with self._lock:
            self._searches_left -= 1
            return self._searches_left >= 0

    def search(self, gm: "GraphModule", compiler: Any, before: CallBefore) -> Found:
        """Search a graph for its wrong node, without a trace in the recording or in torch's counts."""
        counters = sys.modules["torch._dynamo.utils"].counters
        counts = {name: counters[name].copy() for name in list(counters) if name not in _COUNTED_BY_DYNAMO}
        try:
            with self._probes.stream.muted():
                found = first_wrong_node(gm, compiler, before)
                is_of_all = found.node is not None and is_wrong_for_a_copy(compiler, before.arguments())
                return Found(reason=_WRONG_FOR_ALL) if is_of_all else found
        except Exception as error:
            return Found(reason=f"the search for it failed: {described(error)}")
        finally:
            for name in set(counters) - _COUNTED_BY_DYNAMO:
                if name in counts:
                    counters[name] = counts[name]
                else:
                    del counters[name]

    def found(self) -> None:
        """A node has been named: that is enough."""
        with self._lock:
            self._searches_left = 0


class _VerifiedGraph:
    """A graph, until its first calls have been verified."""

    def __init__(self, verifier: Verifier, gm: "GraphModule", compiler: Any, number: int) -> None:
        self._verifier = verifier
        self.number = number  # of the process
        self._compile_id = current_compile_id()
        self.captured = gm
        self._graph: tuple[Any, Any] | None = (gm, compiler)
        self._calls = 0
        self.first: KeptCall | None = None  # the first call, until the last one is verified
        self._lock = threading.Lock()

    def begin(self, arguments: Sequence[Any]) -> "_Call | None":
        """Before a call: what it takes to verify it; None if it is not to be."""
        with self._lock:
            if self._graph is None:
                return None
            self._calls += 1
            call = _Call(self, self._calls, *self._graph)
            if self._calls == CALLS_VERIFIED:
                self.forget()
        return call if call.prepare(arguments) else None

    def forget(self) -> None:
        """No further calls are verified."""
        self._graph = None

    def is_done(self) -> bool:
        """Whether no further call is verified."""
        return self._graph is None

    def record(self, verified: CallVerified) -> None:
        """Write what came of one call."""
        self._verifier.record(verified, self._compile_id)

    def why_spent(self) -> str | None:
        """Why nothing more may be compared now; None if there is time."""
        return self._verifier.budget.why_spent()

    def search(self, gm: "GraphModule", compiler: Any, before: CallBefore) -> Found:
        """Search for the wrong node, if there have not been too many searches."""
        if not self._verifier.may_search():
            return Found(reason=None)
        found = self._verifier.search(gm, compiler, before)
        if found.node is not None:
            self._verifier.found()
        return found


class _Call:
    """One call that is verified."""

    def __init__(self, graph: _VerifiedGraph, number: int, gm: "GraphModule", compiler: Any) -> None:
        self._graph = graph
        self._number = number
        self._gm = gm
        self._compiler = compiler
        self._before: CallBefore | None = None
        self._nanoseconds = 0

    def prepare(self, arguments: Sequence[Any]) -> bool:
        """Clone the arguments; False, and recorded, if the call cannot be verified."""
        began = perf_counter_ns()
        try:
            reason = self._graph.why_spent() or obstacle(self._gm)
            if reason is None:
                self._before = CallBefore(arguments)
        except Exception as error:
            reason = described(error)
        self._nanoseconds = perf_counter_ns() - began
        if reason is not None:
            self._record("not verified", reason)
        return reason is None

    def compare(self, compiled: Any, arguments: Sequence[Any], result: Any) -> None:
        """Compare the call that was made with eager, and record what came of it. Never raises."""
        began = perf_counter_ns()
        before, self._before = self._before, None
        assert before is not None
        found = Found()
        try:
            first = self._graph.first
            verdict = verify(before, self._gm, compiled, arguments, result, first)
            if verdict.first_wrong is not None and has_other_threads():
                with unnoticed(arguments):  # they may have changed its inputs meanwhile
                    again = before.run(compiled)
                verdict = verify(before, self._gm, compiled, again.inputs, again.outputs, first)
            if verdict.first_wrong is not None:
                self._graph.forget()
                if verdict.first_wrong.name not in WHOLE_CALL and not verdict.is_of_the_backend:
                    found = self._search(before, verdict, arguments)
        except Exception as error:
            self._nanoseconds += perf_counter_ns() - began
            self._record("not verified", described(error))
            return
        self._nanoseconds += perf_counter_ns() - began
        if verdict.not_comparable is not None:
            self._record("not comparable", verdict.not_comparable)
            return
        self._record("disagrees" if verdict.first_wrong else "agrees", None, verdict, found)
        if self._number < CALLS_VERIFIED and verdict.first_wrong is None:
            with suppress(Exception):  # then a later call is not compared with it
                self._graph.first = KeptCall(before.arguments(), as_list(result))
        if verdict.first_wrong is None:
            with suppress(Exception):  # then nothing is known of the program's own backward
                watch_missing_gradients(before, self._gm, arguments, result, self._disagrees)

    def compare_exception(self, raised: Exception, arguments: Sequence[Any]) -> None:
        """Compare the call, which raised, with eager, and record what came of it. Never raises."""
        began = perf_counter_ns()
        before, self._before = self._before, None
        assert before is not None
        try:
            verdict = verify_exception(before, self._gm, arguments, raised)
        except Exception as error:
            self._record("not verified", described(error))
            return
        self._nanoseconds += perf_counter_ns() - began
        self._record("disagrees" if verdict.first_wrong else "agrees", None, verdict)

    def _disagrees(self, comparison: Comparison, node: Any) -> None:
        self._record("disagrees", None, Verdict([comparison], gradients=COMPARED), Found(node, comparison))

    def _search(self, before: CallBefore, verdict: Verdict, arguments: Sequence[Any]) -> Found:
        if verdict.gradients is not None:
            return Found(reason="the values that the forward graph computes agree, so it is in the backward")
        with unnoticed(arguments):
            return self._graph.search(self._gm, self._compiler, before)

    def _record(
        self,
        outcome: VerifyOutcome,
        why: str | None,
        verdict: Verdict | None = None,
        found: Found | None = None,
    ) -> None:
        verdict, found = verdict or Verdict(), found or Found()
        node = found.node
        place = user_line(node.meta.get("stack_trace")) if node is not None else None
        comparisons = verdict.comparisons
        self._graph.record(
            CallVerified(
                graph=self._graph.number,
                call=self._number,
                outcome=outcome,
                why=why,
                compared=len(comparisons),
                against_float64=sum(each.against == "float64" for each in comparisons),
                gradients=verdict.gradients,
                worst=_comparison(max(comparisons, key=_share_of_allowed, default=None)),
                first_wrong=_comparison(verdict.first_wrong),
                node=None
                if node is None
                else {
                    "name": node.name,
                    "target": target_name(node),
                    "file": place[0] if place else None,
                    "line": place[1] if place else None,
                    "comparison": _comparison(found.comparison),
                },
                node_unknown=found.reason,
                ns=self._nanoseconds,
            )
        )
        self._nanoseconds = 0  # a second record, of the backward, is of no time that was counted


def _beside_eager(graph: _VerifiedGraph, compiled: Any, counted: Any) -> Any:
    def call(*args: Any) -> Any:
        if noting:
            return noting[-1].backend(graph.captured, args)(*args)
        if graph.is_done():
            return counted(*args)
        verified = graph.begin(args)
        try:
            result = counted(*args)
        except Exception as error:
            if verified is not None:
                verified.compare_exception(error, args)
            raise
        if verified is not None:
            verified.compare(compiled, args, result)
        return result

    return call


def _comparison(comparison: Comparison | None) -> dict[str, Any] | None:
    if comparison is None:
        return None
    numbers = ("error", "allowed", "size")
    return vars(comparison) | {name: if_recorded(getattr(comparison, name)) for name in numbers}


def _share_of_allowed(comparison: Comparison) -> float:
    if comparison.error is None:
        return float("-inf" if comparison.agrees else "inf")
    return comparison.error / comparison.allowed if comparison.allowed else comparison.error
