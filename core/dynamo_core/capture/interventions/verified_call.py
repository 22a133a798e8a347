"""One call of a compiled graph beside eager: outputs, inputs that it changes, gradients.

The compiled graph's own call has been made, once, on the program's inputs. Everything here runs on clones,
from the state of the random number generators before that call, and leaves them as that call left them.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ...backends.agreement import (
    Comparison,
    RandomState,
    clone_with_aliases,
    compare,
    in_float64,
    rounded_otherwise,
    shielded,
)
from ..eager_semantics.graph_facts import communication_in
from ..errors import first_line, text_of
from ..frames.program_files import is_own
from ..probes.graphs import outputs_of, structure_difference
from .backend_faults import KeptCall, is_of_the_first_call, what_it_did
from .fork_server import is_out_of_memory

if TYPE_CHECKING:
    from torch.fx import GraphModule

OWN_RANDOM_NUMBERS = "it draws random numbers in its own way"
NOT_FILLED = "it makes tensors whose memory nothing has filled"
COMPARED = "compared"
WHOLE_CALL = ("the outputs", "the call")  # what a comparison is named by that is about no single value


@dataclass
class Verdict:
    """What came of the comparison; `not_comparable` says why nothing did.

    `gradients` is "compared", or says why they were not; None where there are none. With `is_of_the_backend`
    it is known what the backend did to the whole graph, so that no operation is looked for.
    """

    comparisons: list[Comparison] = field(default_factory=list)
    not_comparable: str | None = None
    gradients: str | None = None
    is_of_the_backend: bool = False

    @property
    def first_wrong(self) -> Comparison | None:
        """The first value that disagrees."""
        return next((each for each in self.comparisons if not each.agrees), None)


class Run:
    """A call on clones: `outputs` are its results, `inputs` its arguments as it left them."""

    def __init__(self, function: Callable[..., Any], inputs: list[Any]) -> None:
        versions = [_version(value) for value in inputs]
        self.inputs = inputs
        self.outputs = as_list(function(*inputs))
        self.changed = {i for i, value in enumerate(inputs) if _version(value) != versions[i]}

    def gradients(self, of: Sequence[int], seeds: dict[int, Any], keeps: bool = False) -> list[Any]:
        """The gradients of some inputs, from those of some outputs; `keeps` what was saved for them."""
        import torch

        outputs = [self.outputs[index] for index in seeds]
        given = [seed.to(output.dtype) for seed, output in zip(seeds.values(), outputs, strict=True)]
        wanted = [self.inputs[i] for i in of]
        return list(torch.autograd.grad(outputs, wanted, given, retain_graph=keeps, allow_unused=True))


class CallBefore:
    """What it takes to make a call again: clones of its inputs, and the generators' states."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.random_state = RandomState(arguments)
        self._clones = clone_with_aliases(arguments)

    def arguments(self) -> list[Any]:
        """Clones for one run, which may change them."""
        return clone_with_aliases(self._clones)

    def run(self, function: Callable[..., Any]) -> Run:
        """Call `function` as the compiled graph was called."""
        self.random_state.restore()
        return Run(function, self.arguments())

    def rounded_otherwise(
        self, function: Callable[..., Any], seed: int, wanted: Callable[[Run], list[Any]]
    ) -> list[Any]:
        """What is wanted of the same call, but for other rounding errors."""

        def run(inputs: list[Any]) -> list[Any]:
            self.random_state.restore()
            return wanted(Run(function, inputs))

        return rounded_otherwise(run, self._clones, seed)

    def run_in_float64(self, gm: "GraphModule") -> Run | None:
        """The graph in float64; None where that is not possible, or it draws random numbers."""
        made = in_float64(gm, self._clones)
        if made is None:
            return None
        self.random_state.restore()
        try:
            run = Run(*made)
        except Exception:
            return None
        return None if self.random_state.has_changed() else run


@contextmanager
def unnoticed(arguments: Sequence[Any]) -> Iterator[RandomState]:
    """What runs in here leaves the generators and torch's modes as they are now; gives the former."""
    now = RandomState(arguments)
    try:
        with shielded():
            yield now
    finally:
        now.restore()


def verify(
    before: CallBefore,
    gm: "GraphModule",
    compiled: Any,
    arguments: Sequence[Any],
    result: Any,
    first: KeptCall | None = None,
) -> Verdict:
    """Compare a call that was made, with its `arguments` and its `result`, with eager.

    `compiled` is called once more where there are gradients to compare. `first` is the graph's first call,
    where this is a later one.
    """
    outputs = as_list(result)
    wrong_structure = structure_difference(outputs_of(gm), result)
    if wrong_structure is not None:
        return _disagrees("the outputs", wrong_structure)
    with unnoticed(arguments) as after:
        try:
            eager = before.run(runner(gm))
        except Exception as error:
            if is_out_of_memory(error):
                raise
            return _disagrees("the call", f"returned, where eager raises {described(error)}")
        after_eager = RandomState(arguments)
        draws = not (after.equals(before.random_state) and after_eager.equals(before.random_state))
        if draws and not after.equals(after_eager):
            return Verdict(not_comparable=OWN_RANDOM_NUMBERS)
        exact = before.run_in_float64(gm)
        verdict = Verdict(_compare_values(before, gm, arguments, outputs, eager, exact))
        if verdict.first_wrong is None and any(_requires_grad(value) for value in outputs):
            verdict.gradients = (
                "not compared: by itself, a checkpoint in the graph draws other numbers in its backward"
                if draws and _has_checkpoint(gm)
                else _verify_gradients(before, gm, compiled, eager, exact, verdict)
            )
    if verdict.first_wrong is not None and _has_memory_not_filled(gm):
        return Verdict(not_comparable=NOT_FILLED)
    if draws and verdict.first_wrong is not None and not _draws_as_eager_does():
        return Verdict(not_comparable=OWN_RANDOM_NUMBERS)
    if verdict.first_wrong is not None and verdict.gradients is None:
        with unnoticed(arguments):
            did = _what_the_backend_did(before, gm, outputs, eager, exact, verdict, first)
        if did is not None:
            verdict = _disagrees(verdict.first_wrong.name, did)
            verdict.is_of_the_backend = True
    return verdict


def _what_the_backend_did(
    before: CallBefore,
    gm: "GraphModule",
    outputs: list[Any],
    eager: Run,
    exact: Run | None,
    verdict: Verdict,
    first: KeptCall | None,
) -> str | None:
    """What the backend did to the whole graph, where the compared values show it; else None."""
    names = names_of_outputs(gm)
    wrong = [i for i, each in enumerate(verdict.comparisons[: len(names)]) if not each.agrees]
    inputs = names_of_inputs(gm)
    given = before.arguments()
    # A batch norm writes its statistics, and counts no version.
    written_by_graph = eager.changed | _different(eager.inputs, given)
    unchanged = {
        f"{name}, changed in place": name for i, name in enumerate(inputs) if i not in written_by_graph
    }
    changed = [each.name for each in verdict.comparisons[len(names) :] if not each.agrees]
    written = [unchanged[each] for each in changed if each in unchanged]

    def agree(i: int, j: int) -> bool:
        reference = None if exact is None else [exact.outputs[j]]
        (found,) = compare([names[i]], [outputs[i]], [eager.outputs[j]], reference)
        return found.agrees

    again = is_of_the_first_call(first, dict(zip(inputs, given, strict=True)), outputs, wrong)
    return what_it_did(names, outputs, eager.outputs, wrong, agree, written, again)


def _has_checkpoint(gm: "GraphModule") -> bool:
    """Whether a part of the graph is calculated again in its backward.

    Run by itself, such a part does not put the generators back before that.
    Source: torch/_higher_order_ops/wrap.py (TagActivationCheckpoint: preserve_rng_state), 2.8 to 2.15.
    """
    return any("activation_checkpoint" in str(node.target) for node in gm.graph.nodes)


def verify_exception(
    before: CallBefore, gm: "GraphModule", arguments: Sequence[Any], raised: Exception
) -> Verdict:
    """Compare a call of the compiled graph that raised with eager."""
    with unnoticed(arguments):
        try:
            before.run(runner(gm))
        except Exception as error:
            if type(error) is type(raised):
                return Verdict([Comparison("the exception", True, None, None, "eager")])
            return _disagrees(
                "the call", f"raised {described(raised)}, where eager raises {described(error)}"
            )
    return _disagrees("the call", f"raised {described(raised)}, where eager returns")


def _disagrees(name: str, detail: str) -> Verdict:
    return Verdict([Comparison(name, False, None, None, "eager", detail)])


def _has_memory_not_filled(gm: "GraphModule") -> bool:
    """Whether an operation gives memory as it is: `torch.empty` and its like, also in an inner graph."""
    graphs: list[Any] = [inner.graph for inner in gm.modules() if hasattr(inner, "graph")]
    targets = (node.target for graph in graphs for node in graph.nodes if node.op.startswith("call_"))
    return any(str(getattr(each, "__name__", each)).startswith(("empty", "new_empty")) for each in targets)


def side_effect_in(gm: "GraphModule") -> str | None:
    """What in a graph may have an effect beside its results, so that it is not run again; None if nothing.

    Source: torch/_library/custom_ops.py (OPDEFS), 2.8 to 2.15.
    """
    from torch._library.custom_ops import OPDEFS
    from torch._ops import OpOverload

    for node in gm.graph.nodes:
        target = node.target
        # torch's own ones (prims::fma) only compute.
        if isinstance(target, OpOverload) and target.name() in OPDEFS and target.namespace != "prims":
            return f"calls an operator that is written in Python ({target.name()})"
        if isinstance(target, FunctionType) and is_own(target.__code__.co_filename):
            return f"calls a function of the program's own ({target.__name__})"
        if node.op == "call_function" and target.__name__.startswith("set_"):
            return f"changes a setting of torch ({target.__name__})"
    return None


def obstacle(gm: "GraphModule") -> str | None:
    """Why a call must not be made a second time, if it must not."""
    import torch

    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        return "the program records it into a CUDA graph"
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return "the program has set a mode that sees every operation"
    node = communication_in(gm)
    if node is not None:
        return f"it communicates with other processes ({node})"
    effect = side_effect_in(gm)
    return None if effect is None else f"it {effect}"


def described(error: BaseException) -> str:
    """The type of an exception and the first line of its message."""
    return first_line(text_of(error))


def _compare_values(
    before: CallBefore,
    gm: "GraphModule",
    arguments: Sequence[Any],
    outputs: list[Any],
    eager: Run,
    exact: Run | None,
) -> list[Comparison]:
    changed = sorted(eager.changed | _different(arguments, eager.inputs))
    names = names_of_inputs(gm)

    def values(run: Run) -> list[Any]:
        return [*run.outputs, *(run.inputs[i] for i in changed)]

    return compare(
        [*names_of_outputs(gm), *(f"{names[i]}, changed in place" for i in changed)],
        [*outputs, *(arguments[i] for i in changed)],
        values(eager),
        None if exact is None else values(exact),
        lambda seed: before.rounded_otherwise(runner(gm), seed, values),
    )


def _verify_gradients(
    before: CallBefore, gm: "GraphModule", compiled: Any, eager: Run, exact: Run | None, verdict: Verdict
) -> str:
    """Add the gradients of the inputs to the verdict, and say whether that was possible."""
    if _uses_cuda_graphs(eager.inputs):
        return "not compared: a CUDA graph's next run would overwrite the program's values"
    try:
        candidate = before.run(compiled)
        seeds = {
            index: _seed(output, index)
            for index, output in enumerate(eager.outputs)
            if _requires_grad(output) and _requires_grad(candidate.outputs[index])
        }
        of = [i for i, value in enumerate(eager.inputs) if _requires_grad(value) and i not in eager.changed]
        if not seeds or not of:
            return "not compared: no input's gradient can be asked for"
        own = _gradients_of_compiled(before, compiled, candidate, of, seeds)
        eagers = _gradients(eager, of, seeds)
        exacts = None if exact is None else _gradients_if_possible(exact, of, seeds)
    except Exception as error:
        return f"not compared: {type(error).__name__}: {error}"
    names = names_of_inputs(gm)
    verdict.comparisons += compare(
        [f"gradient of {names[i]}" for i in of],
        own,
        eagers,
        exacts,
        lambda seed: before.rounded_otherwise(runner(gm), seed, lambda run: _gradients(run, of, seeds)),
    )
    return COMPARED


def _gradients_of_compiled(
    before: CallBefore, compiled: Any, candidate: Run, of: Sequence[int], seeds: dict[int, Any]
) -> list[Any]:
    """The gradients of a compiled call, without a bar to backwards of the program that keep their graph.

    torch compiles a backward when it first runs. If that run keeps nothing, the backward may write over what
    was saved, and from then on a backward that keeps its graph raises an error.
    Source: torch/_functorch/_aot_autograd/runtime_wrappers.py (_backward_impl, get_or_compile), 2.13.
    """
    try:
        return _gradients(candidate, of, seeds, keeps=True)
    except RuntimeError as error:
        if "donated buffer" not in str(error):
            raise
        return _gradients(before.run(compiled), of, seeds)


def _gradients(run: Run, of: Sequence[int], seeds: dict[int, Any], keeps: bool = False) -> list[Any]:
    """Gradients as `Run.gradients` has them; that of an input without influence is zero."""
    return [
        run.inputs[i].detach().new_zeros(run.inputs[i].shape) if gradient is None else gradient
        for i, gradient in zip(of, run.gradients(of, seeds, keeps), strict=True)
    ]


def _gradients_if_possible(run: Run, of: Sequence[int], seeds: dict[int, Any]) -> list[Any] | None:
    try:
        return _gradients(run, of, seeds)
    except Exception:
        return None


def _seed(output: Any, index: int) -> Any:
    """A gradient for an output, the same every time, from a generator of our own."""
    import torch

    generator = torch.Generator(output.device).manual_seed(index)
    return torch.randn(output.shape, dtype=output.dtype, device=output.device, generator=generator)


def runner(gm: "GraphModule") -> Callable[..., Any]:
    """What runs the graph eagerly, without module hooks, on buffers of its own where the graph has any."""
    from torch.fx._lazy_graph_module import _LazyGraphModule

    _LazyGraphModule.force_recompile(gm)  # else its forward is a call, whose errors FX prints on stderr
    has_state = next(gm.parameters(), None) is not None or next(gm.buffers(), None) is not None
    run: Callable[..., Any] = deepcopy(gm).forward if has_state else gm.forward
    return run


def names_of_inputs(gm: "GraphModule") -> list[str]:
    """`input 0 (l_x_)`, with the names of the graph's placeholders."""
    placeholders = [node for node in gm.graph.nodes if node.op == "placeholder"]
    return [f"input {i} ({node.name})" for i, node in enumerate(placeholders)]


def names_of_outputs(gm: "GraphModule") -> list[str]:
    """`output 0 (loss)`, with the names of the nodes that give them."""
    values = as_list(next(node for node in reversed(gm.graph.nodes) if node.op == "output").args[0])
    return [f"output {i} ({value})" for i, value in enumerate(values)]


def as_list(result: Any) -> list[Any]:
    """A graph's outputs; a backend may give them as a tuple or a list."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _version(value: Any) -> int | None:
    import torch

    return value._version if isinstance(value, torch.Tensor) and not value.is_inference() else None


def _different(values: Sequence[Any], others: Sequence[Any]) -> set[int]:
    """Where tensors are not equal to the bit: what a backend changed in its inputs, and eager did not."""
    import torch

    return {
        i
        for i, (value, other) in enumerate(zip(values, others, strict=True))
        if isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and not (value.is_quantized or torch.equal(value.detach(), other.detach()))
    }


def _requires_grad(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and value.requires_grad


def _draws_as_eager_does() -> bool:
    inductor = sys.modules.get("torch._inductor.config")
    return inductor is None or bool(inductor.fallback_random)


def _uses_cuda_graphs(values: Sequence[Any]) -> bool:
    """Whether a CUDA graph has been recorded on one of the devices.

    Source: torch/_inductor/cudagraph_trees.py (get_manager), 2.8 to 2.15.
    """
    import torch

    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    devices = {value.device.index for value in values if isinstance(value, torch.Tensor) and value.is_cuda}
    return trees is not None and any(trees.get_manager(index, False) is not None for index in devices)
