"""The differences between the supported versions of torch; no other module may ask for torch's version.

Read in the sources of 2.8 to 2.15; run with 2.8.0, 2.13.0 and 2.15.0.
"""

from collections.abc import Callable
from typing import Any


def source_name(source: Any) -> str:
    """The expression of a `Source` or `Guard`: `name` is a property from torch 2.10 on, a method before."""
    name = source.name
    return str(name() if callable(name) else name)


def guard_type(guard: Any) -> str:
    """The type of a guard, `TENSOR_MATCH` say; `Guard.create_fn_name` exists only from torch 2.9 on."""
    return str(guard.inner_create_fn().__name__)


def graph_name(graph_module: Any) -> str | None:
    """The name by which a frame calls a graph, `__compiled_fn_1_…`: in its `meta` from torch 2.9 on.

    Source: torch/_dynamo/output_graph.py (OutputGraph.compile_and_call_fx_graph), 2.8 to 2.13.
    """
    name = graph_module.meta.get("backend_id") or graph_module.__dict__.get("_backend_id")
    return None if name is None else str(name)


def resume_function_installer(output_graph_class: Any) -> str:
    """The name of the method that makes a resume function a global: a separate method from torch 2.10 on."""
    newer = "install_resume_function_global"
    return newer if hasattr(output_graph_class, newer) else "install_global_unsafe"


def is_traced_by_fx() -> bool:
    """Whether FX's symbolic tracing is going on: a variable before torch 2.15, which a function replaced.

    Source: torch/fx/_symbolic_trace.py (_get_is_fx_tracing), 2.15; `is_fx_tracing` of both warns.
    """
    from torch.fx import _symbolic_trace as module

    newer = getattr(module, "_get_is_fx_tracing", None)
    return bool(module._is_fx_tracing_flag if newer is None else newer())


def default_backend() -> Any:
    """The backend that torch.compile uses by default; a program can change it from torch 2.13 on."""
    from torch._dynamo.backends import registry

    get = getattr(registry, "get_default_backend", None)
    return "inductor" if get is None else get()


def settings_that_miss_changed_parameters() -> tuple[str, ...]:
    """The settings of Dynamo with which guards do not notice that `requires_grad_` changed a parameter.

    Guards are skipped while a module's attributes are the same objects: a layer that is unfrozen gets no
    gradient. This happens with 2.8, but not with 2.13 and 2.15; versions between them were not tried.
    Source: torch/csrc/dynamo/guards.cpp; pytorch/pytorch pull requests 177158 and 177525.
    """
    return ("skip_tensor_guards_with_matching_dict_tags",) if _torch_version() < (2, 13) else ()


def keep_linear_algebra_checks() -> Callable[[], None]:
    """Make compiled graphs raise at a singular matrix; the function that is returned undoes it.

    Before torch 2.13, AOTAutograd drops the operator that raises, since nothing uses its result: the graph
    returns infinities. This does what 2.13 does: torch/_higher_order_ops/effects.py (_register_effectful_op).
    Run with 2.8, whose Inductor still drops it.
    """
    import torch
    from torch._higher_order_ops import effects

    operator = torch.ops.aten._linalg_check_errors.default
    known = getattr(effects, "SIDE_EFFECTS", None)
    if _torch_version() >= (2, 13) or known is None or operator in known:
        return lambda: None
    known[operator] = effects._EffectType.ORDERED
    return lambda: known.pop(operator, None)


def keep_class_checks() -> Callable[[], None]:
    """Make compiled graphs raise where `one_hot` gets a class out of its range; returns its undoing.

    Before torch 2.13 what traces `one_hot` leaves its checks out: the graph gives a row of zeros. This does
    what 2.13 does: torch/_decomp/decompositions.py (one_hot), which 2.8 to 2.11 do not have. Run with 2.8.
    """
    import torch
    import torch._decomp.decompositions

    aten, key = torch.ops.aten, torch._C.DispatchKey.CompositeImplicitAutograd
    operator: Any = aten.one_hot.default
    if key in operator.py_kernels:
        return lambda: None

    def one_hot(classes: Any, num_classes: int = -1) -> Any:
        if num_classes == -1:
            num_classes = int(classes.max().item()) + 1
        aten._assert_async.msg(torch.all(classes >= 0), "Class values must be non-negative.")
        is_small = torch.all(classes < num_classes)
        aten._assert_async.msg(is_small, "Class values must be smaller than num_classes.")
        numbers = torch.arange(num_classes, dtype=classes.dtype, device=classes.device)
        return (classes.unsqueeze(-1) == numbers).to(torch.int64)

    operator.py_impl(key)(one_hot)

    def undo() -> None:
        operator.py_kernels.pop(key, None)
        operator._dispatch_cache.clear()

    return undo


def keep_assertions_in_inductor() -> Callable[[], None]:
    """Make Inductor's code check `_assert_async`, as it does from torch 2.9 on; returns its undoing.

    That of 2.8 replaces it by nothing: torch/_inductor/decomposition.py (assert_async_msg_decomp). Without
    that it is a call of the kernel, which is left out as well, since nothing uses its result:
    torch/_inductor/ir.py (FallbackKernel.has_side_effects). Run with 2.8.
    """
    import torch
    from torch._inductor import decomposition

    operator = torch.ops.aten._assert_async.msg
    nothing = decomposition.decompositions.pop(operator, None)
    if nothing is None:
        return lambda: None
    from torch._inductor.ir import FallbackKernel

    kernel_class: Any = FallbackKernel
    original = kernel_class.has_side_effects

    def has_side_effects(kernel: Any) -> bool:
        return kernel.op_overload is operator or bool(original(kernel))

    kernel_class.has_side_effects = has_side_effects

    def undo() -> None:
        kernel_class.has_side_effects = original
        decomposition.decompositions[operator] = nothing

    return undo


def makes_breaks_of_skips() -> bool:
    """Whether a SkipFrame in an inlined function is a graph break of its caller, no skip of the whole frame.

    Source: torch/_dynamo/symbolic_convert.py (InliningInstructionTranslator.inline_call_), 2.8 and 2.9; 2.11
    passes it on.
    """
    return bool(_torch_version() < (2, 11))


def leaves_out_lines_of_guards() -> bool:
    """Whether a guard gets the program's line only where torch's log of guards is on.

    Source: torch/_guards.py (GuardsSet.add), torch/_dynamo/guards.py (install_guard), 2.8; 2.9 has all lines.
    """
    return bool(_torch_version() < (2, 9))


def guard_failure(cache_entry: Any, f_locals: Any, converter: Any) -> str:
    """Why a cache entry does not match, in torch's words; from 2.13 on, its backend can be the reason too.

    Source: torch/_dynamo/guards.py (get_guard_fail_reason), without what that function remembers and logs.
    """
    from torch._dynamo import eval_frame, guards

    manager, compile_id = cache_entry.guard_manager, cache_entry.compile_id
    if isinstance(manager, guards.DeletedGuardManagerWrapper):
        return f"{compile_id}: {manager.invalidation_reason}"
    innermost = getattr(eval_frame, "innermost_backend", None)
    backend = () if innermost is None else (innermost(converter),)
    return str(guards.get_guard_fail_reason_helper(manager, f_locals, compile_id, *backend))


def allow_no_compiled_frame() -> None:
    """Tell a call with `fullgraph=True` that is in progress that it may find no compiled frame.

    From torch 2.13 on, such a call raises an error at its end if no frame of it was compiled. The count is
    -1 where nobody counts; a count is begun only there.
    Source: torch/_dynamo/eval_frame.py (compile_wrapper), 2.13 and 2.15.
    """
    from torch._C._dynamo import eval_frame

    set_count = getattr(eval_frame, "set_fullgraph_compiled_frame_count", None)
    if set_count is not None and set_count(-1) >= 0:
        set_count(1)


def set_in_every_thread(holder: Any, name: str, value: Any) -> Callable[[], None]:
    """Change a setting of a configuration of torch's for all threads; returns the function that undoes it.

    With 2.13 and 2.15 a thread has settings of its own: what another one has set is not there. What is in all
    of them, if they set nothing, is what an environment variable would say. With 2.8 they share the settings.
    Source: torch/utils/_config_module.py (ConfigModule.__getattr__, SubConfigProxy), all three read and run.
    """
    before = getattr(holder, name)
    setattr(holder, name, value)
    entry = _entry_of_setting(holder, name)
    is_of_thread = type(getattr(entry, "user_override", None)).__name__ == "ContextVar"
    if not is_of_thread or getattr(entry, "alias", None):
        return lambda: setattr(holder, name, before)
    of_variable = entry.env_value_default
    entry.env_value_default = value

    def undo() -> None:
        entry.env_value_default = of_variable
        setattr(holder, name, before)

    return undo


def _entry_of_setting(holder: Any, name: str) -> Any:
    """What torch keeps of a setting; of one in a group (`config.cpp.simdlen`), the group knows the whole."""
    known = getattr(holder, "_config", None)
    if known is not None and not isinstance(known, dict):
        return getattr(known, "_config", {}).get(f"{holder._prefix}{name}")
    return (known or {}).get(name)


def _torch_version() -> Any:
    """The version of torch, which compares with tuples as well, what its type does not say."""
    import torch

    return torch.__version__
